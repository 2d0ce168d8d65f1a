"""From data and parameters to weights: the compiled loops behind plain functions."""

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from sgdphase._display import ShortArrays
from sgdphase._parameters import FRACTION, NOT_NEGATIVE, POSITIVE
from sgdphase._streams import PERCEPTRON_BATCHES
from sgdphase._typing import FloatArray, IntArray
from sgdphase.errors import InputError, listed, one_line, require, require_type, require_whole
from sgdphase.perceptron import _sgd
from sgdphase.perceptron._gaussian_noise import run_sde
from sgdphase.perceptron._losses import NUMBERS
from sgdphase.perceptron._random import random_state
from sgdphase.perceptron._sgd import run_sgd
from sgdphase.perceptron._variants import run_variant
from sgdphase.problems import Dataset

# Snapshots of the weights for each doubling of the number of steps.
PER_OCTAVE = 4
MAX_STEPS = 2**62

_ENDS: dict[int, Literal["fitted", "budget"]] = {
    _sgd.FITTED: "fitted",
    _sgd.OUT_OF_STEPS: "budget",
}


@dataclass(frozen=True, eq=False, repr=False)
class Points(ShortArrays):
    """A data set in the form that the simulation needs.

    Attributes
    ----------
    z : ndarray [P, d]
        Inputs times labels, `z = y x`.
    norms : ndarray [P]; lengths of the rows of `z`

    Examples
    --------
    >>> Points.of(Dataset(np.array([[3.0, 4.0]]), np.array([-1.0])))
    Points(z=float64 [1, 2], norms=float64 [1])
    """

    z: FloatArray
    norms: FloatArray

    @classmethod
    def of(cls, data: Dataset, *, overwrite: bool = False) -> Points:
        """The points of `data`, whose inputs are vectors and whose labels are +1 or -1.

        With `overwrite` they may take the place of the inputs, to save memory.
        """
        z = np.ascontiguousarray(data.x if overwrite else data.x.copy(), dtype=np.float64)
        z *= data.y[:, None]
        return cls(z, np.sqrt(np.einsum("ij,ij->i", z, z)))


@dataclass(frozen=True, eq=False, repr=False)
class Weights(ShortArrays):
    """A simulated training, returned by `simulate_sgd` and `simulate_sde`.

    Attributes
    ----------
    status : {"fitted", "budget", "diverged"}; how it ended
    steps : int
        The last step that changed a weight.
    w : ndarray [d]; the weights after it
    snapshot_steps : ndarray [n]; log-spaced steps, of which the last is the end
    snapshots : ndarray [n, d]; the weights after each of them
    """

    status: Literal["fitted", "budget", "diverged"]
    steps: int
    w: FloatArray
    snapshot_steps: IntArray
    snapshots: FloatArray


def simulate_sgd(
    points: Points,
    *,
    margin: float,
    lr: float,
    batch: int,
    loss: str = "hinge",
    momentum: float = 0.0,
    weight_decay: float = 0.0,
    l1: float = 0.0,
    seed: int = 0,
    max_steps: int = MAX_STEPS,
) -> Weights:
    """SGD of the perceptron from `w = 0`, with fresh batches of distinct points (SI 1.A, SI 2).

    Ends when every point has `y w.x / sqrt(d) >= margin`; with another loss than hinge, when every
    point has half of the margin. The process has the distribution of the plain loop's; with the
    hinge loss, and without momentum and regularisation, it takes less time.

    Parameters
    ----------
    points : Points
        The training set, of `P` points.
    margin : float
        Margin of the loss, above 0.
    lr : float; learning rate, above 0
    batch : int
        Points per step, from 1 to `P`.
    loss : {"hinge", "quadratic-hinge", "smooth-hinge", "square", "logistic"}, default "hinge"
        With square loss a training may end only at `max_steps`.
    momentum : float, default 0; from 0 to below 1
    weight_decay, l1 : float, default 0
        At least 0: `weight_decay w + l1 sign(w)` is added to the gradient. Such a training ends
        only at `max_steps`.
    seed : int, default 0; of the batches, at least 0
    max_steps : int, default 2^62; budget

    Examples
    --------
    >>> from sgdphase.problems import TeacherTask
    >>> points = Points.of(TeacherTask(dim=8).train_set(32, seed=0))
    >>> weights = simulate_sgd(points, margin=0.1, lr=0.5, batch=2)
    >>> weights.status, bool((points.z @ weights.w / 8**0.5 >= 0.1).all())
    ('fitted', True)
    """
    require_type("points", points, Points, "Points, which `Points.of(dataset)` makes")
    size, dim = points.z.shape
    require("batch", batch, lambda b: 1 <= b <= size, f"an integer from 1 to the train size {size}")
    require("margin", margin, *POSITIVE)
    require("lr", lr, *POSITIVE)
    require("momentum", momentum, *FRACTION)
    for name, value in (("weight decay", weight_decay), ("l1", l1)):
        require(name, value, lambda x: 0 <= x < math.inf, "a number of at least 0")
    if loss not in NUMBERS:
        raise InputError(f"loss = {one_line(loss)}: must be {listed(NUMBERS)}")
    require_whole("seed", seed, least=0)
    root = math.sqrt(dim)
    threshold, rate = margin * root, lr / (batch * root)
    if loss == "hinge" and momentum == 0.0 and weight_decay == 0.0 and l1 == 0.0:
        # A growing w1 must unfit no point. Where it could, a coordinate of zeros is the first.
        extra = int((points.z[:, 0] < 0).any())
        z = np.pad(points.z, ((0, 0), (1, 0))) if extra else points.z
        full = batch == size
        gradient = np.empty(dim + extra) if full else None
        given: tuple[Any, ...] = (z, points.norms, threshold, rate, batch, gradient)
        run = _run(run_sgd, given, dim + extra, None if full else seed, max_steps)
        return replace(run, w=run.w[extra:], snapshots=run.snapshots[:, extra:])
    goal = threshold if loss == "hinge" else threshold / 2
    shrink, pull = lr * weight_decay, lr * l1
    given = (points.z, threshold, goal, NUMBERS[loss], rate, shrink, pull, momentum, batch)
    return _run(run_variant, given, dim, seed, max_steps)


def simulate_sde(
    points: Points,
    *,
    margin: float,
    temperature: float,
    dt: float,
    seed: int = 0,
    max_time: float = math.inf,
) -> Weights:
    """Eq. 2, the SDE of SGD, with the empirical gradient and covariance (Euler-Maruyama).

    A solution of the equation as `dt -> 0`; SGD with batch 1 makes steps of `dt = temperature`.

    Parameters
    ----------
    points, margin, seed
        As in `simulate_sgd`.
    temperature : float
        `T = lr / batch`, at least 0.
    dt : float
        Step in time `lr x steps`, above 0.
    max_time : float, default infinite; budget, above 0

    Examples
    --------
    >>> from sgdphase.problems import TeacherTask
    >>> points = Points.of(TeacherTask(dim=8).train_set(32, seed=0))
    >>> simulate_sde(points, margin=0.1, temperature=0.1, dt=0.1).status
    'fitted'
    """
    require_type("points", points, Points, "Points, which `Points.of(dataset)` makes")
    require("dt", dt, *POSITIVE)
    require("margin", margin, *POSITIVE)
    require("temperature", temperature, *NOT_NEGATIVE)
    require("max time", max_time, lambda x: x > 0, "a number above 0")
    require_whole("seed", seed, least=0)
    dim = points.z.shape[1]
    max_steps = int(min(max_time / dt, float(MAX_STEPS)))
    given = (points.z, margin * math.sqrt(dim), temperature, dt)
    return _run(run_sde, given, dim, seed, max_steps)


def _run(
    loop: Callable[..., Any], given: tuple[Any, ...], dim: int, seed: int | None, max_steps: int
) -> Weights:
    """Run a compiled loop; without a seed it draws nothing."""
    due = snapshot_schedule(max_steps)
    snapshots = np.empty((len(due), dim))
    stop = np.zeros(1, np.int64)
    state = None if seed is None else random_state(seed, PERCEPTRON_BATCHES)
    # Compiled loops do not see signals: they run in another thread, and this one sees them.
    with ThreadPoolExecutor(max_workers=1) as beside:
        running = beside.submit(loop, *given, max_steps, due, snapshots, state, stop)
        try:
            end, w, steps, stored = running.result()
        except BaseException:
            stop[0] = 1
            raise
    if end == _sgd.DIVERGED:  # the end is no number
        kept = max(min(stored, int(np.searchsorted(due, steps))), 1)
        return Weights("diverged", int(steps), w, due[:kept], snapshots[:kept].copy())
    before = int(np.searchsorted(due[:stored], steps))  # the end itself is added
    snapshot_steps = np.append(due[:before], steps).astype(np.int64)
    return Weights(_ENDS[end], int(steps), w, snapshot_steps, np.vstack([snapshots[:before], w]))


def snapshot_schedule(max_steps: int) -> IntArray:
    """Every step up to 8, then `PER_OCTAVE` for each doubling.

    >>> snapshot_schedule(40)
    array([ 1,  2,  3,  4,  5,  6,  7,  8, 10, 11, 13, 16, 19, 23, 27, 32, 38])
    """
    octaves = math.log2(max(max_steps, 1))
    steps = np.round(2.0 ** (np.arange(0, octaves * PER_OCTAVE + 1) / PER_OCTAVE))
    steps = np.unique(np.concatenate([np.arange(1.0, 9.0), steps]))
    return steps[steps <= max_steps].astype(np.int64)
