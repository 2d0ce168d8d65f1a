"""What a figure is (what to run, how to draw it, which claims it decides), and all of them."""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any, get_args

from sgdphase._display import Shown
from sgdphase._records import Training
from sgdphase._sweep import Plan, grid
from sgdphase._sweep.trainers import cost_of
from sgdphase.errors import InputError, likely, listed, one_line
from sgdphase.paper._claim import Decide, decided
from sgdphase.paper._draw import letters
from sgdphase.paper._ledger import Claim, Claims, Ledger
from sgdphase.paper._ledger import Scale as Scale
from sgdphase.paper._runs import Runs
from sgdphase.stats import duration, power_of_two_tex, powers, whole_powers

SCALES: tuple[Scale, ...] = get_args(Scale)
# The first analysis used the seeds below; rules that were changed after it are decided on others.
FIRST_SEED = 100


def fresh_seeds(count: int, used: int = 0) -> range:
    """Seeds that no analysis used: the first one, and a later one that used the first of these."""
    return range(FIRST_SEED + used, FIRST_SEED + used + count)


def check_scale(scale: str) -> None:
    """Raise `InputError` for another text, which would run what `paper` does."""
    if scale not in SCALES:
        raise InputError(f"scale = {one_line(scale)}: must be {listed(SCALES)}")


class Grid:
    """The trainings of a figure at each scale: a grid of common values and those of the scale.

    Parameters
    ----------
    quick, laptop, paper : dict
        Arguments of `sgdphase.grid` at this scale; without `laptop`, it runs what `paper` does. A
        number of seeds counts from 0 at quick scale, and from `FIRST_SEED` otherwise.
    common
        Arguments of `sgdphase.grid` at all scales.

    Examples
    --------
    >>> plan = Grid(dim=8, lr=1.0, batch=[1, 2], quick={"seeds": 2}, paper={"seeds": 5})
    >>> [len(plan(scale)) for scale in SCALES]
    [4, 10, 10]
    """

    def __init__(
        self,
        *,
        quick: dict[str, Any],
        paper: dict[str, Any],
        laptop: dict[str, Any] | None = None,
        **common: Any,
    ) -> None:
        scales = {"quick": quick, "laptop": laptop, "paper": paper}
        self._values = {scale: common | own for scale, own in scales.items() if own is not None}
        for scale, values in self._values.items():
            if scale != "quick" and isinstance(values.get("seeds", 1), int):
                values["seeds"] = fresh_seeds(values.get("seeds", 1))
        self._plans: dict[str, Plan] = {}

    def __call__(self, scale: Scale) -> list[Training]:
        check_scale(scale)
        own = scale if scale in self._values else "paper"
        if own not in self._plans:  # which takes time to make
            self._plans[own] = grid(**self._values[own])
        return list(self._plans[own])


def grid_values(
    sizes: tuple[int, ...], rates: tuple[int, ...], batches: tuple[int, ...]
) -> dict[str, Any]:
    """Values of a grid from exponents of two: first, last and step (1 if left out).

    >>> grid_values((6, 7), (0, 2, 2), (0, 2))
    {'train_size': [64, 128], 'lr': [1.0, 4.0], 'batch': [1, 2, 4]}
    """
    return {
        "train_size": whole_powers(*sizes),
        "lr": powers(*rates),
        "batch": whole_powers(*batches),
    }


def together(*grids: Grid) -> Callable[[Scale], list[Training]]:
    """The trainings of several grids, such as those of each chi with its own sizes."""
    return lambda scale: [training for each in grids for training in each(scale)]


@dataclass(frozen=True, repr=False)
class Figure(Shown):
    """A figure of the paper, or one of ours (`figX1`).

    Attributes
    ----------
    name, shows : str
    plan : function of a scale, which gives its trainings (a `Grid`)
    draw : function of the runs, which gives a matplotlib figure (`Curves`)
    claims : sequence
        Specifications of claims (`Exponent`, ...), or functions of the runs that give some.
        Their ids start after the name of the figure.
    trajectories : sequence of str
        Observables in time that it needs, with `time` or `step`; none by default.
    remark : str
        What a reader of the verdicts should know, such as what was changed after a first run.
    setting : str
        What at paper scale is not the paper's setting, for the line below the picture.
    ledger : "paper", "theory" or "ours", default "paper"; to which its claims are added
    simulate : function of a scale
        Gives the runs instead of the plan, where they are no trainings.

    Examples
    --------
    >>> FIGURES["figS11b"]
    figS11b: final |w_perp| against T for several margins, in units of the margin
    >>> len(FIGURES["figS11b"].plan("quick"))
    96
    """

    name: str
    shows: str
    plan: Callable[[Scale], Sequence[Training]]
    draw: Callable[[Runs], Any]
    claims: Sequence[Decide]
    trajectories: Sequence[str] = ()
    remark: str = ""
    setting: str = ""
    ledger: Ledger = "paper"
    simulate: Callable[[Scale], Runs] | None = None

    def _lines(self) -> list[str]:
        return [f"{self.name}: {self.shows}"]

    def decide(self, runs: Runs, scale: Scale) -> Claims:
        """The claims with their verdicts, from `runs` at a `scale`."""
        claims = (
            replace(claim, id=f"{self.name}.{claim.id}", cost=self._cost(claim, runs, scale))
            for part in self.claims
            for claim in decided(part, runs)
        )
        return Claims(claims, scale)

    def _cost(self, claim: Claim, runs: Runs, scale: Scale) -> str:
        """What it would take to decide a claim that `runs` do not."""
        if claim.verdict != "undecided" or not runs.runs:
            return ""
        more, seeds = claim.more_seeds, len(runs.values("seed"))
        if more is not None and math.isfinite(more):
            if self.simulate:
                return f"about {more:.2g} times the simulations"
            needed = math.ceil(seeds * more)
            if needed > _TOO_MANY:
                return f"more than {_TOO_MANY} seeds: the number is close to the end of its range"
            more_time = duration(self._seconds(scale) * (needed - seeds) / seeds)
            return f"about {needed} seeds ({seeds} now), {more_time} more on one core"
        if scale != "paper":
            return self.cost("paper")
        why = ": points scatter about the law by more than seeds explain" if more else ""
        return f"a larger plan than the paper's{why}"

    def cost(self, scale: Scale) -> str:
        """All runs of a `scale`, and the time that they take, in words."""
        time = "" if self.simulate else f", {duration(self._seconds(scale))} on one core"
        return f"the runs of {scale} scale{time}"

    def _seconds(self, scale: Scale) -> float:
        """Expected for all runs on an idle core; those measured count what else the core did."""
        return sum(cost_of(training.model)(training) for training in self.plan(scale))

    def picture(self, runs: Runs, scale: Scale) -> Any:
        """The drawing of `runs` at a `scale`, with the paper's letter and a line below it."""
        drawn = self.draw(runs)
        panel, of_paper = drawn.axes[0], re.fullmatch(r"fig(?:4|S\d+)([a-d])", self.name)
        if of_paper and not (panel.get_title("left") or panel.get_title()).startswith("("):
            letters([panel], of_paper[1])
        short = int(19 * drawn.get_size_inches()[0])  # letters that fit its width
        same = self.setting or ("at the paper's setting" if self.ledger == "paper" else OURS)
        same = f"at {scale} scale" if self.simulate else same  # which has no plan
        left = left_out(self.plan(scale), self.plan("paper")) or same
        lines = textwrap.wrap(left, short)
        drawn.supxlabel("\n".join(lines), fontsize=7, color="0.4")
        _raise_legends(drawn, len(lines))
        return drawn


def _raise_legends(drawn: Any, lines: int) -> None:
    """Put legends below the panels over so many lines at the foot of the picture.

    The layout keeps room for both (not quite enough), but has them in one place.
    """
    below = [each for each in drawn.legends if getattr(each, "_outside_loc", "") == "lower"]
    if below:
        room = (3 + 6 * lines) / 72 / drawn.get_size_inches()[1]
        drawn.get_layout_engine().set(rect=(0, room, 1, 1 - room))
        drawn.get_layout_engine().execute(drawn)
        drawn.set_layout_engine("none")
        foot = (3 + lines * 1.3 * 7) / 72 / drawn.get_size_inches()[1]  # letters of 7 points
        for legend in below:
            legend.set_bbox_to_anchor((0, foot, 1, 1 - foot), drawn.transFigure)


# Seeds that nobody will run.
_TOO_MANY = 1000

# What the line names, in this order.
_CAPTION: dict[str, Callable[[Training], Any]] = {
    "P": lambda training: training.train_size,
    "d": lambda training: getattr(training.problem, "dim", None),
    "width": lambda training: training.width,
    "eta": lambda training: training.lr,
    "B": lambda training: training.batch,
    "seeds": lambda training: training.seed,
    "test points": lambda training: training.test_size,
}


# Below pictures without a setting in the paper.
OURS = "the setting is ours: the paper has none"


def left_out(plan: Sequence[Training], paper: Sequence[Training]) -> str:
    """What a plan and that of paper scale differ in; empty if in nothing."""
    parts = []
    for name, value in _CAPTION.items():
        own, full = (_shown(name, map(value, trainings)) for trainings in (plan, paper))
        if own != full:
            parts.append(f"{name} {own} (paper scale {full})")
    return "; ".join(parts)


def _shown(name: str, values: Iterable[Any]) -> str:
    distinct = sorted({value for value in values if value is not None})
    if name == "seeds":
        return str(len(distinct))
    ends = distinct if len(distinct) < 2 else [distinct[0], distinct[-1]]
    return " to ".join(
        f"{end:g}" if 1 <= end < 256 else f"${power_of_two_tex(end)}$" for end in ends
    )


# The module of each figure, in the order of the paper, ours (figX) last.
_MODULES = {
    "fig1a": "fig1a", "fig1a-chi0": "fig1a", "fig1a-line": "fig1a", "fig1b": "fig1b",
    "fig1b-ce": "fig1b_ce", "fig1c": "fig1b", "fig2": "fig2", "fig3": "fig3",
    "fig3-inset": "fig3", "fig4a": "fig4a", "fig4b": "fig4b", "figS1a": "fig2",
    "figS1b": "figS1b", "figS2a": "figS2a", "figS2b": "figS1b",
    "figS3a": "figS3", "figS3b": "figS3", "figS4a": "figS4", "figS4b": "figS4", "figS5a": "figS5",
    "figS5b": "figS5", "figS5c": "figS5", "figS5d": "figS5", "figS6a": "figS5", "figS6b": "figS5",
    "figS6c": "figS5", "figS6d": "figS5", "figS7a": "fig3", "figS7b": "fig4b",
    "figS8a": "fig4b", "figS8b": "fig4b", "figS9a": "figS9", "figS9b": "figS9", "figS10a": "figS10",
    "figS10b": "figS10", "figS11a": "figS11", "figS11b": "figS11", "theory": "theory",
    "figX1": "figX1", "figX2": "fig1a", "figX3": "figX3",
}  # fmt: skip


class _Catalog(Mapping[str, Figure]):
    """All figures by name; the module of one (its `FIGURE` or `FIGURES`) loads when it is asked."""

    def __repr__(self) -> str:
        return f"{len(self)} figures: {', '.join(self)}"

    def __getitem__(self, name: str) -> Figure:
        if name not in _MODULES:
            names = ", ".join(_MODULES)
            raise KeyError(f"'{name}' is not a figure{likely(name, _MODULES)}; there are {names}")
        module = import_module(f"sgdphase.paper.{_MODULES[name]}")
        figures: Sequence[Figure] = getattr(module, "FIGURES", None) or (module.FIGURE,)
        return {figure.name: figure for figure in figures}[name]

    def __iter__(self) -> Iterator[str]:
        return iter(_MODULES)

    def __len__(self) -> int:
        return len(_MODULES)


FIGURES: Mapping[str, Figure] = _Catalog()


def chosen(names: Iterable[str]) -> list[Figure]:
    """The figures of these names; `all` is all of them."""
    wanted = list(names)
    try:
        figures = [FIGURES[name] for name in wanted if name != "all"]
    except KeyError as error:
        raise InputError(f"{error.args[0]}, and all") from None
    return list(FIGURES.values()) if "all" in wanted else figures
