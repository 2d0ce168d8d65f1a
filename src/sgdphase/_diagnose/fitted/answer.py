"""The answer to "which regime is my training in, and how far may I raise the batch?"."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from typing import Any, Literal

from sgdphase._display import Columns, Shown
from sgdphase._sweep import Run
from sgdphase.diagram import LinePoint, Regime
from sgdphase.stats import Estimate, Plain, plain


@dataclass(frozen=True)
class Size(Plain):
    """`B*` at one train size, if it is known, the number of trainings behind it, and notes."""

    train_size: int
    critical_batch: Estimate | None
    trainings: int = 0
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Scaling:
    """`B* ~ P^exponent`, the `chi = 1/exponent - 1` it implies, and `B*` at larger sizes."""

    exponent: Estimate
    chi: Estimate
    extrapolated: Mapping[int, Estimate]

    def as_dict(self) -> dict[str, Any]:
        exponent = self.exponent.as_dict()
        sizes = [{"train_size": size, **at.as_dict()} for size, at in self.extrapolated.items()]
        return {
            "exponent": exponent.pop("value"),
            **exponent,
            "chi": self.chi.as_dict(),
            "extrapolated": sizes,
        }


@dataclass(frozen=True)
class Limit:
    """The largest batch that learns the same as the present one, for one way of raising it.

    `up to`: up to `batch`. `any`: up to the whole set, whose size is `batch`. `none`: every larger
    batch changes what is learnt, and `batch` is the present one. `unknown`: it is not known.
    """

    kind: Literal["up to", "any", "none", "unknown"]
    batch: Estimate | None = None

    def as_dict(self) -> dict[str, Any]:
        empty = {"value": None, "low": None, "high": None}
        return {"limit": self.kind, **(empty if self.batch is None else self.batch.as_dict())}


@dataclass(frozen=True, repr=False)
class FittedDiagnosis(Shown):
    """The answer for trainings until every point is fitted, returned by `diagnose_until_fitted`.

    Attributes
    ----------
    lr, batch, train_size : float, int, int; the user's training
    measured_at : int
        Train size at which `regime`, `slopes`, `gd_line` and `first_step_share` were measured:
        smaller than `train_size` if trainings of that size did not fit into the budget.
    regime, confidence : str and float or None
        One of `REGIMES`, and the share of bootstrap replicates that agree.
    between : (str, str) or None
        Two regimes, if the training is `unclear` since it lies in their crossover.
    reason : str
        Why the regime is `unclear` otherwise.
    expected : str; regime at `train_size`
    slopes : mapping of str to Estimate or None
        Of the logarithm of the alignment in log lr and log batch.
    sizes : tuple of Size; `B*` at each train size
    gd_line : tuple of LinePoint
        Learning rates below which SGD is gradient descent.
    constant_temperature, constant_lr : Limit
        Largest batch that learns the same at `train_size`, at constant lr/batch and constant lr.
    scaling : Scaling or None
        Growth of `B*` with the train size.
    first_step_share : Estimate or None
        Share of the first step in the final alignment.
    noise_scale : mapping of str to float
        Gradient noise scales, for comparison.
    warnings, unknown : tuple of str
        What to be careful about; what is unknown, and why.
    trainings, seconds : int, float
        Number of trainings, and duration.
    settings : mapping
        The other parameters of the training, by name.
    runs : tuple of Run; all runs behind the answer
    """

    lr: float
    batch: int
    train_size: int
    measured_at: int
    regime: Regime
    between: tuple[Regime, Regime] | None
    confidence: float | None
    expected: Regime
    slopes: Mapping[str, Estimate | None]
    sizes: tuple[Size, ...]
    gd_line: tuple[LinePoint, ...]
    constant_temperature: Limit
    constant_lr: Limit
    scaling: Scaling | None
    first_step_share: Estimate | None
    noise_scale: Mapping[str, float]
    warnings: tuple[str, ...]
    unknown: tuple[str, ...]
    trainings: int
    seconds: float
    reason: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    runs: tuple[Run, ...] = ()

    @property
    def critical_batch(self) -> Size | None:
        """The result at the largest train size that has a `B*`."""
        known = [size for size in self.sizes if size.critical_batch is not None]
        return max(known, key=lambda size: size.train_size, default=None)

    @property
    def critical_batches(self) -> dict[int, Estimate]:
        """`B*` by train size, where it is known."""
        return {s.train_size: s.critical_batch for s in self.sizes if s.critical_batch is not None}

    def critical_batch_at(self, train_size: int) -> Estimate | None:
        """`B*` at `train_size`, if it is known."""
        return self.critical_batches.get(train_size)

    def gd_line_at(self, batch: float) -> float | None:
        """`lr_c` at `batch`: it rises as `T_c batch` below `B*`, and is constant above.

        None on a side of `B*` on which it was not measured.
        """
        star = self.critical_batch_at(self.measured_at)
        if star is None:
            return None
        below = [point.lr.value / point.batch for point in self.gd_line if point.batch < star.value]
        above = [point.lr.value for point in self.gd_line if point.batch >= star.value]
        if not (below if batch < star.value else above):
            return None
        return min([*(slope * batch for slope in below), *above])

    @property
    def first_step_bound(self) -> Estimate | None:
        """`batch / share`, above which `B*` cannot lie by much; None if the share may be 0.

        In the noise regime the share is `batch / B*`, elsewhere it is less.
        """
        share = self.first_step_share
        if share is None or not share.value > 0 or share.low <= 0:
            return None
        return Estimate(*(self.batch / edge for edge in (share.value, share.high, share.low)))

    def _lines(self) -> list[str]:
        from sgdphase._diagnose.fitted.text import answer_lines  # which is made of answers
        from sgdphase._diagnose.text import with_doubts

        return with_doubts(answer_lines(self), self.unknown, self.warnings)

    def _repr_html_(self) -> str:
        return f"<pre>{escape(repr(self))}</pre>"

    def _table(self) -> Columns:
        """`B*` at each train size; NaN where it is unknown."""
        unknown = Estimate(math.nan, math.nan, math.nan)
        stars = [size.critical_batch or unknown for size in self.sizes]
        return {
            "train_size": [size.train_size for size in self.sizes],
            "critical_batch": [star.value for star in stars],
            "low": [star.low for star in stars],
            "high": [star.high for star in stars],
            "trainings": [size.trainings for size in self.sizes],
        }

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON; None where there is no number."""
        left_out = ("reason", "runs")
        values = {name: plain(part) for name, part in vars(self).items() if name not in left_out}
        values["expected_regime"] = values.pop("expected")
        ways = ("constant_temperature", "constant_lr")
        values["largest_batch"] = {way: values.pop(way) for way in ways}
        size, values["critical_batch"] = self.critical_batch, None
        if size is not None:
            star = plain(size.critical_batch)
            values["critical_batch"] = {**star, "train_size": size.train_size}
        return values
