"""Levels of additive noise that may fail: their limits hold the truth, and level, scale and tail fit together."""

import math
import warnings

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq, linprog
from scipy.special import voigt_profile
from scipy.stats import cauchy, chi2, laplace, norm, rv_continuous

from pmlbook.additive_noise import DensityRange, SampleBand, additive_noise_leakage, noise_scale
from pmlbook.numerics.linear_programmes import Infeasible

DENSITY = {"laplace": laplace, "gaussian": norm}
HUMPS = ([1, 3, 0.2, 0.2, 2], [0, 0.5, 1, 2.5, 3, 4])
GAP = ([2, 1, 0, 3], [0, 0.3, 1, 4, 4.2])
FINE = (np.random.default_rng(7).uniform(0.1, 1, 15).tolist(), np.linspace(-1, 1, 16).tolist())


class Line:
    """Outcomes given each place of a secret, in closed form: places are numbers, or cells in which it is uniform."""

    def __init__(self, noise, scale, low, high):
        self.z = DENSITY[noise](0, scale)
        self.noise, self.scale, self.low, self.high = noise, scale, np.array(low), np.array(high)

    def integral(self, t):
        """Of the distribution function of the noise, from -inf to t."""
        if self.noise == "gaussian":
            return t * self.z.cdf(t) + self.scale**2 * self.z.pdf(t)
        return np.maximum(t, 0) + self.scale / 2 * np.exp(-abs(t) / self.scale)

    def density(self, y):
        y = np.atleast_1d(y)[:, None]
        if (self.low == self.high).all():
            return self.z.pdf(y - self.low)
        side = np.where(y > self.high, -1, 1)  # small differences are those of small tails
        found = side * (self.z.cdf(side * (y - self.low)) - self.z.cdf(side * (y - self.high)))
        return found / (self.high - self.low)

    def below(self, y):
        y = np.atleast_1d(y)[:, None]
        if (self.low == self.high).all():
            return self.z.cdf(y - self.low)
        return (self.integral(y - self.low) - self.integral(y - self.high)) / (self.high - self.low)

    def away(self, y):
        """Distance to the nearest secret."""
        y = np.atleast_1d(y)[:, None]
        return np.maximum(np.maximum(self.low - y, y - self.high), 0).min(axis=1)

    def outcomes(self, n):
        reach = (
            9 if self.noise == "gaussian" else 25
        ) * self.scale  # 1e-11 of the outcomes are beyond
        return np.linspace(self.low[0] - reach, self.high[-1] + reach, n)

    def leaking(self, leakage, epsilon, clip=(-math.inf, math.inf), n=6001):
        """Probability of an outcome between the ends of a clip that leaks more, given each place; roots of the leakage."""
        y = self.outcomes(n)
        y = np.concatenate(
            [[max(y[0], clip[0])], y[(clip[0] < y) & (y < clip[1])], [min(y[-1], clip[1])]]
        )
        more = leakage(y) > epsilon
        found, ends = np.zeros(len(self.low)), [y[0]]
        for k in np.flatnonzero(more[1:] != more[:-1]):
            ends.append(
                brentq(lambda t: leakage(np.array([t]))[0] - epsilon, y[k], y[k + 1], xtol=1e-13)
            )
        ends.append(y[-1])
        for k, (start, stop) in enumerate(zip(ends, ends[1:])):
            if more[0] == (k % 2 == 0):
                found = found + self.below(stop)[0] - self.below(start)[0]
        return found


class OnePrior(Line):
    def __init__(self, noise, scale, prior):
        if isinstance(prior, dict):
            low = high = np.array(sorted(prior), dtype=float)
            weights = np.array([prior[x] for x in low])
        else:
            weights, low, high = prior[0], prior[1][:-1], prior[1][1:]
        weights, low, high = (
            np.array(x, dtype=float)[np.array(weights) > 0] for x in (weights, low, high)
        )
        super().__init__(noise, scale, low, high)
        self.weights = weights / weights.sum()

    def leakage(self, y):
        return self.z.logpdf(self.away(y)) - np.log(self.density(y) @ self.weights + 1e-300)

    def tail(self, epsilon, clip):
        found = self.leaking(self.leakage, epsilon, clip) @ self.weights
        for end, side in zip(clip, (1, -1)):
            if math.isfinite(end):  # what lies beyond is one outcome
                given = self.below(end)[0] if side > 0 else 1 - self.below(end)[0]
                nearest = self.z.cdf(side * (end - (self.low[0] if side > 0 else self.high[-1])))
                mass = given @ self.weights
                found += mass * (math.log(nearest / mass) > epsilon)
        return found

    def event_level(self, delta):
        """Of the worst interval between outcomes of a grid, which is at most the level."""
        y = self.outcomes(10001)
        secrets = np.unique(np.linspace(self.low, self.high, 9))
        given = np.vstack([0 * secrets, self.z.cdf(y[:, None] - secrets), 0 * secrets + 1])
        below = np.concatenate([[0], self.below(y) @ self.weights, [1]])
        stop = np.searchsorted(below, below + delta)
        start = np.flatnonzero(stop < len(below))
        stop = stop[start]
        lifts = (given[stop] - given[start]).T / (below[stop] - below[start])
        return math.log(lifts.max())


class SetOfPriors(Line):
    """Priors of a set that are made of places, by linear programmes: each is one of the set."""

    def __init__(self, noise, scale, known):
        if isinstance(known, DensityRange):
            edges = np.linspace(*known.support, 101)
            super().__init__(noise, scale, edges[:-1], edges[1:])
            self.rows = {"bounds": np.outer(np.diff(edges), [known.least, known.most])}
        else:
            points, lower, upper = known.band
            before = points[1:] - 1e-7  # nearly as far out as the band allows
            places = np.sort(np.concatenate([points, before]))
            super().__init__(noise, scale, places, places)
            at = np.searchsorted(points, places, side="right") - 1
            sums = np.tril(np.ones((len(places), len(places))))[:-1]
            limits = np.concatenate([upper[at[:-1]], -lower[at[:-1]]])
            self.rows = {"A_ub": np.vstack([sums, -sums]), "b_ub": limits}

    def least(self, values):
        total = np.ones((1, len(values)))
        return linprog(values, A_eq=total, b_eq=[1], **self.rows).fun

    def away(self, y):
        """Any number between the ends may be the secret."""
        return np.maximum(np.maximum(self.low[0] - y, y - self.high[-1]), 0)

    def leakage(self, y):
        means = np.array([self.least(row) for row in self.density(y)])
        return self.z.logpdf(self.away(y)) - np.log(means)

    def tail(self, epsilon):
        return -self.least(-self.leaking(self.leakage, epsilon, n=81))


def numbers(seed):
    drawn = np.random.default_rng(seed)
    points = np.unique(np.round(drawn.uniform(-3, 3, drawn.integers(2, 7)), 1))
    return dict(zip(points.tolist(), drawn.dirichlet(np.ones(len(points))).tolist()))


PRIORS = [numbers(1), numbers(3), HUMPS, GAP, FINE]
each_noise = pytest.mark.parametrize("noise", ["laplace", "gaussian"])
each_prior = pytest.mark.parametrize("prior", PRIORS, ids=range(len(PRIORS)))


@each_noise
@each_prior
def test_the_tail_lies_between_its_limits(noise, prior):
    drawn = np.random.default_rng(len(str(prior)))
    for scale, clip in ((0.2, None), (1.5, (-0.5, 1.2)), (0.5, (-math.inf, 2.5))):
        known = additive_noise_leakage(noise, prior, scale, clip)
        truth = OnePrior(noise, scale, prior)
        epsilon = drawn.uniform(0.1, 1.5)
        low, high = known.tail(epsilon)
        exact = truth.tail(epsilon, clip or (-math.inf, math.inf))
        assert low - 1e-9 <= exact <= high + 1e-9 and 0 <= high - low < 1e-6


@each_noise
@each_prior
def test_a_level_fails_as_often_as_it_may(noise, prior):
    known, truth = additive_noise_leakage(noise, prior, 0.5), OnePrior(noise, 0.5, prior)
    low, high = known.level(0.1)
    assert 0 <= high - low < 2e-6
    assert truth.tail(high, (-math.inf, math.inf)) <= 0.1 + 1e-9
    assert low == 0 or truth.tail(low - 1e-9, (-math.inf, math.inf)) >= 0.1 - 1e-9


@each_noise
@each_prior
def test_no_event_of_a_probability_leaks_more_than_its_level(noise, prior):
    known, truth = additive_noise_leakage(noise, prior, 0.7), OnePrior(noise, 0.7, prior)
    (value, bound), found = known.event_level(0.05), truth.event_level(0.05)
    assert found <= bound + 1e-9 and value <= found + 5e-3 and 0 <= bound - value < 1e-3


@each_noise
@pytest.mark.parametrize(
    "known", [DensityRange((0, 1), 0.5, 2), SampleBand([0.1, 0.4, 0.5, 0.9] * 30, (0, 1))]
)
def test_the_tail_of_a_set_of_priors_is_that_of_its_worst(noise, known):
    low, high = additive_noise_leakage(noise, known, 0.4).tail(0.8)
    found = SetOfPriors(noise, 0.4, known).tail(0.8)
    assert found <= high + 1e-6 and low <= found + 4e-3 and high - low < 1e-6


def test_a_normal_secret_with_gaussian_noise_has_the_levels_of_the_closed_form():
    for spread, scale, delta in ((1, 1, 1e-4), (0.1, 5, 0.5)):
        known, least = (
            additive_noise_leakage("gaussian", norm(7, spread), scale),
            np.log1p((spread / scale) ** 2) / 2,
        )
        exact = least + chi2.isf(delta, 1) / 2
        low, high = known.level(0.5)
        assert low - 1e-12 <= least + chi2.isf(0.5, 1) / 2 <= high + 1e-12 and high - low < 1e-6
        low, high = known.tail(exact)
        assert low - 1e-12 <= delta <= high + 1e-12 and high - low < 1e-6
        assert known.event_level(delta) == pytest.approx((-math.log(delta),) * 2)


def test_laplace_noise_on_a_laplace_secret_of_its_size():
    known = additive_noise_leakage(
        "laplace", laplace(0, 2), 2
    )  # the outcome has density (1 + u) e^-u / 8, u = |y| / 2
    for u in (0.5, 12.0):
        low, high = known.tail(math.log(2) + u - math.log1p(u))
        exact = (2 + u) * math.exp(-u) / 2
        assert low - 1e-12 <= exact <= high + 1e-12 and high - low < 1e-6


def test_a_heavy_tail_against_the_profile_of_voigt():
    known = additive_noise_leakage("gaussian", cauchy(0, 1), 0.5)
    for y in (1.0, 60.0):
        epsilon = math.log(norm(0, 0.5).pdf(0) / voigt_profile(y, 0.5, 1))
        exact = 1 - 2 * quad(voigt_profile, 0, y, (0.5, 1), points=[1], epsabs=1e-12, limit=200)[0]
        low, high = known.tail(epsilon)
        assert low - 1e-9 <= exact <= high + 1e-9 and high - low < 1e-6


class Mixture(rv_continuous):
    """Two normal classes: no family that is known to be unimodal."""

    def _pdf(self, x):
        return 0.5 * norm.pdf(x, -2, 0.5) + 0.5 * norm.pdf(x, 2, 0.7)

    def _cdf(self, x):
        return 0.5 * norm.cdf(x, -2, 0.5) + 0.5 * norm.cdf(x, 2, 0.7)

    def _sf(self, x):
        return 0.5 * norm.sf(x, -2, 0.5) + 0.5 * norm.sf(x, 2, 0.7)


def test_two_classes_with_gaussian_noise_are_two_wider_classes():
    y = np.linspace(-12, 12, 200001)
    parts = [(-2, math.hypot(0.5, 0.6)), (2, math.hypot(0.7, 0.6))]
    density = sum(norm.pdf(y, *part) / 2 for part in parts)
    leakage = norm.logpdf(0, 0, 0.6) - np.log(density)
    known = additive_noise_leakage("gaussian", Mixture()(), 0.6)
    for epsilon in (1.2,):
        exact = density[leakage > epsilon].sum() * (y[1] - y[0])
        low, high = known.tail(epsilon)
        assert low - 1e-4 <= exact <= high + 1e-4 and high - low < 1e-2


def test_a_scale_for_a_tail_keeps_it_and_a_smaller_one_does_not():
    for noise, prior in (("laplace", HUMPS), ("gaussian", numbers(2))):
        found = noise_scale(0.9, noise, prior, delta=0.1)
        assert additive_noise_leakage(noise, prior, found.value).tail(0.9)[0] <= 0.1
        assert additive_noise_leakage(noise, prior, found.bound).tail(0.9)[1] > 0.1
        assert 0 < found.value - found.bound < 1e-5 * found.value
    with pytest.raises(Infeasible):  # the outcome shows how far out the secret is
        noise_scale(0.5, "gaussian", norm(0, 1), delta=0.01)


@each_noise
def test_at_the_edges_limits_stay_in_order(noise):
    near, two = {0.0: 0.5, 1e-9: 0.5}, {0.0: 0.5, 1.0: 0.5}
    cases = (({3.0: 1.0}, 0.05), (near, 0.05), (near, 1e3), (two, 1e-3), (two, 1e3), (HUMPS, 1e3))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for prior, scale in cases:
            known = additive_noise_leakage(noise, prior, scale)
            assert known.tail(0)[1] == 1 and known.tail(1e3)[0] == 0
            for delta in (1e-7, 1 - 1e-7):
                found = known.level(delta), known.event_level(delta)
                assert all(0 <= low <= high < math.inf for low, high in found)
                assert found[1][0] <= -math.log(delta)
    one = additive_noise_leakage(noise, {3.0: 1.0}, 1.0)
    assert (
        one.tail(1e-9)[1] < 1e-14 and one.level(0.1)[1] < 1e-6 and one.event_level(0.1)[1] < 1e-11
    )


def test_what_is_no_level_or_probability_is_refused():
    known = additive_noise_leakage("gaussian", norm(0, 1), 1)
    for epsilon in (-1, math.nan, "a", None):
        with pytest.raises(ValueError, match="epsilon"):
            known.tail(epsilon)
    for delta in (0, 1, -1, 2, math.inf, math.nan, "a"):
        for ask in (known.level, known.event_level):
            with pytest.raises(ValueError, match="delta"):
                ask(delta)
    with pytest.raises(ValueError, match="without a cut"):
        additive_noise_leakage("gaussian", {0: 0.5, 1: 0.5}, 1, cut=2).tail(1)
    with pytest.raises(ValueError, match="events are those without"):
        additive_noise_leakage("gaussian", {0: 0.5, 1: 0.5}, 1, clip=(0, 1)).event_level(0.1)
