"""Exact SGD of the perceptron with skip-ahead.

The process (SI 1.A): at every step a fresh batch of `B` distinct points out of `P`, and

    w <- w + (lr / B) sum_{mu in batch, unfitted} z_mu / sqrt(d),      z_mu = y_mu x_mu,

until no point is unfitted, i.e. `z_mu . w >= margin sqrt(d)` for all. A batch of fitted points does
nothing, and late in training nearly all are fitted, so the plain loop spends its time on dot
products that change nothing. Three facts remove most of them without changing the process.

1. *A list of points with a safe radius.* If `z_mu . w_ref - margin sqrt(d) = c_mu > 0` at some
   `w_ref`, the point stays fitted while `|w - w_ref| < c_mu / |z_mu|` (Cauchy and Schwarz). Points
   beyond a radius need not be looked at until the weights have moved that far. A growing `w1`
   only helps, since `z_1 = |x_1| >= 0`, so it does not count as movement. In the same way, a point
   with `c_mu < 0` stays unfitted while `|z_mu|` times this movement and `z_1` times the growth of
   `w1` are less than `-c_mu` together; it is drawn, but not looked at. A new list is made of a
   few points around the last one (the scope), until the weights have moved farther.
2. *Drawing only what matters.* The batch meets the list in a hypergeometric number of points, all
   subsets equally likely: that number is drawn, then that many points of the list.
3. *Tracking.* With the inner products of the list known (columns of its Gram matrix, computed when
   first needed), a change of the weights costs one addition per listed point, every unfitted
   point is known at every step, and the steps whose batch holds none are jumped over at once:
   their number is geometric.

`run_sgd` alternates stretches of three kinds, all the same process in distribution: `plain` (draws
from all points), `listed_only` (1 and 2) and `tracked` (1 to 3); at full batch, where nothing is
drawn, `descend` replaces the first two and `slide` the third. `plan` chooses the kind and the
radius of the list by cost alone, as if the weights will move as they did before.
"""

from __future__ import annotations

import math

import numpy as np

from sgdphase._compiled import kept
from sgdphase.perceptron._full_batch import descend, slide
from sgdphase.perceptron._hypergeometric import chances_of_none
from sgdphase.perceptron._plan import (
    COST_GATHER,
    COST_SWEEP_DOT,
    LIST_SWEEPS,
    PLAIN,
    PLAIN_SWEEPS,
    SCOPE,
    TRACKED,
    plan,
    sliding_cost,
)
from sgdphase.perceptron._stretches import (
    CHANGING,
    LAST_CHANGE,
    PARTS,
    SNAPSHOTS,
    STEPS,
    listed_only,
    plain,
    snapshots_before,
)
from sgdphase.perceptron._tracked import tracked
from sgdphase.perceptron._vectors import (
    FASTMATH,
    add_scaled,
    displacement,
    dot,
    flags,
    integers,
    matrix,
    numbers,
    up_to,
    zeros,
)

FITTED, OUT_OF_STEPS, STOPPED, DIVERGED = 0, 1, 2, 3


@kept(fastmath=FASTMATH, nogil=True, error_model="numpy", no_cfunc_wrapper=True)
def run_sgd(z, norms, threshold, rate, batch, gradient, max_steps, due, snapshots, state, stop):
    """SGD from `w = 0`: `(end, w, last step that changed w, snapshots stored)`.

    `z` are the points times their labels, their first coordinates nowhere negative, and `norms`
    their lengths. `threshold = margin sqrt(d)`, `rate = lr / (B sqrt(d))`. `snapshots[i]` becomes
    `w` after step `due[i]`, as far as the training goes. At full batch, where nothing is drawn,
    `state` is None; below it `gradient`, which has the size of `w`, is None. What only the other
    case needs is then not compiled. `stop[0]` may be set from another thread to end early.
    """
    size, dim = z.shape
    w = zeros(dim)
    clock = integers(5)
    items, everything = numbers(size), numbers(size)
    seen = flags(size)
    most_tracked = min(4 * dim, size)
    none_drawn = chances_of_none(size, batch, most_tracked)
    # Gram columns that are kept (untouched memory costs nothing), and what was spent on the others.
    kept = matrix(min(dim, size), size)
    kept_at = integers(size)
    kept_at[:] = -1
    spent = integers(size + 1)  # the last entry counts the kept ones
    # All points but those in scope are fitted while `w` is within the outer radius.
    scope, outer, w_outer = everything, 0.0, w.copy()
    distances = zeros(size)
    travelled, took, growing = 0.0, np.int64(0), 1.0
    while True:
        moved = displacement(w, w_outer)
        if not 2.0 * moved < outer:
            scope, outer, moved = everything, math.inf, 0.0
        unfitted = np.int64(0)
        safe = distances[: scope.shape[0]]
        for i in range(scope.shape[0]):
            mu = scope[i]
            slack = dot(z[mu], w) - threshold
            unfitted += 1 if slack < 0.0 else 0
            limit = norms[mu] + (growing * z[mu, 0] if slack < 0.0 else 0.0)
            # A little less than the bound, so that rounding cannot matter.
            safe[i] = slack / limit * (1.0 - 1e-9) if limit > 0.0 else -math.inf
        end = -1
        if not math.isfinite(dot(w, w)):
            end = DIVERGED
        elif unfitted == 0:
            end = FITTED
        elif clock[STEPS] >= max_steps:
            end = OUT_OF_STEPS
        elif stop[0] != 0:
            end = STOPPED
        if end >= 0:
            last = clock[LAST_CHANGE]
            snapshots_before(last + 1, w, clock, due, snapshots)
            return end, w, last, clock[SNAPSHOTS]

        column_cost = 0.0
        for i in range(scope.shape[0]):
            if seen[scope[i]]:
                column_cost += COST_SWEEP_DOT if kept_at[scope[i]] < 0 else COST_GATHER
        # Full batches make no noise.
        kick = rate * math.sqrt(dim) if batch < size else 0.0
        kind, radius = plan(
            safe, size, batch, unfitted, outer - moved, kick, travelled, took, clock[CHANGING],
            clock[PARTS], column_cost, batch == size or unfitted < most_tracked,
        )  # fmt: skip
        w_ref = w.copy()
        began = clock[STEPS]
        clock[CHANGING] = 0
        clock[PARTS] = 0
        seen[:] = False
        listed, sure = up_to(scope, safe, radius)
        growth = growing * radius
        if kind == PLAIN:
            listed, sure, outer = everything, 0, 0.0
        elif 2.0 * SCOPE * radius < outer - moved:
            outer, w_outer = SCOPE * radius, w_ref
            scope, _ = up_to(scope, safe, outer)
        # numba leaves out what stands under `x is not None` if `x` is None. It compiles what stands
        # under `x is None` for every `x`.
        if gradient is not None:
            unsure = listed[sure:]
            each = max(unsure.shape[0], 1) * COST_SWEEP_DOT
            if kind == TRACKED:
                each = sliding_cost(unsure.shape[0])
            work = (PLAIN_SWEEPS if kind == PLAIN else LIST_SWEEPS) * size * COST_SWEEP_DOT
            steps = min(max(np.int64(work / each), 1), max_steps - began)
            gradient[:] = 0.0
            for i in range(sure):
                add_scaled(gradient, 1.0, z[listed[i]])
            if kind == TRACKED:
                slide(
                    z, unsure, threshold, rate, radius, growth, steps, sure, gradient,
                    w, clock, due, snapshots,
                )  # fmt: skip
            else:
                descend(
                    z, unsure, threshold, rate, radius, growth, steps, sure, gradient,
                    w, clock, due, snapshots,
                )  # fmt: skip
        if state is not None:
            if kind == TRACKED:
                tracked(
                    z, listed, threshold, rate, batch, radius, max_steps, none_drawn,
                    spent, kept, kept_at, seen, w, clock, due, snapshots, state,
                )  # fmt: skip
            elif kind == PLAIN:
                steps = min(max(PLAIN_SWEEPS * size // batch, 1), max_steps - began)
                plain(
                    z, threshold, rate, batch, steps, items, seen, w, clock, due, snapshots, state
                )
            else:
                listed_only(
                    z, listed, threshold, rate, batch, radius, max_steps,
                    seen, w, clock, due, snapshots, state, sure, growth,
                )  # fmt: skip
        travelled = displacement(w, w_ref)
        took = clock[STEPS] - began
        # How much faster w1 grows than the rest moves, with some room.
        if travelled > 0.0:
            growing = min(max(1.5 * (w[0] - w_ref[0]) / travelled, 0.5), 16.0)
