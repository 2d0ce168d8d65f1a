"""Which regime a training of a number of epochs is in, by three slopes.

With `s` the slope of an observable in log lr, its slopes in log lr, log batch and log epochs are

    noise-dominated         (s, -s, 0)    lr / batch decides; more epochs change nothing
    first-step-dominated    (s,  0, 0)    lr decides
    time-limited            (s, -s, s)    lr x steps decides: it is the time, not the noise
    gradient descent        s small       nothing decides: the training has converged

How large `s` is depends on the observable; the ratios `-s_batch / s_lr` and `s_epochs / s_lr` name
the regime: (1, 0), (0, 0), (1, 1). Ratios in between occur: the perceptron stopped early in its
noise regime has (1, 1/(3+chi)), "noise-dominated, unfinished".
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from sgdphase._typing import FloatArray
from sgdphase.diagram._comparison import PROGRESS, Comparison
from sgdphase.diagram._training_runs import Setting
from sgdphase.stats import REPLICATES, Estimate, Plain, interval, seed_means, seed_replicates

RATIOS: dict[str, tuple[float, float]] = {
    "noise-dominated": (1.0, 0.0),
    "first-step-dominated": (0.0, 0.0),
    "time-limited": (1.0, 1.0),
}
UNFINISHED = "noise-dominated, unfinished"
DESCENT = "gradient descent"
# Neighbouring ratios are 1 apart; beyond this distance from all a training is between two.
_REACH = 0.35
# A slope below this is small.
_SMALL = 0.1
_CONFIDENCE = 0.8
# The most weight that a third regime may have between two.
_THIRD = 0.25
_NONE = "none"


@dataclass(frozen=True)
class Slopes(Plain):
    """Slopes of one observable in log lr, log batch and log epochs."""

    observable: str
    lr: Estimate
    batch: Estimate
    epochs: Estimate | None = None


@dataclass(frozen=True)
class TrainingRegime:
    """The `name` of the regime (None: cannot tell), how sure, the slopes, and why not."""

    name: str | None
    confidence: float | None
    slopes: Slopes | None
    between: tuple[str, str] | None = None
    why: str = ""


def neighbour_slopes(
    compared: Comparison, *, lower: Setting, larger: Setting, other: Setting | None
) -> dict[str, dict[str, FloatArray]]:
    """Slopes per seed, of the logarithm of each observable around the user's training.

    `lower` has another learning rate, `larger` another batch and `other` another number of epochs.
    """
    yours, slopes = compared.yours, {}
    places = {
        "lr": (lower, math.log(lower.lr / yours.lr)),
        "batch": (larger, math.log(larger.batch / yours.batch)),
    }
    if other is not None:
        places["epochs"] = (other, math.log(other.epochs / yours.epochs))
    for name in compared.observables or compared.names:
        values = {key: compared.values(place, name) for key, (place, _) in places.items()}
        ours = compared.values(yours, name)
        seeds = sorted(set(ours).intersection(*values.values()))
        every = [by_seed[seed] for by_seed in (ours, *values.values()) for seed in seeds]
        has_logs = all(0 < value < math.inf for value in every)  # also not NaN
        if not seeds or not has_logs or any(step == 0 for _, step in places.values()):
            continue
        slopes[name] = {
            key: np.array([math.log(values[key][s] / ours[s]) / places[key][1] for s in seeds])
            for key in places
        }
    return slopes


def training_regime(per_observable: Mapping[str, Mapping[str, FloatArray]]) -> TrainingRegime:
    """The regime by the observable whose slope in lr is the clearest.

    Slopes are per seed, as `neighbour_slopes` gives them: in `lr`, in `batch` and maybe `epochs`.
    """
    known, replicates = [], {}
    for name, per_seed in per_observable.items():
        table = np.array(list(per_seed.values()))
        if table.shape[1] > 1:
            copies = seed_replicates(table, np.random.default_rng(0), REPLICATES)
            means = zip(seed_means(table), copies.T, strict=True)
            known.append(Slopes(name, *(interval(float(mean), each) for mean, each in means)))
            replicates[name] = copies
    if not known:
        why = "it takes two seeds around your training, and an observable above zero"
        return TrainingRegime(None, None, None, why=why)

    moving = [slopes for slopes in known if not _is_small(slopes)]
    if not moving:
        return TrainingRegime(DESCENT, None, known[0])
    slopes = max(moving, key=lambda s: abs(s.lr.value) / max(s.lr.high - s.lr.low, 1e-12))
    if slopes.lr.low <= 0 <= slopes.lr.high:
        why = "how far the training gets does not clearly depend on lr: it takes more seeds"
        return TrainingRegime(None, None, slopes, why=why)
    if slopes.epochs is None:
        why = "the number of epochs was not varied: it takes runs of half as many"
        return TrainingRegime(None, None, slopes, why=why)
    return _named(slopes, replicates[slopes.observable])


def _is_small(slopes: Slopes) -> bool:
    """Whether slopes are far below 1, their usual size for progress; others have no such scale."""
    if slopes.observable not in PROGRESS:
        return False
    parts = [part for part in (slopes.lr, slopes.batch, slopes.epochs) if part is not None]
    return all(max(abs(part.low), abs(part.high)) < _SMALL for part in parts)


def _named(slopes: Slopes, copies: FloatArray) -> TrainingRegime:
    name = _nearest(part.value for part in (slopes.lr, slopes.batch, slopes.epochs) if part)
    share = float(np.mean([_nearest(copy) == name for copy in copies]))
    if isinstance(name, tuple):
        return TrainingRegime(None, share, slopes, between=name)
    if name == _NONE:
        why = "its slopes are those of no regime, and of no crossover between two"
        return TrainingRegime(None, share, slopes, why=why)
    if share < _CONFIDENCE:
        why = f"it may be {name}, or another (confidence {share:.2f}): it takes more seeds"
        return TrainingRegime(None, share, slopes, why=why)
    return TrainingRegime(name, share, slopes)


def _nearest(slopes: Iterable[float]) -> str | tuple[str, str]:
    """The regime of three slopes, or the two that they lie between.

    Ratios are a mean of those of the three regimes, with weights that add up to one; between two
    regimes the third has none.
    """
    in_lr, in_batch, in_epochs = (float(s) for s in slopes)
    if in_lr == 0:
        return DESCENT
    point = (-in_batch / in_lr, in_epochs / in_lr)
    distance = {name: math.dist(point, target) for name, target in RATIOS.items()}
    first = min(distance, key=lambda name: distance[name])
    # Between noise and time, the ratio of epochs measures how far the training is from its end.
    if abs(point[0] - 1) <= _REACH and _SMALL < point[1] < 1 - _REACH:
        return UNFINISHED
    if distance[first] <= _REACH:
        return first
    weights = (point[0] - point[1], 1 - point[0], point[1])
    ranked = sorted(zip(weights, RATIOS, strict=True), reverse=True)
    if abs(ranked[2][0]) > _THIRD:
        return _NONE
    return ranked[0][1], ranked[1][1]
