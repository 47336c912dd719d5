"""Optima under each measure: lists of vertices, both ends of every promise, weights that are exact or refused."""

import warnings
from fractions import Fraction
from typing import NamedTuple
from unittest.mock import patch

import numpy as np
import pytest

from pmlbook.extremal import atlas as module
from pmlbook.extremal import measure_lists as lists_module
from pmlbook.extremal.atlas import MEASURES, NOTABLE_GAP, _bound, _kept, _worth, optimum_under
from pmlbook.extremal.lift_vectors import exact_lift_vectors
from pmlbook.extremal.measure_lists import (
    box_vertices,
    exact_weights,
    keeps_measure,
    measure_lists,
    mixed_exactly,
    outcomes_of,
    ratio_vertices,
    set_vertices,
    solve_lists,
    stored_units,
    with_noise,
)
from pmlbook.foundations.probability import exact_prior
from pmlbook.foundations.utility import NAMED, FInformation
from pmlbook.numerics.enclosure import exp_around
from pmlbook.numerics.linear_programmes import Infeasible, LooseBound, SolverFailed
from pmlbook.release.certificate import exp_below
from pmlbook.release.sampling import UNITS


def keeps(measure, channel, prior, level):
    """Whether a channel keeps a promise, decided in fractions."""
    c, shares = exp_below(level), exact_prior(prior)
    columns = [[Fraction(x) for x in column] for column in channel.T.tolist()]
    ends = [
        (min(column), sum(p * x for p, x in zip(shares, column)), max(column)) for column in columns
    ]
    return {
        "pml": all(top <= c * mean for _, mean, top in ends),
        "lip": all(top <= c * mean and mean <= c * low for low, mean, top in ends),
        "ldp": all(top <= c * low for low, _, top in ends),
        "maximal": sum(top for *_, top in ends) <= c,
    }[measure]


def unmixed(*_):
    raise SolverFailed("no exact weights")


ONE, CHI_SQUARE = Fraction(1), NAMED["chi_square"]
SHAVE = Fraction(1, 2**20)


class Case(NamedTuple):
    """Shares of a random prior, and a level above one as a fraction."""

    shares: tuple
    high: Fraction
    rng: np.random.Generator

    @property
    def n(self):
        return len(self.shares)


def cases(trials=9):
    rng = np.random.default_rng(45)
    for trial in range(trials):
        counts = rng.integers(1, 9, size=2 + trial % 3).tolist()
        shares = tuple(Fraction(k, sum(counts)) for k in counts)
        yield Case(shares, 1 + Fraction(int(rng.integers(0, 30)), 11), rng)


def test_lists_of_vertices_by_other_ways():
    for case in cases():
        shares, n = case.shares, case.n
        boxes = set(box_vertices(shares, Fraction(0), case.high))
        listed = exact_lift_vectors(shares, min(case.high, 1 / min(shares)))
        assert boxes == {tuple(listed.column(v)) for v in range(len(listed.place))}
        low = Fraction(int(case.rng.integers(0, 11)), 11)
        # half way to one: the same box, made smaller
        smaller = {tuple(low + (1 - low) * x for x in v) for v in boxes}
        assert set(box_vertices(shares, low, low + (1 - low) * case.high)) == smaller
        ratios, sets = ratio_vertices(shares, 1 + case.high), set_vertices(shares)
        assert len(set(ratios)) == len(ratios) == len(set(sets)) == len(sets) == 2**n - 1
        for v in (*ratios, *sets):
            assert sum(p * x for p, x in zip(shares, v)) == 1
        assert {max(v) / min(v) for v in ratios} == {ONE, 1 + case.high}
        assert all(set(v) <= {0, max(v)} for v in sets)
        assert ratio_vertices(shares, ONE) == [(ONE,) * n]


def test_exact_weights_solve_the_equations_or_are_refused():
    for case in cases():
        n, boxes = case.n, box_vertices(case.shares, Fraction(0), case.high)
        columns = [list(v) for v in sorted(boxes)[: n + 1]]
        given = [Fraction(int(k), 7) for k in case.rng.integers(0, 5, size=len(columns))]
        right = [sum(w * v[i] for w, v in zip(given, columns)) for i in range(n)]
        for goal in (right, [right[0] + 1, *right[1:]], [-x for x in right]):
            try:
                weights = exact_weights(columns, goal)
            except SolverFailed:  # with more than n columns another answer may fail
                assert goal is not right or len(columns) > n
                continue
            assert [sum(w * v[i] for w, v in zip(weights, columns)) for i in range(n)] == goal
            assert min(weights) >= 0 and sum(w > 0 for w in weights) <= n


def levels_of(case):
    """A level, the fractions around its exponential, and the lists of each measure, exact and stricter."""
    level = float(case.rng.choice([1e-16, 0.01, 0.4, 1.1]))
    below, above = exp_below(level), exp_around(Fraction(level))[1]
    lists = {
        measure: [measure_lists(case.shares, measure, level, None, s) for s in (Fraction(0), SHAVE)]
        for measure in MEASURES
    }
    return level, (below, above, max(below * (1 - SHAVE), ONE)), lists


def test_lists_contain_what_the_level_allows():
    for case in cases():
        _, _, lists = levels_of(case)
        for measure in set(MEASURES) - {"maximal"}:
            exact, less = lists[measure]
            assert (exact.least, exact.most, less.least, less.most) == (None,) * 4
            assert all(map(exact.allowed, exact.inner)) and all(map(less.allowed, less.inner))
            assert all(map(exact.allowed, less.inner))  # a shave is stricter


def test_budgets_of_maximal_leakage():
    for case in cases():
        _, around, lists = levels_of(case)
        exact, less = lists["maximal"]
        caps = [Fraction(min(x, case.n)) for x in around]
        assert (exact.least, exact.most, less.least, less.most) == (*caps[:2], caps[2], caps[1])
        assert exact.inner == exact.outer == set_vertices(case.shares)
        assert exact.allowed((Fraction(case.n),) * case.n)


def test_ratios_of_local_differential_privacy():
    for case in cases():
        _, (below, above, strict), lists = levels_of(case)
        exact, less = lists["ldp"]
        assert exact.outer == ratio_vertices(case.shares, above)
        limits = ((below, True), (below + Fraction(1, 2**90), False), (above, False))
        for ratio, kept in limits:
            assert exact.allowed((Fraction(3), 3 * ratio)) is kept
        assert max(max(v) / min(v) for v in less.inner) == strict


@pytest.mark.parametrize("measure", ["pml", "lip"])
def test_boxes_of_lifts(measure):
    for case in cases():
        level, (below, above, strict), lists = levels_of(case)
        exact, less = lists[measure]
        floors = [Fraction(0)] * 3
        if measure == "lip":
            floors = [1 / below, 1 / above, min((1 + SHAVE) / below, ONE)]
        tops = [min(x, 1 / min(case.shares)) for x in (below, above, strict)]
        for found, floor, top in zip((exact.inner, exact.outer, less.inner), floors, tops):
            assert found == box_vertices(case.shares, floor, top)
        tiny = Fraction(1, 2**90)
        assert not exact.allowed((tops[0] + tiny, ONE))
        assert not exact.allowed((floors[0] - tiny, ONE))
        assert exact.allowed((floors[0], tops[0]))
        assert exact.allowed((floors[1], ONE)) == (floors[1] == floors[0])
        assert exact.allowed((ONE, tops[1])) == (tops[1] == tops[0])
        far, odd = (measure_lists(case.shares, "lip", level, x) for x in (1000.0, 1001.0))
        least = 1 / exp_around(Fraction(1000))[1]
        assert far.outer == box_vertices(case.shares, least, min(above, 1 / min(case.shares)))
        assert odd.outer == measure_lists(case.shares, "pml", level, None).outer


def mixture_of(case):
    """Weights on ratio vertices and one more lift vector, which average to one."""
    n = case.n
    vertices = ratio_vertices(case.shares, 1 + case.high)[:n]
    mix = [(Fraction(k + 1, 3 * n * (n + 1) // 2), v) for k, v in enumerate(vertices)]
    rest = [ONE - sum(w * v[i] for w, v in mix) for i in range(n)]
    weight = sum(p * x for p, x in zip(case.shares, rest))
    return [*mix, (weight, tuple(x / weight for x in rest))]


def test_storage_moves_entries_towards_one():
    for case in cases():
        mix = mixture_of(case)
        rows = stored_units(mix)
        for row, entries in zip(rows, zip(*([w * x for x in v] for w, v in mix))):
            assert sum(row) == UNITS and min(row) >= 0
            assert all(abs(k - x * UNITS) <= len(mix) for k, x in zip(row, entries))
        for i, row in enumerate(rows):  # but for the entry that completes the row
            for j, (w, v) in enumerate(mix):
                if j != row.index(max(row)):
                    below = row[j] <= w * v[i] * UNITS
                    assert below if v[i] == max(v) else not below or row[j] == w * v[i] * UNITS
        outcomes = outcomes_of(rows, case.shares)
        for outcome, (w, _) in zip(outcomes, mix):
            assert abs(outcome[0] - w) <= Fraction(len(mix), UNITS)
        assert sum(q for q, _ in outcomes) == 1
        assert [sum(q * v[i] for q, v in outcomes) for i in range(case.n)] == [1] * case.n


@pytest.mark.parametrize("measure", MEASURES)
def test_wrong_weights_are_mended_exactly(measure):
    for case in cases(3):
        lists = measure_lists(case.shares, measure, 0.7, None)
        used, weights, duals, dual = solve_lists(lists, case.shares, CHI_SQUARE)
        for wrong in (weights, [0.9 * w for w in weights], [1.1 * w for w in weights]):
            for some in (used, used[1:] or used):
                made = mixed_exactly(lists, some, wrong[len(used) - len(some) :])
                assert sum(w for w, _ in made) == 1 and min(w for w, _ in made) >= 0
                assert all(sum(w * v[i] for w, v in made) == 1 for i in range(case.n))
                assert keeps_measure(lists, made)
        value = _worth(mixed_exactly(lists, used, weights), case.shares, CHI_SQUARE, 0)
        best = _bound(lists, case.shares, CHI_SQUARE, duals, dual)
        assert value <= best <= value + Fraction(1, 10**9)
        for _ in range(3):  # any dual variables bound it
            moves = case.rng.integers(-9, 10, size=case.n)
            odd = [y + Fraction(int(k), 64) for y, k in zip(duals, moves)]
            for multiplier in (Fraction(0), dual, 2 * dual):
                assert _bound(lists, case.shares, CHI_SQUARE, odd, multiplier) >= value


@pytest.mark.parametrize("measure", MEASURES)
def test_noise_and_storage_keep_the_level(measure):
    for case in cases(3):
        lists = measure_lists(case.shares, measure, 0.7, None)
        rows = np.eye(case.n, dtype=int).tolist()
        truth = [(p, tuple(k / p for k in row)) for p, row in zip(case.shares, rows)]
        noisy = with_noise(lists, case.shares, truth)
        assert keeps_measure(lists, outcomes_of(noisy, case.shares))
        strict = measure_lists(case.shares, measure, 0.6, None)
        made = mixed_exactly(strict, *solve_lists(strict, case.shares, CHI_SQUARE)[:2])
        for mix in (made, truth):
            kept = _kept(strict, case.shares, iter([mix]))
            assert keeps_measure(strict, outcomes_of(kept, case.shares))


@pytest.mark.parametrize(
    "arguments",
    [
        ("pml", [0.4, 0.3, 0.2, 0.1], 0.5),
        ("dp", [0.6, 0.3, 0.1], 0.5),
        (None, [0.6, 0.3, 0.1], 0.5),
        ("pml", [0.6, 0.3, 0.1], -0.1),
        ("pml", [0.6, 0.3, 0.1], 0.5, "hellinger", 0.5),
        ("lip", [0.6, 0.3, 0.1], 0.5, "hellinger", -0.5),
    ],
)
def test_what_is_refused(arguments):
    with patch.dict(vars(module), MAX_SYMBOLS=3):
        assert optimum_under("pml", [0.5, 0.3, 0.2], 0.5).value > 0
        with pytest.raises(ValueError):
            optimum_under(*arguments)


@pytest.mark.parametrize("measure", MEASURES)
def test_level_zero_and_a_level_without_effect(measure):
    prior = np.array([0.6, 0.3, 0.1])
    constant = optimum_under(measure, prior, 0.0)
    assert constant.value == 0 <= constant.bound < 1e-12
    assert np.ptp(constant.channel, axis=0).max() == 0
    full = optimum_under(measure, prior, 1e4)
    assert full.bound - full.value < 1e-12 and abs(full.value + prior @ np.log(prior)) < 1e-9
    alone = optimum_under(measure, [1.0], 0.3)
    assert alone.channel.tolist() == [[1.0]] and alone.value == 0


@pytest.mark.parametrize("measure", MEASURES)
def test_without_exact_weights_hardly_anything_is_lost(measure):
    (*_, case) = cases()
    lists = measure_lists(case.shares, measure, 0.7, None)
    used, weights, *_ = solve_lists(lists, case.shares, CHI_SQUARE)
    value = _worth(mixed_exactly(lists, used, weights), case.shares, CHI_SQUARE, 0)
    skew = [w * (1 - Fraction(k + 1, 100)) for k, w in enumerate(map(Fraction, weights))]
    with patch.dict(vars(lists_module), exact_weights=unmixed):
        made, rough = (mixed_exactly(lists, used, some) for some in (weights, skew))
        for mix in (made, rough):
            assert sum(w for w, _ in mix) == 1 and keeps_measure(lists, mix)
            assert all(sum(w * v[i] for w, v in mix) == 1 for i in range(case.n))
        assert _worth(made, case.shares, CHI_SQUARE, 0) > value * (1 - Fraction(1, 2**30))


def test_a_secret_that_is_too_rare_for_floats():
    with pytest.raises(SolverFailed, match="uneven"):  # one over it is no float
        optimum_under("pml", [1 - Fraction(1, 10**310), Fraction(1, 10**310)], 0.5)


def test_a_utility_from_floats_has_a_bound_with_their_error():
    prior = np.array([0.6, 0.3, 0.1])
    entry = optimum_under("pml", prior, 0.4, np.linalg.norm)  # the worst that floats may be off
    assert entry.value < np.linalg.norm(entry.channel, axis=0).sum() < entry.bound


def test_a_rare_secret_warns():
    scarce = [Fraction(3, 5), Fraction(2, 5) - Fraction(1, 2**58), Fraction(1, 2**58)]
    reached = []
    for limit in (
        np.inf,
        NOTABLE_GAP,
    ):  # a rare secret: the truth with noise tells more than what the programme finds
        with patch.dict(vars(module), NOTABLE_GAP=limit), pytest.warns(LooseBound):
            entries = [
                optimum_under(measure, scarce, 37.0, "chi_square") for measure in MEASURES[:3]
            ]
            assert all(keeps(entry.measure, entry.channel, scarce, 37.0) for entry in entries)
            reached.append([entry.value for entry in entries])
    assert (np.array(reached[0]) + 1 < reached[1]).all()
    for unit in (2.0**-60, 2.0**60):  # what is noticed does not depend on the unit of the utility
        square = FInformation(lambda t: unit * (t - 1) ** 2)  # noqa: B023
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            entry = optimum_under("pml", scarce, 37.0, square)
            assert len(said) == 1 and np.isclose(
                entry.value / unit, reached[1][0], rtol=1e-9, atol=0
            )
            optimum_under("pml", [0.5, 0.3, 0.2], 0.4, square)
        assert len(said) == 1


@pytest.mark.parametrize("level", [999.0, 1000.0, 1001.0, 1e300])
def test_a_level_no_lift_reaches_leaves_the_bound_of_a_smaller_one(level):
    """Above -ln min p the upper end asks for nothing; the lower end and its proof stay."""
    prior = [0.5, 0.3, 0.2]
    for measure, lower in (("lip", 0.1), ("lip", 2.0), ("pml", None), ("maximal", None)):
        entry = optimum_under(measure, prior, level, lower=lower)
        assert 0 <= entry.bound - entry.value < 1e-12
        assert entry.bound == optimum_under(measure, prior, 900.0, lower=lower).bound
    entropy = -sum(p * np.log(p) for p in prior)  # what a ratio of e^1000 is worth in twelve digits
    entry = optimum_under("ldp", prior, level)
    assert entropy - 1e-12 < entry.bound < entropy + 1e-12 and entry.value > entropy - 1e-10
    outer = measure_lists(exact_prior(prior), "ldp", level, None).outer
    infinite = any(min(v) == 0 for v in outer)
    assert infinite == (level > 1000)  # the lists in floats end there, and so would their proof


@pytest.mark.parametrize("prior", [[1e-16, 0.3, 0.7], [1e-16, 1e-16, 1 - 2e-16]])
@pytest.mark.parametrize("level", [1e-16, 1e-12])
def test_a_programme_that_rounding_contradicts_leaves_the_constant_outcome(prior, level):
    for measure in MEASURES:
        for lower in (None, 1e-16) if measure == "lip" else (None,):
            entry = optimum_under(measure, prior, level, lower=lower)
            assert 0 <= entry.value <= entry.bound < 1e-11
            assert keeps(measure, entry.channel, prior, level)


def test_a_contradiction_the_solver_reports_is_no_answer():
    shares = exact_prior([0.5, 0.3, 0.2])
    for measure in MEASURES:
        lists = measure_lists(shares, measure, 0.4, None)
        with patch.object(lists_module, "maximise", side_effect=Infeasible("rounding")):
            with patch.object(lists_module, "mixture_weights", side_effect=Infeasible("rounding")):
                used, weights, duals, dual = solve_lists(lists, shares, CHI_SQUARE)
        assert used == [(ONE,) * 3] and weights == [1] and not any([*duals, dual])
        assert mixed_exactly(lists, used, weights) == [(ONE, (ONE,) * 3)]
