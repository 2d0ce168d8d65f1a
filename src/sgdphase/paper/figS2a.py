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
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sgdphase._records import Training
from sgdphase._sweep import grid
from sgdphase._typing import FloatArray, Mask
from sgdphase.paper.claim import PART, PART_REASON, Claim, Collapses, Exponent, Scale, above, equal
from sgdphase.paper.draw import DASHED, colored, draw_curve, inset, key, legend, panel, power_label
from sgdphase.paper.figure import Figure
from sgdphase.paper.measure import drift, estimate, exponent, size_range
from sgdphase.paper.runs import Runs
from sgdphase.stats import Curve, powers, whole_powers
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
    dim, sizes = (32, whole_powers(10, 12)) if quick else (128, whole_powers(11, 15))
    trainings: list[Training] = []
    for size, temperature in [*((size, T) for size in sizes), (sizes[1], COLD), (sizes[1], WARM)]:
        at = partial(
            grid, dim=dim, chi=CHI, margin=MARGIN, train_size=size, batch=BATCH,
            temperature=temperature, seeds=3 if quick else 5, test_size=8192 if quick else 32768,
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


def draw(runs: Runs, scale: Scale) -> Any:
    dim, main = runs.only("dim"), runs.where(temperature=T)
    figure, axes = panel(r"weight decay $\Lambda$", "test error", size=(5.6, 4.6))
    small = inset(axes, (0.12, 0.6, 0.42, 0.36), r"$\Lambda$", "$w_1$")
    for size, color in colored(main.values("train_size")):
        star = _critical_decay(size, T, dim)
        for part, name, dots in ((axes, "test_error", 4.5), (small, "w1", 3)):
            decay, y = main.curve("weight_decay", name, train_size=size)
            look: Any = {"color": color, "marker": "o", "markersize": dots, "linewidth": 0.7}
            draw_curve(part, decay[1:], y[1:], **look)
            without = np.exp(np.log(y[0]).mean())
            part.plot([decay[1] / 2, star], [without] * 2, ":", color=color, linewidth=1.2)
            foot = part.get_xaxis_transform()
            part.plot([star, star], [0, 0.05], color=color, transform=foot, linewidth=1.6)
        key(axes, "o", power_label("P", size), color)
    c, decay = constants(CHI), np.geomspace(star, main.values("weight_decay")[-1], 50)
    lam = _stationary_lam(decay, T, dim)
    label = r"theory, $\Lambda\gg\Lambda^*$"
    axes.plot(decay, c.c_n * lam ** (-CHI - 1), label=label, zorder=5, **DASHED)
    small.plot(decay, lam * c.k_perp * T * math.sqrt(dim), "k--", linewidth=1.0, zorder=5)
    key(axes, ":", r"$\Lambda=0$")
    key(axes, "-", r"$\Lambda^*$ (ticks)", linewidth=1.6)
    low, high = axes.get_ylim()
    axes.set_ylim(low / 1.3, high * (high / low) ** 0.45)  # room for the inset
    legend(axes, "lower right", bbox_to_anchor=(1.0, 0.06))  # above the ticks
    return figure


def _far_above(runs: Runs) -> Mask:
    """Runs at `T` with decay far above `Lambda*`, where the asymptotic laws hold."""
    table, dim = runs.table(), runs.only("dim")
    decay = table["weight_decay"]
    star = [_critical_decay(size, T, dim) for size in table["train_size"]]
    lam = _stationary_lam(np.where(decay > 0, decay, 1.0), T, dim)
    far = (table["temperature"] == T) & (decay > 0) & (decay / star >= AWAY)
    return np.asarray(far & (lam >= ASYMPTOTIC))


def _law(id: str, says: str, y: str, equals: float) -> Exponent:
    return Exponent(
        id, f"{says} for Lambda >> Lambda* (effective exponent where lam > {ASYMPTOTIC:g})",
        y, of="weight_decay", equals=equals, among=("weight_decay", "train_size"),
        where=_far_above, within=PART * abs(equals),
        reason="a fifth of it, as for the exponents of P",
        otherwise="too few decays far above Lambda*",
    )  # fmt: skip


def _below_star(runs: Runs, scale: Scale) -> list[Claim]:
    """`w1` far below `Lambda*`, at the same `Lambda/Lambda*` for each size."""
    main, dim, rows = runs.where(temperature=T), runs.only("dim"), []
    for size in main.values("train_size"):
        decay, w1 = main.curve("weight_decay", "w1", train_size=size)
        low = (decay > 0) & (decay <= _critical_decay(size, T, dim) / AWAY)
        rows.append(np.exp(np.log(w1[low]).mean(axis=0)))
    sizes, y = np.array(main.values("train_size"), dtype=np.float64), np.array(rows)
    at = f"effective exponent at {size_range(sizes)}; {drift(sizes, y)}"
    claim, gamma = f"w1 ~ P^gamma for Lambda << Lambda* ({at})", constants(CHI).gamma
    return [equal("2", claim, exponent(sizes, y), gamma, PART * gamma, PART_REASON)]


def _curves(runs: Runs, along: str) -> list[Curve]:
    """`w1` over that without decay against `Lambda`, where the asymptotic laws hold.

    One curve for each value of a parameter; they differ by a shift in `log Lambda` only.
    """
    curves = []
    for part in runs.split(along):
        decay, w1 = part.curve("weight_decay", "w1")
        keep = decay > 0
        lam = _stationary_lam(decay[keep], part.only("temperature"), part.only("dim"))
        keep[keep] = lam >= ASYMPTOTIC
        curves.append(Curve(part.only(along), decay[keep], w1[keep] / w1[0]))
    return curves


def _of_all_temperatures(runs: Runs) -> Runs:
    """The runs of the size at which `T` is varied."""
    return runs.where(train_size=runs.where(temperature=COLD).only("train_size"))


def _never_helps(runs: Runs, scale: Scale) -> list[Claim]:
    """The decay, in units of `Lambda*`, at which the error over that without decay is lowest."""
    rows = []
    for part in runs.where(temperature=T).split("train_size"):
        _, error = part.curve("weight_decay", "test_error")
        rows.append(np.log(error[1:] / error[0]))
    count = min(len(row) for row in rows)
    log_ratio = np.mean([row[:count] for row in rows], axis=0)  # [Lambda/Lambda*, seed]
    worst = int(log_ratio.mean(axis=1).argmin())
    lowest = estimate(log_ratio[worst], np.exp)
    claim = (
        "decay never helps: test error over that at Lambda = 0, mean over P, lowest at "
        f"Lambda/Lambda* ~ 2^{LOWEST + worst}"
    )
    reason = "a gain below a twentieth is none (the lowest of several means lies a bit low anyway)"
    return [above("5", claim, lowest, 0.95, reason)]


FIGURE = Figure(
    "figS2a",
    "test error and final w1 against weight decay for several P",
    plan=plan,
    draw=draw,
    claims=[
        _law("1", "w1 ~ Lambda^(-1/(chi+3))", "w1", -1 / (CHI + 3)),
        _below_star,
        Collapses(
            "3a", "Lambda* ~ P^-b by best collapse of w1/w1(0) against Lambda",
            lambda runs: _curves(runs.where(temperature=T), "train_size"),
            equals=-constants(CHI).b, within=PART * 2 * constants(CHI).gamma, reason=PART_REASON,
            window=3, how={"between": (-5.0, 1.0)},
        ),
        Collapses(
            "3b", lambda runs: "Lambda* ~ 1/T by best collapse of w1/w1(0) against Lambda at P = "
            f"{_of_all_temperatures(runs).only('train_size')}",
            lambda runs: _curves(_of_all_temperatures(runs), "temperature"),
            equals=-1, how={"between": (-3.0, 1.0)},
        ),
        _law("4", "test error ~ Lambda^((chi+1)/(chi+3))", "test_error", (CHI + 1) / (CHI + 3)),
        _never_helps,
    ],
    remark=(
        "After runs at quick scale the collapse of 3a was changed to w1 over its value without "
        "decay, and the time to min(4/Lambda, 10 t_hat): longer, weights that fit all points "
        "just shrink. 2 holds for that time (at 20 t_hat its exponent is 0.451 [0.409, 0.488]); "
        "3a fails at 20 t_hat as well."
    ),
)  # fmt: skip
