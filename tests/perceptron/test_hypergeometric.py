"""The tables against SciPy."""

import numpy as np
import pytest
from numba import njit
from scipy import stats

from sgdphase.perceptron._hypergeometric import at_least_one, chances_of_none, table
from sgdphase.perceptron._random import random_state

LEVEL = 1e-4

# They are made for compiled loops, not to be called from Python.
at_least_one, chances_of_none, table = (
    njit(error_model="numpy")(function.py_func)
    for function in (at_least_one, chances_of_none, table)
)


@pytest.mark.parametrize(("total", "marked", "drawn"), [(50, 7, 20), (1000, 3, 1), (90, 60, 45)])
def test_hypergeometric_tables(total: int, marked: int, drawn: int) -> None:
    law = stats.hypergeom(total, marked, drawn)
    first, cdf = table(total, marked, drawn)
    np.testing.assert_allclose(cdf, law.cdf(first + np.arange(len(cdf))), rtol=1e-12)
    assert law.cdf(first - 1) < 1e-15
    none = chances_of_none(total, drawn, marked + 1)[marked]
    assert none == pytest.approx(law.pmf(0), rel=1e-9)
    # Conditioned on at least one, 20000 draws: chi-square over counts expected above 10.
    state = random_state(1, 2)
    draws = np.array([at_least_one(state, total, marked, drawn, none) for _ in range(20_000)])
    k = np.arange(1, min(marked, drawn) + 1)
    expected = 20_000 * law.pmf(k) / law.sf(0)
    seen = np.array([(draws == i).sum() for i in k])
    big = expected > 10
    rest = [expected[~big].sum()], [seen[~big].sum()]
    f_exp = np.concatenate([expected[big], rest[0]]) if rest[0][0] > 0 else expected[big]
    f_obs = np.concatenate([seen[big], rest[1]]) if rest[0][0] > 0 else seen[big]
    if len(f_exp) > 1:
        assert stats.chisquare(f_obs, f_exp * f_obs.sum() / f_exp.sum()).pvalue > LEVEL
    assert draws.min() >= 1
