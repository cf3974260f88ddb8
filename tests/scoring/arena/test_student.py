"""Student's t beside scipy's."""

from __future__ import annotations

import pytest
from scipy import stats

from scoring.arena.student import quantile, two_sided_p

FREEDOMS = (1, 1.5, 2, 3, 7.3, 19, 40.25, 199, 1234.5, 1e5)


@pytest.mark.parametrize("freedom", FREEDOMS)
def test_probabilities_are_scipys(freedom):
    for t in (0, 0.1, 0.7, 1.96, 3, 6, 12):
        assert two_sided_p(t, freedom) == pytest.approx(2 * stats.t.sf(t, freedom), abs=1e-7)
        assert two_sided_p(-t, freedom) == two_sided_p(t, freedom)


@pytest.mark.parametrize("freedom", FREEDOMS)
@pytest.mark.parametrize("level", [0.001, 0.05, 0.5])
def test_quantiles_are_scipys(freedom, level):
    assert quantile(level, freedom) == pytest.approx(stats.t.isf(level / 2, freedom), rel=1e-4)


@pytest.mark.parametrize("freedom", FREEDOMS)
@pytest.mark.parametrize("level", [0.001, 0.05, 0.5, 0.999])
def test_a_quantile_has_its_probability(freedom, level):
    assert two_sided_p(quantile(level, freedom), freedom) == pytest.approx(level, rel=1e-12)


def test_without_bound_it_is_the_normal_distribution():
    assert quantile(0.05, 1e300) == pytest.approx(1.959964, abs=1e-5)
    assert two_sided_p(40, 1e9) == 0
