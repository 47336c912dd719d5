"""Two releases about one record, groups, and what a level of differential privacy promises."""

import itertools
import math
import pickle
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from scipy.stats import laplace, norm

from pmlbook import InvalidChannel, per_record_leakage
from pmlbook.mechanisms import binary_symmetric
from pmlbook.per_record.composition import concave_bound
from pmlbook.per_record.noise import binned_noise
from pmlbook.queries import Query, counting, parity, product_query
from pmlbook.records import audit_pair, dp_leakage_bound, noisy_leakage, ratio_information

LN2 = math.log(2)
BIT = math.nextafter(LN2, 1)  # the float above ln 2
SOME = Query(lambda x: (x[0] + x[1]) % 2, [(0, 1)] * 3)


def test_leakages_do_not_add_up():
    audit = audit_pair(SOME, np.eye(2), parity(3), np.eye(2), b=3 * LN2)
    assert audit.first.bound < 1e-9 and audit.second.bound < 1e-9
    assert audit.together.value == pytest.approx(LN2, abs=1e-9) and audit.together.record == 2
    assert LN2 - 1e-9 <= audit.promised <= BIT


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
    """The hull of the steps, by brute force over pairs of their vertices."""
    vertices = [(levels[0], bounds[0]), *zip(levels[1:], bounds)]
    if at >= levels[-1]:
        return bounds[-1]
    best = max(u for x, u in vertices if x > at)
    for (x, u), (z, v) in itertools.permutations(vertices, 2):
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
    query, channel = product_query(parity(2), sees, counting(2), np.eye(3))
    assert channel.shape == (4, 12) and query.n_values == 4
    again = pickle.loads(pickle.dumps(query))
    assert (again.table == query.table).all()


def test_pairs_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="alphabets must be equal"):
        product_query(parity(2), np.eye(2), parity(3), np.eye(2))
    with pytest.raises(ValueError, match="is listed"):
        product_query(parity(30), np.eye(2), parity(30), np.eye(2))
    with pytest.raises(InvalidChannel):
        product_query(parity(2), np.eye(3), parity(2), np.eye(2))
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


@pytest.mark.parametrize("epsilon", [1e-10, 1e-3, 0.0999, 0.1001, 0.5, 1.0, 10.0, 300.0, 1000.0])
def test_information_in_a_ratio_to_many_digits(epsilon):
    with mpmath.workdps(60):
        x = mpmath.mpf(epsilon) / 2
        exact = mpmath.log(mpmath.sinh(x) / x) + x * mpmath.coth(x) - 1
        c = mpmath.exp(epsilon)
        two = mpmath.log(2) + mpmath.log(1 / (1 + c)) / (1 + c)
        two += mpmath.log(c / (1 + c)) * c / (1 + c)
    found = ratio_information(epsilon)
    assert exact <= found <= exact * (1 + 1e-3) and found <= epsilon**2 / 8 * (1 + 1e-9)
    assert (
        two <= ratio_information(epsilon, 2) * (1 + 1e-12)
        and ratio_information(epsilon, 2) <= found
    )
    assert (
        ratio_information(epsilon, 3) <= math.log(3) * (1 + 2**-52)
        and ratio_information(epsilon, 1) == 0
    )


def test_promise_falls_with_doubt_and_is_never_more_than_all():
    levels = np.linspace(0, 5 * LN2, 40)
    promised = [dp_leakage_bound(parity(5), 0.7, b) for b in levels]
    assert (np.diff(promised) <= 0).all() and promised[0] <= BIT
    assert dp_leakage_bound(parity(5), 0.7, 5 * LN2) == pytest.approx(
        ratio_information(0.7, 2), abs=1e-12
    )
    assert (
        dp_leakage_bound(parity(5), 1000.0, 0) == BIT
        and dp_leakage_bound(parity(5), 0.0, 5 * LN2) < 1e-12
    )


@pytest.mark.parametrize("noise, distribution", [("laplace", laplace), ("gaussian", norm)])
@pytest.mark.parametrize("scale", [0.05, 1.0, 20.0])
def test_bins_have_the_noise_in_them(noise, distribution, scale):
    rows, inside, outside = binned_noise(4, noise, scale, 3)
    reach = 0 if noise == "laplace" else math.ceil(6 * scale)
    edges = np.arange(-reach * 3, (3 + reach) * 3 + 1) / 3
    ends = np.concatenate([[-np.inf], edges, [np.inf]])
    for value, row in enumerate(rows):
        left, right = (np.diff(f(ends, value, scale)) for f in (distribution.cdf, distribution.sf))
        expected = np.where(ends[:-1] >= value, -right, left)
        assert np.allclose(row, expected, rtol=1e-9, atol=1e-300)
    assert inside > 0 and (outside == 0) == (noise == "laplace")
    for low, high in zip(edges[:-1], edges[1:]):  # the divergence inside each bin, by sums
        place = low + (high - low) * (np.arange(4000) + 0.5) / 4000
        logs = np.array([distribution.logpdf(place, value, scale) for value in range(4)])
        distributions = np.exp(logs - logs.max(axis=1, keepdims=True))
        distributions /= distributions.sum(axis=1, keepdims=True)
        middle = distribution.logpdf(place, 1.5, scale) if noise == "gaussian" else np.zeros(4000)
        middle = np.exp(middle - middle.max())
        middle /= middle.sum()
        terms = np.where(
            distributions > 0, distributions * np.log(np.maximum(distributions, 1e-320) / middle), 0
        )
        assert (terms.sum(axis=1) <= inside * (1 + 1e-6)).all()


def test_finer_bins_close_the_bracket():
    found = [noisy_leakage(counting(2), "gaussian", 2.0, 0.0, bins) for bins in (1, 4, 16)]
    assert max(f.value for f in found) <= min(f.bound for f in found)
    gaps = [f.bound - f.value for f in found]
    assert gaps[2] < gaps[1] < gaps[0] and gaps[2] < 1e-4


@pytest.mark.parametrize(
    "arguments, message",
    [
        (dict(noise="cauchy"), "noise = .cauchy. is none of"),
        (dict(scale=0), "scale = 0"),
        (dict(bins=0), "bins"),
        (dict(bins=10**6), "fewer will do"),
        (dict(b=9.0), "b = 9"),
    ],
)
def test_noise_that_means_nothing_is_refused(arguments, message):
    given = dict(noise="laplace", scale=1.0, b=0.5) | arguments
    with pytest.raises(ValueError, match=message):
        noisy_leakage(counting(2), **given)


@pytest.mark.parametrize("query", [parity(1), parity(2), parity(4)])
def test_no_bound_is_below_what_a_published_bit_leaks(query):
    """The float nearest to ln 2 is below it."""
    fair = Fraction(math.log(2))
    found = noisy_leakage(query, "laplace", 0.01, 0.0, bins=4)
    assert found.value <= found.bound and fair < Fraction(found.bound)
    assert fair < Fraction(dp_leakage_bound(query, 1000.0, 0))
    assert fair < Fraction(ratio_information(1000.0, 2))


def test_a_pair_of_published_bits_promises_no_less_than_they_leak():
    audit = audit_pair(parity(1), np.eye(2), parity(1), np.eye(2), LN2)
    assert Fraction(math.log(2)) < Fraction(audit.promised)
