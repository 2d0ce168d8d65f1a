"""Fig. S2A: test error against the weight decay `Lambda`, for several `P`.

Inset: the final `w1`. Dotted: the same without decay; dashed: the stationary state that decay alone
gives, `lam = (c1/(k_perp T d Lambda))^(1/(chi+3))`, `w1 = lam k_perp T sqrt(d)`, error
`c_n lam^-(chi+1)`; ticks at the bottom: `Lambda*(P)`. Nothing is fitted.

With decay a training never ends. It is stopped at `t = 4/Lambda` (deviations of `w1` from the
stationary value fall as `exp(-(chi+3) Lambda t)`), but no later than `10 t_hat`, where trainings
without decay end: what has fitted all points by then would only shrink, at the rate `Lambda`, and
`w1` would depend on when one looked. `T` is varied at one `P`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sgdphase._records import Training
from sgdphase._sweep import Run, grid
from sgdphase._typing import FloatArray
from sgdphase.paper._claim import TENTH, Above, Collapses, Constant, Exponent, Tolerance, fifth
from sgdphase.paper._draw import DASHED, Curves, colored, conditions, key
from sgdphase.paper._figure import Figure, fresh_seeds
from sgdphase.paper._ledger import Scale
from sgdphase.paper._measure import Mean, above_critical, below_critical, estimate
from sgdphase.paper._runs import Number, Runs, computed_error
from sgdphase.stats import Curve, Estimate, powers, whole_powers
from sgdphase.theory import constants, scales

CHI, MARGIN, BATCH = 1.0, 2.0**-7, 8
T, COLD, WARM = 2.0, 0.5, 8.0  # the others at one size only
LARGEST = -10  # exponent of two of the largest decay: the student then barely learns
LOWEST = -5  # the same for the smallest decay, from Lambda* on
TURNS = 4.0  # length of a training in 1/Lambda
END = 10.0  # its largest length in t_hat
AWAY = 8.0  # from Lambda*; w1 depends on it by the fourth root only, so the crossover is wide
ASYMPTOTIC = 3.0  # lam above which the asymptotic power laws are taken to hold


def plan(scale: Scale) -> list[Training]:
    quick = scale == "quick"
    dim, sizes = (32, whole_powers(10, 12)) if quick else (128, whole_powers(11, 17))
    trainings: list[Training] = []
    varied = sizes[1]  # the size at which the temperature is varied
    for size, temperature in [*((size, T) for size in sizes), (varied, COLD), (varied, WARM)]:
        seeds = range(3) if quick else fresh_seeds(80 if size == varied else 20)
        at = partial(
            grid, dim=dim, chi=CHI, margin=MARGIN, train_size=size, batch=BATCH,
            temperature=temperature, seeds=seeds, test_size=8192 if quick else 32768,
        )  # fmt: skip
        critical = _critical_decay(size, temperature, dim)
        end = END / ((3 + CHI) * critical)
        # Whole powers of two times T^-1, so that Lambda/Lambda* takes the same values everywhere.
        last = LARGEST + (2 if quick else 0) - round(math.log2(temperature / T))
        trainings += at()
        for decay in powers(round(math.log2(critical)) + LOWEST, last):
            trainings += at(weight_decay=decay, max_time=min(TURNS / decay, end))
    return trainings


def _critical_decay(size: float, temperature: float, dim: int) -> float:
    """The theory's `Lambda*`."""
    per_unit = scales(train_size=size, dim=dim, chi=CHI, margin=MARGIN).critical_decay
    return per_unit / temperature


def _stationary_lam(decay: ArrayLike, temperature: float, dim: int) -> FloatArray:
    """`lam` of the stationary state that decay alone gives (SI 2.B)."""
    c = constants(CHI)
    ratio = c.c1 / (c.k_perp * temperature * dim * np.asarray(decay))
    return np.asarray(ratio ** (1 / (3 + CHI)))


def _theory(axes: Any, runs: Runs) -> None:
    """What there is without decay, `Lambda*`, and the stationary state, in both panels."""
    dim, main, (small,) = runs.only("dim"), runs.where(temperature=T), axes.child_axes
    for part, color in colored(main.split("train_size")):
        star = _critical_decay(part.only("train_size"), T, dim)
        numbers: tuple[tuple[Any, Number], ...] = ((axes, computed_error), (small, "w1"))
        for panel, number in numbers:
            decay, y = part.curve("weight_decay", number)
            without, foot = np.exp(np.log(y[0]).mean()), panel.get_xaxis_transform()
            panel.plot([decay[1] / 2, star], [without] * 2, ":", color=color, linewidth=1.2)
            panel.plot([star, star], [0, 0.05], color=color, transform=foot, linewidth=1.6)
    c, decays = constants(CHI), np.geomspace(star, main.values("weight_decay")[-1], 50)
    lam, label = _stationary_lam(decays, T, dim), r"theory, $\Lambda\gg\Lambda^*$"
    axes.plot(decays, c.c_n * lam ** (-CHI - 1), label=label, zorder=5, **DASHED)
    small.plot(decays, lam * c.k_perp * T * math.sqrt(dim), "k--", linewidth=1.0, zorder=5)
    key(axes, ":", r"$\Lambda=0$")
    key(axes, "-", r"theory, $\Lambda^*$ (ticks)", linewidth=1.6)


def _has_lam(training: Training, least: float) -> bool:
    """Whether the stationary state that decay alone gives has at least this `lam`."""
    decay, dim = training.weight_decay, training.teacher.dim
    return bool(_stationary_lam(decay, training.temperature, dim) >= least)


def _asymptotic(training: Training) -> bool:
    """Whether that state has power laws; and without decay."""
    return training.weight_decay == 0 or _has_lam(training, ASYMPTOTIC)


def _at_t(training: Training) -> bool:
    return training.temperature == T


def _law(id: str, says: str, y: Number, equals: float) -> Exponent:
    far = above_critical("weight_decay", AWAY)
    return Exponent(
        id, f"{says} for Lambda >> Lambda* (effective exponent where lam > {ASYMPTOTIC:g})",
        y, of="weight_decay", equals=equals, among=("weight_decay", "train_size"),
        where=lambda training: _at_t(training) and far(training) and _asymptotic(training),
        within=Tolerance(0.2 * abs(equals), "a fifth of it, as for the exponents of P"),
        otherwise="too few decays far above Lambda*",
    )  # fmt: skip


# The temperatures are varied at one size, at which no decay is both far above Lambda* and has a
# large lam. From Lambda* to here the theory's own exponent of w1 in Lambda is -0.28 on average.
LEAST_LAM = 2.5


def _over_t(id: str, says: str, y: Number, equals: float, within: Tolerance) -> Exponent:
    """An exponent of `T` at given `Lambda`, at the size where `T` is varied."""
    above = above_critical("weight_decay", 1)
    return Exponent(
        id, f"with decay, Lambda > Lambda*: {says} (effective exponent where lam > "
        f"{LEAST_LAM:g})", y, of="temperature", equals=equals,
        among=("temperature", "weight_decay"), at={"train_size": 1},
        where=lambda training: above(training) and _has_lam(training, LEAST_LAM), within=within,
        otherwise="too few decays above Lambda*",
    )  # fmt: skip


def _critical_temperature(run: Run) -> float:
    """`T_c`, where `r = kappa sqrt(d)/|w_perp|` is 1, from `|w_perp| ~ T`."""
    training = run.training
    r = training.margin * math.sqrt(training.teacher.dim) / run.outcome["w_perp"]
    return r * training.temperature


def _same_t_c(runs: Runs) -> Estimate:
    """`T_c` with decay over that without."""
    above = above_critical("weight_decay", 1)
    kept = runs.at(train_size=1).that(
        lambda t: t.weight_decay == 0 or (above(t) and _has_lam(t, LEAST_LAM))
    )
    at = {"weight_decay": slice(1, None)}
    return Mean(_critical_temperature, "weight_decay", at=at, to={"weight_decay": 0})(kept)


def _shifts(by: str) -> Callable[[Runs], list[Curve]]:
    """`w1` over that without decay against `Lambda`: curves that differ by a shift only.

    Those of several `P` do so where power laws hold. Those of several `T` do so at all `lam`, as
    `w1/T` is a function of `T Lambda` where the margin does not count.
    """
    ratio = Mean(
        "w1", "weight_decay", at={"weight_decay": slice(1, None)}, to={"weight_decay": 0},
        where=lambda t: by == "temperature" or (_asymptotic(t) and _at_t(t)),
    )  # fmt: skip
    return ratio.by(by)


def _never_helps(runs: Runs) -> list[Above]:
    """The decay, in units of `Lambda*`, at which the error over that without decay is lowest."""
    rows = []
    for part in runs.where(temperature=T).split("train_size"):
        _, error = part.curve("weight_decay", computed_error)
        rows.append(np.log(error[1:] / error[0]))
    count, seeds = np.min([row.shape for row in rows], axis=0)  # of decays, and of seeds
    log_ratio = np.mean([row[:count, :seeds] for row in rows], axis=0)  # [Lambda/Lambda*, seed]
    worst = int(log_ratio.mean(axis=1).argmin())
    claim = (
        "decay never helps: test error over that at Lambda = 0, mean over P, lowest at "
        f"Lambda/Lambda* ~ 2^{LOWEST + worst}"
    )
    reason = "a gain below a twentieth is none (the lowest of several means lies a bit low anyway)"
    return [Above("5", claim, estimate(log_ratio[worst], np.exp), 0.95, reason)]


GAMMA, FAR_BELOW = constants(CHI).gamma, below_critical("weight_decay", AWAY)
FIGURE = Figure(
    "figS2a",
    "test error and final w1 against weight decay for several P",
    plan=plan,
    draw=Curves(
        "weight_decay", computed_error, by="train_size", fitted=False,
        where=lambda training: _at_t(training) and training.weight_decay > 0,
        xlabel=r"weight decay $\Lambda$", ylabel="test error",
        inset=((0.12, 0.6, 0.42, 0.36), r"$\Lambda$", "$w_1$"), inset_y="w1", extra=_theory,
        room=(0.1, 0.35), size=(6.6, 4.4), title=lambda runs: conditions(runs.where(temperature=T)),
        legend=None,
    ),
    claims=[
        _law("1", "w1 ~ Lambda^(-1/(chi+3))", "w1", -1 / (CHI + 3)),
        Exponent("2", "w1 ~ P^gamma for Lambda << Lambda*", "w1", of="train_size", equals=GAMMA,
                 where=lambda training: _at_t(training) and FAR_BELOW(training),
                 within=fifth(GAMMA), drift=True),
        Collapses("3a", "Lambda* ~ P^-b by best collapse of w1/w1(0) against Lambda",
                  _shifts("train_size"), drift=True, how={"between": (-5.0, 1.0)},
                  equals=-constants(CHI).b, within=fifth(GAMMA)),
        Collapses("3b", lambda runs: "Lambda* ~ 1/T by best collapse of w1/w1(0) against Lambda "
                  f"at P = {runs.values('train_size')[1]}",
                  lambda runs: _shifts("temperature")(runs.at(train_size=1)),
                  equals=-1, how={"between": (-3.0, 1.0)}),
        _law("4", "test error ~ Lambda^((chi+1)/(chi+3))", computed_error, (CHI + 1) / (CHI + 3)),
        _never_helps,
        _over_t("6a", "w1 ~ T^((chi+2)/(chi+3))", "w1", (CHI + 2) / (CHI + 3),
                Tolerance(0.2 / (CHI + 3), "a fifth of its distance to 1, as without decay")),
        _over_t("6b", "test error ~ T^((chi+1)/(chi+3))", computed_error, (CHI + 1) / (CHI + 3),
                Tolerance(0.2 * (CHI + 1) / (CHI + 3), "a fifth of it, as for Lambda")),
        _over_t("6c", "|w_perp| ~ T", "w_perp", 1, TENTH),
        Constant("6d", "decay does not change T_c ~ kappa: T_c with decay over that without, from "
                 "|w_perp| = kappa sqrt(d) at T_c (Lambda > Lambda*, T = 0.5, 2, 8)", _same_t_c,
                 equals=1, within=Tolerance(0.29, "learning rates of the diagram differ by factors "
                                            "of 2, and half of that is 2^(-1/2)")),
    ],
    remark="After runs at quick scale the collapse of 3a was changed to w1 over its value without "
    "decay, and the time to min(4/Lambda, 10 t_hat): longer, weights that fit all points just "
    "shrink. Learning rate, margin and 1/Lambda can be scaled together: where the margin does not "
    "count, w1/T is a function of T Lambda, and what 3b and 6 can find is that it does count. "
    "Their runs at other T, with P = 4096, are not drawn. P = 4096 has 80 seeds: with 20, as the "
    "other sizes have, the interval of 6b ended 0.001 outside its range.",
)  # fmt: skip
