"""The claims of the theory alone: fluctuations, and the first step. No training.

Drawn, but no claims: averages over their asymptotes, and the online solution with its power laws.
They follow from the equations, and tests of `theory` compare them.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from sgdphase import theory
from sgdphase._typing import FloatArray
from sgdphase.diagram._style import BLUE, GREEN, ORANGE, new_figure
from sgdphase.paper._claim import Above, Below, Constant, Spec, Tolerance
from sgdphase.paper._draw import colored, key, letters
from sgdphase.paper._figure import Figure
from sgdphase.paper._ledger import Scale
from sgdphase.paper._measure import exponent, share
from sgdphase.paper._runs import Runs, expected_error
from sgdphase.stats import Estimate, whole_powers

CHIS = (0.0, 1.0, 3.0)
DIM, ONE_STEP_DIM = 128, 32
# Small enough that r = margin/(k_perp T) < 0.001 at T = 1: the limit T >> margin.
MARGIN = 1e-4
GROUPS = 10  # of trajectories of the SDE, as if of seeds


# `sign * average * lam^(chi + power)` tends to a constant: its name, the power and the sign.
LIMITS = {
    "g1": ("c1", 2, 1),
    "g_perp": ("c2", 1, -1),
    "unfitted": ("c_n", 1, 1),
    "sigma11": ("c11", 3, 1),
    "sigma12": ("c12", 2, 1),
    "sigma22": ("c22", 1, 1),
}


def limits(lam: FloatArray, chi: float) -> dict[str, FloatArray]:
    """Each exact average at `r = 0`, times its power of `lam`, over its asymptotic constant."""
    exact, c = theory.averages(lam, np.zeros_like(lam), chi), theory.constants(chi)
    return {
        name: sign * getattr(exact, name) * lam ** (chi + power) / getattr(c, constant)
        for name, (constant, power, sign) in LIMITS.items()
    }


@lru_cache(maxsize=4)
def solution(chi: float) -> theory.Online:
    """The online solution at `T = 1`, at times from 0.1 to 10^8 in units of `T d`."""
    times = np.geomspace(0.1, 1e8, 91) * DIM
    return theory.online(times, chi=chi, dim=DIM, margin=MARGIN, temperature=1.0)


def dims_of(scale: Scale) -> list[int]:
    """Dimensions of the fluctuations."""
    return [16, 64, 256] if scale == "quick" else whole_powers(4, 10)


@lru_cache(maxsize=4)
def spread(scale: Scale) -> dict[str, tuple[FloatArray, FloatArray]]:
    """Relative fluctuations `[dim, group]` of each weight, and their linear-noise values `[dim]`.

    Of trajectories of the two-variable SDE at `t = 100 T d`, chi = 1.
    """
    each, dims = 8 if scale == "quick" else 120, dims_of(scale)
    spreads = {n: (np.empty((len(dims), GROUPS)), np.empty(len(dims))) for n in ("w1", "w_perp")}
    for i, dim in enumerate(dims):
        setting: Any = {"chi": 1.0, "dim": dim, "margin": MARGIN, "temperature": 1.0}
        time = [100.0 * dim]
        many = theory.online_ensemble(time, size=GROUPS * each, seed=dim, **setting)
        mean, noise = theory.online(time, **setting), theory.fluctuations(time, **setting)
        for name, (values, linear) in spreads.items():
            groups, centre = getattr(many, name).reshape(GROUPS, each), getattr(mean, name)[0]
            values[i] = groups.std(axis=1, ddof=1) / centre
            linear[i] = np.sqrt(getattr(noise, f"var_{name}")[0]) / centre
    return spreads


@lru_cache(maxsize=16)
def one_step(chi: float, scale: Scale) -> tuple[FloatArray, FloatArray]:
    """After one simulated step of a large learning rate, at batches well above the dimension.

    `batch [n]`, and the error of the distribution `[n, seeds]`.
    """
    largest, seeds = (13, 5) if scale == "quick" else (15, 20)
    batches = whole_powers(9, largest)
    error = np.empty((len(batches), seeds))
    for seed in range(seeds):
        points = _points(ONE_STEP_DIM, chi, 2**largest, seed)
        for i, batch in enumerate(batches):
            w = _after_one_step(points, batch, seed)
            error[i, seed] = expected_error(w[0] / np.linalg.norm(w[1:]), chi)
    return np.array(batches, dtype=np.float64), error


@lru_cache(maxsize=4)
def fitted_share(scale: Scale) -> dict[float, Estimate]:
    """Share of training sets of chi = 3 that one step fits, by the batch in units of its scale.

    With its exact binomial interval of 90 %.
    """
    chi, dim, size, trials = 3.0, 8, 2**13, 20 if scale == "quick" else 400
    unit = theory.scales(train_size=size, dim=dim, chi=chi, margin=1e-12).one_step_batch
    hits = dict.fromkeys(np.exp2(np.arange(-3.0, 5.0)).tolist(), 0)
    for seed in range(trials):
        points = _points(dim, chi, size, seed)
        for ratio in hits:
            w = _after_one_step(points, max(round(ratio * unit), 1), seed)
            hits[ratio] += bool((points.z @ w > 0).all())
    return {ratio: share(n, trials) for ratio, n in hits.items()}


def _points(dim: int, chi: float, size: int, seed: int) -> Any:
    from sgdphase.perceptron import Points
    from sgdphase.problems import TeacherTask

    return Points.of(TeacherTask(dim, chi).train_set(size, seed))


def _after_one_step(points: Any, batch: int, seed: int) -> FloatArray:
    """Weights after the first step, at a margin that nothing comes near."""
    from sgdphase.perceptron import simulate_sgd

    run = simulate_sgd(points, margin=1e-12, lr=1.0, batch=batch, seed=seed, max_steps=1)
    return np.asarray(run.snapshots[0])


def claims_of_fluctuations(runs: Runs, scale: Scale) -> list[Spec]:
    dims = np.array(dims_of(scale), dtype=np.float64)
    upper = dims >= np.sqrt(dims[0] * dims[-1])
    says = "relative fluctuations of {} fall as d^-1/2 (two-variable SDE, chi = 1, t = 100 T d)"
    late = f"{says}, effective exponent from d = {dims[upper][0]:g} on"
    reason = "0 (no averaging) and -1 are ten times as far; it lets 1/d corrections at d = 16 in"
    same = "as over all d; fewer points, but the corrections are smaller"
    rows = [
        ("5a", says, "w1", dims > 0, reason),
        ("5b", says, "w_perp", dims > 0, reason),
        ("5c", late, "w1", upper, same),
        ("5d", late, "w_perp", upper, same),
    ]
    return [
        Constant(id, text.format(name), exponent(dims[keep], spread(scale)[name][0][keep]),
                 equals=-0.5, within=Tolerance(0.05, why))
        for id, text, name, keep, why in rows
    ]  # fmt: skip


def claims_of_first_step(runs: Runs, scale: Scale) -> list[Spec]:
    steps = {chi: one_step(chi, scale) for chi in CHIS}
    share = fitted_share(scale)
    return [
        *(Constant(f"7.chi{chi:g}", "error ~ B^-((chi+1)/2) after the first step",
                   exponent(batch, error), equals=-(chi + 1) / 2,
                   within=Tolerance(0.1 * (chi + 1) / 2, "a tenth of it; lambda is 3 and more, "
                                    "where corrections to the asymptote fade"))
          for chi, (batch, error) in steps.items()),
        Above("8a", "one step fits all points at B = 8 B_1, B_1 ~ P^(2/(1+chi)) (share)",
              share[8.0], 0.9, "n = 1/P at B_1, hence 1/64 points unfitted on average"),
        Below("8b", "one step does not fit all points at B = B_1/8 (share)",
              share[0.125], 0.1, "64 points unfitted on average"),
    ]  # fmt: skip


def draw(runs: Runs, scale: Scale) -> Any:
    """Constants; `|w_perp|`, `w1` and `n` in time; fluctuations; error after one step."""
    figure, axes = new_figure(columns=3, rows=2, size=(3.9, 3.3))
    _draw_constants(axes[0])
    _draw_time(*axes[1:4])
    _draw_spread(axes[4], scale)
    _draw_one_step(axes[5], scale)
    letters(axes)
    return figure


def _draw_constants(axes: Any) -> None:
    lam = np.geomspace(0.5, 1e3, 80)
    looks = [(line, color) for line in ("-", "--") for color in (BLUE, ORANGE, GREEN)]
    for (name, values), (line, color) in zip(limits(lam, 1.0).items(), looks, strict=True):
        label = f"$c_{{{LIMITS[name][0].removeprefix('c').removeprefix('_')}}}$"
        axes.plot(lam, values, line, color=color, label=label)
    axes.axhline(1, color="0.6", ls=":", lw=1)
    axes.set(xscale="log", xlabel=r"$\lambda$", ylabel="exact average / asymptote", ylim=(0, 1.25))
    axes.legend(ncols=2, loc="lower right", frameon=False)
    axes.text(0.04, 0.93, r"$\chi=1$", transform=axes.transAxes, va="top")


def _draw_time(perp: Any, along: Any, unfitted: Any) -> None:
    for chi, color in colored(CHIS):
        exact, k_perp = solution(chi), theory.constants(chi).k_perp
        late = theory.asymptotic(exact.time, chi=chi, dim=DIM, temperature=1.0)
        t, look = exact.time / DIM, {"color": color, "label": rf"$\chi={chi:g}$"}
        perp.plot(t, exact.w_perp / (k_perp * np.sqrt(DIM)), **look)
        for axes, name, unit in ((along, "w1", np.sqrt(DIM)), (unfitted, "unfitted", 1.0)):
            axes.plot(t, getattr(exact, name) / unit, **look)
            axes.plot(t, getattr(late, name) / unit, "k--", lw=0.9)
    perp.axhline(1, color="black", ls="--", lw=0.9)
    key(along, "--", r"$\propto t^{1/(3+\chi)}$", "k", lw=0.9)
    key(unfitted, "--", r"$\propto t^{-(\chi+1)/(\chi+3)}$", "k", lw=0.9)
    perp.set(ylabel=r"$\|\mathbf{w}_\perp\|\,/\,(k_\perp T\sqrt{d})$")
    along.set(yscale="log", ylabel=r"$w_1\,/\,(T\sqrt{d})$")
    unfitted.set(yscale="log", ylabel="$n(t)$")
    unfitted.set_ylim(top=2)
    for axes in (perp, along, unfitted):
        axes.set(xscale="log", xlabel=r"$t\,/\,(T d)$")
        axes.legend(frameon=False)


def _draw_spread(axes: Any, scale: Scale) -> None:
    rows = (("w1", BLUE, "o", "$w_1$"), ("w_perp", ORANGE, "s", r"$\|\mathbf{w}_\perp\|$"))
    dims = dims_of(scale)
    for name, color, marker, label in rows:
        values, linear = spread(scale)[name]
        mean = np.sqrt((values**2).mean(axis=1))
        error = values.std(axis=1, ddof=1) / np.sqrt(GROUPS)
        axes.errorbar(dims, mean, error, color=color, marker=marker, ls="none", label=label)
        axes.plot(dims, linear, "k--", lw=0.9)
    key(axes, "--", "linear noise theory", "k", lw=0.9)
    axes.set_title(r"$\chi=1$, $t=100\,Td$", fontsize="medium")
    axes.set(ylabel="fluctuations / mean", xlabel="$d$", yscale="log", ylim=(0.008, 0.6))
    axes.set_xscale("log", base=2)
    axes.legend(loc="upper right", frameon=False, fontsize=8)


def _draw_one_step(axes: Any, scale: Scale) -> None:
    for chi, color in colored(CHIS):
        batch, error = one_step(chi, scale)
        mean = np.exp(np.log(error).mean(axis=1))
        axes.plot(batch, mean, "o", color=color, ms=4.5, label=rf"$\chi={chi:g}$")
        lam = theory.mean_abs_x1(chi) * np.sqrt(batch / (ONE_STEP_DIM - 1))
        axes.plot(batch, theory.constants(chi).c_n * lam ** (-chi - 1), "k--", lw=0.9)
    key(axes, "--", r"$\propto B^{-(\chi+1)/2}$", "k", lw=0.9)
    axes.set(yscale="log", xlabel="$B$", ylabel="error after one step")
    axes.set_xscale("log", base=2)
    axes.set_ylim(axes.get_ylim()[0] / 1e4, 100)
    axes.legend(loc="upper right", fontsize=8, frameon=False, ncols=2, columnspacing=1)
    share, small = fitted_share(scale), axes.inset_axes((0.12, 0.15, 0.42, 0.17))
    small.plot(list(share), [part.value for part in share.values()], "o-", color=color, ms=3, lw=1)
    small.axvline(1, color="0.6", ls=":", lw=1)
    small.set(xscale="log", ylim=(-0.08, 1.08))
    small.set_xlabel(r"$B/B_1$", fontsize=8, labelpad=0)
    small.set_title("share fitted by one step", fontsize=8, pad=2)
    small.tick_params(labelsize=7, pad=1)
    axes.set_title(f"$d={ONE_STEP_DIM}$", fontsize="medium")


FIGURE = Figure(
    "theory",
    "the claims of the theory alone: constants, online solution, fluctuations, first step",
    plan=lambda scale: (),
    draw=draw,
    claims=[claims_of_fluctuations, claims_of_first_step],
    ledger="theory",
    remark=(
        "The trials of 8a and 8b were raised from 100 to 400 and the trajectories of 5 doubled "
        "after a first run, in which 8a was undecided; 5c and 5d were added then."
    ),
)
