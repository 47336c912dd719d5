"""`optimal_mechanism` against exact optima found by other means, on 200 priors and levels.

For each N in 2..6: four priors (uniform, tied, very uneven, random), and for each of them every
privacy region's interior, every boundary eps_0 = 0 .. eps_(N-1), eps_max, and beyond: 4 (2N + 2) cases,
24 + 32 + 40 + 48 + 56 = 200. Priors and c = e^epsilon are fractions; the library gets the nearest floats.
The truth is the best vertex of Lemma 1's polytope for N <= 4, a linear programme over lift vertices for 5, 6.
"""

from fractions import Fraction
from functools import cache
from math import log
from random import Random

import numpy as np
import oracles
import pytest

from pmlbook import SolverFailed, optimal_mechanism
from pmlbook.extremal import (
    binary_mechanism,
    high_privacy_mechanism,
    privacy_regions,
    uniform_mechanism,
)
from pmlbook.extremal.polytope import vertices
from pmlbook.foundations import ExpectedGain, epsilon_max

CLOSE = 1e-9  # relative and absolute
ROUNDING = 1e-14  # how far a bound may fall below the truth: rounded inputs and sums


def priors(n):
    """Four priors as fractions."""
    rng = Random(n)
    weights = [[1] * n, [2] + [1] * (n - 1), [10 ** (k % 4) for k in range(n)]]
    weights += [[rng.randint(1, 12) for _ in range(n)]]
    return [tuple(Fraction(w, sum(row)) for w in row) for row in weights]


def levels(prior, rng):
    """(Name, c) for every region, boundary and beyond: c = e^epsilon as a fraction."""
    n, heavy = len(prior), sorted(prior, reverse=True)
    edges = [1 / sum(heavy[: n - k]) for k in range(n)] + [1 / heavy[-1]]
    yield from ((f"boundary{k}", edge) for k, edge in enumerate(edges))
    for k, (low, high) in enumerate(zip(edges, edges[1:]), start=1):
        # equal priors leave the last region no room below eps_max
        yield f"region{k}", low + (high - low or low) * Fraction(rng.randint(1, 15), 16)
    yield "beyond", 2 * edges[-1]


CASES = [
    pytest.param(prior, c, place, id=f"N{n}-prior{number}-{place}")
    for n in range(2, 7)
    for number, prior in enumerate(priors(n))
    for place, c in levels(prior, Random(100 * n + number))
]


@cache
def best(prior, c):
    """The exact oracle as a function of the utility."""
    small = len(prior) <= 4
    find = oracles.best_mechanism if small else oracles.best_mixture
    vertices = (oracles.mechanisms if small else oracles.lift_vertices)(prior, c)
    return lambda utility: find(vertices, prior, utility)


def has_closed_form(prior, place):
    """Whether Theorem 2, 3 or 4 covers a case, for every permutation-symmetric utility.

    Theorem 3 still holds where its region ends, but a boundary counts as part of the next region.
    """
    return place in ("boundary0", "region1") or len(prior) == 2 or len(set(prior)) == 1


def utilities_for(place):
    """All utilities, but no Hellinger on a boundary.

    (sqrt(t) - 1)^2 is infinitely steep at 0: the nearest float to log(c) may lie 1e-16 below the
    boundary, where a lift of 1e-16 instead of 0 costs 1e-8. The two optima really differ.
    """
    steep = {"hellinger"} if place.startswith("boundary") else set()
    return {name: u for name, u in oracles.UTILITIES.items() if name not in steep}


def check(design, truth, utility, epsilon):
    """The value is the optimum, the bound a bound, and the mechanism keeps the level, exactly."""
    slack, mechanism = ROUNDING * max(1, abs(truth)), design.mechanism
    assert design.value == pytest.approx(truth, rel=CLOSE, abs=CLOSE)
    assert design.bound == pytest.approx(truth, rel=CLOSE, abs=CLOSE)
    assert design.value <= truth + slack and design.bound >= truth - slack
    recomputed = utility(mechanism.channel, mechanism.prior).sum()
    assert design.value == pytest.approx(recomputed, rel=1e-13, abs=1e-13)
    assert mechanism.channel.shape[1] <= len(mechanism.prior)
    assert mechanism.certify(epsilon)
    lift = oracles.largest_lift(mechanism.channel, mechanism.prior)
    assert lift <= oracles.exp_from_below(epsilon)


def test_there_are_200_cases_and_every_region_is_met():
    names = {case.id for case in CASES}
    regions = {
        f"N{n}-prior{p}-region{k}" for n in range(2, 7) for p in range(4) for k in range(1, n + 1)
    }
    assert len(CASES) == len(names) == 200 and regions < names


@pytest.mark.parametrize("prior, c, place", CASES)
def test_optimum(prior, c, place):
    """Every named utility, and an expected gain that singles out some secrets."""
    floats, epsilon, n = [float(p) for p in prior], log(c), len(prior)
    for name, utility in utilities_for(place).items():
        check(optimal_mechanism(floats, epsilon, name), best(prior, c)(utility), utility, epsilon)
    gain = np.random.default_rng(n).integers(-3, 9, size=(n, 4)).astype(float)
    utility = oracles.expected_gain(gain)
    design = optimal_mechanism(floats, epsilon, ExpectedGain(gain))
    check(design, best(prior, c)(utility), utility, epsilon)


@pytest.mark.parametrize("prior, c, place", [x for x in CASES if has_closed_form(*x.values[::2])])
def test_closed_forms(prior, c, place):
    """By formula and by enumeration, where both apply; and each formula's own function."""
    floats, epsilon, n = [float(p) for p in prior], log(c), len(prior)
    mechanisms = [binary_mechanism(floats, epsilon)] if n == 2 else []
    if len(set(prior)) == 1:
        mechanisms += [uniform_mechanism(n, epsilon)]
    if place in ("boundary0", "region1", "boundary1"):  # both ends included
        mechanisms += [high_privacy_mechanism(floats, epsilon)]
    for name, utility in utilities_for(place).items():
        truth = best(prior, c)(utility)
        assert optimal_mechanism(floats, epsilon, name).method == "closed_form"
        for method in ("closed_form", "enumeration"):
            check(optimal_mechanism(floats, epsilon, name, method), truth, utility, epsilon)
        for mechanism in mechanisms:
            assert mechanism.utility(name) == pytest.approx(truth, rel=CLOSE, abs=CLOSE)
            assert mechanism.epsilon == pytest.approx(min(epsilon, -log(min(floats))), abs=CLOSE)


@pytest.mark.parametrize("numbers", [(31, 3), (11, 7), (15, 2), (1, 1, 1, 1), (2, 1, 1)], ids=str)
def test_hellinger_bounds_hold_on_boundaries(numbers):
    """No bound may exclude a value that one method certifiably attains, for any nearest float."""
    prior = [x / sum(numbers) for x in numbers]
    for epsilon in [*privacy_regions(prior), epsilon_max(prior), epsilon_max(prior) + 0.15]:
        designs = [
            optimal_mechanism(prior, epsilon, "hellinger", m) for m in ("auto", "enumeration")
        ]
        assert min(d.bound for d in designs) >= max(d.value for d in designs) - ROUNDING


@pytest.mark.parametrize("n", [2, 3])
def test_the_two_oracles_agree(n):
    """Lemma 1's polytope and the mixtures of lift vertices have the same optimum."""
    prior = priors(n)[3]
    for _, c in levels(prior, Random(n)):
        whole, parts = oracles.mechanisms(prior, c), oracles.lift_vertices(prior, c)
        for utility in oracles.UTILITIES.values():
            expected = oracles.best_mechanism(whole, prior, utility)
            assert oracles.best_mixture(parts, prior, utility) == pytest.approx(expected, abs=1e-14)


def test_binary_fractions():
    """All priors [a/d, 1 - a/d] with d < 40, at their last boundaries and beyond: roundings of many kinds."""
    for d in range(2, 40):
        for a in range(1, d):
            prior = (Fraction(a, d), Fraction(d - a, d))
            utility = oracles.UTILITIES["mutual_information"]
            for c in (1 / max(prior), 1 / min(prior), 3 / min(prior)):
                mechanism = binary_mechanism([a / d, (d - a) / d], log(c))
                truth = oracles.best_mixture(oracles.lift_vertices(prior, c), prior, utility)
                assert mechanism.utility() == pytest.approx(truth, abs=1e-12), (prior, c)


@pytest.mark.parametrize("method", ["auto", "enumeration"])
@pytest.mark.parametrize("exponent", [3, 6, 9, 12])
def test_rare_symbols(exponent, method):
    """With a symbol of probability 10^-exponent: a certified bracket of the truth, or an honest refusal."""
    rare, utility = Fraction(1, 10**exponent), oracles.UTILITIES["mutual_information"]
    for rest in ([1], [Fraction(3, 5), Fraction(2, 5)], [Fraction(k, 10) for k in (5, 3, 2)]):
        prior = (*[x * (1 - rare) for x in rest], rare)
        for place, c in levels(prior, Random(exponent)):
            if 0 < log(c) < 1e-6:
                continue  # no search is asked for such a level
            truth = best(prior, c)(utility)
            try:
                design = optimal_mechanism([float(p) for p in prior], log(c), method=method)
            except SolverFailed:
                assert exponent >= 9, place  # rarer than that, floats may give up, with an error
                continue
            assert design.value <= truth + 1e-12 and design.bound >= truth - 1e-12, place
            assert design.mechanism.certify(log(c)), place
            if exponent < 6:
                assert design.gap < CLOSE, place


@pytest.mark.parametrize("epsilon", [1e-6, 3e-6, 1e-5])
def test_enumeration_close_to_zero(epsilon):
    """Lift vectors that hardly differ from one are no contradiction."""
    for prior in ([0.375, 0.25, 0.375], [0.4, 0.2, 0.2, 0.2], [0.5, 0.3, 0.2]):
        design = optimal_mechanism(prior, epsilon, "total_variation", "enumeration")
        formula = optimal_mechanism(prior, epsilon, "total_variation", "closed_form")
        assert design.value == pytest.approx(formula.value, abs=CLOSE)
        assert design.bound >= formula.value - ROUNDING and design.mechanism.certify(epsilon)


@pytest.mark.parametrize("seed", range(6))
def test_extremal_mechanisms_are_those_of_the_parma_polyhedra_library(seed):
    rng = np.random.default_rng(seed)
    n = 4 if seed == 5 else int(rng.integers(2, 4))
    parts = rng.integers(1, 9, size=n).tolist()
    prior = [Fraction(k, sum(parts)) for k in parts]
    c = Fraction(21, 20) if n == 4 else Fraction(int(rng.integers(10, 60)), 10)
    listed = [tuple(vertex.astype(float).ravel()) for vertex in vertices(prior, c)]
    judged = [tuple(vertex.ravel()) for vertex in oracles.mechanisms(prior, c)]
    assert len(set(listed)) == len(listed) and set(listed) == set(judged)
