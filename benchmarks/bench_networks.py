"""Speed of the training of networks against the plain loop, in one run.

Trainings: parity MNIST, P = 4096, fc 5x128, margin 2^-15. The cost of a step of the plain loop does
not change along a training, so it is timed over some steps, in turns with the training, and
multiplied by the number of steps.

Before that single steps of fc and of mobilenet (CIFAR animals, width 8), at margin 1 and a small
learning rate: all points are active, so that nothing is skipped. Beside them the time of their
arithmetic at the speed of a large product, and of reading and writing the weights and their
rounding errors once, at the speed of a sum of two arrays.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from time import perf_counter, process_time
from typing import Any

import torch
from plain_network import plain_fit
from table import Row

from sgdphase._records import Training
from sgdphase.networks._descent import State, descend
from sgdphase.networks._fitting import Fitting
from sgdphase.networks._passes import Passes
from sgdphase.networks._train import Points, build
from sgdphase.problems import CifarAnimals, MnistParity

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
            took = perf_counter() - start
            assert ending == "fitted"
    return state.changed, took, plain * state.changed


def seconds(run: Callable[..., object], *arguments: Any) -> float:
    """Of CPU time."""
    start = process_time()
    run(*arguments)
    return process_time() - start


def fc_work(batch: int) -> tuple[float, int]:
    """Operations of a step: forward, back to all weights and all layers but the first; weights."""
    first, *others = [w.numel() for w in build(_training("fc", batch), (784,)).parameters()]
    return 2.0 * batch * (2 * first + 3 * sum(others)), first + sum(others)


def cnn_work(batch: int) -> tuple[float, int]:
    """The same of the convolutional network."""
    module = build(_training("mobilenet", batch), (3, 32, 32))
    passes = Passes.of(module, torch.zeros(1, 3, 32, 32))
    assert passes is not None
    sizes = zip(passes.plan["size_out"], passes.layers, strict=True)
    first, *others = (int(size) ** 2 * layer.weight.numel() for size, layer in sizes)
    return 2.0 * batch * (2 * first + 3 * sum(others)), sum(w.numel() for w in module.parameters())


def _training(model: str, batch: int, steps: int = 1) -> Training:
    fc = model == "fc"
    problem: Any = MnistParity() if fc else CifarAnimals()
    return Training(
        problem, train_size=4096 if fc else 512, lr=2**-20, batch=batch, margin=1.0, model=model,
        width=128 if fc else 8, max_steps=steps,
    )  # fmt: skip


def single_steps(
    model: str, batches: tuple[int, ...], work: Callable[[int], tuple[float, int]]
) -> list[Row]:
    """CPU microseconds of a step in the plain loop and here, in turns; rows of the table."""
    table = []
    square, row = torch.ones(1024, 1024), torch.ones(2**17)
    other = row.clone()
    flop = min(seconds(torch.mm, square, square) for _ in range(5)) / (2 * 1024**3)
    byte = min(seconds(row.add_, other) for _ in range(100)) / (12 * len(row))
    print(f"{model}: one step, all points active; microseconds of CPU time")
    print(f"{'B':>5} {'plain':>7} {'ours':>7} {'ratio':>6} {'arithmetic':>11} {'memory':>7}")
    some = _training(model, 1)
    points = Points.of(some.problem.train_set(some.train_size, 0), torch.device("cpu"))
    shape = tuple(points.x.shape[1:])
    for batch in batches:
        count = max(1024 // batch, 32) if model == "fc" else max(64 // batch, 2)
        training = _training(model, batch, count)
        plain, ours = [], []
        for _ in range(5):
            module, state = build(training, shape), State()
            fitting = Fitting.of(build(training, shape), points.x, points.y)
            # The pass over all points before the first step, or after the last, is no step.
            check = seconds(fitting.margins)
            plain.append(seconds(plain_fit, module, points, training, count) - check)
            ours.append(seconds(descend, fitting, training, state, Blind()) - check)
            assert state.changed == count
        operations, weights = work(batch)
        limits = [1e6 * operations * flop, 1e6 * 16 * weights * byte]
        us = [1e6 * min(each) / count for each in (plain, ours)]
        print(
            f"{batch:5} {us[0]:7.0f} {us[1]:7.0f} {us[0] / us[1]:6.1f} {limits[0]:11.0f} "
            f"{limits[1]:7.0f}",
            flush=True,
        )
        limit = f"arithmetic {limits[0]:.0f} us, memory {limits[1]:.0f} us"
        measured = f"{us[1]:.0f} us, autograd {us[0]:.0f} us: {us[0] / us[1]:.1f} times"
        goal = "3 times" if batch <= 16 else ""
        table.append(Row(f"{model}, a step of B = {batch}", measured, goal, limit))
    return table


def main() -> list[Row]:
    torch.set_num_threads(1)
    table = single_steps("fc", (1, 4, 16, 64, 512), fc_work)
    table += single_steps("mobilenet", (1, 4, 16, 64, 256), cnn_work)
    print("parity MNIST, P=4096, fc 5x128, margin 2^-15")
    print(f"{'B':>5} {'lr':>6} {'steps':>8} {'seconds':>8} {'plain':>8} {'ratio':>6} {'must':>5}")
    for batch, lr in CELLS:
        steps, took, plain = ratio(batch, lr)
        print(
            f"{batch:5} {lr:6g} {steps:8} {took:8.2f} {plain:8.2f} "
            f"{plain / took:6.1f} {MUST[batch]:5}",
            flush=True,
        )
        measured = f"{took:.2f} s, plain loop {plain:.2f} s: {plain / took:.1f} times"
        table.append(Row(f"fc, a training of B = {batch}", measured, f"{MUST[batch]} times"))
    return table


if __name__ == "__main__":
    main()
