"""Mechanisms for a region of priors: never infeasible, their level and their bound in exact arithmetic."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from pmlbook.foundations.utility import ExpectedGain
from pmlbook.numerics.linear_programmes import LooseBound, SolverFailed
from pmlbook.release.certificate import exp_below
from pmlbook.release.mechanism import Mechanism
from pmlbook.robust import robust_design as chapter
from pmlbook.robust.estimated_prior import (
    PriorRegion,
    ball_region,
    box_region,
    worst_leakage,
    worst_prior,
)
from pmlbook.robust.robust_design import keeps_level, robust_mechanism

ppl = pytest.importorskip("ppl")

SURE = PriorRegion([0.5, 0.5], [0.4, 0.4], [0.6, 0.6])


def sampled_regions(seed, trials, most):
    """Boxes and balls in turn, about random counts."""
    rng = np.random.default_rng(seed)
    for trial in range(trials):
        counts = rng.integers(1, 60, int(rng.integers(2, most + 1)))
        yield (box_region, ball_region)[trial % 2](counts)


def vertices_of(region):
    """All vertices of a region in fractions, found by trying: a bound part, one share left over, free mass."""
    n, free = len(region.prior), Fraction(region.free)
    limits = [(Fraction(a), Fraction(b)) for a, b in zip(region.low.tolist(), region.high.tolist())]
    for i in range(n):
        for chosen in itertools.product(*(limits[:i] + limits[i + 1 :])):
            rest = 1 - free - sum(chosen)
            if limits[i][0] <= rest <= limits[i][1]:
                for k in range(n if free else 1):
                    belief = [*chosen[:i], rest, *chosen[i:]]
                    belief[k] += free
                    yield belief


def whole(row):
    """A row of fractions times their common denominator."""
    scale = math.lcm(*(x.denominator for x in row))
    return [int(x * scale) for x in row]


def exact_optimum(region, limit, gain):
    """Largest expected gain under a limit on all lifts, by a linear programme in fractions that lists no columns.

    For each action: its column v, and dual variables u, w, z by which the least mean over the region is at least
    low . v + rest u - (high - low) . w + free z.
    """
    (n, actions), prior = gain.shape, [Fraction(p) for p in region.prior.tolist()]
    total = sum(prior)
    low, high = ([Fraction(x) for x in side.tolist()] for side in (region.low, region.high))
    free, zero = Fraction(region.free), [Fraction(0)] * (2 * n + 2)
    v, w, u, z = range(n), range(n, 2 * n), 2 * n, 2 * n + 1
    least = [*low, *(a - b for a, b in zip(low, high)), 1 - free - sum(low), free]
    rows = []
    for i in v:
        lift = [limit * x for x in least]
        lift[v[i]] -= 1
        excess, bottom, column, over = (zero.copy() for _ in range(4))
        excess[w[i]], excess[v[i]], excess[u] = Fraction(1), Fraction(1), Fraction(-1)
        bottom[v[i]], bottom[z] = Fraction(1), Fraction(-1)
        column[v[i]], over[w[i]] = Fraction(1), Fraction(1)
        rows += [lift, excess, bottom, column, over]
    system, goal, width = ppl.Constraint_System(), [], 2 * n + 2
    for y in range(actions):
        names = [ppl.Variable(y * width + k) for k in range(width)]
        for row in rows:
            system.insert(sum(c * x for c, x in zip(whole(row), names)) >= 0)
        goal += [p / total * Fraction(g) for p, g in zip(prior, gain[:, y].tolist())] + zero[n:]
    for i in range(n):
        system.insert(sum(ppl.Variable(y * width + i) for y in range(actions)) == 1)
    scale = math.lcm(*(x.denominator for x in goal))
    aim = sum(c * ppl.Variable(k) for k, c in enumerate(whole(goal)))
    best = ppl.MIP_Problem(actions * width, system, aim).optimal_value()
    return Fraction(int(best.numerator), int(best.denominator)) / scale


def test_no_leakage_at_all_is_never_infeasible():
    for region in [box_region([34, 44, 51]), SURE, *sampled_regions(0, 20, 5)]:
        design = robust_mechanism(region, 0.0)
        assert keeps_level(design.mechanism, region, 0.0)
        assert design.value == 0 and 0 <= design.bound < 1e-15


@pytest.mark.parametrize("epsilon", [1e-6, 0.05, 0.7, 2.0])
def test_every_vertex_keeps_the_level_exactly(epsilon):
    limit, tried = exp_below(epsilon), 0
    for region in sampled_regions(1, 6, 4):
        mechanism = robust_mechanism(region, epsilon).mechanism
        for belief in vertices_of(region):
            assert sum(belief) == 1
            tried += 1
            for column in mechanism.weights.T.tolist():
                assert max(column) <= limit * sum(q * p for q, p in zip(belief, column))
    assert tried > 30


def gains(seed, trials):
    """Regions of two and three secrets, levels and gains of whole sixteenths."""
    rng = np.random.default_rng(seed)
    for region in sampled_regions(seed, trials, 3):
        yield (
            region,
            float(rng.uniform(0.05, 2)),
            rng.integers(-16, 17, (len(region.prior), 3)) / 16,
        )


def test_the_bound_is_at_least_the_exact_optimum():
    for region, epsilon, gain in gains(2, 12):
        design = robust_mechanism(region, epsilon, ExpectedGain(gain))
        best = exact_optimum(region, exp_below(epsilon), gain)
        assert best <= Fraction(design.bound)
        assert float(best) - 1e-9 < design.value and design.bound < float(best) + 1e-9


def test_the_bound_does_not_come_from_the_value(monkeypatch):
    """A constant mechanism in the place of the best: the bound stays above the exact optimum, with a warning."""

    def constant(region, *_):
        return Mechanism(np.ones((len(region.prior), 1)), region.prior)

    monkeypatch.setattr(chapter, "robust_mixture", constant)
    for region, epsilon, _ in gains(3, 6):
        gain = np.eye(len(region.prior)) / region.prior[:, None]
        best = exact_optimum(region, exp_below(epsilon), gain)
        with pytest.warns(LooseBound, match="robust_mechanism: the value"):
            design = robust_mechanism(region, epsilon, ExpectedGain(gain))
        assert design.value < best - Fraction(1, 1000) and best <= Fraction(design.bound)


def test_small_levels_keep_their_meaning():
    """With two secrets and one prior the optimum is known: log-ratios of order epsilon, information of its square."""
    p = [0.5, 0.5]
    for epsilon in (1e-3, 1e-6):
        design = robust_mechanism(PriorRegion(p, p, p), epsilon)
        assert design.value == pytest.approx(epsilon**2 / 2, rel=2e-3)
        assert design.value <= design.bound <= design.value * (1 + 1e-5)


def test_time_is_limited():
    with pytest.raises(ValueError, match="max_time"):
        robust_mechanism(SURE, 1.0, max_time=-1)
    try:
        design = robust_mechanism(SURE, 1.0, max_time=0)
    except SolverFailed:
        return
    assert keeps_level(design.mechanism, SURE, 1.0)


@pytest.mark.filterwarnings("ignore::pmlbook.numerics.linear_programmes.LooseBound")
@pytest.mark.parametrize("level", [0.0, 1e-6, 30.0])
def test_a_dozen_secrets_at_either_end(level):
    """Small levels are feasible, and the bound exceeds neither the level nor the entropy."""
    region = box_region([180, 41, 903, 57, 16, 287, 98, 74, 3, 148, 160, 33], zeros="add")
    found = robust_mechanism(region, level, max_time=0.3)
    entropy = -float(region.prior @ np.log(region.prior))
    assert keeps_level(found.mechanism, region, level)
    assert found.value <= found.bound <= min(6 * level**2, entropy * (1 + 1e-9))
    # how far a search of .3 seconds gets, rounding decides; that it is of this size, nothing does
    assert found.value >= min(2 * level**2, entropy / 2)


def test_a_region_of_one_prior_keeps_the_level_of_that_prior():
    """Lower ends beyond one by rounding took mass from the least entry: levels were exceeded in one of eight."""
    rng = np.random.default_rng(0)
    thirds = [0.333333333, 0.333333333, 0.3333333349]
    for q in [thirds, *rng.dirichlet(np.ones(4), 40)]:
        epsilon = float(rng.uniform(0.1, 1.5))
        found = robust_mechanism(PriorRegion(q, q, q), epsilon).mechanism
        assert found.certify(epsilon) and keeps_level(found, PriorRegion(q, q, q), epsilon)
    region = PriorRegion([0.1, 0.3, 0.6], [0, 0.4, 0.6 + 5e-10], [1e-3, 0.4, 0.6 + 5e-10])
    assert worst_prior([0, 1, 1], region).min() >= 0
    assert worst_leakage([[0, 1], [1, 0], [1, 0]], region).min() >= 0


def test_a_prior_with_a_secret_outside_the_domain_is_refused():
    for n in (2, 11):
        p = [5e-324] + [1 / (n - 1)] * (n - 1)
        with pytest.raises(ValueError, match="rarer than 1e-12"):
            robust_mechanism(PriorRegion(p, p, p), 800)
