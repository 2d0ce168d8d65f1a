"""SGD until every point is fitted, with exact skip-ahead.

Under the hinge loss a batch whose points all have their margin changes nothing, and late in a
training nearly all batches are such. So the margins of the points of several batches ahead are
computed in one pass, the loop jumps to the first batch that has an active point (one short of its
margin), and takes its gradient on its active points alone. The weights are as in the plain loop.

How many batches to look at: if a batch is active with probability `q`, looking at `n` of them costs
`r + n B` (in units of the forward pass of a point; `r` is what a call costs whatever its size) and
succeeds with probability `1 - (1-q)^n`. The cost of a success is least at `n = sqrt(2 r / (B q))`
for small `q`. If `1 / q` batches hold as many points as the training set, one pass over all points
gives every active point, and batches are only searched for one; if there is none, all are fitted.

The paper's networks pass batches in compiled steps of the same kind (`_walk`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from time import monotonic
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from sgdphase._records import Training
from sgdphase._streams import NETWORK_BATCHES, NOISE, training_stream
from sgdphase.networks._batches import ahead
from sgdphase.networks._device import keep_freed_memory
from sgdphase.networks._fitting import Fitting, Gradient, Look, total
from sgdphase.networks._losses import LOSSES, Loss
from sgdphase.networks._state import DivergedError, State, Watch
from sgdphase.networks._update import update
from sgdphase.networks._walk import walk_of
from sgdphase.networks._window import LATEST

Ending = Literal["fitted", "diverged", "budget"]

# Two passes, the second over the active points only, beat one pass with a gradient over the whole
# batch (a gradient costs twice the pass) while fewer than this part of the points is active.
_FEW = 0.6
# Active batches are this close when nearly all of them are.
_OFTEN = 1.5
_HALVES = 16


@dataclass(frozen=True)
class _Jump:
    """A jump over `steps` batches, the last of which has this gradient; None if none has one.

    `share` is the part of active points in the last one.
    """

    steps: int
    gradient: Gradient | None = None
    share: float = 1.0


def descend(fitting: Fitting, training: Training, state: State, watch: Watch) -> Ending:
    """Train in place until all points are fitted, or diverged, or the budget is spent."""
    keep_freed_memory()
    if fitting.coupled:
        search = _coupled_step
    elif training.dynamics != "sgd":
        search = _whole_set_step
    else:
        search = _skip if training.is_plain else _plain_step
    walk = walk_of(fitting, training.batch, state.carry) if search is _skip else None
    state.carry = walk.carries if walk else state.carry
    started = monotonic() - state.seconds
    seconds = math.inf if training.max_seconds is None else training.max_seconds
    alive = -1  # the last change of a weight after which a check found that others can follow
    try:
        while state.step < training.step_limit and state.seconds < seconds:
            # Then an epoch brought no change, though some point has a gradient: one that a pass
            # over fewer points, which rounds differently, may take for fitted.
            stalls = state.changed == alive
            if walk and not stalls and not _is_rare(training, state.distance):
                active = walk.go(training, state, watch)
            else:
                by = _knowing_all if stalls and search is _skip else search
                jump = by(fitting, training, state)
                if jump is None:
                    return _checked("fitted", fitting)
                _go(fitting, training, state, watch, jump)
                active = jump.gradient is not None
            if active and state.changed != alive and _may_be_dead(training, state):
                if _is_dead(fitting, training):
                    break
                alive = state.changed
            state.seconds = monotonic() - started
            watch.pause(state)
        ends = _ends_when_fitted(training) and _is_fitted(fitting, training)
        return _checked("fitted" if ends else "budget", fitting)
    except DivergedError:
        return "diverged"
    finally:
        if walk:
            walk.leave()


def _go(fitting: Fitting, training: Training, state: State, watch: Watch, jump: _Jump) -> None:
    """Pass the batches that change nothing, then take the step that does."""
    still = min(jump.steps - (jump.gradient is not None), training.step_limit - state.step)
    state.step += still
    if state.step >= watch.next:
        watch.look(state.step)
    gradient = jump.gradient
    if gradient is None or state.step == training.step_limit:
        return
    state.step += 1
    state.gap += LATEST * (state.step - state.active - state.gap)
    state.share += LATEST * (jump.share - state.share)
    state.active = state.step
    _apply(fitting, training, state, gradient)
    if _moves(gradient) or state.velocity or training.weight_decay > 0 or training.l1 > 0:
        state.changed = state.step
    if state.step >= watch.next:
        watch.look(state.step)


def _moves(gradient: Gradient) -> bool:
    """Whether it is not 0 in every weight."""
    # The last layer first: it is small, and its gradient is hardly ever 0.
    return any(bool(part.any()) for part in reversed(gradient))


def _is_rare(training: Training, gap: float) -> bool:
    """Whether the batches up to the next active one hold as many points as the training set."""
    return gap >= _OFTEN and gap * training.batch >= training.train_size


def _may_be_dead(training: Training, state: State) -> bool:
    """Whether as many points as the training set has passed without a change."""
    return (state.step - state.changed) * training.batch >= training.train_size


def _is_dead(fitting: Fitting, training: Training) -> bool:
    """Whether no step will ever change a weight, though points are unfitted.

    Large steps can drive all neurons of a layer to where they have no slope.
    """
    if training.dynamics != "sgd" or not _loss(training).vanishes or fitting.coupled:
        return False
    active = _below(fitting.margins(), training.goal).nonzero()[:, 0]
    if not len(active):
        return False
    # Parts of a gradient can cancel, also in every weight (saturated neurons). Those of random
    # halves of the points would not do so time after time.
    generator = torch.Generator().manual_seed(0)
    for some in fitting.split(active):
        for number in range(_HALVES + 1):
            half = some[torch.rand(len(some), generator=generator) < (0.5 if number else 1.0)]
            if not len(half):
                continue
            seen = fitting.look(half, for_gradient=True)
            if any(bool(p.any()) for p in seen.gradient(torch.arange(len(half)), 1.0)):
                return False
    return True


def _skip(fitting: Fitting, training: Training, state: State) -> _Jump | None:
    """To the next active batch, or some way towards it."""
    gap = state.distance
    if gap < _OFTEN and state.share > _FEW:
        return _at_once(fitting, training, state)
    if gap * training.batch >= training.train_size:
        return _knowing_all(fitting, training, state)
    look = max(1, round(math.sqrt(2 * fitting.call * gap / training.batch)))
    points = torch.from_numpy(ahead(training, state.step)[:look])
    short = training.goal
    seen = fitting.look(points.ravel())
    active = _below(seen.z, short)
    where = active.nonzero()[:, 0]
    if not len(where):
        return _Jump(len(points))
    first = int(where[0]) // training.batch
    rows = where[where < (first + 1) * training.batch]
    return _jump_to(training, first + 1, seen, rows)


def _at_once(fitting: Fitting, training: Training, state: State) -> _Jump | None:
    """One pass, with a gradient, over a batch of which much is likely to be active."""
    points = torch.from_numpy(ahead(training, state.step)[0])
    count, parts = 0, []
    for some in fitting.split(points):
        seen = fitting.look(some, for_gradient=True)
        rows = _below(seen.z, training.goal).nonzero()[:, 0]
        count += len(rows)
        if len(rows):
            parts.append(seen.gradient(rows, -1 / training.batch))
    if count:
        return _Jump(1, total(parts), count / len(points))
    # At full batch the whole set was just seen.
    return None if len(points) == training.train_size else _Jump(1)


def _knowing_all(fitting: Fitting, training: Training, state: State) -> _Jump | None:
    """Every active point from one pass over all; then batches are only searched for one.

    To the first active batch with a gradient: the points stay active until then. If there is none
    among the next batches, to the last active one.
    """
    active = _below(fitting.margins(), training.goal).numpy()
    if not active.any():
        return None
    step, jump = state.step, None
    while jump is None and step < training.step_limit:
        block = ahead(training, step)
        for number in np.flatnonzero(active[block].any(axis=1)):
            chosen = torch.from_numpy(block[number][active[block[number]]])
            seen = fitting.look(chosen, for_gradient=True)
            steps = step - state.step + int(number) + 1
            jump = _jump_to(training, steps, seen, torch.arange(len(chosen)))
            if jump.gradient is not None and _moves(jump.gradient):
                return jump
        step += len(block)
    return jump or _Jump(step - state.step)


def _jump_to(training: Training, steps: int, seen: Look, active: Tensor) -> _Jump:
    """To a batch of which these points are active; the others add nothing to its loss."""
    # Not through the hinge: another pass, over fewer points, rounds differently, and may take an
    # unfitted point for a fitted one. The training would then never end.
    gradient = seen.gradient(active, -1 / training.batch)
    return _Jump(steps, gradient, len(active) / training.batch)


def _plain_step(fitting: Fitting, training: Training, state: State) -> _Jump | None:
    """A step that moves the weights for any batch: momentum, decay, a loss that is never 0."""
    points = torch.from_numpy(ahead(training, state.step)[0])
    z = fitting.margins_with_gradient(points)
    unfitted = bool(_below(z.detach(), training.goal).any())
    state.quiet = 0 if unfitted else state.quiet + 1
    # As many fitted points in a row as the training set has: check all of them.
    if _ends_when_fitted(training) and state.quiet * training.batch >= training.train_size:
        state.quiet = 0
        if _is_fitted(fitting, training):
            return None
    return _Jump(1, fitting.gradient(_mean_loss(z, training)))


def _coupled_step(fitting: Fitting, training: Training, state: State) -> _Jump | None:
    """A step where points see each other: no batch can be passed over.

    Once per epoch all points are checked, with the predictor that does not depend on batches.
    """
    state.quiet += 1
    if state.quiet * training.batch >= training.train_size:
        state.quiet = 0
        if _is_fitted(fitting, training):
            return None
    points = torch.from_numpy(ahead(training, state.step)[0])
    z = fitting.margins_with_gradient(points)
    _below(z.detach(), 0.0)
    return _Jump(1, fitting.gradient(_mean_loss(z, training)))


def _whole_set_step(fitting: Fitting, training: Training, state: State) -> _Jump | None:
    """Dynamics that look at all points at every step.

    *unfitted*: a batch drawn from the points that are short of the goal, as many as there are.
    *gaussian*: gradient descent plus Gaussian noise with the covariance of the mini-batch,
    `(P-B)/(B(P-1)) C`, where `C` is that of the points' gradients `g_i`. With independent standard
    `e_i`, `sum_i (e_i - mean e) g_i / sqrt(P)` has covariance `C`: one weighted gradient.
    """
    P, B, loss = training.train_size, training.batch, _loss(training)
    short = training.goal
    if training.dynamics == "unfitted":
        unfitted = _below(fitting.margins(), short).nonzero()[:, 0].numpy()
        if not len(unfitted):
            return None
        rng = training_stream(training.seed, NETWORK_BATCHES, state.step)
        chosen = rng.choice(unfitted, min(B, len(unfitted)), replace=False, shuffle=False)
        z = fitting.margins_with_gradient(torch.from_numpy(chosen))
        if loss.vanishes:
            return _Jump(1, fitting.gradient(-z.mean()))
        return _Jump(1, fitting.gradient(loss.value(z / training.margin).mean() * training.margin))
    z = fitting.margins_with_gradient(torch.arange(P))
    if not bool(_below(z.detach(), short).any()):
        return None
    noise = training_stream(training.seed, NOISE, state.step).standard_normal(P)
    spread = math.sqrt((P - B) / (B * max(P - 1, 1)))
    weights = 1.0 / P + spread / math.sqrt(P) * (noise - noise.mean())
    values = loss.value(z / training.margin) * torch.from_numpy(weights).to(z)
    return _Jump(1, fitting.gradient(values.sum() * training.margin))


def _mean_loss(z: Tensor, training: Training) -> Tensor:
    return _loss(training).value(z / training.margin).sum() * (training.margin / training.batch)


def _loss(training: Training) -> Loss:
    return LOSSES[training.loss]


def _apply(fitting: Fitting, training: Training, state: State, gradient: Gradient) -> None:
    weights = fitting.parameters
    state.carry = state.carry or _zeros(weights)
    if training.momentum > 0:
        state.velocity = state.velocity or _zeros(weights)
    update(weights, gradient, training, state.velocity, state.carry)


def _zeros(like: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    return tuple(torch.zeros_like(tensor) for tensor in like)


def _below(z: Tensor, short: float) -> Tensor:
    """Which points are short of a margin; raises if a margin is not finite."""
    if not math.isfinite(z.abs().max()):
        raise DivergedError
    return (z < short).cpu()


def _ends_when_fitted(training: Training) -> bool:
    """Whether a training ends when all points are fitted: regularised, they need not stay so.

    The paper's networks are trained until decay and data balance; a user's training ends when its
    data are fitted, as without decay.
    """
    return (training.weight_decay == 0 and training.l1 == 0) or training.model == "own"


def _is_fitted(fitting: Fitting, training: Training) -> bool:
    return not bool(_below(fitting.margins(), training.goal).any())


def _checked(ending: Ending, fitting: Fitting) -> Ending:
    """Outputs may be finite where weights are not (a saturated activation)."""
    finite = all(bool(torch.isfinite(weight).all()) for weight in fitting.parameters)
    return ending if finite else "diverged"
