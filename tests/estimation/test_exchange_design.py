"""Optimal designs for many secrets: candidate sets, bounds, exchanges and rounds, against listing every vertex."""

from fractions import Fraction
from functools import partial
from unittest.mock import patch

import numpy as np

from pmlbook.estimation import candidate_set
from pmlbook.estimation import exchange_design as module
from pmlbook.estimation.candidate_set import (
    VERTICES_PER_SECRET,
    CandidateSet,
    Climb,
    arcs,
    climb,
    first_circles,
    sets_at_limit,
    swept,
)
from pmlbook.estimation.covariance_bound import (
    MAX_DENOMINATOR,
    _outside,
    min_remainder,
    most_spread,
    pairs_bound,
    relaxed,
)
from pmlbook.estimation.exchange_design import (
    Excess,
    _change_of_many,
    _conjugate,
    barrier_weights,
    grow_design,
)
from pmlbook.estimation.listed_vertices import Weighted, criterion_for, even, with_new_weights
from pmlbook.estimation.optimal_design import functionals
from pmlbook.extremal.lift_vectors import exact_lift_vectors
from pmlbook.extremal.regions import lift_limit
from pmlbook.foundations.probability import exact_prior, random_prior
from pmlbook.numerics.barrier import barrier_direction
from pmlbook.numerics.linear_programmes import maximise
from pmlbook.numerics.progress import Clock


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


def criteria_of(p, candidates):
    """The variance of all frequencies, and the determinant."""
    found = first_circles(candidates, np.random.default_rng(0))
    words = ("frequencies", "determinant")
    return [criterion_for(word, functionals(word, p), candidates, found)[0] for word in words]


def worth_of(candidates, tall, place, spread, duals):
    """What a vertex is worth, and whether it is one."""
    lift = float(candidates.limit) * tall
    lift[place] = (1 - candidates.prior @ lift) / candidates.prior[place]
    move = lift - 1
    return move @ spread @ move - duals @ move, 0 <= lift[place] <= candidates.limit


def neighbours(tall, place):
    """One secret at the limit for another, or none for either; and all moves of the remainder."""
    for out in [None, *np.flatnonzero(tall)]:
        for other in [None, *np.flatnonzero(~tall)]:
            after = tall.copy()
            after[[i for i in (out, other) if i is not None]] ^= True
            if other != place and (out, other) != (None, None):
                yield after, place
    for other in np.flatnonzero(np.arange(len(tall)) != place):
        after = tall.copy()
        after[place], after[other] = tall[other], False
        yield after, other


def best_beside(*vertex):
    """What the best neighbour of a vertex is worth."""
    candidates, tall, place, spread, duals = vertex
    others = (worth_of(candidates, *one, spread, duals) for one in neighbours(tall, place))
    return max(value for value, fits in others if fits)


def left_over(lifts, weights, criterion, barrier, change):
    """What a change leaves of Newton's equations, as a part of all, in the norm of their diagonal."""
    slope, curve = criterion.slopes(lifts, weights, barrier)
    slope, curve = slope - barrier, curve + barrier * np.eye(len(weights))
    root = np.sqrt(np.diag(curve))
    free = np.linalg.qr((lifts * weights / root).T, mode="complete")[0][:, len(lifts) :]
    left, whole = (free.T @ (part / root) for part in (curve @ change + slope, slope))
    return np.linalg.norm(left) / np.linalg.norm(whole)


def exact_worth(matrix, duals, column):
    """|M (l - 1)|^2 less the cost of l - 1, in fractions."""
    move = [x - 1 for x in column]
    rows = [sum(Fraction(m) * x for m, x in zip(row, move)) for row in matrix.tolist()]
    return sum(row**2 for row in rows) - sum(Fraction(q) * x for q, x in zip(duals, move))


def change_of_few(lifts, weights, criterion, barrier):
    """Newton's change by the equations as they are."""
    return barrier_direction(weights, Weighted(criterion, lifts), lifts, barrier)[0]


def rounds_of(candidates, criterion, tol):
    """Rounds that the search takes from three circles, its weights, and its bound."""
    told, low = [], pairs_bound(candidates, criterion, Clock())
    found = first_circles(candidates, np.random.default_rng(0))
    found, bound = grow_design(
        candidates, found, criterion, low, tol, Clock(600, lambda *now: told.append(now))
    )
    claim = criterion.claim(candidates.scaled(list(found)), np.array(list(found.values())), 0.0)
    assert claim.value == min(value for value, *_ in told) and bound >= low == told[0][1]
    assert (
        abs(candidates.scaled(list(found)) @ list(found.values()) - candidates.ones).max() < 1e-13
    )
    return len(told), claim.value, bound


def test_a_pool_holds_its_vertices_as_they_are():
    draw = np.random.default_rng(20)
    cases = small_cases(draw)
    for _, candidates, columns in cases:
        assert [candidates.vertices.column(v) for v in range(len(columns))] == columns
        assert (candidates.low, candidates.high) == tuple(
            [f(row) for row in zip(*columns)] for f in (min, max)
        )
        moved = candidates.scaled(range(len(columns))) - candidates.ones[:, None]
        assert np.allclose(abs(moved).max(axis=1), 1, rtol=0, atol=1e-15)
        assert (
            abs(candidates.ones @ moved).max() < 1e-15
            and abs(np.linalg.norm(candidates.ones) - 1) < 1e-15
        )
        if len(columns[0]) == 2:  # one pair of weights, so one variance: the largest
            (a, b), (c, d) = columns
            w = (1 - c) / (a - c)
            mixed = [w * (x - 1) ** 2 + (1 - w) * (y - 1) ** 2 for x, y in ((a, c), (b, d))]
            assert candidates.largest_variances == mixed
            assert candidates.together(0, 1)[0] == w * (a - 1) * (b - 1) + (1 - w) * (c - 1) * (
                d - 1
            )


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


def test_vertices_without_a_remainder():
    even = everything(counted(1, 1, 1, 1), Fraction(2))[1]
    same = (([1, 1, 0, 0], 2), ([1, 1, 0, 0], 3), ([1, 0, 0, 0], 1), ([0, 1, 0, 0], 0))
    assert len({even.add([(np.array(tall, bool), at)])[0] for tall, at in same}) == 1
    for tall, at in (([1, 1, 0, 0], 1), ([1, 1, 1, 0], 3), ([0, 0, 0, 0], 2)):  # are none
        assert even.add([(np.array(tall, bool), at)]) == []


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


def test_circles_average_to_one():
    draw = np.random.default_rng(20)
    cases = small_cases(draw)
    for _, candidates, columns in cases:
        n = len(candidates.shares)
        order = draw.permutation(n)
        made, weights = arcs(candidates, order)
        assert len(candidates.add(made)) == len(made) <= 2 * n and len(candidates.names) == len(
            columns
        )
        for tall, _ in made:
            assert (tall[order] != np.roll(tall[order], 1)).sum() <= 2
        lifts = candidates.vertices.lifts
        assert abs(lifts[:, candidates.add(made)] @ weights - 1).max() < 1e-15 * n * lifts.max()
        circles = first_circles(candidates, draw)
        names, shares = list(circles), np.array(list(circles.values()))
        assert (
            shares.min() > 0 and abs(lifts[:, names] @ shares - 1).max() < 1e-15 * n * lifts.max()
        )


def test_pairs_out_of_reach_are_named_the_worst_first():
    draw = np.random.default_rng(20)
    best, most = draw.normal(size=(5, 5)), np.full((5, 5), 0.5) + np.diag([1.5, 0.5, 0.5, 3.5, 0.5])
    best += best.T
    over = {}
    for i, j in zip(*np.triu_indices(5, 1)):
        far = max(best[i, j] - 0.5, -0.25 - best[i, j]) / np.sqrt(most[i, i] * most[j, j])
        if far > 0:
            over[far] = (i, j), (1.0, 1.0) if best[i, j] > 0 else (-1.0, 0.5)
    told = _outside(best, np.full((5, 5), -0.25), most)
    assert len({side for _, side in over.values()}) == 2 and len(told) == min(5, len(over))
    for (form, multiplier), far in zip(told, sorted(over, reverse=True)):
        (i, j), (sign, cost) = over[far]
        assert (form[i, j], form[j, i], abs(form).sum(), multiplier) == (sign, sign, 2, cost)


def test_the_relaxed_programme_meets_its_conditions():
    draw = np.random.default_rng(20)
    for p, level in (
        (random_prior(4, draw), 0.4),
        (np.full(7, 1 / 7), 1.0),
        ([0.9, 0.06, 0.04], 0.7),
    ):
        candidates = everything(p, level)[1]
        for criterion in criteria_of(p, candidates):
            fits = relaxed(candidates, criterion, Clock())
            assert len(fits) >= 1 + (candidates.between > 0) and fits[0][1] == 0
            for many, _, root in fits:
                assert (
                    abs(np.diag(many).max() - 1) < 1e-12 and (root[:, 0] == candidates.ones).all()
                )
            limits = np.array(candidates.largest_variances, dtype=float)
            for many, *_, root in (fits[0], fits[-1]):
                best = root[:, 1:] @ root[:, 1:].T * np.outer(candidates.scale, candidates.scale)
                best /= (np.diag(best) / limits).max()
                assert (np.diag(many) * (1 - np.diag(best) / limits) <= 1e-6).all()


def test_an_exchange_finds_the_best_neighbour():
    draw = np.random.default_rng(20)
    for trial in range(12):
        n = 2 + trial % 5
        every, candidates, _ = everything(random_prior(n, draw), float(draw.uniform(0.1, 2)))
        matrix = draw.normal(size=(2, n)) / candidates.scale
        duals = draw.normal(size=n) / candidates.scale
        spread = matrix.T @ matrix
        values = Climb(candidates, spread, duals)
        for tall, place in zip(every.tall, every.place.tolist()):
            better, after, at = values.best_neighbour(tall, place)
            now = worth_of(candidates, tall, place, spread, duals)[0]
            best = best_beside(candidates, tall, place, spread, duals)
            reached, fits = worth_of(candidates, after, at, spread, duals)
            size = 1e-12 * (1 + abs(now) + abs(best))
            assert fits and abs(reached - best) < size and abs(now + better - best) < size
            top, end = climb(candidates, tall, place, spread, duals)
            top_value = worth_of(candidates, top, end, spread, duals)[0]
            assert top_value >= max(now, best) - size
            assert (
                top_value
                >= best_beside(candidates, top, end, spread, duals)
                - 1e-9 * abs(spread).max()
                - size
            )


def test_newton_steps_solve_their_equations():
    draw = np.random.default_rng(20)
    for p, level in ((random_prior(6, draw), 0.6), (random_prior(5, draw), 1.2)):
        every, candidates, _ = everything(p, level)
        count, lifts = len(every.tall), candidates.scaled(range(len(every.tall)))
        even = np.column_stack([lifts, lifts.sum(axis=1)])  # each as large as the least, or larger
        start = maximise(np.append(np.zeros(count), 1), equal=(even, candidates.ones)).x
        start = start[:-1] + start[-1]
        for criterion in criteria_of(p, candidates):
            barrier = 0.1 * criterion.size(lifts, start) / count
            for change_of, part in ((_change_of_many, 1 / 30), (change_of_few, 1e-12)):
                change = change_of(lifts, start, criterion, barrier)
                assert left_over(lifts, start, criterion, barrier, change) < part
                assert abs(lifts @ (start * change)).max() < 1e-12
            for dense in (0, 100):
                with patch.object(module, "MAX_DENSE_VERTICES", dense):
                    weights = barrier_weights(lifts, start, criterion, barrier, Clock())
                slope = criterion.slopes(lifts, weights, barrier)[0] - barrier
                missed = -slope @ change_of_few(lifts, weights, criterion, barrier) / 2
                assert weights.min() > 0 and abs(lifts @ weights - candidates.ones).max() < 1e-12
                assert 0 <= missed < 0.1 * barrier * count  # of the optimum
    width, seen = 12, []
    rows, sums = draw.normal(size=(30, width)), draw.normal(size=(2, width))
    curve, slope = rows.T @ rows, draw.normal(size=width)
    change = _conjugate(lambda x: seen.append(x) or curve @ x, np.diag(curve), slope, sums)
    assert len(seen) <= width and abs(sums @ change).max() < 1e-13
    straight = _conjugate(lambda x: x * np.diag(curve), np.diag(curve), slope, 0 * sums)
    assert np.allclose(straight, -slope / np.diag(curve), rtol=1e-13, atol=0)


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


def listed_candidates():
    """Two priors, all their vertices, and the candidate set that has them."""
    draw = np.random.default_rng(20)
    for p, level in ((random_prior(7, draw), 1.0), (random_prior(6, draw), 0.2)):
        every, candidates, _ = everything(p, level)
        yield p, every, candidates, draw


def test_weights_are_evened_with_the_least_change():
    for _, every, candidates, draw in listed_candidates():
        names = list(range(len(every.tall)))
        lifts, weights = candidates.scaled(names), draw.dirichlet(np.ones(len(names)))
        goal = lifts @ (weights * draw.uniform(0.9, 1.1, len(names)))
        change, sums = even(lifts, weights, goal) / weights - 1, lifts * weights
        assert abs(sums @ (1 + change) - goal).max() < 1e-14
        assert abs(np.linalg.lstsq(sums.T, change, rcond=None)[0] @ sums - change).max() < 1e-12


def test_new_vertices_get_positive_weights():
    for _, every, candidates, draw in listed_candidates():
        circles = first_circles(candidates, draw)
        used, weights = list(circles), np.array(list(circles.values()))
        lifts = candidates.scaled(used + [k for k in range(len(every.tall)) if k not in used])
        changed = with_new_weights(lifts, weights, candidates.ones)
        assert abs(lifts @ changed - candidates.ones).max() < 1e-14 and changed.min() > 0
    assert with_new_weights(np.array([[1.0, 1e11]]), np.ones(1), np.ones(1)) is None


def test_the_excess_vanishes_on_the_vertices_in_use():
    for p, every, candidates, draw in listed_candidates():
        circles = first_circles(candidates, draw)
        used, weights = list(circles), np.array(list(circles.values()))
        excess = Excess(candidates, draw.normal(size=(3, len(p))), used, weights)
        assert abs(weights @ excess.of(used)) < 1e-14
        assert abs(candidates.scaled(used) @ (weights * excess.of(used))).max() < 1e-14
        squares = ((excess.matrix @ candidates.vertices.shifts[:, used]) ** 2).sum(axis=0)
        assert abs(weights @ squares - 1) < 1e-14
        found = excess.local_maxima([(every.tall[k], int(every.place[k])) for k in used], Clock())
        top = excess.of(list(range(len(every.tall)))).max()  # seven terms, in another order
        assert abs(excess.of(found).max() - top) <= 1e-14 * top and len(found) < len(used)


def test_the_search_finds_what_the_list_has():
    p = random_prior(6, np.random.default_rng(20))
    candidates = everything(p, 0.2)[1]
    empty = partial(CandidateSet, candidates.shares, candidates.limit)
    for criterion in criteria_of(p, candidates):
        rounds, value, bound = rounds_of(empty(), criterion, 1e-8)
        with patch.object(candidate_set, "MAX_TABLE_BITS", 0):
            climbed = rounds_of(empty(), criterion, 1e-8)
        assert bound <= value <= bound * (1 + 1e-8) and abs(climbed[1] / value - 1) < 1e-8
        assert rounds <= 20 and climbed[0] <= 20
