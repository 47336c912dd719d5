"""How designs are found: steps, searches, starts and what is stored, each by itself."""

import math
import warnings
from fractions import Fraction

import numpy as np
import pytest

import pmlbook as pb
from pmlbook.estimation import enumerated_design
from pmlbook.estimation.enumerated_design import (
    MIN_LEVEL_NATS,
    MIN_STORED_PROBABILITY,
    estimation_mechanism,
    newton_search,
    stored,
)
from pmlbook.estimation.listed_vertices import (
    SIMILAR_SQUARED_COSINE,
    Listed,
    Weighted,
    best_weights,
    criterion_for,
    even,
    first_weights,
    tight_duals,
    unlike,
    with_new_weights,
)
from pmlbook.estimation.optimal_design import Spread, functionals
from pmlbook.extremal.regions import lift_limit
from pmlbook.foundations.probability import exact_prior, random_prior
from pmlbook.numerics.barrier import barrier_direction
from pmlbook.numerics.linear_programmes import maximise
from pmlbook.numerics.progress import Clock
from pmlbook.numerics.validation import checked_prior


def setting(p, level, target):
    """All vertices of a prior, an criterion and its unit, and weights of all vertices, the least as large as can be."""
    candidates = Listed(exact_prior(p), lift_limit(exact_prior(p), level)[1])
    found = first_weights(candidates)
    criterion, unit = criterion_for(target, functionals(target, p), candidates, found)
    count = len(candidates.vertices.tall)
    lifts = candidates.scaled(range(count))
    even = np.column_stack([lifts, lifts.sum(axis=1)])
    start = maximise(np.append(np.zeros(count), 1), equal=(even, candidates.ones)).x
    return candidates, found, criterion, unit, lifts, start[:-1] + start[-1]


draw = np.random.default_rng(9)
settings = [
    setting(random_prior(n, draw), level, target)
    for n, level, target in (
        (3, 0.4, "frequencies"),
        (5, 0.8, "determinant"),
        (4, 0.6, "largest"),
        (4, 1.2, [0, 1, 2, 5]),
        (2, 1e-6, "frequencies"),
    )
]


def test_a_step_is_newtons_and_the_barrier_ends_where_no_vertex_is_missing():
    for candidates, _, criterion, _, lifts, start in settings:
        barrier = 0.01 * criterion.size(lifts, start)
        change, promise, _ = barrier_direction(start, Weighted(criterion, lifts), lifts, barrier)

        def smoothed(part, step, start=start, lifts=lifts, criterion=criterion, barrier=barrier):
            weights = start * (1 + part * step)
            return criterion.value(lifts, weights, barrier) - barrier * np.log(weights).sum()

        assert abs(lifts @ (start * change)).max() < 1e-11 and promise >= 0
        h = 1e-5
        fall = (smoothed(h, change) - smoothed(-h, change)) / (2 * h)
        assert abs(fall + promise) < 1e-5 * (promise + barrier)
        bend = (smoothed(h, change) - 2 * smoothed(0, change) + smoothed(-h, change)) / h**2
        assert abs(bend - promise) < 1e-3 * (
            promise + barrier
        )  # whose best multiple is the step itself
        weights, last = best_weights(lifts, start, criterion, Clock())
        assert (
            last == criterion.size(lifts, start) / len(start) * 10.0**-criterion.barrier_digits
            and weights.min() > 0
        )
        assert abs(lifts @ weights - candidates.ones).max() < 1e-10
        left = barrier_direction(weights, Weighted(criterion, lifts), lifts, last)[0]
        assert abs(left).max() < 0.01  # polished
        claim = criterion.claim(lifts, weights, last)
        values = ((claim.matrix * candidates.scale @ (lifts - candidates.ones[:, None])) ** 2).sum(
            axis=0
        )
        duals = tight_duals(lifts - candidates.ones[:, None], weights, values)
        excess = values - duals @ (lifts - candidates.ones[:, None])
        assert excess.max() <= weights @ values * (1 + criterion.tol)  # no vertex is missing
        everything, bound = newton_search(candidates, dict(enumerate(start)), criterion, Clock())
        assert bound <= claim.value <= bound * (1 + 2 * criterion.tol) + claim.slack


def test_the_search_meets_its_bound_from_circles():
    for candidates, circles, criterion, _, lifts, _ in settings:
        n, names, shifts = len(candidates.ones), list(circles), candidates.vertices.shifts
        weights = np.array(list(circles.values()))
        assert np.allclose(
            abs(shifts / candidates.scale[:, None]).max(axis=1), 1, rtol=0, atol=1e-15
        )
        assert abs(candidates.ones @ (lifts - candidates.ones[:, None])).max() < 1e-9
        assert (
            weights.min() > 0
            and abs(candidates.scaled(names) @ weights - candidates.ones).max() < 1e-9
        )
        assert np.linalg.matrix_rank(candidates.scaled(names)) == n and len(names) <= n * n
        found, bound = newton_search(candidates, circles, criterion, Clock())
        weights, mixed = np.array(list(found.values())), candidates.scaled(list(found))
        barrier = criterion.size(mixed, weights) / len(weights) * 10.0**-criterion.barrier_digits
        claim = criterion.claim(mixed, weights, barrier)
        assert bound <= claim.value <= bound * (1 + 2 * criterion.tol) + claim.slack
        utility = Spread(claim.matrix)
        used, duals = candidates.mix(utility, Clock())
        best = candidates.best(utility, duals)
        values = utility.at_lifts(
            candidates.vertices.lifts, shifts, np.array(candidates.vertices.shares, dtype=float)
        )
        multipliers = np.array(duals, dtype=float) @ shifts
        assert float(best) >= (values - multipliers).max() * (1 - 1e-9) and len(used) <= n
        offered = candidates.offer(claim, duals, 3, used)
        assert (
            len(offered) <= 3
            and ((values - multipliers)[offered] > (values - multipliers)[used].max()).all()
        )
        lowest = int((values - multipliers).argmin())
        offered = candidates.offer(claim, duals, 3, [lowest])
        assert len(values) < 3 or (values - multipliers)[offered[0]] > float(best) * (1 - 1e-9)


@pytest.mark.parametrize(
    "prior, level", [(np.full(4, 0.25), math.log(2)), (np.full(6, 1 / 6), math.log(3))]
)
def test_circles_tell_every_direction_where_lifts_are_even(prior, level):
    """Three circles of pairs may all be one; then more are drawn."""
    candidates = Listed(exact_prior(prior), lift_limit(exact_prior(prior), level)[1])
    found = first_weights(candidates)
    chosen, weights = candidates.scaled(list(found)), np.array(list(found.values()))
    assert np.linalg.matrix_rank(chosen) == len(prior) and weights.min() > 0
    assert abs(chosen @ weights - candidates.ones).max() < 1e-12


def test_a_search_that_starts_at_its_answer_is_over_after_one_round(monkeypatch):
    rounds = []

    def counted(*given):
        rounds.append(1)
        return best_weights(*given)

    for candidates, circles, criterion, *_ in settings:
        found, _ = newton_search(candidates, circles, criterion, Clock())
        monkeypatch.setattr(enumerated_design, "best_weights", counted)
        rounds.clear()
        newton_search(candidates, found, criterion, Clock())
        monkeypatch.undo()
        assert len(rounds) == 1


def test_of_vertices_that_tell_the_same_the_first_is_taken():
    told = np.random.default_rng(1).normal(size=(3, 40))
    some = unlike(told, 7)
    cosines = told.T @ told / np.outer(*2 * [np.linalg.norm(told, axis=0)])
    passed = [k for k in range(40) if k not in some and k < some[-1]]
    assert some[0] == 0 and sorted(some) == some and len(some) <= 7
    assert all(cosines[a, b] ** 2 < SIMILAR_SQUARED_COSINE for a in some for b in some if a != b)
    assert all(
        max(cosines[k, [a for a in some if a < k]] ** 2) >= SIMILAR_SQUARED_COSINE for k in passed
    )
    assert (
        unlike(np.ones((2, 5)), 3) == [0]
        and unlike(np.eye(3), 2) == [0, 1]
        and unlike(np.eye(3), 9) == [0, 1, 2]
    )


def test_weights_make_room():
    draw = np.random.default_rng(2)
    for lifts, weights in ((settings[0][4], settings[0][5]), (settings[3][4], settings[3][5])):
        count = len(weights)
        goal = lifts @ (weights * draw.uniform(0.9, 1.1, count))
        change, sums = even(lifts, weights, goal) / weights - 1, lifts * weights
        assert abs(sums @ (1 + change) - goal).max() < 1e-13
        assert abs(np.linalg.lstsq(sums.T, change, rcond=None)[0] @ sums - change).max() < 1e-12
    for candidates, circles, *_ in settings[:3]:
        used, weights = list(circles), np.array(list(circles.values()))
        rest = [k for k in range(len(candidates.vertices.tall)) if k not in used]
        room = with_new_weights(candidates.scaled(used + rest), weights, candidates.ones, 1e-3)
        assert (room[len(used) :] < 2e-3 * weights.mean()).all()
        assert (
            abs(candidates.scaled(used + rest) @ room - candidates.ones).max() < 1e-13
            and room.min() > 0
        )
    assert with_new_weights(np.array([[1.0, 1e11]]), np.ones(1), np.ones(1), 1e-3) is None


def test_rare_outcomes_are_stored_where_they_are_needed():
    candidates, circles, *_ = settings[1]
    spare = next(k for k in range(len(candidates.vertices.tall)) if k not in circles)
    prior, level = checked_prior(candidates.vertices.shares), 0.8
    for least, share in (
        (MIN_STORED_PROBABILITY, 0.1 * MIN_STORED_PROBABILITY),
        (MIN_STORED_PROBABILITY, 1e-3),
        (0.0, 0.1 * MIN_STORED_PROBABILITY),
    ):
        made = stored(candidates, circles | {spare: share}, least, prior, level)
        assert made.certify(level) and len(made.outputs) == len(circles) + (share > least)


def test_another_unit_is_another_unit_and_nothing_else():
    first, *others = (
        estimation_mechanism([0.5, 0.3, 0.2], 0.5, [0, unit, 2 * unit])
        for unit in (1.0, 2.0**-40, 2.0**60)
    )
    for unit, other in zip((2.0**-40, 2.0**60), others):
        assert (other.value, other.bound) == (first.value * unit**2, first.bound * unit**2)
        assert (other.mechanism.weights == first.mechanism.weights).all()
        assert other.mechanism.channel.max(axis=0).min() > MIN_STORED_PROBABILITY


@pytest.mark.parametrize(
    "wrong",
    [
        ([0.5, 0.5], 0.0),
        ([0.5, 0.5], 0.9 * MIN_LEVEL_NATS),
        ([0.5, 0.5], 1.0, [2, 2]),
        ([0.5, 0.5], 1.0, "frequencies", None, 0.0),
        ([0.5, 0.5], 1.0, "frequencies", None, math.inf),
    ],
)
def test_bad_input_is_refused(wrong):
    with pytest.raises(ValueError):
        estimation_mechanism(*wrong)


def test_vertices_by_climbs_agree_with_those_that_are_listed(monkeypatch):
    p, targets = random_prior(5, np.random.default_rng(9)), ("frequencies", [8, 0, 1, 2, 4])
    small = [estimation_mechanism(p, 0.7, target) for target in targets]
    monkeypatch.setattr(enumerated_design, "MAX_LISTED_SECRETS", 4)  # as if five were too many
    monkeypatch.setattr(enumerated_design, "MAX_ENUMERATED_SYMBOLS", 4)
    for target, best in zip(targets, small):
        told = []
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # nothing to warn of
            grown = estimation_mechanism(
                p, 0.7, target, 600, 1e-7, lambda *now, told=told: told.append(now)
            )
        assert best.bound <= grown.value <= best.value * (1 + 1e-6) and grown.bound <= best.value
        assert grown.gap <= 1e-6 * grown.value and len(told) <= 16
        assert abs(told[-1][0] / grown.value - 1) < 1e-6
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            early = estimation_mechanism(p, 0.7, target, 0)
        assert early.bound <= best.value < early.value and [w.category for w in said] == [
            pb.LooseBound
        ]


@pytest.mark.parametrize(
    "prior, level",
    [([0.5, 0.5 - 1e-12, 1e-12], 1e-6), ([0.4, 0.3, 0.2, 0.1 - 1e-9, 1e-9], 1e-4)],
)
@pytest.mark.parametrize("target", ["frequencies", "mean"])
def test_a_rare_secret_at_a_strict_level_is_estimated(prior, level, target):
    """The best weights use outcomes that are too rare for 53 bits; another optimum does not need them."""
    design = estimation_mechanism(prior, level, target)
    assert design.mechanism.certify(level) and 0 <= design.gap <= 1e-6 * design.value


@pytest.mark.parametrize("n, least", [(13, 10**10), (14, 10**12)])
def test_a_rare_secret_keeps_its_vertex(n, least):
    """Fewer vertices than secrets were left, and LAPACK complained."""
    prior = [Fraction(1, least)] + [(1 - Fraction(1, least)) / (n - 1)] * (n - 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        design = pb.estimation_mechanism(prior, 30, "determinant", max_time=3)
    assert design.bound <= design.value
