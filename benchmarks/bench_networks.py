"""Speed of the training of networks against the plain loop, in one run.

Parity MNIST, P = 4096, fc 5x128, margin 2^-15. The cost of a step of the plain loop does not change
along a training, so it is timed over some steps, in turns with the training, and multiplied by the
number of steps.
"""

from __future__ import annotations

import math
from time import perf_counter

import torch
from plain_network import plain_fit

from sgdphase._records import Training
from sgdphase.networks._descent import State, descend
from sgdphase.networks._fitting import Fitting
from sgdphase.networks._train import Points, build
from sgdphase.problems import MnistParity

CELLS = [(1, 0.5), (4, 2.0), (16, 8.0), (64, 32.0), (256, 128.0), (1024, 128.0)]
MUST = {1: 20, 4: 5, 16: 2, 64: 1.3, 256: 1.3, 1024: 1.3}


class Blind:
    """Sees nothing and saves nothing: only the training is timed."""

    next = 2**62

    def look(self, step: int) -> None: ...
    def pause(self, state: State) -> None: ...


def ratio(batch: int, lr: float, size: int = 4096) -> tuple[int, float, float]:
    """Steps, seconds of the training, seconds of as many plain steps."""
    training = Training(
        MnistParity(), train_size=size, lr=lr, batch=batch, margin=2**-15, model="fc"
    )
    points = Points.of(training.problem.train_set(size, 0), torch.device("cpu"))

    def fresh() -> torch.nn.Module:
        return build(training, tuple(points.x.shape[1:]))

    steps = max(math.ceil(4096 / batch**0.5), 32)
    plain = 0.0
    for turn in range(2):
        start = perf_counter()
        plain_fit(fresh(), points, training, steps=steps)
        plain += (perf_counter() - start) / (2 * steps)
        if turn == 0:
            module, state = fresh(), State()
            start = perf_counter()
            ending = descend(Fitting.of(module, points.x, points.y), training, state, Blind())
            seconds = perf_counter() - start
            assert ending == "fitted"
    return state.changed, seconds, plain * state.changed


def main() -> None:
    torch.set_num_threads(1)
    print("parity MNIST, P=4096, fc 5x128, margin 2^-15")
    print(f"{'B':>5} {'lr':>6} {'steps':>8} {'seconds':>8} {'plain':>8} {'ratio':>6} {'must':>5}")
    for batch, lr in CELLS:
        steps, seconds, plain = ratio(batch, lr)
        print(
            f"{batch:5} {lr:6g} {steps:8} {seconds:8.2f} {plain:8.2f} "
            f"{plain / seconds:6.1f} {MUST[batch]:5}",
            flush=True,
        )


if __name__ == "__main__":
    main()
