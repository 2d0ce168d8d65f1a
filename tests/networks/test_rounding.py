"""Trainings that single precision, or a dead network, would keep from ending."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from sgdphase._records import Training
from sgdphase.networks._descent import State, Watch, _is_dead, descend
from sgdphase.networks._fc import FullyConnected
from sgdphase.networks._fitting import Fitting
from sgdphase.problems import TeacherTask


class Linear(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.w = nn.Parameter(torch.ones(1))

    def forward(self, x: Tensor) -> Tensor:
        return x[:, 0] * self.w


class Dead(Linear):
    """Its neuron is off for every input."""

    def forward(self, x: Tensor) -> Tensor:
        return torch.relu(-1.0 - self.w * x[:, 0] ** 2)


def _descend(module: nn.Module, watch: Watch, **budget: int) -> tuple[str, State]:
    training = Training(
        TeacherTask(dim=2), train_size=8, lr=2.0**-26, batch=8, margin=1.0, model="fc", **budget
    )
    fitting, state = Fitting.of(module, torch.ones(8, 2), torch.ones(8)), State()
    return descend(fitting, training, state, watch), state


def test_steps_below_the_last_digit_of_a_weight_add_up(silent: Watch) -> None:
    """Near 1 a single-precision weight takes steps of 2^-23; 64 of 2^-26 are 2^-20."""
    module = Linear()
    ending, state = _descend(module, silent, max_steps=64)
    assert (ending, state.changed) == ("budget", 64)
    assert module.w.item() == 1 + 2.0**-20


def test_a_dead_network_ends_without_a_budget(silent: Watch) -> None:
    ending, state = _descend(Dead(), silent)
    assert (ending, state.changed) == ("budget", 0)


class NearlyDead(Linear):
    """Its neuron is on for the first point alone."""

    full = 0

    def forward(self, x: Tensor) -> Tensor:
        self.full += len(x) == _MANY
        return torch.relu(self.w * x[:, 0])


_MANY = 64


def test_a_nearly_dead_network_is_looked_at_as_a_whole_once_per_change(silent: Watch) -> None:
    """All points stay unfitted, 63 of 64 without a gradient: most batches are active in vain."""
    x = torch.full((_MANY, 2), -1.0)
    x[0] = 1.0
    training = Training(
        TeacherTask(dim=2), train_size=_MANY, lr=2.0**-26, batch=1, margin=1.0, model="fc",
        max_steps=4096,
    )  # fmt: skip
    module, state = NearlyDead(), State()
    assert descend(Fitting.of(module, x, torch.ones(_MANY)), training, state, silent) == "budget"
    # 2^-26 at a time, without loss.
    changes = round((module.w.item() - 1) * 2**26)
    assert 32 <= changes <= 96 and state.step == 4096 > state.changed
    # One more at the start and one at the end.
    assert module.full <= changes + 2


def test_a_point_that_passes_round_to_either_side_of_its_margin_is_fitted(silent: Watch) -> None:
    """The last point with a gradient; the compiled pass has it above its margin, torch below.

    Batches of points without a gradient, which stay unfitted, come all the time.
    """
    generator = torch.Generator().manual_seed(35)
    module = FullyConnected(16, depth=1, width=4, activation="relu", generator=generator)
    x = torch.randn(20_000, 16, generator=generator)
    off = (x @ module.first_weight.detach()).max(1).values < -0.5
    x = torch.cat([x[~off][:8], x[off][:24]])
    y = torch.sign(torch.randn(32, generator=generator))
    training = Training(
        TeacherTask(dim=16), train_size=32, lr=2.0**-20, batch=1, margin=2.0**-15, model="fc",
        depth=1, width=4, activation="relu", max_steps=100_000,
    )  # fmt: skip
    state = State()
    descend(Fitting.of(module, x, y), training, state, silent)
    assert state.step < 20_000


def test_parts_that_cancel_are_not_dead() -> None:
    """A saturated neuron gives 1 at every point: the parts of opposite labels cancel exactly."""
    module = FullyConnected(2, depth=1, width=1, activation="tanh")
    with torch.no_grad():
        module.first_weight.fill_(1e3)
    y = torch.tensor([1.0, -1.0] * 4)
    training = Training(
        TeacherTask(dim=2), train_size=8, lr=1.0, batch=6, margin=1.0, model="fc", depth=1, width=1
    )
    fitting = Fitting.of(module, torch.ones(8, 2), y)
    # A batch of three points of each label changes nothing; others do.
    assert not _is_dead(fitting, training)
