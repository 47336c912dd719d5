"""Cells in the space of outputs: their reach, their chords, their bounds and their limits."""

from dataclasses import replace

import mpmath as mp
import numpy as np
from scipy.special import entr, rel_entr

from pmlbook.foundations.classic import geometric
from pmlbook.numerics.progress import Clock
from pmlbook.records.classes import record_problem
from pmlbook.records.data_processing import StationaryPoint
from pmlbook.records.output_bound import (
    chords,
    conditional_slack,
    frame,
    output_bound,
)
from pmlbook.records.queries import Query, SumQuery, counting, pairwise_products
from pmlbook.records.tilted import LeakageClaim, best_adversary


def test_the_reach_is_no_longer_than_it_has_to_be():
    rng = np.random.default_rng(13)
    fine = np.geomspace(1e-9, 1, 200_001)[:-1]
    for trial in range(12):
        a = 2 + trial % 3
        problem = record_problem(SumQuery([range(a), (0, 1, 2)]), geometric(a + 2, 1.0), 0)
        slack, value = rng.uniform(0.01, 0.28), rng.uniform(0, np.log(a))
        most_learnt = entr(fine) + entr(1 - fine) + (1 - fine) * np.log(a - 1)
        away = rel_entr(fine, 1 / a) + rel_entr(1 - fine, 1 - 1 / a)
        allowed = (most_learnt >= value) & (away <= slack)
        exact = np.max(np.where(allowed, (slack - away) / fine, 0))
        found = conditional_slack(problem, problem.largest_entropy - slack, value)
        assert len(found) == a and (exact <= found).all() and (found <= 1.02 * exact + 1e-9).all()


def test_chords_are_above_in_sixty_digits():
    rng = np.random.default_rng(13)
    mp.mp.dps = 60
    low = np.concatenate([[0, 0, 0.3, 1e-300], 10.0 ** rng.uniform(-12, 0, size=60)])
    wide = np.concatenate([[0, 0.4, 0, 0], 10.0 ** rng.uniform(-16, 1, size=60)])
    high = low * (1 + wide)
    high[1] = 0.5
    slope, start = chords(low, high)
    for s, i, one, other in zip(*(map(mp.mpf, part) for part in (slope, start, low, high))):
        for part in (0, 0.3, 0.5, 0.9, 1):
            r = one + part * (other - one)
            over = s * r + i - (r * mp.log(r) if r else 0)
            bent = (other - one) ** 2 / (8 * one) if one else 0.5
            assert 0 <= over <= bent + 1e-12 * other * (1 - mp.log(other or 1))


def test_frames_hold_every_adversary():
    rng = np.random.default_rng(13)
    for query, noise, most_axes in (
        (counting(16), 0.1, 8),
        (counting(16), 0.1, 2),
        (pairwise_products(5), 1.0, 8),
        (Query(lambda x: x[0] * x[1], [(0, 1)] * 2), 1.0, 8),
    ):
        problem = record_problem(query, geometric(query.n_values, noise), 0)
        for k in range(2):
            here = np.isfinite(problem.log_counts[k])
            rows, even = problem.rows[k][here], np.exp(problem.log_shares[k][here])
            even = even / even.sum()
            inside = np.where(here, 0.0, 1e-300)
            inside[here] = rng.dirichlet(np.ones(here.sum()))
            stationary = StationaryPoint(
                0.5, np.array([inside, inside]), np.full(rows.shape[1], 1 / rows.shape[1])
            )
            part = frame(problem, k, stationary, 0.2, most_axes)
            assert np.array_equal(part.rows, rows) and np.isfinite(part.logs).all()
            assert np.allclose(part.middle, inside[here] @ rows, rtol=0, atol=1e-14)
            left = rows - part.middle - part.coordinates @ part.directions.T
            weight = np.sqrt(even)[:, None] / np.sqrt(part.middle)
            size = np.linalg.svd((rows - part.middle) * weight, compute_uv=False)
            axes = part.directions.shape[1]
            assert 1 <= axes <= min(most_axes, len(size))
            assert axes == most_axes or not (size[axes:] > 1.1e-3 * size[0]).any()
            assert np.isclose(
                np.linalg.norm(left * weight), np.linalg.norm(size[axes:]), rtol=0, atol=1e-12
            )
            distributions = rng.dirichlet(even * 200, size=200)
            distributions = np.vstack(
                [even, distributions[rel_entr(distributions, even).sum(axis=1) <= 0.2]]
            )
            for (least, most_there), table in (
                (part.rest, left),
                (part.span, rows),
                (part.box, part.coordinates),
            ):
                mean_ranges = distributions @ table
                assert (least <= mean_ranges + 1e-15).all() and (
                    mean_ranges <= most_there + 1e-15
                ).all()
                assert (most_there - least <= np.ptp(table, axis=0) + 1e-12).all()
            assert (part.span[0] >= 0).all() and (part.span[1] <= rows.max(axis=0)).all()


def test_outside_its_scope_the_bound_is_infinite():
    remainder = (4).__rmod__
    flip = 0.8 * np.eye(4) + 0.2 / 3 * (1 - np.eye(4))
    four, bits = (SumQuery([range(k)] * 3, remainder) for k in (4, 2))
    tried = {}
    for name, query, share in (("four", four, 0.8), ("bits", bits, 0.8), ("sure", bits, 1 - 1e-6)):
        problem = record_problem(query, flip, 0)
        b = share * problem.largest_entropy
        classes, leakage = best_adversary(problem, b, np.random.default_rng(0), 8, accuracy=1e-8)
        tried[name] = LeakageClaim(problem, b, classes, leakage, 1e-3)
    bounds = {name: output_bound(asked, Clock()) for name, asked in tried.items()}
    four, leakage, tol = tried["four"], tried["four"].value, 1e-3
    assert leakage < bounds["four"] <= leakage + 1e-3
    assert bounds["bits"] == bounds["sure"] == np.inf
    assert 0 < tried["bits"].multiplier(Clock()) < 1
    assert output_bound(four, Clock(0)) == np.inf
    for wrong in (dict(value=leakage - 2 * tol), dict(tol=1e-12)):
        assert output_bound(replace(four, **wrong), Clock()) == np.inf
    assert np.isfinite(output_bound(replace(four, value=leakage - tol / 2), Clock()))
    one = record_problem(SumQuery([[7], (0, 1)]), geometric(9, 1.0), 0)
    assert output_bound(LeakageClaim(one, 0.1, one.uniform, 0.0, tol), Clock()) == np.inf
