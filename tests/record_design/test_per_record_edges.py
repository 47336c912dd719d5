"""Per-record bounds at the edges: against 50 digits, degenerate channels, and demands next to the largest entropy.

`PMLBOOK_FUZZ=full pytest tests/record_design/test_per_record_edges.py` takes a hundred times as many channels.
"""

import itertools
import math
import os
from collections import Counter
from fractions import Fraction

import mpmath as mp
import numpy as np
import pandas as pd
import pytest

from pmlbook.foundations.classic import geometric
from pmlbook.numerics.progress import Clock
from pmlbook.record_design.cutting_planes import (
    DesignSearch,
    Goal,
    certify,
    planes_at,
    rounding_loss,
)
from pmlbook.record_design.symmetry import parity_min_leakage, setting
from pmlbook.record_design.worst_adversary import (
    distortion_leakage,
    leakage_distortion,
    leakage_distortion_curve,
)
from pmlbook.records import totals
from pmlbook.records.certain_adversaries import capacities, near_uniform
from pmlbook.records.certificate import leakage_curve, per_record_leakage
from pmlbook.records.classes import record_problem
from pmlbook.records.posterior_bound import bound_cells, majorants
from pmlbook.records.queries import (
    Query,
    SumQuery,
    counting,
    modular_sum,
    parity,
    threshold,
)
from pmlbook.records.tilted import reply, surely_allowed
from pmlbook.release.mechanism import Mechanism

FULL = os.environ.get("PMLBOOK_FUZZ") == "full"
LN2 = math.log(2)


@pytest.fixture(autouse=True)
def fifty_digits():
    with mp.workdps(50):
        yield


# --- fifty digits ---------------------------------------------------------------------------------


def exact(array):
    """The same numbers with 50 digits, as nested lists."""
    return [exact(part) for part in array] if np.ndim(array) else mp.mpf(float(array))


def plogp(p):
    return p * mp.log(p) if p > 0 else mp.mpf(0)


class Truth:
    """A record's problem with 50 digits: classes with whole sizes, rows that sum to one."""

    def __init__(self, problem):
        self.problem = problem
        self.sizes = [
            [round(math.exp(s)) if math.isfinite(s) else 0 for s in row]
            for row in problem.log_counts
        ]
        self.rows = [
            [[w / mp.fsum(row) for w in row] for row in rows] for rows in exact(problem.rows)
        ]
        self.total = sum(map(sum, self.sizes))
        self.cells = [(a, c) for a, row in enumerate(self.sizes) for c, n in enumerate(row) if n]

    def entropy(self, prior):
        return mp.fsum(
            -plogp(prior[a][c]) + prior[a][c] * mp.log(self.sizes[a][c]) for a, c in self.cells
        )

    def joint(self, prior):
        outputs = range(len(self.rows[0][0]))
        return [
            [mp.fsum(p * row[y] for p, row in zip(inside, rows)) for y in outputs]
            for inside, rows in zip(prior, self.rows)
        ]

    def information(self, prior):
        both = self.joint(prior)
        columns = [mp.fsum(column) for column in zip(*both)]
        cells = mp.fsum(plogp(p) for row in both for p in row)
        return cells - mp.fsum(map(plogp, columns)) - mp.fsum(plogp(mp.fsum(row)) for row in both)

    def normalised(self, prior):
        total = mp.fsum(mp.fsum(row) for row in prior)
        return [[p / total for p in row] for row in prior]

    def tilted(self, gains, heat):
        """The tilted prior of the theorem."""
        tops = [
            max(gains[a][c] / heat for c, n in enumerate(row) if n)
            for a, row in enumerate(self.sizes)
        ]
        weights = [
            [
                n * mp.exp(gains[a][c] / heat - tops[a]) if n else mp.mpf(0)
                for c, n in enumerate(row)
            ]
            for a, row in enumerate(self.sizes)
        ]
        sums = [mp.fsum(row) for row in weights]
        free = [heat * (top + mp.log(s)) / (1 + heat) for top, s in zip(tops, sums)]
        peak = max(free)
        distribution = [mp.exp(f - peak) for f in free]
        total = mp.fsum(distribution)
        return [[p / total * w / s for w in row] for p, row, s in zip(distribution, weights, sums)]

    def best_reply(self, gains, b):
        """Prior and worth of the best prior for a reading, by bisection; the uniform one at the top."""
        b, low, high = mp.mpf(b), mp.mpf(10) ** -14, mp.mpf(10) ** 20
        if self.entropy(self.tilted(gains, low)) >= b:
            high = low
        for _ in range(120):
            if high / low < 1 + mp.mpf(10) ** -25:
                break
            middle = mp.sqrt(low * high)
            low, high = (
                (low, middle) if self.entropy(self.tilted(gains, middle)) >= b else (middle, high)
            )
        prior = self.tilted(gains, high)
        paid = mp.fsum(prior[a][c] * gains[a][c] for a, c in self.cells)
        return prior, paid - mp.fsum(plogp(mp.fsum(row)) for row in prior)

    def climb(self, prior, b, steps):
        """Better and better priors with entropy at least b: the leakage of the best of them."""
        best = mp.mpf(0)
        for _ in range(steps):
            both = self.joint(prior)
            columns = [mp.fsum(column) for column in zip(*both)]
            logs = [
                [mp.log(p / t) if p > 0 else mp.mpf(-700) for p, t in zip(row, columns)]
                for row in both
            ]
            gains = [
                [mp.fsum(w * k for w, k in zip(row, paid)) for row in rows]
                for rows, paid in zip(self.rows, logs)
            ]
            prior, _ = self.best_reply(gains, b)
            if self.entropy(prior) < mp.mpf(b):
                break  # only the uniform prior is left
            best = max(best, self.information(prior))
        return best


# --- channels that hurt ---------------------------------------------------------------------------

SHAPES = [(2,), (2, 2), (3,), (2, 2, 2), (3, 2), (2, 3), (1, 2)]


def channel_that_hurts(rng, rows, outputs):
    """Zeros, 1e-300, rows that nearly agree, rows that do, certain outputs."""
    table = rng.dirichlet(np.full(outputs, rng.choice([0.05, 0.3, 1.0])), rows)
    kind = rng.integers(6)
    if kind == 0:
        table[rng.random(table.shape) < 0.4] = 0
    elif kind == 1:
        table[rng.random(table.shape) < 0.4] = 1e-300
    elif kind == 2:
        table = table[:1] * (1 + 10.0 ** -rng.integers(2, 15) * rng.normal(size=table.shape))
    elif kind == 3:
        table = table[rng.integers(0, 2, rows)]
    elif kind == 4:
        table = np.round(table, 2)
    table = np.abs(table)
    table[table.sum(axis=1) == 0, 0] = 1
    return table / table.sum(axis=1, keepdims=True)


def demand_that_hurts(rng, largest):
    """Nothing, next to nothing, multiples of a bit, next to the largest entropy, or anything."""
    kind = rng.integers(6)
    if kind == 0:
        return rng.choice([0.0, 1e-300, 1e-12])
    if kind == 1:
        return min(largest, LN2 * rng.integers(0, 4))
    if kind <= 3:
        return max(0.0, largest - 10.0 ** -rng.integers(9, 17))
    return rng.uniform(0, largest)


def problems_that_hurt(seed, count):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        shape = SHAPES[rng.integers(len(SHAPES))]
        channel = channel_that_hurts(rng, math.prod(shape), int(rng.integers(2, 5)))
        query = Query(lambda x: 0, [range(k) for k in shape])
        record = int(rng.integers(len(shape)))
        problem = record_problem(query, channel, record)
        yield rng, query, channel, problem, demand_that_hurts(rng, problem.largest_entropy)


@pytest.mark.parametrize("seed", range(200 if FULL else 2))
def test_a_reply_is_bounded_to_the_last_digit(seed):
    """The bound is never below the optimum with 50 digits, nor far above; and its prior is allowed."""
    for rng, _, _, problem, b in problems_that_hurt(seed, 10):
        truth, scale = Truth(problem), rng.choice([1e-9, 0.1, 1.0, 30.0])
        gains = scale * rng.normal(size=problem.log_counts.shape)
        answer = reply(problem, gains[None], b)
        prior, worth = truth.best_reply(exact(gains), b)
        assert answer.bound[0] >= worth
        assert answer.bound[0] <= worth + 1e-9 * (1 + scale) + 2 * answer.rounding[0]
        own = truth.normalised(exact(answer.classes[0]))
        assert surely_allowed(problem, answer.classes, b).all()
        assert truth.entropy(own) >= b or (answer.classes[0] == problem.uniform).all()


def simplices_around(posterior, rng):
    """A random simplex that holds the posterior at each output, from huge to tiny, also thin; (1, M, A, A)."""
    m, a = posterior.shape
    shrink = 10.0 ** -rng.integers(0, 13, size=(m, a, 1)) * rng.choice([1.0, 0.3])
    vertices = posterior[:, None, :] + shrink * (np.eye(a) - posterior[:, None, :])
    return (vertices / vertices.sum(axis=2, keepdims=True))[None]


@pytest.mark.parametrize("seed", range(200 if FULL else 3))
def test_a_cell_bounds_what_is_in_it(seed):
    """Cells around an adversary, however small and thin, at the adversary's entropy: never below the leakage."""
    for rng, _, _, problem, b in problems_that_hurt(seed + 1000, 10):
        truth = Truth(problem)
        random = rng.dirichlet(np.full(problem.uniform.size, 0.3)).reshape(problem.uniform.shape)
        random = np.where(problem.uniform > 0, random, 0) + 1e-300 * problem.uniform
        prior = truth.normalised(exact(reply(problem, np.log(random + 1e-9)[None], b).classes[0]))
        b = min(b, float(truth.entropy(prior)))
        if truth.entropy(prior) < b:
            b = math.nextafter(b, 0)
        both = truth.joint(prior)
        columns = [mp.fsum(column) for column in zip(*both)]
        posterior = [
            [float(p / t) if t else 1 / len(both) for p, t in zip(row, columns)] for row in both
        ]
        vertices = simplices_around(np.array(posterior).T, rng)
        learnt = truth.information(prior)
        assert bound_cells(problem, b, vertices).bound[0] >= learnt
        assert near_uniform(problem, b) >= learnt


@pytest.mark.parametrize("seed", range(100 if FULL else 2))
def test_dual_variables_pay_at_least_the_negative_entropy(seed):
    """At every vertex of fat, thin and flat simplices; and no more than the size of the simplex allows."""
    rng = np.random.default_rng(seed)
    for _ in range(40):
        a = int(rng.integers(2, 5))
        centre = rng.dirichlet(np.full(a, rng.choice([0.1, 1])))
        vertices = simplices_around(centre[None], rng)[0, 0]
        if rng.random() < 0.3:
            vertices[1] = vertices[0]
        paid = exact(majorants(vertices))
        lows = []
        for v in exact(vertices):
            lows.append(
                mp.fsum(x * k for x, k in zip(v, paid)) - mp.fsum(map(plogp, v)) + plogp(mp.fsum(v))
            )
        assert min(lows) >= 0
        middle = [mp.fsum(column) / a for column in zip(*exact(vertices))]
        apart = max(
            mp.fsum(plogp(x) - x * mp.log(t) for x, t in zip(v, middle) if t > 0)
            for v in exact(vertices)
        )
        assert mp.log(mp.fsum(map(mp.exp, paid))) <= 10 * apart + 1e-11


@pytest.mark.parametrize("seed", range(200 if FULL else 2))
def test_capacities_are_bounded_to_the_last_digit(seed):
    """The upper bound holds for every distribution of the record, with 50 digits."""
    rng = np.random.default_rng(seed)
    for _ in range(10):
        a, m = rng.integers(2, 5, size=2)
        rows = channel_that_hurts(rng, a, m)
        distributions, lower, upper = capacities(rows[None])
        truth = Truth(record_problem(Query(lambda x: 0, [range(a), range(1)]), rows, 0))
        for distribution in (distributions[0], rng.dirichlet(np.ones(a))):
            prior = truth.normalised([[p] for p in exact(distribution)])
            assert truth.information(prior) <= upper[0]


@pytest.mark.parametrize("seed", range(300 if FULL else 4))
def test_no_bound_lies_below_the_truth(seed):
    """The leakage of the worst adversary found, and of its refinements with 50 digits, is at most the bound."""
    for _, query, channel, _, b in problems_that_hurt(seed + 2000, 10):
        found = per_record_leakage(query, channel, b, tol=1e-4, max_time=2.0)
        assert found.value <= found.bound
        problem = record_problem(query, channel, found.record)
        truth, classes = Truth(problem), np.zeros(problem.log_counts.shape)
        for a, (p, inside) in enumerate(zip(found.prior.distribution, found.prior.classes)):
            classes[a, : len(inside)] = p * inside
        prior = truth.normalised(exact(classes))
        if found.method != "uniform prior":
            assert truth.entropy(prior) >= b - 1e-15
        learnt = truth.information(prior)
        assert abs(learnt - found.value) <= 1e-13
        if truth.entropy(prior) >= b:
            assert learnt <= found.bound
        assert truth.climb(prior, b, 12) <= found.bound


# --- searches that end, in time, and say why ------------------------------------------------------


def test_needles_of_three_values():
    """Three values whose readings become thin: once a singular matrix, then cells without end."""
    rows = [[0.94724, 0.05276], [0.00058, 0.99942], [2e-5, 0.99998]]
    query = Query(lambda x: 0, [range(3), range(2)])
    found = per_record_leakage(query, rows + rows[::-1], 1.44, tol=1e-5)
    assert found.gap <= 1e-5 and found.method == "branch and bound"


@pytest.mark.parametrize("exponent", range(9, 16))
def test_just_below_the_largest_entropy(exponent):
    """Room of 1e-9 nats and less: the search ends by itself, and leakage falls with the room's root."""
    query, channel = counting(2), geometric(3, 1.0)
    near = [2 * LN2 - share * 10.0**-exponent for share in (4, 1, 0)]
    found = [per_record_leakage(query, channel, b) for b in near]
    assert all(f.gap <= 1e-7 and f.method != "interrupted" for f in found)
    assert found[0].bound >= found[1].bound >= found[2].bound >= found[2].value
    if exponent <= 12:
        wide, tighten = (f.value - found[2].value for f in found[:2])
        assert wide / tighten == pytest.approx(2, rel=1e-2)


def test_a_demand_that_rounding_puts_at_the_top_is_no_excuse():
    """Just below the largest entropy, within what once counted as it, others leak more than the uniform prior."""
    query, channel = counting(2), geometric(3, 1.0)
    b = 2 * LN2 - 4e-15
    problem = record_problem(query, channel, 0)
    truth = Truth(problem)
    learnt = truth.climb(truth.normalised(exact(problem.uniform + [[0.01, 0], [0, 0.02]])), b, 12)
    assert learnt > float(problem.leakage(problem.uniform)) + 1e-9
    assert per_record_leakage(query, channel, b).bound >= learnt


def test_a_demand_beyond_the_largest_entropy_is_refused():
    query, channel = counting(2), geometric(3, 1.0)
    per_record_leakage(query, channel, np.nextafter(2 * LN2, 9))
    with pytest.raises(
        ValueError, match=r"b = 1\.38629436\d* exceeds the entropy 1\.38629436\d* of"
    ):
        per_record_leakage(query, channel, 2 * LN2 + 1e-11)


class SlowTime:
    """A clock that runs only when it is read: a hundredth of a second each time."""

    def __init__(self):
        self.looks = 0

    def __call__(self):
        self.looks += 1
        return self.looks / 100


@pytest.fixture
def slow_time(monkeypatch):
    time = SlowTime()
    monkeypatch.setattr("pmlbook.numerics.progress.perf_counter", time)
    return time


def test_large_designs_take_small_steps():
    """Beyond a few hundred variables another solver answers; its bracket is no worse than the start's."""
    found = leakage_distortion(threshold(300, 150), 0.2, 290 * LN2, tol=0.2)
    assert found.gap <= 0.2 and found.bound > 0.05 and found.method == "cutting planes"


def test_a_count_of_five_closes():
    """The quadratic programmes began where too much leaks, and never came back: a gap of 0.15."""
    found = distortion_leakage(counting(5), 0.05, 3 * LN2, tol=4e-2)
    assert found.gap <= 4e-2 and found.method == "cutting planes" and found.leakage <= 0.05


# --- claims that may not be too small -------------------------------------------------------------

UNEVEN = SumQuery([(0, 1), (0, 1, 2)], lambda total: total % 3)


def test_every_record_of_a_design_is_attacked():
    """With uneven records the worst adversary may attack any of them, also the last."""
    for D, b in ((0.2, 0.5), (0.4, 1.0)):
        for query in (UNEVEN, SumQuery(UNEVEN.contributions[::-1], UNEVEN.then)):
            found = leakage_distortion(query, D, b, observes=query, tol=2e-2)
            again = per_record_leakage(query, found.mechanism.channel, b, tol=2e-2)
            assert again.value <= found.value
            limited = distortion_leakage(query, 0.3, b, observes=query, tol=0.1)
            again = per_record_leakage(query, limited.mechanism.channel, b, tol=2e-2)
            assert again.value <= limited.leakage <= 0.3


def test_certify_attacks_every_record():
    made, rng = setting(UNEVEN, observes=UNEVEN), np.random.default_rng(1)
    for _ in range(10):
        q, b = rng.dirichlet(np.ones(3) / 2, 3), rng.uniform(0, 1.5)
        candidates, value, bound = certify(made, q, b, 3e-2, Clock())
        known = per_record_leakage(UNEVEN, q, b, tol=3e-2)
        assert known.value <= bound and value <= known.bound and set(candidates.priors) == {0, 1}
        assert candidates.information(q).max() <= bound + 1e-12


@pytest.mark.parametrize("n, D", [(2, 0.2), (3, 0.1)])
def test_adversaries_who_are_too_sure_are_not_adopted(n, D):
    """A design for little doubt hands its adversaries to one for more doubt: the bound stays below the truth."""
    for share in (0.3, 0.6, 0.9):
        sure = leakage_distortion(parity(n), D, 0.0)
        truth = parity_min_leakage(n, D, (n - 1 + share) * LN2)
        found = leakage_distortion(parity(n), D, (n - 1 + share) * LN2, start=sure)
        assert found.bound <= truth <= found.value + 1e-12 and found.gap <= 1e-6


def test_adopted_adversaries_have_the_entropy():
    sure = leakage_distortion(counting(2), 0.3, 0.1, tol=1e-4)
    search = DesignSearch(setting(counting(2)), 1.1, Goal(D=0.3), 1e-6, Clock())
    search.adopt(sure.candidates, search.exact)
    problem = record_problem(counting(2), search.exact, 0)
    contraction = sum(map(len, search.candidates.priors.values()))
    assert contraction < sum(map(len, sure.candidates.priors.values()))
    for priors in search.candidates.priors.values():
        assert (problem.missing(priors[..., :2]) <= 2 * LN2 - 1.1).all() if priors.size else True


def test_a_start_may_know_more_or_less_than_enough():
    """Adversaries with enough entropy are welcome, and a start changes nothing but the way."""
    doubtful = leakage_distortion(modular_sum(2, 3), 0.2, 1.1, tol=1e-4)
    alone = leakage_distortion(modular_sum(2, 3), 0.2, 0.6, tol=1e-4)
    helped = leakage_distortion(modular_sum(2, 3), 0.2, 0.6, tol=1e-4, start=doubtful)
    assert helped.bound <= alone.value and alone.bound <= helped.value and helped.gap <= 1e-4


@pytest.mark.parametrize("seed", range(40 if FULL else 3))
def test_planes_lie_below_to_the_last_digit(seed):
    """Planes and their weighted sums, against 50 digits: at the mechanism that made them, and elsewhere."""
    rng = np.random.default_rng(seed)
    for _ in range(10):
        a, r, m = rng.integers(2, 4, size=3)
        prior = rng.dirichlet(np.full(a * r, 0.3)).reshape(a, r)
        prior[:, 0] *= rng.choice([0, 1])
        prior /= prior.sum()
        here, there = (channel_that_hurts(rng, r, m) for _ in range(2))
        plane = exact(planes_at(prior[None], here)[0])
        for q in (here, there):
            rows = [[w / mp.fsum(row) for w in row] for row in exact(q)]
            distribution = [
                [p / mp.fsum(map(mp.fsum, exact(prior))) for p in row] for row in exact(prior)
            ]
            both = [
                [mp.fsum(p * w[y] for p, w in zip(row, rows)) for y in range(m)]
                for row in distribution
            ]
            ends = mp.fsum(plogp(mp.fsum(t)) for t in zip(*both)) + mp.fsum(
                plogp(mp.fsum(t)) for t in both
            )
            learnt = mp.fsum(plogp(p) for t in both for p in t) - ends
            height = mp.fsum(g * w for gs, ws in zip(plane, rows) for g, w in zip(gs, ws))
            assert height <= learnt


@pytest.mark.parametrize("seed", range(20 if FULL else 2))
def test_lower_bounds_of_designs_lie_below_random_mechanisms(seed):
    """No mechanism of the same distortion leaks less than the bound; and none that leaks less errs less."""
    rng = np.random.default_rng(seed)
    query = Query(lambda x: (x[0] + x[1]) % 3, [range(2), range(3)])
    p0, distortion = rng.dirichlet(np.ones(6)), rng.random((3, 2))
    majorants = p0[:, None] * distortion[query.table.ravel()]
    exactly = np.eye(2)[majorants.argmin(axis=1)]
    least, most = (majorants * exactly).sum(), majorants.sum(axis=0).min()
    D, b = least + rng.uniform(0.2, 0.8) * (most - least), rng.uniform(0, 1.6)
    found = leakage_distortion(query, D, b, p0=p0, distortion=distortion, tol=1e-3)
    for _ in range(10):
        noisy = rng.dirichlet(np.ones(2) / 2, 6)
        much = (majorants * noisy).sum()
        mixed = exactly + min(1, (D - least) / max(much - least, 1e-12)) * (noisy - exactly)
        assert per_record_leakage(query, mixed, b, tol=1e-3).bound >= found.bound
    assert per_record_leakage(query, found.mechanism.channel, b, tol=1e-4).value <= found.value


def test_what_is_handed_out_keeps_its_level():
    """The rounding of the mechanism to 2^-53 is counted in, for small leakages and none."""
    for L in (0.0, 1e-6, 1e-3, 0.3):
        found = distortion_leakage(parity(3), L, 1.0)
        p = Fraction(found.mechanism.channel[0, 1])
        truth = float(
            mp.log(2) - mp.fsum(-plogp(mp.mpf(x.numerator) / x.denominator) for x in (p, 1 - p))
        )
        assert found.leakage <= L and truth <= L + 1e-18  # at b below two bits a capacity


def test_the_record_that_is_told_is_found_wherever_it_stands():
    """A channel by dataset that publishes the last record; and one by value, when there is no time to look."""
    rows = np.eye(2)[[x[2] for x in np.ndindex(2, 2, 2)]]
    found = per_record_leakage(Query(lambda x: 0, [(0, 1)] * 3), rows, 2.0)
    assert found.record == 2 and found.value == pytest.approx(LN2)
    told = SumQuery([(0, 1), (0, 2, 4)], lambda total: total // 2)
    hasty = per_record_leakage(told, np.eye(3), 1.0, max_time=0)
    assert hasty.bound >= math.log(3) and hasty.method == "interrupted"
    assert per_record_leakage(told, np.eye(3), 1.0).value == pytest.approx(math.log(3))


@pytest.mark.parametrize("limit", [0.0, 0.2, 0.5, 1.0, 2.0])
def test_interrupted_designs_claim_what_is_proved(limit, slow_time):
    """However early a design is cut off, no adversary learns more than it claims."""
    query = modular_sum(3, 3)
    hasty = leakage_distortion(query, 0.3, 1.0, max_time=limit)
    limited = distortion_leakage(query, 0.1, 1.0, max_time=limit)
    for design, claimed in ((hasty, hasty.value), (limited, limited.leakage)):
        again = per_record_leakage(counting(3), design.mechanism.channel, 1.0, tol=1e-3)
        assert again.value <= claimed


def test_rounding_a_mechanism_adds_no_more_than_its_loss():
    """Faint outcomes become 2^-53, and that is the worst that rounding does; with 50 digits."""
    rng = np.random.default_rng(3)
    faint = np.array([[1 - 1e-20, 1e-20, 0.0], [1.0, 0.0, 1e-25]])
    gained = []
    for q in (faint, *(channel_that_hurts(rng, 2, 4) for _ in range(20))):
        rounded = Mechanism(q, [0.5, 0.5]).channel
        learnt = []
        for rows in (exact(q), exact(rounded)):
            both = [[w / mp.fsum(row) / 2 for w in row] for row in rows]
            ends = mp.fsum(plogp(mp.fsum(t)) for t in zip(*both)) - mp.log(2)
            learnt.append(mp.fsum(plogp(p) for t in both for p in t) - ends)
        assert learnt[1] - learnt[0] <= rounding_loss(q, 2)
        gained.append(learnt[1] - learnt[0])
    assert gained[0] > 1e-17


# --- sizes and arguments --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "call, message",
    {
        "records": (lambda: parity(10**6), "1000000 records are too many"),
        "astronomical": (lambda: counting(10**30), "records are too many"),
        "sum": (lambda: SumQuery([(0, 1)] * 40_000), "40000 records are too many"),
        "value": (
            lambda: Query(lambda x: 10**9 * x[0], [(0, 1)]).table,
            r"the query is 1000000000 at \(1,\): number its values",
        ),
        "sum-value": (
            lambda: SumQuery([(0, 10**9)]).n_values,
            "the query is 1000000000 where the sum is 1000000000",
        ),
        "far-apart": (
            lambda: SumQuery([(0, 3**k) for k in range(40)], lambda t: t % 2).n_values,
            "too many values",
        ),
        "table": (
            lambda: leakage_distortion(counting(1000), 1.0, 1.0),
            r"a mechanism with 1001 rows and 1001 outputs is too large",
        ),
        "own-view": (
            lambda: leakage_distortion(
                counting(20), 1.0, 1.0, observes=Query(lambda x: x[0], [(0, 1)] * 20)
            ),
            "too many",
        ),
        "sees-other-records": (
            lambda: leakage_distortion(parity(3), 0.1, 1.0, observes=parity(4)),
            "observes and query are about other data: 4 and 3 records",
        ),
        "sees-other-symbols": (
            lambda: leakage_distortion(parity(2), 0.1, 1.0, observes=Query(len, [("a", "b")] * 2)),
            r"record 0 is one of \('a', 'b'\) and one of \(0, 1\)",
        ),
        "start-other-view": (
            lambda: leakage_distortion(
                parity(3),
                0.1,
                1.0,
                start=leakage_distortion(parity(3), 0.1, 1.0, observes=parity(3)),
            ),
            "start is a design of a mechanism that observes something else: 0 and 2 at the sum 2",
        ),
        "start-other-size": (
            lambda: leakage_distortion(
                parity(4), 0.1, 1.0, start=leakage_distortion(parity(3), 0.1, 1.0)
            ),
            "observes something else: 3 and 4 records",
        ),
        "levels": (
            lambda: leakage_curve(counting(2), geometric(3, 1.0), 1.0),
            r"levels must have 1 dimension\(s\)",
        ),
        "distortions": (
            lambda: leakage_distortion_curve(parity(2), 0.1, 1.0),
            r"levels must have 1 dimension\(s\)",
        ),
        "values": (
            lambda: per_record_leakage(modular_sum(16, 32), np.eye(32), 1.0),
            "has 17 values and 65536 datasets; its values are 0 to 16",
        ),
        "distortion-values": (
            lambda: leakage_distortion(modular_sum(16, 32), 0.1, 1.0, distortion=np.ones((32, 2))),
            r"the query has 17 values \(0 to 16\): one row for each",
        ),
    }.values(),
)
def test_refused_with_a_reason(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_a_view_is_recognised_by_its_answers():
    """Equal but not identical: the query itself, seen again, and shrunk as well."""
    one, other = (
        leakage_distortion(parity(40), 0.2, 39.5 * LN2, observes=s) for s in (parity(40), None)
    )
    assert one.mechanism.channel.shape == (2, 2) and abs(one.value - other.value) <= 1e-6
    children = SumQuery([(0, 1)] * 40, lambda total: total // 20)
    made = setting(counting(40), distortion=np.ones((41, 2)), observes=children)
    assert made.cost.shape == (3, 2) and made.masses.sum() == pytest.approx(1)


def test_counts_agree_with_a_list():
    """Powers of long numbers, tables side by side and dictionaries, against listing."""
    rng = np.random.default_rng(5)
    for _ in range(100):
        kinds = [tuple(map(int, rng.integers(-4, 9, rng.integers(1, 5)))) for _ in range(2)]
        records = [kinds[k] for k in rng.integers(0, 2, rng.integers(1, 6))]
        listed = Counter(map(sum, itertools.product(*records)))
        parts = [dict(Counter(values)) for values in records]
        assert totals.count_totals(records) == listed
        assert totals._side_by_side(parts) == listed == totals._one_by_one(parts, 10.0)


@pytest.mark.parametrize("b", [1.5, 1.9, 3 * math.log(2)])
@pytest.mark.parametrize("many", [(0, 1, 2, 3), ("only",)])
def test_the_order_of_records_does_not_matter(b, many):
    b = min(
        b, math.log(2 * len(many))
    )  # all but certain is allowed: the parity of one record leaks a bit
    last = Query(lambda x: x[-1] % 2, [(0, 1), many] if len(many) > 1 else [many, (0, 1)])
    first = Query(lambda x: x[0] % 2, last.alphabets[::-1])
    for query in (last, first):
        found = per_record_leakage(query, np.eye(2), b)
        assert abs(found.value - math.log(2)) <= 1e-6 and found.bound >= math.log(2) - 1e-15


def test_a_table_of_another_record_has_no_leakage():
    problem = record_problem(counting(4), geometric(5, 1.0), 0)
    with pytest.raises(ValueError):
        problem.leakage(np.full((4, 2), 0.125))


def test_rows_that_are_named_by_datasets_are_not_read_by_value():
    """With as many values as datasets they were: a record published in clear had the leakage 0, and a proof of it."""
    number = {(0, 0): 0, (0, 1): 1, (1, 0): 3, (1, 1): 2}
    query = Query(number.__getitem__, [(0, 1)] * 2)
    datasets = pd.MultiIndex.from_tuples(list(itertools.product((0, 1), repeat=2)))
    clear = pd.DataFrame([[1.0, 0], [0, 1], [1, 0], [0, 1]], index=datasets)
    found = per_record_leakage(query, clear, math.log(4))
    assert found.value == pytest.approx(math.log(2), abs=1e-9)
    with pytest.raises(ValueError, match="a row for each value"):
        leakage_distortion(query, 1.0, 0.5, distortion=clear)


@pytest.mark.parametrize(
    "function, said",
    [(lambda: Query(5, [(0, 1)]), "function"), (lambda: SumQuery([(0, 1)], 5), "then")],
)
def test_what_cannot_be_called_is_refused(function, said):
    with pytest.raises(ValueError, match=f"{said} must be callable, got 5"):
        function()
