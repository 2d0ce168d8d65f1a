"""Each scale put back into the equation that defines it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import quad

from sgdphase.theory import asymptotic, averages, constants, first_step, online, scales

CASES = [(-0.5, 8, 3.0, 0.5), (0.0, 16, 1.0, 4.0), (1.0, 128, 16.0, 8.0), (2.5, 64, 0.1, 1.0)]


@pytest.mark.parametrize(("chi", "dim", "lr", "batch"), CASES)
def test_defining_equations(chi: float, dim: int, lr: float, batch: float) -> None:
    size, margin, c = 2.0**20, 0.03, constants(chi)
    temperature = lr / batch
    s = scales(train_size=size, dim=dim, chi=chi, margin=margin, lr=lr, batch=batch)

    # crossover: |g| = |xi|/sqrt(P) with the leading averages of the asymptotic solution
    a = asymptotic(s.crossover_time, chi=chi, dim=dim, temperature=temperature)
    assert a.w1 == pytest.approx(s.w1) and a.w_perp == pytest.approx(s.w_perp)
    assert a.lam == pytest.approx(s.lam) and a.unfitted == pytest.approx(s.unfitted)
    gradient = c.c2 * s.lam ** (-1 - chi) / math.sqrt(dim)
    assert gradient == pytest.approx(math.sqrt(s.unfitted / size))

    # B*: the first step is as long as w1 at the crossover, whatever the learning rate
    b = s.critical_batch
    assert first_step(lr=lr, batch=b, dim=dim, chi=chi).w1 == pytest.approx(
        scales(train_size=size, dim=dim, chi=chi, margin=margin, lr=lr, batch=b).w1
    )
    # T_c: r = 1
    cold = asymptotic(1.0, chi=chi, dim=dim, temperature=s.critical_temperature)
    assert margin * math.sqrt(dim) / cold.w_perp == pytest.approx(1)
    # Lambda*: stationary at the w1 of the crossover
    pull = c.c1 * s.lam ** (-2 - chi) / math.sqrt(dim)
    assert pull == pytest.approx(s.critical_decay * s.w1)
    assert s.critical_decay * s.crossover_time == pytest.approx(1 / (3 + chi))
    # one step leaves one point
    step = first_step(lr=lr, batch=s.one_step_batch, dim=dim, chi=chi)
    assert size * c.c_n * (step.w1 / step.w_perp) ** (-1 - chi) == pytest.approx(1)


@pytest.mark.parametrize("chi", [-0.5, 0.0, 1.0])
def test_first_step_brings_the_hardest_point_to_the_margin(chi: float) -> None:
    size, dim, margin = 1e8, 50, 0.2
    lr = scales(train_size=size, dim=dim, chi=chi, margin=margin).first_step_lr
    w1 = first_step(lr=lr, batch=1, dim=dim, chi=chi).w1
    x_min = margin * math.sqrt(dim) / w1
    # Prob(|x1| < x_min) by the full density: the small-x form is good to x_min^2
    norm = quad(lambda x: x**chi * math.exp(-x * x / 2), 0, 20, points=[1])[0]
    below = quad(lambda y: math.exp(-(y ** (2 / (1 + chi))) / 2), 0, x_min ** (1 + chi))[0]
    assert size * below / (1 + chi) / norm == pytest.approx(1, rel=1e-6 + x_min**2)


@pytest.mark.parametrize("chi", [0.0, 1.0])
def test_exponents(chi: float) -> None:
    """t ~ T d^(1-b) P^b, w1 ~ T d^(1/2-gamma) P^gamma, B* ~ d^(1-gamma) P^gamma (SI 5)."""
    c = constants(chi)
    kw = dict(chi=chi, margin=0.01)
    base = scales(train_size=1e5, dim=100, **kw)
    more, wide = scales(train_size=2e5, dim=100, **kw), scales(train_size=1e5, dim=200, **kw)
    hot = scales(train_size=1e5, dim=100, lr=6, batch=2, **kw)
    assert more.crossover_time / base.crossover_time == pytest.approx(2**c.b)
    assert wide.crossover_time / base.crossover_time == pytest.approx(2 ** (1 - c.b))
    assert more.w1 / base.w1 == pytest.approx(2**c.gamma)
    assert wide.w1 / base.w1 == pytest.approx(2 ** (0.5 - c.gamma))
    assert more.critical_batch / base.critical_batch == pytest.approx(2**c.gamma)
    assert more.one_step_batch / base.one_step_batch == pytest.approx(2 ** (2 * c.gamma))
    assert more.first_step_lr / base.first_step_lr == pytest.approx(2**c.gamma)
    assert more.critical_decay / base.critical_decay == pytest.approx(2**-c.b)
    for name in ("crossover_time", "w1", "w_perp"):
        assert getattr(hot, name) / getattr(base, name) == pytest.approx(3)
    assert hot.critical_batch == pytest.approx(base.critical_batch)


def test_crossover_lies_on_the_online_solution() -> None:
    """With P/d = 10^6 the asymptotic values are those of Eq. 3, to the order lam^-2."""
    s = scales(train_size=1e8, dim=100, chi=1.0, margin=1e-6)
    o = online(s.crossover_time, chi=1.0, dim=100, margin=1e-6, temperature=1.0)
    assert o.w1 == pytest.approx(s.w1, rel=10 * s.lam**-2)
    assert o.unfitted == pytest.approx(s.unfitted, rel=10 * s.lam**-2)
    a = averages(o.lam, o.r, 1.0)
    gradient = math.hypot(float(a.g1), float(a.g_perp)) / 10
    noise = math.sqrt((98 * a.unfitted + a.sigma11 + a.sigma22) / 100)
    # |xi| differs from sqrt(n) by chi/(2d)
    assert gradient == pytest.approx(float(noise) / 1e4, rel=10 * s.lam**-2 + 0.01)


def test_first_step_against_a_sample() -> None:
    """Power: 40000 first steps know w1 to 0.15% and w_perp^2 to 0.2% (one sigma)."""
    lr, batch, dim, chi, size = 0.5, 3, 12, 1.0, 40_000
    rng = np.random.default_rng(11)
    x1 = np.sqrt(2 * rng.standard_gamma((1 + chi) / 2, (size, batch)))
    x_perp = rng.standard_normal((size, batch, dim - 1))
    w1 = lr * x1.mean(1) / math.sqrt(dim)
    q = ((lr * x_perp.mean(1)) ** 2).sum(1) / dim
    want = first_step(lr=lr, batch=batch, dim=dim, chi=chi)
    assert abs(w1.mean() - want.w1) < 4 * w1.std() / math.sqrt(size)
    assert abs(q.mean() - want.w_perp**2) < 4 * q.std() / math.sqrt(size)


def test_bad_input() -> None:
    kw = dict(train_size=100, dim=10, chi=1.0, margin=0.1)
    for change, message in [
        ({"lr": 1.0}, "lr = 1.0: lr and batch must be both given or neither"),
        ({"train_size": 0}, "train_size = 0"),
        ({"dim": 1}, "dim = 1"),
        ({"margin": -1.0}, "margin = -1.0"),
    ]:
        with pytest.raises(ValueError, match=message):
            scales(**(kw | change))
    with pytest.raises(ValueError, match="batch = 0"):
        first_step(lr=1.0, batch=0, dim=10, chi=1.0)
