"""Per-record bounds at the edges: against 50 digits, degenerate channels, and demands next to the largest entropy.

`PMLBOOK_FUZZ=full pytest tests/test_per_record_edges.py` takes a hundred times as many channels.
"""

import math
import os

import mpmath as mp
import numpy as np
import pytest

from pmlbook.per_record.bound import bound_cells, near_uniform, prices
from pmlbook.per_record.certain import capacities
from pmlbook.per_record.certificate import per_record_leakage
from pmlbook.per_record.classes import record_problem
from pmlbook.per_record.queries import Query
from pmlbook.per_record.tilted import reply, unsure

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
        law = [mp.exp(f - peak) for f in free]
        total = mp.fsum(law)
        return [[p / total * w / s for w in row] for p, row, s in zip(law, weights, sums)]

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
        """Better and better priors with entropy at least b: what the best of them learns."""
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
        assert answer.bound[0] <= worth + 1e-9 * (1 + scale) + 2 * answer.slack[0]
        own = truth.normalised(exact(answer.classes[0]))
        assert unsure(problem, answer.classes, b).all()
        assert truth.entropy(own) >= b or (answer.classes[0] == problem.uniform).all()


def simplices_around(posterior, rng):
    """A random simplex that holds the posterior at each output, from huge to tiny, also thin; (1, M, A, A)."""
    m, a = posterior.shape
    shrink = 10.0 ** -rng.integers(0, 13, size=(m, a, 1)) * rng.choice([1.0, 0.3])
    corners = posterior[:, None, :] + shrink * (np.eye(a) - posterior[:, None, :])
    return (corners / corners.sum(axis=2, keepdims=True))[None]


@pytest.mark.parametrize("seed", range(200 if FULL else 3))
def test_a_cell_bounds_what_is_in_it(seed):
    """Cells around a real adversary, however small and thin, at her own entropy: never below what she learns."""
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
        corners = simplices_around(np.array(posterior).T, rng)
        learnt = truth.information(prior)
        assert bound_cells(problem, b, corners).bound[0] >= learnt
        assert near_uniform(problem, b) >= learnt


@pytest.mark.parametrize("seed", range(100 if FULL else 2))
def test_prices_pay_at_least_the_negative_entropy(seed):
    """At every corner of fat, thin and flat simplices; and no more than the size of the simplex allows."""
    rng = np.random.default_rng(seed)
    for _ in range(40):
        a = int(rng.integers(2, 5))
        centre = rng.dirichlet(np.full(a, rng.choice([0.1, 1])))
        corners = simplices_around(centre[None], rng)[0, 0]
        if rng.random() < 0.3:
            corners[1] = corners[0]
        paid = exact(prices(corners))
        lows = []
        for v in exact(corners):
            lows.append(
                mp.fsum(x * k for x, k in zip(v, paid)) - mp.fsum(map(plogp, v)) + plogp(mp.fsum(v))
            )
        assert min(lows) >= 0
        middle = [mp.fsum(column) / a for column in zip(*exact(corners))]
        apart = max(
            mp.fsum(plogp(x) - x * mp.log(t) for x, t in zip(v, middle) if t > 0)
            for v in exact(corners)
        )
        assert mp.log(mp.fsum(map(mp.exp, paid))) <= apart + 1e-11


@pytest.mark.parametrize("seed", range(200 if FULL else 2))
def test_capacities_are_bounded_to_the_last_digit(seed):
    """The upper bound holds for every law of the record, with 50 digits."""
    rng = np.random.default_rng(seed)
    for _ in range(10):
        a, m = rng.integers(2, 5, size=2)
        rows = channel_that_hurts(rng, a, m)
        laws, lower, upper = capacities(rows[None])
        truth = Truth(record_problem(Query(lambda x: 0, [range(a), range(1)]), rows, 0))
        for law in (laws[0], rng.dirichlet(np.ones(a))):
            prior = truth.normalised([[p] for p in exact(law)])
            assert truth.information(prior) <= upper[0]


@pytest.mark.parametrize("seed", range(300 if FULL else 4))
def test_no_bound_lies_below_the_truth(seed):
    """The leakage of the worst adversary found, and of her better sisters with 50 digits, is at most the bound."""
    for _, query, channel, _, b in problems_that_hurt(seed + 2000, 10):
        found = per_record_leakage(query, channel, b, tol=1e-4, max_time=2.0)
        assert found.value <= found.bound
        problem = record_problem(query, channel, found.record)
        truth, classes = Truth(problem), np.zeros(problem.log_counts.shape)
        for a, (p, inside) in enumerate(zip(found.prior.law, found.prior.classes)):
            classes[a, : len(inside)] = p * inside
        prior = truth.normalised(exact(classes))
        if found.method != "uniform prior":
            assert truth.entropy(prior) >= b - 1e-15
        learnt = truth.information(prior)
        assert abs(learnt - found.value) <= 1e-13
        if truth.entropy(prior) >= b:
            assert learnt <= found.bound
        assert truth.climb(prior, b, 12) <= found.bound
