"""The compiled part of the theory: integrals over the data, right-hand sides, the stochastic walk.

With ``lam = w1/w_perp``, ``r = margin sqrt(d)/w_perp``, ``a(x) = r - lam x`` and the density
``rho(x) = x^chi exp(-x^2/2)/Z``, everything the online dynamics needs is made of

    I_k = int_0^inf rho x^k (1 + erf(a/sqrt(2))) dx          k = 0, 1, 2
    J_k = int_0^inf rho x^k exp(-a^2/2) dx                   k = 0, 1, 2
    D_k = int_0^inf rho x^k (-a) exp(-a^2/2) dx              k = 0, 1
    E   = int_0^inf rho a^2 exp(-a^2/2) dx.

I and J give the averages; D and E their derivatives, since dI_k/dr = sqrt(2/pi) J_k,
dI_k/dlam = -sqrt(2/pi) J_{k+1}, dJ_k/dr = D_k, dJ_k/dlam = -D_{k+1}.

numba takes a second to load, so other modules load this one when they compute, not before.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sgdphase._compiled import kept, unwrapped
from sgdphase._typing import FloatArray

# exp(-s^2/2) and erfc(s/sqrt(2)) are below 1e-17 of their value at 0 beyond this.
TAIL = 9.0
# Above this r the bracket 1 + erf is first 2, then a step: the two parts are integrated apart.
SPLIT = 12.0

SQRT_2_PI = math.sqrt(2 / math.pi)
# ln q of a w_perp that is zero (gradient flow): far below any other scale, far above underflow.
LOG_Q_ZERO = math.log(1e-200)


class Rule(NamedTuple):
    """Quadrature rules for one ``chi``: nodes and weights, both on [0, 1]."""

    chi: float
    norm: float  # Z, such that rho integrates to 1/2 over x > 0
    nodes: FloatArray  # for int_0^1 t^chi f(t) dt
    weights: FloatArray
    flat_nodes: FloatArray  # for int_0^1 f(t) dt
    flat_weights: FloatArray


class Model(NamedTuple):
    """What the compiled functions need to know."""

    root_d: float
    wall: float  # margin sqrt(d): a point is fitted when y w.x reaches it
    temperature: float
    decay: float
    rule: Rule


@unwrapped()
def _erfc_integrals(lam: float, r: float, rule: Rule) -> tuple[float, float, float]:
    """``int_0^inf rho x^k erfc((lam x - r)/sqrt(2)) dx``, k = 0, 1, 2, ``lam >= 0``, any ``r``."""
    bulk = math.sqrt(rule.chi + 2) + TAIL  # rho x^2 is nothing beyond
    i0 = i1 = i2 = 0.0
    near = r <= SPLIT
    # beyond SPLIT only as far as erfc is 2
    reach = max(r, 0.0) + bulk if near else r - TAIL
    end = bulk if reach >= bulk * lam else reach / lam
    for i in range(rule.nodes.size):
        x = end * rule.nodes[i]
        step = math.erfc((lam * x - r) / math.sqrt(2.0)) if near else 2.0
        f = rule.weights[i] * math.exp(-0.5 * x * x) * step
        i0 += f
        i1 += f * x
        i2 += f * x * x
    scale = end ** (rule.chi + 1) / rule.norm
    i0, i1, i2 = i0 * scale, i1 * scale, i2 * scale
    if near or end >= bulk:
        return i0, i1, i2

    # the step, in s = lam x - r, so that it is resolved for any r and lam
    width = TAIL + min(TAIL, bulk * lam - r)
    scale = width / lam / rule.norm
    for i in range(rule.flat_nodes.size):
        s = -TAIL + width * rule.flat_nodes[i]
        x = (r + s) / lam
        step = math.erfc(s / math.sqrt(2.0))
        f = scale * rule.flat_weights[i] * x**rule.chi * math.exp(-0.5 * x * x) * step
        i0 += f
        i1 += f * x
        i2 += f * x * x
    return i0, i1, i2


@unwrapped()
def _gauss_integrals(
    lam: float, r: float, rule: Rule
) -> tuple[float, float, float, float, float, float]:
    """``(J_0, J_1, J_2, D_0, D_1, E)`` for ``lam >= 0`` and any ``r``.

    The two Gaussians make one: with h = sqrt(1+lam^2), u = h x, mu = r lam/h,
    x^2 + (r - lam x)^2 = (u - mu)^2 + (r/h)^2 and lam x - r = (lam/h)(u - mu) - r/h^2.
    """
    h = math.hypot(1.0, lam)
    front = math.exp(-0.5 * (r / h) ** 2) / rule.norm
    if front == 0.0:
        return 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    slope = lam / h
    shift = r / h / h
    mu = r * slope
    peak = 0.5 * (mu + math.hypot(mu, 2 * math.sqrt(rule.chi + 4)))  # of u^(chi+4) e^(-(u-mu)^2/2)
    near = mu <= SPLIT  # the window reaches u = 0, where the density has its power law
    if near:
        origin, width = -mu, peak + TAIL
        front *= (width / h) ** rule.chi * width / h
        nodes, weights = rule.nodes, rule.weights
    else:
        origin, width = -TAIL, peak - mu + 2 * TAIL
        front *= width / h
        nodes, weights = rule.flat_nodes, rule.flat_weights
    j0 = j1 = j2 = d0 = d1 = e = 0.0
    for i in range(nodes.size):
        s = origin + width * nodes[i]  # u - mu
        x = width * nodes[i] / h if near else (mu + s) / h
        a = slope * s - shift
        f = weights[i] * math.exp(-0.5 * s * s)
        if not near:
            f *= x**rule.chi
        j0 += f
        j1 += f * x
        j2 += f * x * x
        d0 += f * a
        d1 += f * a * x
        e += f * a * a
    return front * j0, front * j1, front * j2, front * d0, front * d1, front * e


@unwrapped()
def bracket_integrals(lam: float, r: float, rule: Rule) -> tuple[float, float, float]:
    """``(I_0, I_1, I_2)`` for any finite ``lam`` and ``r >= 0``."""
    if lam >= 0:
        i0, i1, i2 = _erfc_integrals(lam, r, rule)
        return i0, i1, i2
    # 1 + erf((r + |lam| x)/sqrt(2)) = 2 - erfc((|lam| x - (-r))/sqrt(2))
    i0, i1, i2 = _erfc_integrals(-lam, -r, rule)
    f0, f1, f2 = _erfc_integrals(0.0, math.inf, rule)
    return f0 - i0, f1 - i1, f2 - i2


@kept()
def unfitted_at(lam: FloatArray, r: FloatArray, rule: Rule) -> FloatArray:
    """``I_0`` at several points. It alone compiles in a third of the time of all averages."""
    out = np.empty(lam.size)
    for i in range(lam.size):
        out[i] = bracket_integrals(lam[i], r[i], rule)[0]
    return out


@unwrapped()
def moments(
    lam: float, r: float, rule: Rule
) -> tuple[float, float, float, float, float, float, float, float, float]:
    """``(I_0, I_1, I_2, J_0, J_1, J_2, D_0, D_1, E)`` for any finite ``lam`` and ``r >= 0``."""
    i0, i1, i2 = bracket_integrals(lam, r, rule)
    if lam >= 0:
        j0, j1, j2, d0, d1, e = _gauss_integrals(lam, r, rule)
        return i0, i1, i2, j0, j1, j2, d0, d1, e
    # a changes sign
    j0, j1, j2, d0, d1, e = _gauss_integrals(-lam, -r, rule)
    return i0, i1, i2, j0, j1, j2, -d0, -d1, e


@kept()
def averages_at(
    lam: float, r: float, rule: Rule
) -> tuple[float, float, float, float, float, float]:
    """The six fields of ``Averages`` at one point."""
    i0, i1, i2, j0, j1, _, d0, _, _ = moments(lam, r, rule)
    g_perp = -SQRT_2_PI * j0
    sigma22 = i0 + SQRT_2_PI * d0 - g_perp * g_perp
    return i1, g_perp, i0, i2 - i1 * i1, -SQRT_2_PI * (j1 - i1 * j0), sigma22


@kept()
def averages_many(lam: FloatArray, r: FloatArray, rule: Rule) -> FloatArray:
    out = np.empty((lam.size, 6))
    for i in range(lam.size):
        row = averages_at(lam[i], r[i], rule)
        for k in range(6):
            out[i, k] = row[k]
    return out


@unwrapped()
def weights_of(y: FloatArray) -> tuple[float, float]:
    """``(w1, w_perp)`` of ``(ln w1, ln q)``; trial steps of the solver stay within floats."""
    w1 = math.exp(min(max(y[0], LOG_Q_ZERO), -LOG_Q_ZERO))
    return w1, math.exp(0.5 * min(max(y[1], LOG_Q_ZERO), -LOG_Q_ZERO))


@kept()
def log_drift(y: FloatArray, log_t: float, model: Model) -> FloatArray:
    """Derivative of ``(ln w1, ln q)`` over ``ln t``."""
    t = math.exp(log_t)
    w1, w_perp = weights_of(y)
    i0, i1, _, j0, _, _, _, _, _ = moments(w1 / w_perp, model.wall / w_perp, model.rule)
    out = np.zeros(2)
    out[0] = t * (i1 / (model.root_d * w1) - model.decay)
    if model.temperature > 0:
        push = model.temperature * i0 / w_perp
        pull = 2 * SQRT_2_PI * j0 / model.root_d
        out[1] = t * ((push - pull) / w_perp - 2 * model.decay)
    return out


@kept()
def unfitted_many(w1: FloatArray, w_perp: FloatArray, model: Model) -> FloatArray:
    out = np.ones(w1.size)
    for i in range(w1.size):
        if w1[i] > 0:
            w = max(w_perp[i], 1e-100)
            out[i] = moments(w1[i] / w, model.wall / w, model.rule)[0]
    return out


@kept()
def drift_and_jacobian(
    w1: float, w_perp: float, model: Model
) -> tuple[float, float, float, float, float, float, float, float, float]:
    """``(dw1, dw_perp, A11, A12, A21, A22, S11, S12, S22)``; ``S`` without T/d."""
    i0, i1, i2, j0, j1, j2, d0, d1, e = moments(w1 / w_perp, model.wall / w_perp, model.rule)
    s = SQRT_2_PI
    ito = model.temperature / (2 * w_perp)
    drift1 = i1 / model.root_d - model.decay * w1
    drift2 = -s * j0 / model.root_d + ito * i0 - model.decay * w_perp
    scale = s / (w_perp * model.root_d)
    a11 = -scale * j2 - model.decay
    a12 = scale * d1
    a21 = scale * d1 - ito * s * j1 / w_perp
    a22 = -scale * e + ito * (s * d0 - i0) / w_perp - model.decay
    s11 = i2 - i1 * i1
    s12 = -s * (j1 - i1 * j0)
    s22 = i0 + s * d0 - (s * j0) ** 2
    return drift1, drift2, a11, a12, a21, a22, s11, s12, s22


@kept()
def log_lyapunov(y: FloatArray, log_t: float, model: Model) -> FloatArray:
    """Over ``ln t``: ``ln w1``, ``ln q`` and ``d/w_perp^2`` times ``C11, C12, C22``."""
    t = math.exp(log_t)
    w1, w_perp = weights_of(y)
    drift1, drift2, a11, a12, a21, a22, s11, s12, s22 = drift_and_jacobian(w1, w_perp, model)
    # the same process for z1/w_perp and z_perp/w_perp
    a11 -= drift2 / w_perp
    a22 -= drift2 / w_perp
    noise = model.temperature / w_perp / w_perp
    c11, c12, c22 = y[2], y[3], y[4]
    out = np.empty(5)
    out[0] = t * drift1 / w1
    out[1] = t * 2 * drift2 / w_perp
    out[2] = t * (2 * (a11 * c11 + a12 * c12) + noise * s11)
    out[3] = t * ((a11 + a22) * c12 + a12 * c22 + a21 * c11 + noise * s12)
    out[4] = t * (2 * (a22 * c22 + a21 * c12) + noise * s22)
    return out


@kept()
def walk(
    w1: float,
    q: float,
    steps: FloatArray,
    stops: npt.NDArray[np.int64],
    normals: FloatArray,
    model: Model,
) -> tuple[FloatArray, FloatArray]:
    """Euler-Maruyama; ``w1`` and ``q`` after each number of steps in ``stops``."""
    out_w1 = np.empty(stops.size)
    out_q = np.empty(stops.size)
    done = 0
    for i in range(steps.size + 1):
        while done < stops.size and stops[done] == i:
            out_w1[done] = w1
            out_q[done] = q
            done += 1
        if i == steps.size:
            break
        dt = steps[i]
        w_perp = math.sqrt(q)
        g1, g_perp, unfitted, s11, s12, s22 = averages_at(
            w1 / w_perp, model.wall / w_perp, model.rule
        )
        # Cholesky factor of the noise
        l11 = math.sqrt(max(s11, 0.0))
        l21 = s12 / l11 if l11 > 0 else 0.0
        l22 = math.sqrt(max(s22 - l21 * l21, 0.0))
        kick = math.sqrt(model.temperature * dt) / model.root_d
        m1 = kick * l11 * normals[i, 0]
        m2 = kick * (l21 * normals[i, 0] + l22 * normals[i, 1])
        ito = model.temperature * (unfitted + s22 / (model.root_d * model.root_d))
        w1 += dt * (g1 / model.root_d - model.decay * w1) + m1
        q += dt * (2 * w_perp * g_perp / model.root_d + ito - 2 * model.decay * q) + 2 * w_perp * m2
        q = max(abs(q), 1e-300)  # a step can cross 0 only in very small dimension
    return out_w1, out_q
