"""Optima under four measures: promises kept, bounds valid, asymmetric bounds between them."""

import math
from fractions import Fraction

import numpy as np
import pytest

from pmlbook import InvalidPrior, Mechanism, optimal_mechanism
from pmlbook.extremal import atlas
from pmlbook.extremal.atlas import MEASURES
from pmlbook.extremal.enumeration import Contradiction, enumerate_optimum
from pmlbook.extremal.measure_lists import (
    box_vertices,
    exact_weights,
    ratio_vertices,
    set_vertices,
)
from pmlbook.extremal.optimum_curve import PIECE_RESOLUTION, optimum_pieces, value_of
from pmlbook.foundations.classic import randomized_response
from pmlbook.foundations.leakage import epsilon_max
from pmlbook.foundations.probability import exact_prior, mutual_information
from pmlbook.foundations.utility import NAMED
from pmlbook.mechanisms import optimum_under
from pmlbook.numerics.linear_programmes import SolverFailed
from pmlbook.release.certificate import exp_below

PRIORS = [[0.5, 0.5], [0.6, 0.3, 0.1], [0.25] * 4, [1 - 2e-8, 1e-8, 1e-8], [0.4, 0.3, 0.2, 0.1]]
LEVELS = [0, 1e-10, 0.3, math.log(2), 3.0, 40.0]


def kept_exactly(measure, channel, prior, level):
    """Whether the floats of a channel keep a promise, in fractions, zeros included."""
    rows = [[Fraction(x) for x in row] for row in channel.tolist()]
    assert all(sum(row) == 1 for row in rows)
    c, shares, columns = exp_below(level), exact_prior(prior), list(zip(*rows))
    means = [sum(p * x for p, x in zip(shares, column)) for column in columns]
    if measure == "maximal":
        return sum(max(column) for column in columns) <= c
    if measure == "ldp":
        return all(max(column) <= c * min(column) for column in columns)
    below = all(max(column) <= c * mean for column, mean in zip(columns, means))
    above = measure == "pml" or all(q <= c * min(column) for column, q in zip(columns, means))
    return below and above


@pytest.mark.parametrize("prior", PRIORS, ids=str)
@pytest.mark.parametrize("measure", MEASURES)
def test_promise_is_kept_and_bound_is_near(measure, prior):
    for level in LEVELS:
        best = optimum_under(measure, prior, level)
        assert 0 <= best.bound - best.value <= 1e-9, level
        assert kept_exactly(measure, best.channel, prior, level), level
        assert measure != "pml" or Mechanism(best.channel, prior).certify(level)


@pytest.mark.parametrize("measure", MEASURES)
def test_promise_is_kept_to_the_last_digit(measure):
    rng = np.random.default_rng(4)
    for _ in range(25):
        prior = rng.dirichlet(np.ones(rng.integers(2, 5)))
        level = float(rng.uniform(0.05, 2.5))
        best = optimum_under(measure, prior, level)
        assert kept_exactly(measure, best.channel, prior, level), (prior, level)
        assert best.bound - best.value <= 1e-12


@pytest.mark.parametrize("measure", ["lip", "ldp"])
@pytest.mark.parametrize("level", [40.0, 700.0, 760.0, 1e300])
def test_no_zero_where_nothing_may_be_excluded(measure, level):
    best = optimum_under(measure, [0.5, 0.5], level)
    assert best.channel.min() == 2.0**-53
    assert kept_exactly(measure, best.channel, [0.5, 0.5], level)
    assert optimum_under("lip", [0.5, 0.3, 0.2], 0.5, lower=1001.0).channel.min() > 0


def test_pml_agrees_with_the_general_solver():
    for prior, level in (([0.6, 0.3, 0.1], 0.4), ([0.4, 0.3, 0.2, 0.1], 0.9), ([0.8, 0.2], 0.1)):
        for name in ("mutual_information", "chi_square", "total_variation"):
            best = optimum_under("pml", prior, level, name)
            design = optimal_mechanism(prior, level, name)
            assert best.bound == pytest.approx(design.value, rel=0, abs=1e-12)
            assert best.value == pytest.approx(design.bound, rel=0, abs=1e-12)


@pytest.mark.parametrize("share", [0.5, 0.7, 0.95])
@pytest.mark.parametrize("level", [0.05, 0.4, 0.69])
def test_two_secrets_have_closed_forms(share, level):
    prior, c = [share, 1 - share], math.exp(level)
    low = max(1 / c, (1 - (1 - share) * c) / share)  # lifts of the first secret
    high = min(c, (1 - (1 - share) / c) / share)
    entropy = -sum(p * math.log(p) for p in prior)
    known = {
        ("ldp", "mutual_information"): mutual_information(randomized_response(2, level), prior),
        ("lip", "chi_square"): (1 - low) * (high - 1) * share / (1 - share),
        ("maximal", "mutual_information"): (c - 1) * entropy,
    }
    for (measure, name), told in known.items():
        best = optimum_under(measure, prior, level, name)
        assert best.value == pytest.approx(told, rel=0, abs=1e-12)
        assert best.bound == pytest.approx(told, rel=0, abs=1e-12)


@pytest.mark.parametrize("measure", MEASURES)
def test_a_bound_below_the_value_is_an_error(measure, monkeypatch):
    monkeypatch.setattr(atlas, "_bound", lambda *_: Fraction(0))
    with pytest.raises(Contradiction, match="exceeds the upper bound 0.0"):
        optimum_under(measure, [0.6, 0.3, 0.1], 0.4)


def test_a_utility_that_is_not_sub_linear_is_an_error():
    with pytest.raises(Contradiction, match="sub-linear"):
        optimum_under("pml", [0.6, 0.4], 0.5, lambda column: float(np.sqrt(column).sum()))


@pytest.mark.parametrize("measure", MEASURES)
def test_lifts_that_are_no_floats_are_refused(measure):
    for level in (0.5, 800.0):
        with pytest.raises(SolverFailed, match="least entry is 1e-310"):
            optimum_under(measure, [1 - 1e-310, 1e-310], level, "chi_square")


@pytest.mark.parametrize("measure", MEASURES)
def test_one_secret_has_nothing_to_tell(measure):
    best = optimum_under(measure, [1.0], 0.3)
    assert best.channel.tolist() == [[1.0]] and best.value == best.bound == 0


def test_rare_secrets_far_above_their_largest_level():
    prior = [0.6081102070373431, 0.3918853544488467, 4.438513808711215e-06, 2.94e-16, 1.24e-15]
    for measure, level in (("pml", 1e5), ("pml", epsilon_max(prior) + 1e-9), ("maximal", 50.0)):
        best = optimum_under(measure, prior, level, "chi_square")
        assert np.array_equal(best.channel, np.eye(5))
        assert best.value == best.bound == pytest.approx(4, rel=0, abs=1e-12)
    for measure in ("lip", "ldp"):  # the bound is never above what the truth is worth
        best = optimum_under(measure, prior, 50.0)
        assert best.bound <= 1 and kept_exactly(measure, best.channel, prior, 50.0)
        assert best.bound - best.value < 1e-9


def test_known_answers():
    for level in (0.1, 0.7, 2.0):
        c = math.exp(level)
        flip = 1 / (1 + c)
        told = math.log(2) + flip * math.log(flip) + (1 - flip) * math.log(1 - flip)
        assert optimum_under("ldp", [0.5, 0.5], level).value == pytest.approx(told, abs=1e-12)
        budget = min(
            c, 4.0
        )  # uniform, total variation: a clear answer with probability (c - 1) / 3
        best = optimum_under("maximal", [0.25] * 4, level, "chi_square")
        assert best.value == pytest.approx(budget - 1, abs=1e-12)


def test_asymmetric_bounds_lie_between():
    prior = [0.5, 0.3, 0.2]
    pml = optimum_under("pml", prior, 0.6)
    values = [
        optimum_under("lip", prior, 0.6, lower=low) for low in (0, 0.1, 0.6, 5, math.log(1e300))
    ]
    assert values[0].value == 0 and np.all(np.diff([v.value for v in values]) > -1e-15)
    assert values[2].value == optimum_under("lip", prior, 0.6).value
    assert values[-1].value == pytest.approx(pml.value, abs=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_vertices_are_vertices(seed):
    rng = np.random.default_rng(seed)
    parts = rng.integers(1, 6, size=3).tolist()
    shares = [Fraction(k, sum(parts)) for k in parts]
    low, high = Fraction(1, 2), Fraction(3, 2)
    for vertex in box_vertices(shares, low, high):
        assert sum(p * x for p, x in zip(shares, vertex)) == 1
        assert all(low <= x <= high for x in vertex)
        assert sum(low < x < high for x in vertex) <= 1
    for vertex in ratio_vertices(shares, high):
        assert sum(p * x for p, x in zip(shares, vertex)) == 1
        assert max(vertex) / min(vertex) in (1, high)
    assert len(ratio_vertices(shares, high)) == 2**3 - 1 and len(set_vertices(shares)) == 2**3 - 1


def test_weights_are_exact_or_refused():
    third = Fraction(1, 3)
    columns = [[third, 2 * third], [1 - third, third]]
    weights = exact_weights(columns, [Fraction(1), Fraction(1)])
    assert [sum(w * x for w, x in zip(weights, row)) for row in zip(*columns)] == [1, 1]
    with pytest.raises(SolverFailed):
        exact_weights([[Fraction(1), Fraction(2)]], [Fraction(1), Fraction(1)])


@pytest.mark.parametrize(
    "arguments, error, message",
    [
        (dict(measure="dp"), ValueError, "none of pml, lip"),
        (dict(measure="pml", lower=0.2), ValueError, "lower"),
        (dict(lower=-1), ValueError, "lower = -1"),
        (dict(epsilon=math.nan), ValueError, "epsilon"),
        (dict(prior=[1, 0]), InvalidPrior, "prior"),
        (dict(prior=[1 / 11] * 11), ValueError, "11 symbols"),
    ],
)
def test_nonsense_is_refused(arguments, error, message):
    given = dict(measure="lip", prior=[0.6, 0.4], epsilon=0.3) | arguments
    with pytest.raises(error, match=message):
        optimum_under(**given)


def test_pieces_of_four_secrets_are_the_curve():
    shares = [Fraction(k, 6) for k in (2, 2, 1, 1)]
    pieces = optimum_pieces(shares)
    assert pieces[0].low == 1 and pieces[-1].high == 6
    for before, after in zip(pieces, pieces[1:]):
        assert 0 <= after.low - before.high <= 4 * PIECE_RESOLUTION
    for piece in pieces[::3]:
        for part in (Fraction(1, 97), Fraction(1, 3), Fraction(96, 97)):
            c = piece.low + (piece.high - piece.low) * part
            worth = float(value_of(shares, piece.names, c, NAMED["mutual_information"]))
            level = math.log(c)
            bound = enumerate_optimum(shares, level, NAMED["mutual_information"])[1]
            assert bound == pytest.approx(worth, abs=1e-9)


def test_pieces_of_two_secrets_join_at_the_threshold():
    shares = [Fraction(3, 4), Fraction(1, 4)]
    below, above = optimum_pieces(shares, "chi_square")
    assert below.high == above.low == Fraction(4, 3)
    values = [
        value_of(shares, p.names, Fraction(4, 3), NAMED["chi_square"]) for p in (below, above)
    ]
    assert values[0] == values[1]


def test_more_than_five_secrets_are_refused():
    with pytest.raises(ValueError, match="6 symbols"):
        optimum_pieces([1 / 6] * 6)


@pytest.mark.parametrize("rare", [1e-10, 1e-12, 1e-14])
@pytest.mark.parametrize("level", [22.0, 28.0])
def test_a_rare_secret_leaves_randomized_response(rare, level):
    """The answer was the constant mechanism, with the value 0."""
    prior = np.array([rare, 0.3, 0.2, 0.5 - rare])
    design = optimum_under("ldp", prior / prior.sum(), level)
    assert design.bound - design.value < 1e-7
    ratios = [Fraction(max(c)) / Fraction(min(c)) for c in design.channel.T.tolist() if max(c)]
    assert max(ratios) <= exp_below(level)
