"""Optimal designs for many secrets: candidate sets, bounds, exchanges and rounds, against listing every vertex."""

from fractions import Fraction
from unittest.mock import patch

import numpy as np

from pmlbook.estimation import candidate_set
from pmlbook.estimation.candidate_set import (
    VERTICES_PER_SECRET,
    CandidateSet,
    sets_at_limit,
    swept,
)
from pmlbook.estimation.covariance_bound import (
    MAX_DENOMINATOR,
    min_remainder,
    most_spread,
)
from pmlbook.extremal.lift_vectors import exact_lift_vectors
from pmlbook.extremal.regions import lift_limit
from pmlbook.foundations.probability import exact_prior, random_prior
from pmlbook.numerics.linear_programmes import maximise


def everything(prior, level):
    """All vertices of a prior at a level, or at a limit, and a candidate set that was given them."""
    shares = exact_prior(prior)
    limit = level if isinstance(level, Fraction) else lift_limit(shares, level)[1]
    every, candidates = exact_lift_vectors(shares, limit), CandidateSet(shares, limit)
    made = [(tall, int(at)) for tall, at in zip(every.tall, every.place)]
    assert candidates.add(made) == list(range(len(made))) == candidates.add(made)
    return every, candidates, [every.column(v) for v in range(len(made))]


def counted(*people):
    return [Fraction(own, sum(people)) for own in people]


def small_cases(draw):
    """Equal and unequal people, strict and loose levels, and secrets of a hundred-millionth."""
    priors = (
        (counted(1, 1, 1, 1), Fraction(2)),
        (counted(7, 2, 1), Fraction(5, 2)),
        (counted(1, 3, 4, 4, 8), Fraction(3, 2)),
        (counted(1, 3, 4, 4, 8), Fraction(20)),
        (random_prior(5, draw), 0.3),
        ([1e-8, 1 - 1e-8], 1e-10),
        ([1e-8, 0.5, 0.5 - 1e-8], 17.0),
    )
    return [everything(*case) for case in priors]


def exact_worth(matrix, duals, column):
    """|M (l - 1)|^2 less the cost of l - 1, in fractions."""
    move = [x - 1 for x in column]
    rows = [sum(Fraction(m) * x for m, x in zip(row, move)) for row in matrix.tolist()]
    return sum(row**2 for row in rows) - sum(Fraction(q) * x for q, x in zip(duals, move))


def test_covariances_lie_where_they_may():
    ends = []
    for every, candidates, _ in small_cases(np.random.default_rng(20))[:5]:
        n = len(candidates.shares)
        for i, j in np.ndindex(n, n):
            least, most = candidates.together(i, j)
            move = every.shifts[i] * every.shifts[j]
            if i == j:
                assert most == candidates.largest_variances[i]
                continue
            high, low = (
                s * maximise(s * move, equal=(every.lifts, np.ones(n))).value for s in (1, -1)
            )
            size = 1e-9 * float(most - least)
            assert least - size <= low <= high <= most + size
            ends += [low - least < size, most - high < size]
    assert 0 < sum(ends) < len(ends)  # some of the limits are attained


def test_the_bound_is_never_below_a_programme_over_all_vertices():
    draw = np.random.default_rng(20)
    cases = small_cases(draw)
    for every, candidates, columns in cases:
        n = len(candidates.shares)
        multipliers = [Fraction(int(k), 7) for k in draw.integers(1, 20, n)]
        rests = [(at, column[at]) for at, column in zip(every.place, columns)]
        least = min(
            multipliers[at] * (candidates.high[at] - f) * (f - candidates.low[at])
            for at, f in rests
        )
        assert (
            candidates.common > MAX_DENOMINATOR or min_remainder(candidates, multipliers) == least
        )
        shift = draw.normal(size=n) / candidates.scale
        mixed = (np.outer(shift, candidates.prior) + np.outer(candidates.prior, shift)) / 2
        bonds = np.triu(
            draw.normal(size=(n, n)) / np.sqrt(np.outer(candidates.scale, candidates.scale)), 1
        )
        worth = bonds + bonds.T
        worth += np.diag((abs(mixed) + abs(worth)).sum(axis=1) + 1 / candidates.scale)
        matrix = np.linalg.cholesky(worth - mixed).T
        own = [Fraction(x) for x in np.diag(worth).tolist()]
        promised = sum(
            x * most for x, most in zip(own, candidates.largest_variances)
        ) - min_remainder(candidates, own)
        promised += 2 * sum(
            max(worth[i, j] * float(x) for x in candidates.together(i, j))
            for i in range(n)
            for j in range(i)
        )
        scaled = worth * np.outer(candidates.scale, candidates.scale)
        assert abs(most_spread(candidates, matrix, scaled) / promised - 1) < 1e-8
        matrix = draw.normal(size=(n - 1, n)) / candidates.scale
        values = ((matrix @ every.shifts) ** 2).sum(axis=0)
        best = maximise(values, equal=(every.lifts, np.ones(n))).value
        for worth in (
            np.ones(n),
            draw.uniform(0, 3, n),
            np.linalg.norm(matrix * candidates.scale, axis=0) ** 2,
        ):
            for together in (0.0, 0.1, 1.0, 5.0):
                assert best * (1 - 1e-7) <= most_spread(
                    candidates, matrix, np.diag(worth), together
                )


def test_the_table_has_the_sets_of_all_vertices():
    draw = np.random.default_rng(20)
    cases = small_cases(draw)
    for every, candidates, _ in cases:
        sets = {row.tobytes() for row in sets_at_limit(candidates)}
        assert (
            len(sets) == len(sets_at_limit(candidates))
            and {row.tobytes() for row in every.tall} <= sets
        )
        with patch.object(candidate_set, "MAX_TABLE_BITS", sets_at_limit(candidates).size - 1):
            assert sets_at_limit(candidates) is None


def test_no_vertex_is_worth_more_than_the_sweep_says():
    draw = np.random.default_rng(20)
    cases = small_cases(draw)
    for every, candidates, columns in 4 * cases:
        n, sets = len(candidates.shares), sets_at_limit(candidates)
        for rows in (
            draw.normal(size=(2, n)),
            draw.normal(size=(n + 2, n)) / candidates.scale,
            np.zeros((1, n)),
        ):
            duals = draw.normal(size=n) / candidates.scale
            bound, names = swept(candidates, sets, rows, duals)
            assert swept(candidates, sets, 2**20 * rows, 2**40 * duals) == (2**40 * bound, names)
            worth = [exact_worth(rows, duals.tolist(), column) for column in columns]
            assert max(worth) <= bound and 0 < len(names) <= VERTICES_PER_SECRET * n
            lifts, sizes = 1 + every.lifts.max(), abs(rows).sum(axis=1) @ abs(rows)
            terms = lifts**2 * sizes.sum() + lifts * abs(duals).sum()
            lost = 2.0**-40 * float(terms / candidates.prior.min())  # some thousand roundings
            falling = [float(worth[k]) for k in names]
            assert (np.diff(falling) <= lost).all() and float(max(worth)) - falling[0] <= lost
            assert bound - max(worth) <= lost
