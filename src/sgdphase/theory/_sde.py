"""The online SDE of the two order parameters: Eq. 3 with its noise (main text 1.A, SI 6.B).

In ``w1`` and ``q = w_perp^2``, with Ito's term,

    dw1 = (g1/sqrt(d) - Lambda w1) dt + dM_1
    dq  = (2 w_perp g_perp/sqrt(d) + T n + (T/d) Sigma22 - 2 Lambda q) dt + 2 w_perp dM_2

where ``M_1, M_2`` have the covariance (T/d) [[Sigma11, Sigma12], [Sigma12, Sigma22]] dt of SI 6.A.

As long as every point is unfitted, ``w1`` is Gaussian and ``q`` is a squared Bessel process,
``q = (T/d) phi X`` with ``X`` chi-squared of d+1 degrees of freedom (``phi`` as in
``fluctuations``): the first point of each trajectory is drawn from that law. From there on the
steps are Euler-Maruyama, in a grid that follows the rates of the deterministic solution.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sgdphase._display import Columns, Shown
from sgdphase._typing import FloatArray, IntArray
from sgdphase.errors import InputError
from sgdphase.theory._averages import averages
from sgdphase.theory._constants import check_positive
from sgdphase.theory._online import Setting, check_times, decayed_time, solve

RATES_PER_DECADE = 24


@dataclass(frozen=True, repr=False)
class OnlineEnsemble(Shown):
    """Trajectories of the online SDE, returned by ``online_ensemble``.

    Attributes
    ----------
    time : ndarray [n]; ``lr x steps``
    w1, w_perp : ndarray [size, n]; one row per trajectory
    """

    time: FloatArray
    w1: FloatArray
    w_perp: FloatArray

    def _lines(self) -> list[str]:
        return [f"OnlineEnsemble: means over {len(self.w1)} trajectories"]

    def _summary(self) -> Columns:
        means = {"w1": self.w1.mean(axis=0), "w_perp": self.w_perp.mean(axis=0)}
        return {"time": self.time, **means}

    def _table(self) -> Columns:
        """One row per trajectory and time."""
        row, column = np.indices(self.w1.shape).reshape(2, -1)
        weights = {"w1": self.w1.ravel(), "w_perp": self.w_perp.ravel()}
        return {"trajectory": row, "time": self.time[column], **weights}


def online_ensemble(
    times: npt.ArrayLike,
    *,
    chi: float,
    dim: int,
    margin: float,
    temperature: float,
    weight_decay: float = 0.0,
    size: int,
    seed: int,
    accuracy: float = 0.05,
) -> OnlineEnsemble:
    """Independent trajectories of Eq. 3 with its noise, from ``w = 0``.

    At given ``times`` a trajectory depends on ``seed`` and on its row only, not on ``size``.

    Parameters
    ----------
    times, chi, dim, margin, weight_decay
        As in ``online``; ``times`` have one axis.
    temperature : float; ``T = lr/batch``, above 0
    size : int
        Number of trajectories, at least 1.
    seed : int; at least 0
    accuracy : float, default 0.05
        Step times the fastest local rate (1/t included), above 0, up to 0.5. The error has the
        same order: a variance that relaxes is too large by the factor 1/(1 - accuracy/2).

    Examples
    --------
    >>> many = online_ensemble(
    ...     [1.0, 10.0], chi=1.0, dim=64, margin=0.1, temperature=1.0, size=3, seed=0)
    >>> many.w1.shape, bool((many.w1[:, 1] > many.w1[:, 0]).all())
    ((3, 2), True)
    """
    check_positive(temperature=temperature, accuracy=accuracy, size=size)
    if accuracy > 0.5:
        raise InputError(f"accuracy = {accuracy}: must be in (0, 0.5]")
    setting = Setting(chi, dim, margin, temperature, weight_decay)
    t = check_times(times)
    if t.ndim != 1:
        raise InputError(f"times = an array of {t.ndim} dimensions: must have one")
    from sgdphase.theory._compiled import walk

    unique, inverse = np.unique(t, return_inverse=True)
    w1, q = np.zeros((size, unique.size)), np.zeros((size, unique.size))
    positive = np.flatnonzero(unique > 0)
    if positive.size:
        model = setting.compiled()
        start, steps, stops = _grid(unique[positive], setting, accuracy)
        mean, _ = setting.untouched(start)
        unit = temperature / dim * decayed_time(start, 2 * weight_decay)
        var_x = float(averages(0.0, math.inf, chi).sigma11)
        for row, child in enumerate(np.random.SeedSequence(seed).spawn(size)):
            rng = np.random.default_rng(child)
            # While every point is unfitted.
            first = mean + math.sqrt(unit * var_x) * rng.standard_normal()
            first_q = unit * rng.chisquare(dim + 1)
            normals = rng.standard_normal((steps.size, 2))
            path = walk(first, first_q, steps, stops, normals, model)
            w1[row, positive], q[row, positive] = path
    return OnlineEnsemble(t, w1[:, inverse], np.sqrt(q)[:, inverse])


def _grid(
    times: FloatArray, setting: Setting, accuracy: float
) -> tuple[float, FloatArray, IntArray]:
    """Start, step lengths, and after how many steps each of the increasing ``times`` is reached."""
    from sgdphase.theory._compiled import drift_and_jacobian

    start = min(setting.untouched_until(), float(times[0]))
    decades = math.log10(times[-1] / start)
    count = 2 + math.ceil(RATES_PER_DECADE * decades)
    t = np.union1d(np.geomspace(start, times[-1], count), times)
    t = t[(t >= start) & (t <= times[-1])]
    points, model = zip(*solve(t, setting), strict=True), setting.compiled()
    a = np.array([drift_and_jacobian(*point, model) for point in points])
    # |A11| + |A22|: how fast deviations move.
    rates = 1 / t + (np.abs(a[:, 2]) + np.abs(a[:, 5]))
    log_t = np.log(t)
    # how many steps are due by time t, counted from the start
    due = np.concatenate([[0.0], np.cumsum(np.diff(log_t) * (t * rates)[1:])]) / accuracy
    edges = np.concatenate([[start], times])
    due_at = np.interp(np.log(edges), log_t, due)
    pieces = [np.array([start])]
    for i, stop in enumerate(times):
        n = math.ceil(due_at[i + 1] - due_at[i])
        if n > 0:
            inner = np.interp(np.linspace(due_at[i], due_at[i + 1], n + 1)[1:-1], due, log_t)
            pieces.append(np.append(np.exp(inner), stop))
    grid = np.concatenate(pieces)
    stops = np.searchsorted(grid, times).astype(np.int64)
    return start, np.diff(grid), stops
