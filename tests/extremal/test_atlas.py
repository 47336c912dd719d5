"""Optima under each measure: lists of vertices, both ends of every promise, weights that are exact or refused."""

import warnings
from fractions import Fraction
from unittest.mock import patch

import numpy as np
import pytest

from pmlbook.extremal import atlas as module
from pmlbook.extremal import measure_lists as lists_module
from pmlbook.extremal.atlas import MEASURES, NOTICE, _bound, _kept, _worth, optimum_under
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
from pmlbook.numerics.linear_programmes import LooseBound, SolverFailed
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


def test_lists_of_vertices_by_other_ways():
    rng = np.random.default_rng(45)
    one = Fraction(1)
    for trial in range(9):
        n = 2 + trial % 3
        counts = rng.integers(1, 9, size=n).tolist()
        shares = tuple(Fraction(k, sum(counts)) for k in counts)
        high = 1 + Fraction(int(rng.integers(0, 30)), 11)
        boxes = set(box_vertices(shares, Fraction(0), high))
        listed = exact_lift_vectors(shares, min(high, 1 / min(shares)))
        assert boxes == {tuple(listed.column(v)) for v in range(len(listed.place))}
        low = Fraction(int(rng.integers(0, 11)), 11)  # half way to one: the same box, made smaller
        smaller = {tuple(low + (1 - low) * x for x in v) for v in boxes}
        assert set(box_vertices(shares, low, low + (1 - low) * high)) == smaller
        ratios, sets = ratio_vertices(shares, 1 + high), set_vertices(shares)
        assert len(set(ratios)) == len(ratios) == len(set(sets)) == len(sets) == 2**n - 1
        for v in (*ratios, *sets):
            assert sum(p * x for p, x in zip(shares, v)) == 1
        assert {max(v) / min(v) for v in ratios} == {one, 1 + high}
        assert all(set(v) <= {0, max(v)} for v in sets) and ratio_vertices(shares, one) == [
            (one,) * n
        ]

        columns = [list(v) for v in sorted(boxes)[: n + 1]]
        given = [Fraction(int(k), 7) for k in rng.integers(0, 5, size=len(columns))]
        right = [sum(w * v[i] for w, v in zip(given, columns)) for i in range(n)]
        for goal in (right, [right[0] + 1, *right[1:]], [-x for x in right]):
            try:
                weights = exact_weights(columns, goal)
                assert [sum(w * v[i] for w, v in zip(weights, columns)) for i in range(n)] == goal
                assert min(weights) >= 0 and sum(w > 0 for w in weights) <= n
            except SolverFailed:
                assert (
                    goal is not right or len(columns) > n
                )  # with more than n another answer may fail

        level, shave = float(rng.choice([1e-16, 0.01, 0.4, 1.1])), Fraction(1, 2**20)
        below, above = exp_below(level), exp_around(Fraction(level))[1]
        for measure in MEASURES:
            exact, less = (
                measure_lists(shares, measure, level, None, s) for s in (Fraction(0), shave)
            )
            budgets = [(exact.least, exact.most), (less.least, less.most)]
            if measure == "maximal":
                caps = [Fraction(min(x, n)) for x in (below, above, max(below * (1 - shave), one))]
                assert budgets == [(caps[0], caps[1]), (caps[2], caps[1])]
                assert exact.inner == exact.outer == sets and exact.allowed((Fraction(n),) * n)
                continue
            assert budgets == [(None, None)] * 2
            assert all(map(exact.allowed, exact.inner)) and all(map(less.allowed, less.inner))
            assert all(map(exact.allowed, less.inner))  # a shave is stricter
            top = min(below, 1 / min(shares))
            if measure == "ldp":
                assert exact.outer == ratio_vertices(shares, above)
                for ratio, kept in (
                    (below, True),
                    (below + Fraction(1, 2**90), False),
                    (above, False),
                ):
                    assert exact.allowed((Fraction(3), 3 * ratio)) is kept
                assert max(max(v) / min(v) for v in less.inner) == max(below * (1 - shave), one)
                continue
            floors = [Fraction(0)] * 3
            if measure == "lip":
                floors = [1 / below, 1 / above, min((1 + shave) / below, one)]
            tops = [min(x, 1 / min(shares)) for x in (below, above, max(below * (1 - shave), one))]
            for found, floor, top in zip((exact.inner, exact.outer, less.inner), floors, tops):
                assert found == box_vertices(shares, floor, top)
            for v in ((tops[0] + Fraction(1, 2**90), one), (floors[0] - Fraction(1, 2**90), one)):
                assert not exact.allowed(v)
            assert exact.allowed((floors[0], tops[0]))
            assert exact.allowed((floors[1], one)) == (floors[1] == floors[0])
            assert exact.allowed((one, tops[1])) == (tops[1] == tops[0])
        far, odd = (
            measure_lists(shares, "lip", level, 1000.0),
            measure_lists(shares, "lip", level, 1001.0),
        )
        least = 1 / exp_around(Fraction(1000))[1]
        assert far.outer == box_vertices(shares, least, min(above, 1 / min(shares)))
        assert odd.outer == measure_lists(shares, "pml", level, None).outer

        mix = [(Fraction(k + 1, 3 * n * (n + 1) // 2), v) for k, v in enumerate(ratios[:n])]
        rest = [one - sum(w * v[i] for w, v in mix) for i in range(n)]
        mix.append((sum(p * x for p, x in zip(shares, rest)), tuple(rest)))
        mix[-1] = (mix[-1][0], tuple(x / mix[-1][0] for x in rest))
        rows = stored_units(mix)
        for row, entries in zip(rows, zip(*([w * x for x in v] for w, v in mix))):
            assert sum(row) == UNITS and min(row) >= 0
            assert all(abs(k - x * UNITS) <= len(mix) for k, x in zip(row, entries))
        for i, row in enumerate(rows):  # towards one, but for the entry that makes the row whole
            for j, (w, v) in enumerate(mix):
                if j != row.index(max(row)):
                    below = row[j] <= w * v[i] * UNITS
                    assert below if v[i] == max(v) else not below or row[j] == w * v[i] * UNITS
        for outcome, (w, _) in zip(outcomes_of(rows, shares), mix):
            assert abs(outcome[0] - w) <= Fraction(len(mix), UNITS)
        assert sum(q for q, _ in outcomes_of(rows, shares)) == 1
        assert [sum(q * v[i] for q, v in outcomes_of(rows, shares)) for i in range(n)] == [1] * n

        for measure in MEASURES if trial < 3 else ():  # wrong weights are mended, exactly
            lists = measure_lists(shares, measure, 0.7, None)
            used, weights, duals, dual = solve_lists(lists, shares, NAMED["chi_square"])
            for wrong in (weights, [0.9 * w for w in weights], [1.1 * w for w in weights]):
                for some in (used, used[1:] or used):
                    made = mixed_exactly(lists, some, wrong[len(used) - len(some) :])
                    assert sum(w for w, _ in made) == 1 and min(w for w, _ in made) >= 0
                    assert all(sum(w * v[i] for w, v in made) == 1 for i in range(n))
                    assert keeps_measure(lists, made)
            value = _worth(mixed_exactly(lists, used, weights), shares, NAMED["chi_square"], 0)
            best = _bound(lists, shares, NAMED["chi_square"], duals, dual)
            assert value <= best <= value + Fraction(1, 10**9)
            for _ in range(3):  # any dual variables bound it
                odd = [
                    y + Fraction(int(k), 64) for y, k in zip(duals, rng.integers(-9, 10, size=n))
                ]
                for multiplier in (Fraction(0), dual, 2 * dual):
                    assert _bound(lists, shares, NAMED["chi_square"], odd, multiplier) >= value
            truth = [(p, tuple(1 / p * (i == k) for i in range(n))) for k, p in enumerate(shares)]
            noisy = with_noise(lists, shares, truth)
            assert keeps_measure(lists, outcomes_of(noisy, shares))
            strict = measure_lists(shares, measure, 0.6, None)
            kept = _kept(
                strict,
                shares,
                iter(
                    [
                        made := mixed_exactly(
                            strict, *solve_lists(strict, shares, NAMED["chi_square"])[:2]
                        )
                    ]
                ),
            )
            assert keeps_measure(strict, outcomes_of(kept, shares)) and len(made) >= 1
            assert keeps_measure(strict, outcomes_of(_kept(strict, shares, iter([truth])), shares))


def test_what_is_refused():
    prior = np.array([0.6, 0.3, 0.1])
    with patch.dict(vars(module), MAX_SYMBOLS=3):
        assert optimum_under("pml", [0.5, 0.3, 0.2], 0.5).value > 0
        for bad in (
            ("pml", [0.4, 0.3, 0.2, 0.1], 0.5),
            ("dp", prior, 0.5),
            (None, prior, 0.5),
            ("pml", prior, -0.1),
            ("pml", prior, 0.5, "hellinger", 0.5),
            ("lip", prior, 0.5, "hellinger", -0.5),
        ):
            try:
                optimum_under(*bad)
                raise AssertionError("accepted")
            except ValueError:
                pass


def test_nothing_may_be_said_and_all_may():
    prior = np.array([0.6, 0.3, 0.1])
    for measure in MEASURES:  # nothing may be said, and all may
        mute = optimum_under(measure, prior, 0.0)
        assert mute.value == 0 <= mute.bound < 1e-12 and np.ptp(mute.channel, axis=0).max() == 0
        told = optimum_under(measure, prior, 1e4)
        assert told.bound - told.value < 1e-12 and abs(told.value + prior @ np.log(prior)) < 1e-9
        alone = optimum_under(measure, [1.0], 0.3)
        assert alone.channel.tolist() == [[1.0]] and alone.value == 0


def test_without_exact_weights_hardly_anything_is_lost():
    rng = np.random.default_rng(45)
    one = Fraction(1)
    for trial in range(9):
        n = 2 + trial % 3
        counts = rng.integers(1, 9, size=n).tolist()
        shares = tuple(Fraction(k, sum(counts)) for k in counts)
        high = 1 + Fraction(int(rng.integers(0, 30)), 11)
        ratios, sets = ratio_vertices(shares, 1 + high), set_vertices(shares)


        for measure in MEASURES:
            if measure == "maximal":
                continue
            if measure == "ldp":
                continue

        mix = [(Fraction(k + 1, 3 * n * (n + 1) // 2), v) for k, v in enumerate(ratios[:n])]
        rest = [one - sum(w * v[i] for w, v in mix) for i in range(n)]
        mix.append((sum(p * x for p, x in zip(shares, rest)), tuple(rest)))
        mix[-1] = (mix[-1][0], tuple(x / mix[-1][0] for x in rest))

        for measure in MEASURES if trial < 3 else ():  # wrong weights are mended, exactly
            lists = measure_lists(shares, measure, 0.7, None)
            used, weights, duals, dual = solve_lists(lists, shares, NAMED["chi_square"])
            for wrong in (weights, [0.9 * w for w in weights], [1.1 * w for w in weights]):
                for some in (used, used[1:] or used):
                    made = mixed_exactly(lists, some, wrong[len(used) - len(some) :])
            value = _worth(mixed_exactly(lists, used, weights), shares, NAMED["chi_square"], 0)
    for (
        measure
    ) in MEASURES:  # without exact weights hardly anything is lost, and nothing is overspent
        lists = measure_lists(shares, measure, 0.7, None)
        used, weights, *_ = solve_lists(lists, shares, NAMED["chi_square"])
        value = _worth(mixed_exactly(lists, used, weights), shares, NAMED["chi_square"], 0)
        skew = [w * (1 - Fraction(k + 1, 100)) for k, w in enumerate(map(Fraction, weights))]
        with patch.dict(vars(lists_module), exact_weights=unmixed):
            made, rough = (mixed_exactly(lists, used, some) for some in (weights, skew))
            for mix in (made, rough):
                assert sum(w for w, _ in mix) == 1 and keeps_measure(lists, mix)
                assert all(sum(w * v[i] for w, v in mix) == 1 for i in range(len(shares)))
            assert _worth(made, shares, NAMED["chi_square"], 0) > value * (1 - Fraction(1, 2**30))


def test_one_over_it_is_no_float():
    prior = np.array([0.6, 0.3, 0.1])
    with pytest.raises(SolverFailed, match="uneven"):  # one over it is no float
        optimum_under("pml", [1 - Fraction(1, 10**310), Fraction(1, 10**310)], 0.5)
    entry = optimum_under("pml", prior, 0.4, np.linalg.norm)  # the worst that floats may be off
    assert entry.value < np.linalg.norm(entry.channel, axis=0).sum() < entry.bound


def test_a_rare_secret_warns():
    scarce = [Fraction(3, 5), Fraction(2, 5) - Fraction(1, 2**58), Fraction(1, 2**58)]
    reached = []
    for limit in (
        np.inf,
        NOTICE,
    ):  # a rare secret: the truth with noise tells more than what the programme finds
        with patch.dict(vars(module), NOTICE=limit), pytest.warns(LooseBound):
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
