"""What the figures on networks train: the same planes serve several of them.

At paper scale the settings are the paper's. At laptop scale data are real and the set, the width of
the convolutional network and the grid are smaller; at quick scale still more so. Gradient descent
takes a fixed time `lr x steps`, and sees a number of points that grows as `1/T`. So the cost of a
cell grows as `1/T`, and the reduced planes leave out cells far below the GD line, where nothing
changes any more: those with a temperature below `coldest` and a learning rate below `slowest`, and
all with a temperature below `floor`. Above `hottest` trainings diverge, or hardly end. A budget of
samples ends trainings that would not end.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from sgdphase._records import Training
from sgdphase._sweep import grid
from sgdphase.paper._figure import FIRST_SEED
from sgdphase.paper._ledger import Scale
from sgdphase.paper._runs import Runs
from sgdphase.problems import CifarAnimals, MnistParity
from sgdphase.stats import power_of_two, power_of_two_tex, powers, whole_powers

SMALL_MARGIN, LARGE_MARGIN = 2.0**-15, 1.0
# Names in pictures, by model and by kind of problem.
NETS = {"fc": "fully connected", "mobilenet": "CNN"}
DATA = {"mnist-parity": "parity MNIST", "cifar-animals": "CIFAR10 animals"}


@dataclass(frozen=True)
class Setting:
    """A network, its data and a plane: exponents of two, first, last and step.

    `cold_rates` are further learning rates, which may be further apart than `rates`. The seeds of
    the plane are those after the `used` ones, which an earlier analysis of it has seen.
    """

    problem: MnistParity | CifarAnimals
    model: str
    margin: float
    train_size: int
    width: int
    rates: tuple[int, int, int]
    batches: tuple[int, int, int]
    seeds: int
    test_size: int
    cold_rates: tuple[int, int, int] | None = None
    coldest: float = 0.0
    slowest: float = 0.0
    floor: float = 0.0
    hottest: float = math.inf
    max_samples: int | None = None
    remark: str = ""
    first_seed: int = FIRST_SEED
    used: int = 0

    def trainings(self, **other: Any) -> list[Training]:
        """Trainings in this setting, with `other` values of parameters."""
        names = ("train_size", "margin", "model", "width", "test_size", "max_samples")
        setting: dict[str, Any] = {name: getattr(self, name) for name in names}
        setting["seeds"] = range(self.first_seed, self.first_seed + self.seeds)
        return list(grid(self.problem, **setting | other))

    @cached_property
    def plane(self) -> tuple[Training, ...]:
        """The cells of the plane; several figures share it, and it takes time to make."""
        rates = powers(*self.cold_rates) if self.cold_rates else []
        seeds = range(self.first_seed + self.used, self.first_seed + self.used + self.seeds)
        every = self.trainings(
            lr=[*rates, *powers(*self.rates)], batch=whole_powers(*self.batches), seeds=seeds
        )
        warm = (t for t in every if t.temperature >= self.coldest or t.lr >= self.slowest)
        return tuple(t for t in warm if self.floor <= t.temperature <= self.hottest)

    def omissions(self) -> str:
        """What a reduced plane leaves out, in a sentence or two."""
        cells = []
        if self.coldest > 0:
            cold, slow = power_of_two(self.coldest), power_of_two(self.slowest)
            cells.append(f"those of T < {cold} and eta < {slow}")
        if self.floor > 0:
            cells.append(f"all of T < {power_of_two(self.floor)}")
        if self.hottest < math.inf:
            cells.append(f"all of T > {power_of_two(self.hottest)}, which diverge or hardly end")
        parts = [f"Cells left out: {'; '.join(cells)}."] if cells else []
        if self.max_samples is not None:
            parts.append(f"A training sees at most {power_of_two(self.max_samples)} points.")
        return " ".join([*parts, self.remark]).strip()


def heading(runs: Runs) -> str:
    """The setting over a picture; of a network in two lines: what is trained, and its sizes."""
    size, margin, seeds = runs.only("train_size"), runs.only("margin"), len(runs.values("seed"))
    training = runs.runs[0].training
    if training.model == "perceptron":
        model = rf"perceptron, $\chi={runs.only('chi'):g}$, $d={runs.only('dim')}$, $P={size}$"
    else:
        what = f"{NETS[training.model]}, {DATA[training.problem.kind]}"
        model = f"{what}\n$P={size}$, width {runs.only('width')}"
    return (
        f"{model}, margin {1 if margin == 1 else f'${power_of_two_tex(margin)}$'}"
        f", {seeds} seed{'s' if seeds > 1 else ''}"
    )


SettingAt = Callable[[Scale], Setting]


def cells(at: SettingAt, **values: Mapping[str, Any]) -> Callable[[Scale], list[Training]]:
    """A plan of other cells than those of the plane: values of parameters for each scale."""
    return lambda scale: at(scale).trainings(**values[scale])


def _by_scale(paper: Setting, *, quick: Mapping[str, Any], laptop: Mapping[str, Any]) -> SettingAt:
    """The paper's setting, and what the reduced scales change of it."""
    settings: dict[Scale, Setting] = {
        "quick": replace(paper, **quick, first_seed=0),
        "laptop": replace(paper, **laptop),
        "paper": paper,
    }
    return settings.__getitem__


_FC = Setting(MnistParity(), "fc", SMALL_MARGIN, 32768, 128, (-11, 11, 1), (0, 10, 1), 5, 32768)

# The fully connected net on parity MNIST at small margin (Fig. 1B). At P = 2048 the line was at
# T = 2^-10.2 (at any P) and at eta = 2^-5.3, which grows as P^0.2: to 2^-4.9 here.
fc = _by_scale(
    _FC,
    quick=dict(
        train_size=256, width=32, rates=(-9, 7, 4), batches=(0, 8, 4), seeds=2, test_size=1024,
        coldest=2.0**-9, slowest=2.0**-5, max_samples=2**20,
    ),
    laptop=dict(
        train_size=8192, rates=(-2, 6, 1), cold_rates=(-15, -3, 2), seeds=3, floor=2.0**-15,
        hottest=2.0**5, max_samples=2**26, used=5,
        remark="Learning rates and batches were chosen by where the lines are at P = 2048. The "
        "five cells of T < 2^-13 and eta < 2^-9 were added after a first look at this plane, in "
        "which batches up to 16 had one learning rate in gradient descent.",
    ),
)  # fmt: skip

# The same at margin 1 (Fig. S5).
fc_large_margin = _by_scale(
    replace(_FC, margin=LARGE_MARGIN, train_size=16384, rates=(-5, 7, 1), batches=(0, 12, 1)),
    quick=dict(
        train_size=128, width=32, rates=(-1, 7, 2), batches=(0, 6, 2), seeds=2, test_size=1024,
        coldest=2.0**-3, slowest=2.0, max_samples=2**20,
    ),
    laptop=dict(
        train_size=4096, rates=(-5, 7, 1), batches=(0, 12, 2), seeds=3, coldest=2.0**-5,
        slowest=2.0, max_samples=2**25,
        remark="Learning rates and batches were chosen by where the lines are at P = 1024.",
    ),
)  # fmt: skip

_CNN = Setting(
    CifarAnimals(), "mobilenet", SMALL_MARGIN, 16384, 32, (-6, 10, 1), (0, 10, 1), 5, 32768
)

# The convolutional net on CIFAR10 at small margin (Fig. 1C).
mobilenet = _by_scale(
    _CNN,
    quick=dict(
        train_size=64, width=2, rates=(-2, 6, 2), batches=(0, 6, 2), seeds=2, test_size=256,
        coldest=2.0**-2, slowest=0.5, max_samples=2**17,
    ),
    laptop=dict(
        train_size=1024, width=8, rates=(-8, 6, 1), batches=(0, 8, 1), seeds=3, test_size=4096,
        floor=2.0**-9, max_samples=2**22,
        remark="Learning rates and batches were chosen by where the lines are at P = 512. Those "
        "above 4 were added after a first look, in which eight claims were undecided.",
    ),
)  # fmt: skip

# The same at margin 1 (Fig. S6).
mobilenet_large_margin = _by_scale(
    replace(_CNN, margin=LARGE_MARGIN, rates=(-7, 9, 1), batches=(0, 11, 1)),
    quick=dict(
        train_size=32, width=2, rates=(1, 5, 2), batches=(0, 4, 2), seeds=2, test_size=256,
        max_samples=2**17,
    ),
    laptop=dict(
        train_size=1024, width=8, rates=(-3, 5, 1), batches=(1, 10, 1), seeds=3, test_size=8192,
        coldest=2.0**-5, slowest=2.0, hottest=2.0, max_samples=2**20,
        remark="Learning rates and batches were chosen by where the lines are at P = 256. There "
        "trainings diverge, or hardly end, at T of 1 to 2 and at eta of 16.",
    ),
)  # fmt: skip
