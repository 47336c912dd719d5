"""An answer far from its bound is improved, or said to be so."""

import numpy as np
import pytest

import pmlbook as pb
from pmlbook.numerics.linear_programmes import LOOSE_FACTOR, warn_if_loose


def test_the_warning_shows_the_figures():
    with pytest.warns(pb.LooseBound, match=r"design: the value 2 and its bound 1 stay 1 apart"):
        warn_if_loose("design", 2.0, 1.0, 1e-9)
    warn_if_loose("design", np.inf, np.inf, 1e-9)
    warn_if_loose("design", 1.0, 1.0 + LOOSE_FACTOR * 1e-10, 1e-9)


@pytest.mark.parametrize("seed", [41, 93, 98, 101, 129, 154, 177, 216, 305, 338])
def test_expected_utility_does_not_fall_back(seed):
    """Ordinary tables in which the mechanism of least leakage was returned in place of the optimum."""
    rng = np.random.default_rng(seed)
    n, m = rng.integers(2, 9, size=2)
    priors = (
        rng.dirichlet(np.ones(n)) if seed % 4 == 0 else None,
        rng.integers(1, 9, size=n) if seed % 4 == 1 else None,
        np.full(n, 1 / n) if seed % 4 == 2 else None,
        rng.dirichlet(np.full(n, 0.3)) + 1e-4 if seed % 4 == 3 else None,
    )
    prior = priors[seed % 4] / priors[seed % 4].sum()
    errors = -((np.arange(n)[:, None] - np.arange(m)) ** 2.0)
    tables = rng.random((n, m)), rng.integers(0, 5, size=(n, m)).astype(float)
    tables = *tables, (rng.random((n, m)) * 10).round() / 10, errors
    table = tables[int(rng.integers(4))]
    for level in (0.5, np.log(3), 1.5):
        floor = float(table.min())
        design = pb.worst_case.expected_utility_mechanism(table, prior, float(level), floor)
        assert design.mechanism.certify(level) and design.value <= design.bound
        assert design.gap < 1e-6
