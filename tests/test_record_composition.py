"""Two releases about one record, groups, and what a level of differential privacy promises."""

import itertools
import math
import pickle

import numpy as np
import pytest

from pmlbook import (
    InvalidChannel,
    Query,
    audit_pair,
    binary_symmetric,
    counting,
    parity,
    per_record_leakage,
    released_together,
)
from pmlbook.per_record.composition import concave_bound

LN2 = math.log(2)
SOME = Query(lambda x: (x[0] + x[1]) % 2, [(0, 1)] * 3)


def test_leakages_do_not_add_up():
    audit = audit_pair(SOME, np.eye(2), parity(3), np.eye(2), b=3 * LN2)
    assert audit.first.bound < 1e-9 and audit.second.bound < 1e-9
    assert audit.together.value == pytest.approx(LN2, abs=1e-9) and audit.together.record == 2
    assert LN2 - 1e-9 <= audit.promised <= LN2


@pytest.mark.parametrize("b", [0.0, 1.0, 2 * LN2])
@pytest.mark.parametrize("seed", range(2))
def test_the_promise_is_kept(b, seed):
    rng = np.random.default_rng(seed)
    one, two = (rng.dirichlet([0.3, 0.3], 4) for _ in range(2))
    query = Query(lambda x: 2 * x[0] + x[1], [(0, 1)] * 2)
    audit = audit_pair(query, one, query, two, b, tol=1e-2, levels=2)
    assert audit.together.value <= audit.promised
    assert max(audit.first.value, audit.second.value) <= audit.together.bound + 1e-12


def least_concave(levels, bounds, at):
    """The hull of the steps, by brute force over pairs of their corners."""
    corners = [(levels[0], bounds[0]), *zip(levels[1:], bounds)]
    if at >= levels[-1]:
        return bounds[-1]
    best = max(u for x, u in corners if x > at)
    for (x, u), (z, v) in itertools.permutations(corners, 2):
        if x <= at < z:
            best = max(best, u + (v - u) * (at - x) / (z - x))
    return best


@pytest.mark.parametrize("seed", range(20))
def test_hull_is_concave_and_nowhere_too_low(seed):
    rng = np.random.default_rng(seed)
    levels = np.cumsum(np.append(0, rng.uniform(0.01, 1, 5)))
    bounds = np.sort(rng.uniform(0, 1, 6))[::-1]
    for at in rng.uniform(0, levels[-1], 20):
        found = concave_bound(levels, bounds, at)
        assert found >= least_concave(levels, bounds, at)
        assert found == pytest.approx(least_concave(levels, bounds, at), abs=1e-13)
    assert concave_bound(levels, bounds, -3.0) == pytest.approx(bounds[0], abs=1e-13)
    assert concave_bound(levels, bounds, levels[-1]) == pytest.approx(bounds[-1], abs=1e-13)


def test_a_mechanism_may_see_the_dataset():
    sees = np.eye(4)
    query, channel = released_together(parity(2), sees, counting(2), np.eye(3))
    assert channel.shape == (4, 12) and query.n_values == 4
    again = pickle.loads(pickle.dumps(query))
    assert (again.table == query.table).all()


def test_pairs_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="alphabets must be equal"):
        released_together(parity(2), np.eye(2), parity(3), np.eye(2))
    with pytest.raises(ValueError, match="is listed"):
        released_together(parity(30), np.eye(2), parity(30), np.eye(2))
    with pytest.raises(InvalidChannel):
        released_together(parity(2), np.eye(3), parity(2), np.eye(2))
    with pytest.raises(ValueError, match="levels"):
        audit_pair(parity(2), np.eye(2), parity(2), np.eye(2), b=1, levels=1)
    with pytest.raises(ValueError, match="exceeds the entropy"):
        audit_pair(parity(2), np.eye(2), parity(2), np.eye(2), b=2)


def test_order_of_the_releases_does_not_matter():
    args = (SOME, binary_symmetric(0.1)), (parity(3), binary_symmetric(0.2))
    there = audit_pair(*args[0], *args[1], b=1.9, tol=1e-2, levels=2)
    back = audit_pair(*args[1], *args[0], b=1.9, tol=1e-2, levels=2)
    assert there.promised == pytest.approx(back.promised, abs=1e-12)
    assert there.together.value == pytest.approx(back.together.value, abs=1e-2)


def test_a_release_that_says_nothing_costs_nothing():
    deaf = np.full((2, 2), 0.5)
    audit = audit_pair(parity(2), deaf, parity(2), binary_symmetric(0.1), b=1.0, levels=3)
    alone = per_record_leakage(parity(2), binary_symmetric(0.1), 1.0)
    assert audit.together.value == pytest.approx(alone.value, abs=1e-9)
    assert audit.promised == pytest.approx(alone.value, abs=0.05)
