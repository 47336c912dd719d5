"""A quantile of numbers: no mechanism estimates it better than its bit, and the design also estimates the other shares."""

import math
import pickle
import warnings

import numpy as np
import pytest
from scipy.stats import beta, binom, dgamma, expon, gamma, lognorm, norm, rv_histogram, uniform

from pmlbook import Infeasible, epsilon_pml, estimation_mechanism
from pmlbook.additive_noise import DensityRange, quantile_mechanism
from pmlbook.additive_noise.line_priors import secret_from
from pmlbook.additive_noise.quantile import (
    VARIANCE_SLACK,
    cell_shares,
    cuts_of,
    quantiles_of,
)
from pmlbook.estimation import estimation_variance
from pmlbook.release.numbers import cell_names, cells_of

STEPS = np.array([1.0, 5, 0, 2, 4]), np.array([0.0, 1, 2, 3, 4, 9])


@pytest.mark.parametrize(
    "prior, epsilon, quantile",
    [
        (norm(40, 12), 0.1, 0.5),
        (lognorm(0.6, scale=30), 1.0, 0.8),
        (gamma(2), 2.0, 0.95),
        (gamma(2), 0.5, 0.05),
        (beta(2, 5), 0.7, 0.3),
        (STEPS, 0.4, 0.25),
    ],
)
def test_value_and_bound_are_within_five_per_cent(prior, epsilon, quantile):
    made = quantile_mechanism(prior, epsilon, quantile, bins=7)
    assert made.bound <= made.value <= 1.05 * made.bound
    assert made.mechanism.certify(epsilon)
    assert pickle.loads(pickle.dumps(made)) == made


def test_a_bit_that_may_be_published_costs_what_no_privacy_costs():
    made = quantile_mechanism(uniform(0, 10), math.log(2), bins=4)
    assert made.bound == pytest.approx(0.25 * 100, rel=1e-9)
    assert made.bound <= made.value <= (1 + VARIANCE_SLACK) * 25


def test_shares_and_quantiles_of_cells():
    for prior in (norm(3, 2), gamma(2), uniform(-1, 5)):
        secret = secret_from(prior)
        edges, place = cuts_of(secret, 0.3, 9)
        assert prior.cdf(edges[place]) == pytest.approx(0.3, abs=1e-12)
        assert cell_shares(secret, edges) == pytest.approx(np.diff(prior.cdf(edges)), abs=1e-12)
        assert (edges[0], edges[-1]) == prior.support()
    secret = secret_from(STEPS)
    levels = np.array([0.0, 0.5 / 12, 3.5 / 12, 7 / 12, 1.0])
    assert quantiles_of(secret, levels) == pytest.approx([0, 0.5, 1.5, 3.5, 9])
    given = np.array([0.0, 1.5, 3.5, 9.0])
    assert cell_shares(secret, given) == pytest.approx([3.5 / 12, 3.5 / 12, 5 / 12])


def test_cells_hold_their_upper_edge_and_have_names():
    edges = np.array([0.0, 1.0, 2.5])
    assert cells_of(np.array([0.0, 0.5, 1.0, 1.1, 2.5]), edges).tolist() == [0, 0, 0, 1, 1]
    assert cell_names(edges) == ("0 to 1", "1 to 2.5")
    assert cell_names(np.array([-math.inf, 0.1, math.inf])) == ("-inf to 0.1", "0.1 to inf")


def test_edges_may_be_given_and_the_quantile_is_added():
    made = quantile_mechanism(uniform(0, 8), 0.5, 0.25, bins=[0, 1, 4, 8])
    assert made.edges == pytest.approx([0, 1, 2, 4, 8])
    made = quantile_mechanism(uniform(0, 8), 0.5, 0.5, bins=[0, 1, 4, 8])
    assert made.edges == pytest.approx([0, 1, 4, 8])


def test_finer_secrets_have_no_less_variance_than_the_bound():
    """The share below a cut, estimated from twelve secrets by another search."""
    rng = np.random.default_rng(3)
    for epsilon in (0.2, 0.8):
        weights = rng.uniform(1, 3, 12)
        weights[5] = weights[4]  # or the density would jump at the quantile
        weights /= weights.sum()
        finer = estimation_mechanism(weights, epsilon, (np.arange(12) < 5).astype(float))
        made = quantile_mechanism((weights, np.arange(13.0)), epsilon, weights[:5].sum(), bins=5)
        assert made.bound * weights[5] ** 2 <= finer.value * (1 + 1e-9)
        assert finer.bound <= made.value * weights[5] ** 2 * (1 + 1e-9)


def test_other_shares_are_told_besides():
    """Each at less than twice the least variance of all shares together."""
    made = quantile_mechanism(norm(), 0.3, bins=8).mechanism
    cells = np.arange(8)
    together = estimation_mechanism(made.prior, 0.3, np.tri(8)[:, :7]).mechanism
    for cut in range(7):
        own, other = (estimation_variance(one, cells <= cut) for one in (made, together))
        assert own < 2 * other


def test_the_level_holds_for_numbers():
    prior = gamma(2)
    made = quantile_mechanism(prior, 0.7, 0.6, bins=6)
    fine = prior.ppf((np.arange(6000) + 0.5) / 6000)
    channel = made.mechanism.channel[cells_of(fine, made.edges)]
    assert epsilon_pml(channel, np.full(6000, 1 / 6000)) <= 0.7 + 1e-3  # cells of 6000 numbers


@pytest.fixture(scope="module")
def median():
    """A design for the median, which several tests ask."""
    return quantile_mechanism(norm(40, 12), 0.8, bins=8)


@pytest.mark.parametrize("truth", [norm(40, 12), norm(52, 12), norm(40, 2)])
def test_estimates_find_the_cell_and_intervals_the_quantile(median, truth):
    made = median
    found = made.estimate(made.privatize(truth.rvs(40_000, random_state=1), rng=2))
    cell = cells_of(np.array([truth.ppf(0.5)]), made.edges)[0]
    near = made.points[max(cell - 1, 0), 0], made.points[min(cell + 1, 7), -1]
    assert near[0] <= found.value <= near[1]
    for method in ("exact", "score"):
        low, high = found.interval(0.999999, method)
        assert low < truth.ppf(0.5) < high and low <= found.value <= high
    assert found.standard_error > 0 and "QuantileEstimate" in repr(found)


def test_under_the_prior_the_error_is_as_told():
    made = quantile_mechanism(norm(40, 12), 0.5, 0.7, bins=8)
    found = made.estimate(made.privatize(norm(40, 12).rvs(60_000, random_state=3), rng=4))
    assert abs(found.value - norm(40, 12).ppf(0.7)) < 5 * math.sqrt(made.value / 60_000)
    assert found.standard_error == pytest.approx(math.sqrt(made.value / 60_000), rel=0.2)


def test_releases_refuse_what_lies_outside():
    made = quantile_mechanism(uniform(0, 10), 0.5, bins=3)
    column = [0.0, 10.0, 5]
    assert set(made.privatize(column)) <= set(made.mechanism.outputs)
    assert (made.privatize(column, 5) == made.privatize(column, 5)).all()
    for bad, said in (([1, 11], r"values\[1\] lies outside 0 to 10"), ([math.nan], "values")):
        with pytest.raises(ValueError, match=said):
            made.privatize(bad)


@pytest.mark.parametrize(
    "prior, epsilon, quantile, bins, said",
    [
        (binom(5, 0.3), 1.0, 0.5, 8, "needs a density"),
        ({0: 0.5, 1: 0.5}, 1.0, 0.5, 8, "needs a density"),
        (DensityRange((0, 1)), 1.0, 0.5, 8, "needs a density"),
        (uniform(), -1.0, 0.5, 8, "epsilon"),
        (uniform(), 1.0, 0.0, 8, "quantile = 0"),
        (uniform(), 1.0, 1.0, 8, "quantile = 1"),
        (uniform(), 1.0, math.nan, 8, "quantile"),
        (uniform(), 1.0, 0.5, 1, "bins = 1"),
        (uniform(), 1.0, 0.5, 2.5, "bins"),
        (uniform(), 1.0, 0.5, [0, 0.5], "bins must rise from"),
        (uniform(), 1.0, 0.5, [0, 0.7, 0.6, 1], "bins must rise from"),
        (([1, 0, 1], [0, 1, 2, 3]), 1.0, 0.25, [0, 1, 2, 3], "no value lies near 1"),
        (([1, 0, 1], [0, 1, 2, 3]), 1.0, 0.5, 4, "no density at its quantile 2: ask for another"),
        (([1, 2, 3], [0, 1, 2, 3]), 1.0, 0.5, 4, "jumps at its quantile 2: move that edge"),
        (uniform(), 1.0, 0.5, [-math.inf, 0.5, 1], "bins must rise from 0.0 to 1.0"),
        (norm(), 1.0, 0.5, [-5, 0, 5], "bins must rise from -inf to inf"),
        (norm(), 1.0, 0.5, [None, math.inf], r"got \[None, inf\]"),
        (norm(), 1.0, 0.5, [-math.inf, math.inf, math.inf], r"bins\[1\] = inf is not finite"),
        (norm(), 1.0, 0.5, [], "bins is empty"),
        (beta(0.5, 0.5), 1e-15, 0.5, 4, "too small to search for"),
        # beyond the floats of the prior's tail the design was for another quantile
        (norm(40, 12), 1.0, 1e-25, 4, "quantile = 1e-25 must be below 1, at least"),
        (norm(40, 12), 1.0, 0.5, [-math.inf, 40, np.nextafter(40, 50), math.inf], "near 40"),
        (norm(1e16, 1), 1.0, 0.5, 4, "subtract an origin first"),
        (rv_histogram(([1, 3, 4], [0, 1, 2, 6]), density=False), 1.0, 0.5, 4, "jumps at its"),
        (([1, 1], [0, 5e-324, 1e-323]), 1.0, 0.5, 4, r"prior\[1\] must rise"),
        (dgamma(0.5), 1.0, 0.5, 4, "its density"),
    ],
)
def test_bad_input_gets_one_message(prior, epsilon, quantile, bins, said):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ValueError, match=said):
            quantile_mechanism(prior, epsilon, quantile, bins)


def test_level_zero_is_infeasible():
    with pytest.raises(Infeasible):
        quantile_mechanism(uniform(), 0.0)


@pytest.mark.parametrize(
    "prior, bins", [(norm(), [-math.inf, -1, 1, math.inf]), (expon(), np.array([0, 1, math.inf]))]
)
def test_edges_are_infinite_where_the_prior_is(prior, bins):
    """The outer edges had to be those of the prior, and had to be finite."""
    made = quantile_mechanism(prior, 1.0, bins=bins)
    assert set(bins) < {*made.edges} and made.mechanism.certify(1.0)
    assert made.value >= made.bound > 0
    assert made.estimate(made.privatize(prior.rvs(200, random_state=1), 1)).value > -3


def test_an_interval_of_an_unbounded_prior_may_be_unbounded():
    made = quantile_mechanism(norm(0, 1), 1.0, bins=4)
    low, high = made.estimate(made.privatize(np.full(3000, -100.0), rng=1)).interval()
    assert low == -np.inf and high <= 0


@pytest.mark.parametrize("confidence", [0, -0.5, 1, None, [0.9], 2**2000])
def test_the_confidence_of_an_interval_lies_between_0_and_1(confidence):
    made = quantile_mechanism(uniform(0, 1), 1.0, bins=2)
    with pytest.raises(ValueError, match="confidence = "):
        made.estimate(made.privatize([0.5], rng=1)).interval(confidence)


def test_two_thousand_people_find_the_median_as_closely_as_is_stated():
    """The shares at other cuts are badly known; taken as they are, the estimates were 17 off where 6 were stated."""
    made, rng = quantile_mechanism(uniform(0, 100), 0.7, bins=8), np.random.default_rng(5)
    for truth in (uniform(0, 100), uniform(0, 90)):
        off = []
        for _ in range(40):
            found = made.estimate(made.privatize(truth.rvs(2000, random_state=rng), rng))
            off.append(abs(found.value - truth.median()) / found.standard_error)
        assert np.mean(np.array(off) > 2) <= 0.15
        assert np.median(off) > 0.2  # and the stated error is not far too large


@pytest.mark.parametrize("deviation", [1e-160, 1e160])
def test_a_density_whose_square_is_no_float_is_refused(deviation):
    with pytest.raises(
        ValueError, match="prior: its density .* at the quantile is beyond .* rescale"
    ):
        quantile_mechanism(norm(0, deviation), 0.5, bins=4)
