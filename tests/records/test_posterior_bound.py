"""Bounds in the output space: dual variables at vertices, halves of cells, and odds."""

import mpmath as mp
import numpy as np
from scipy.special import rel_entr

from pmlbook.foundations.classic import binary_symmetric, geometric
from pmlbook.numerics.progress import Clock
from pmlbook.records.certain_adversaries import near_uniform
from pmlbook.records.classes import record_problem
from pmlbook.records.posterior_bound import (
    MAJORANT_FACTOR,
    Posteriors,
    bound_cells,
    majorants,
    odds_bounds,
    root_vertices,
    tighten,
    violation,
)
from pmlbook.records.queries import Query, counting
from pmlbook.records.tilted import MACHINE_EPSILON, best_adversary


def minus_entropy(vertex):
    return mp.fsum(mp.mpf(p) * mp.log(mp.mpf(p)) for p in vertex if p)


def test_dual_variables_are_never_below_the_entropy():
    rng = np.random.default_rng(6)
    mp.mp.dps = 50
    for trial in range(120):
        a = 2 + trial % 3
        vertices = rng.dirichlet(np.full(a, rng.choice([0.3, 1])), size=a)
        if trial % 4 == 3:  # a needle: a last vertex near the edge of the first two
            vertices[-1] = vertices[:2].mean(axis=0) + 10.0 ** -rng.uniform(3, 12) * (
                vertices[-1] - vertices[0]
            )
            vertices[-1] = np.maximum(vertices[-1], 0) / np.maximum(vertices[-1], 0).sum()
        kappa = majorants(vertices)
        paid = [mp.fsum(mp.mpf(p) * mp.mpf(k) for p, k in zip(v, kappa)) for v in vertices]
        over = [x - minus_entropy(v) for x, v in zip(paid, vertices)]
        assert min(over) >= 0
        centre = np.maximum(vertices.mean(axis=0), 1e-300)
        apart = max(rel_entr(v, centre).sum() for v in vertices)
        assert np.logaddexp.reduce(kappa) <= MAJORANT_FACTOR * apart + 1e-9
        if np.abs(np.linalg.det(vertices)) > 1e-3 and max(over) > 1e-10:
            agreed = np.linalg.solve(vertices, [float(minus_entropy(v)) for v in vertices])
            assert np.logaddexp.reduce(agreed) > MAJORANT_FACTOR * np.logaddexp.reduce(kappa) - 1e-9


def test_dual_variables_of_one_value_are_nothing():
    rng = np.random.default_rng(6)
    many = rng.dirichlet(np.ones(3), size=(4, 5, 3))
    assert (majorants(many)[2, 3] == majorants(many[2, 3])).all() and not majorants(
        np.ones((4, 2, 1, 1))
    ).any()
    assert majorants(np.ones((4, 2, 1, 1))).shape == (4, 2, 1)


def test_halves_cover_what_the_cell_covered():
    rng = np.random.default_rng(6)
    ternary = record_problem(
        Query(lambda x: sum(x) % 3, [range(3)] * 2), [[0.9, 0.1], [0.5, 0.5], [0.1, 0.9]], 0
    )
    cells, b = bound_cells(ternary, 1.0, root_vertices(ternary)), 1.0
    leakage = best_adversary(ternary, b, rng)[1]
    for _ in range(60):
        worst = np.arange(len(cells)) == cells.bound.argmax()
        parent = cells[worst]
        halves = Posteriors(ternary, b).children(parent, Clock())
        assert len(halves) == 2 and (halves.bound <= parent.bound).all()
        assert np.allclose(halves.drift, parent.drift + 2 * MACHINE_EPSILON, rtol=0, atol=1e-20)
        y = int(violation(parent)[0].argmax())
        assert np.array_equal(
            np.delete(halves.vertices, y, axis=1),
            np.delete(parent.vertices.repeat(2, 0), y, axis=1),
        )
        old, one, other = parent.vertices[0, y], halves.vertices[0, y], halves.vertices[1, y]
        i, j = (one != old).any(axis=1).argmax(), (other != old).any(axis=1).argmax()
        assert i != j and (one[i] == other[j]).all() and ((one != old).any(axis=1).sum()) == 1
        edge = old[i] - old[j]
        part = (one[i] - old[j]) @ edge / (edge @ edge)
        assert 0.25 - 1e-12 <= part <= 0.75 + 1e-12
        assert np.allclose(old[j] + part * edge, one[i], rtol=0, atol=1e-15)
        point = rng.dirichlet(np.ones(3)) @ old
        assert max(np.linalg.solve(half.T, point).min() for half in (one, other)) > -1e-7
        cells = cells[~worst] + halves
    assert cells.bound.max() < leakage + 0.27
    fresh = bound_cells(ternary, b, cells.vertices)
    assert (cells.bound <= fresh.bound + 1e-9).all() and np.allclose(
        fresh.coefficients, cells.coefficients, rtol=0, atol=1e-12
    )


def test_odds_keep_every_posterior_and_shorten_the_search():
    rng = np.random.default_rng(6)
    count = record_problem(counting(5), geometric(6, 0.5), 0)
    priors = rng.dirichlet(np.full(10, 0.4), size=300).reshape(300, 2, 5)
    priors = priors[count.entropy(priors) >= 2.0]
    both = count.outputs(priors)
    posterior = both[:, 0] / both.sum(axis=1)
    cells, best = bound_cells(count, 2.0, root_vertices(count)), best_adversary(count, 2.0, rng)[1]
    near, alone = Posteriors(count, 2.0), Posteriors(count, 2.0)
    alone.odds_bound = None
    for _ in range(200):
        worst = np.arange(len(cells)) == cells.bound.argmax()
        cells = cells[~worst] + near.children(cells[worst], Clock())
        ends = cells.vertices[..., 0]
        inside = (posterior[:, None] <= ends[..., 0] + 1e-12) & (
            posterior[:, None] >= ends[..., 1] - 1e-12
        )
        home = inside.all(axis=2) & (cells.bound >= count.leakage(priors)[:, None] - 1e-12)
        assert home.any(axis=1).all()  # each prior has a cell that bounds it
    plain = bound_cells(count, 2.0, root_vertices(count))
    for _ in range(200):
        worst = np.arange(len(plain)) == plain.bound.argmax()
        plain = plain[~worst] + alone.children(plain[worst], Clock())
    assert best <= cells.bound.max() and cells.bound.max() - best < 0.5 * (plain.bound.max() - best)


def test_a_cell_that_no_adversary_reaches_is_empty():
    count = record_problem(counting(5), geometric(6, 0.5), 0)
    odds_bound, apart = odds_bounds(count), np.array([[0.95, 0.05], [0.9, 0.1]])
    for low, nobody in ((0.85, False), (0.5, True)):  # so sure after 1, but at least 0.9 after 0
        vertices = np.broadcast_to(np.eye(2), (1, 6, 2, 2)).copy()
        vertices[0, 0], vertices[0, 1, 0] = apart, (low, 1 - low)
        moved, empty = tighten(vertices, np.array([1]), 0, odds_bound)
        most = np.log(low / (1 - low)) + odds_bound[:, 1]
        assert empty[0] == nobody == (most[0] < np.log(9)) and not vertices[0, :, 1][2:, 0].any()
        assert moved[0].tolist() == [most[0] < np.log(19), False, True, True, True, True]
        assert np.allclose(np.log(vertices[0, 2:, 0]) @ [1, -1], most[2:], rtol=0, atol=1e-12)


def test_the_bound_at_the_top_in_fifty_digits():
    rng = np.random.default_rng(6)
    for _ in range(40):
        flip, a = rng.uniform(0.01, 0.4), int(rng.integers(2, 6))
        alone = record_problem(Query(lambda x: x[0], [range(a)]), binary_symmetric(flip, a), 0)
        told = mp.fsum(
            mp.mpf(w) * mp.log(mp.mpf(w) / mp.fsum(map(mp.mpf, column)) * a) / a
            for column in alone.rows[:, 0].T
            for w in column
        )
        top = near_uniform(alone, alone.largest_entropy)
        assert told <= top <= told + mp.mpf("1e-12")
        assert near_uniform(alone, alone.largest_entropy - 0.01) <= top + 0.15
