"""Designs against reference values, closed forms, random mechanisms, and their own promises."""

import itertools
import json
import math
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from pmlbook.foundations.classic import binary_symmetric
from pmlbook.foundations.probability import mutual_information, random_channel
from pmlbook.numerics.linear_programmes import Infeasible
from pmlbook.numerics.progress import Clock
from pmlbook.numerics.validation import InvalidPrior
from pmlbook.record_design.classical import rate_distortion
from pmlbook.record_design.cutting_planes import (
    AdversarySet,
    DesignSearch,
    Goal,
    planes_at,
    play_round,
)
from pmlbook.record_design.symmetry import parity_min_distortion, parity_min_leakage, setting
from pmlbook.record_design.worst_adversary import (
    distortion_leakage,
    leakage_distortion,
    leakage_distortion_curve,
)
from pmlbook.records.certificate import per_record_leakage
from pmlbook.records.queries import Query, SumQuery, counting, modular_sum, parity

FILE = Path(__file__).parents[3] / "shared" / "cases" / "per_record.json"
CASES = json.loads(FILE.read_text()) if FILE.exists() else {}
LN2 = math.log(2)


def test_a_plane_touches_and_stays_below():
    rng = np.random.default_rng(11)
    for _ in range(100):
        a, r, m = rng.integers(2, 5, size=3)
        prior = rng.dirichlet(np.full(a * r, 0.3)).reshape(a, r)
        prior[:, rng.random(r) < 0.2] = 0
        if not prior.any():
            continue
        prior /= prior.sum()
        here, there = (random_channel(r, m, rng) for _ in range(2))
        plane, distribution = planes_at(prior[None], here)[0], prior.sum(axis=1)
        used = distribution > 0
        for q, below in ((here, False), (there, True)):
            rows = (prior @ q)[used] / distribution[used, None]
            learnt = mutual_information(rows, distribution[used])
            height = (plane * q).sum()
            assert height <= learnt + 1e-11 and (
                below or np.isclose(height, learnt, rtol=0, atol=1e-10)
            )
        assert np.isclose(
            AdversarySet({0: prior[None]}).information(here)[0],
            (plane * here).sum(),
            rtol=0,
            atol=1e-10,
        )


@pytest.mark.parametrize("goal", [Goal(D=0.2), Goal(L=0.1)], ids=str)
def test_the_bracket_holds_in_every_round(goal):
    n, b = 3, 1.8
    if goal.L is None:
        truth = parity_min_leakage(n, goal.D, b)
    else:
        truth = parity_min_distortion(n, goal.L, b)
    search = DesignSearch(setting(parity(n), reduce_symmetry=False), b, goal, 1e-6, Clock())
    q, lower = search.exact, []
    for _ in range(5):
        q = play_round(search, q)
        lower.append(search.lower)
        assert search.lower <= truth + 1e-9 and truth <= search.local + 1e-9
    assert lower == sorted(lower) and search.local - search.lower < 1e-4


def test_the_reference_values_are_there():
    if not FILE.exists():
        pytest.skip(f"no reference values at {FILE}")
    assert len(CASES["problem2_parity"]) == 5 and len(CASES["problem3_parity"]) == 3


@pytest.mark.parametrize("reduce_symmetry", [True, False])
@pytest.mark.parametrize("case", CASES.get("problem2_parity", []), ids=str)
def test_problem_2(case, reduce_symmetry):
    found = leakage_distortion(
        parity(case["n"]), case["D_or_L"], case["b"], reduce_symmetry=reduce_symmetry
    )
    assert found.bound - 1e-12 <= case["closed"] <= found.value + 1e-12 and found.gap <= 1e-6
    assert case["lb"] <= found.value and found.bound <= case["ub"]
    assert found.distortion <= case["D_or_L"] + 1e-12


@pytest.mark.parametrize("reduce_symmetry", [True, False])
@pytest.mark.parametrize("case", CASES.get("problem3_parity", []), ids=str)
def test_problem_3(case, reduce_symmetry):
    found = distortion_leakage(
        parity(case["n"]), case["D_or_L"], case["b"], reduce_symmetry=reduce_symmetry
    )
    assert found.bound - 1e-12 <= case["closed"] <= found.value + 1e-12 and found.gap <= 1e-6
    assert case["lb"] <= found.value and found.bound <= case["ub"]
    assert found.leakage <= case["D_or_L"] + 1e-12


@pytest.mark.parametrize("n", range(2, 6))
@pytest.mark.parametrize("share", [0.0, 0.6])
def test_parity_against_the_closed_form(n, share):
    b = (n - 1 + share) * LN2
    for D in (0.05, 0.3):
        found = leakage_distortion(parity(n), D, b)
        assert found.gap <= 1e-6
        assert found.bound - 1e-12 <= parity_min_leakage(n, D, b) <= found.value + 1e-12
    found = distortion_leakage(parity(n), 0.1, b)
    assert found.gap <= 1e-6
    assert found.bound - 1e-12 <= parity_min_distortion(n, 0.1, b) <= found.value + 1e-12


@pytest.mark.parametrize("records", [16, 64, 1000])
def test_parity_of_many_records(records):
    b = (records - 0.4) * LN2
    found = leakage_distortion(parity(records), 0.2, b)
    assert found.gap <= 1e-6
    assert abs(found.value - parity_min_leakage(records, 0.2, b)) <= 1e-6


def test_the_unshrunk_programme_agrees():
    query, hamming = modular_sum(2, 3), 1 - np.eye(3)
    for distortion in (None, hamming):
        small, large = (
            leakage_distortion(
                query, 0.2, 0.8, distortion=distortion, reduce_symmetry=reduce_symmetry, tol=1e-5
            )
            for reduce_symmetry in (True, False)
        )
        assert small.gap <= 1e-5 and large.gap <= 1e-5
        assert small.bound <= large.value and large.bound <= small.value
    assert setting(query).size < setting(query, reduce_symmetry=False).size
    uniform = np.full((2, 2), 0.25)
    listed = leakage_distortion(query, 0.2, 0.8, p0=uniform, tol=1e-5)
    named = leakage_distortion(query, 0.2, 0.8, tol=1e-5)
    assert listed.bound <= named.value and named.bound <= listed.value


@pytest.mark.parametrize("D", [0.15, 0.30, 0.45])
def test_seeing_more_than_the_answer_helps(D):
    query = modular_sum(3, 3)
    blind = leakage_distortion(query, D, 1.0, observes=query, tol=1e-5)
    seeing = leakage_distortion(query, D, 1.0, tol=1e-5)
    assert seeing.value < blind.bound and seeing.gap <= 1e-5
    again = per_record_leakage(query.__class__([(0, 1)] * 3), seeing.mechanism.channel, 1.0, 1e-5)
    assert again.value <= seeing.value + 1e-12  # rows by the number of ones: a count


def test_a_decimal_is_a_distortion():
    one, other = (leakage_distortion(counting(2), D, 0.5) for D in (Decimal("0.3"), 0.3))
    assert one.value == other.value and one.bound == other.bound


def test_uneven_records_skewed_data_and_any_distortion():
    query = SumQuery([(0, 1), (0, 1, 2)], lambda total: total % 3)
    rng = np.random.default_rng(4)
    p0, distortion = rng.dirichlet(np.ones(6)).reshape(2, 3), rng.random((3, 2))
    duals = p0.ravel()[:, None] * distortion[query.table.ravel()]
    least, most = duals.min(axis=1).sum(), duals.sum(axis=0).min()
    D = 0.6 * least + 0.4 * most
    found = leakage_distortion(query, D, 0.7, p0=p0, distortion=distortion, tol=1e-5)
    assert found.gap <= 1e-5 and np.isclose(
        (duals * found.mechanism.channel).sum(), D, rtol=0, atol=1e-12
    )
    exact = np.eye(2)[duals.argmin(axis=1)]
    for _ in range(20):
        noisy = random_channel(6, 2, rng)
        much = (duals * noisy).sum()
        mixed = exact + min(1, (D - least) / max(much - least, 1e-12)) * (noisy - exact)
        assert per_record_leakage(query, mixed, 0.7, tol=1e-2).bound >= found.bound


def test_rate_distortion_and_capacity_are_limits():
    bit = parity(1)
    assert np.isclose(
        per_record_leakage(bit, binary_symmetric(0.11), 0).value, 0.346632, rtol=0, atol=1e-6
    )
    for D in (0.05, 0.2, 0.4):
        known = LN2 + D * math.log(D) + (1 - D) * math.log(1 - D)
        classical = rate_distortion([0.5, 0.5], 1 - np.eye(2), D)
        assert classical.bound <= known + 1e-12 and abs(classical.value - known) < 1e-7
        assert np.isclose(leakage_distortion(bit, D, LN2).value, known, rtol=0, atol=1e-6)
        assert np.isclose(distortion_leakage(bit, known, LN2).value, D, rtol=0, atol=2e-6)


def test_monotone_in_both_arguments_and_curves_agree_with_points():
    query = modular_sum(2, 3)
    curve = leakage_distortion_curve(query, [0.1, 0.2, 0.3], 0.8, tol=1e-5)
    assert all(a.value > b.bound for a, b in zip(curve, curve[1:]))
    alone = leakage_distortion(query, 0.3, 0.8, tol=1e-5)
    assert alone.bound <= curve[-1].value and curve[-1].bound <= alone.value
    assert leakage_distortion(query, 0.2, 1.2, tol=1e-5).bound <= curve[1].value


def test_silence_and_truth():
    silent = leakage_distortion(counting(3), 1.0, 0.5)
    assert silent.value == silent.bound == 0 and silent.method == "constant mechanism"
    true = distortion_leakage(parity(2), LN2, 0.0)
    assert true.value <= 1e-9 and true.bound == 0
    exact = leakage_distortion(parity(3), 0.0, 0.0)
    assert np.isclose(exact.value, LN2, rtol=0, atol=1e-12) and exact.gap <= 1e-6
    nothing = distortion_leakage(parity(2), 0.0, 0.0)
    assert np.isclose(nothing.value, 0.5, rtol=0, atol=1e-12) and nothing.bound > 0.4999


def test_interrupted_and_watched():
    seen = []
    query = modular_sum(3, 3)
    hasty = leakage_distortion(query, 0.3, 1.0, max_time=0)
    full = leakage_distortion(query, 0.3, 1.0, tol=1e-4, progress=lambda *s: seen.append(s))
    assert hasty.bound <= full.value and full.bound <= hasty.value and hasty.method == "interrupted"
    assert seen and all(math.isfinite(v) for v, _, _ in seen)
    assert all(a[1] <= b[1] + 1e-15 for a, b in zip(seen, seen[1:]))


BAD = {
    "D below all": (Infeasible, "D = 0.1 is below 0.25", dict(D=0.1, distortion=[[0.25] * 2] * 2)),
    "D negative": (ValueError, "D = -0.1", dict(D=-0.1)),
    "D nan": (ValueError, "D", dict(D=math.nan)),
    "b too large": (ValueError, "b = 3 exceeds", dict(b=3)),
    "b negative": (ValueError, "b = -1", dict(b=-1)),
    "tol": (ValueError, "tol", dict(tol=-1)),
    "p0 sum": (InvalidPrior, "p0 sums to 1.5", dict(p0=[0.5, 0.5, 0.5, 0])),
    "p0 negative": (InvalidPrior, r"p0\[0\] = -0.5", dict(p0=[-0.5, 0.5, 0.5, 0.5])),
    "p0 length": (InvalidPrior, r"p0 has shape \(2,\)", dict(p0=[0.5, 0.5])),
    "p0 shape": (InvalidPrior, r"p0 has shape \(4, 1\)", dict(p0=np.full((4, 1), 0.25))),
    "p0 word": (InvalidPrior, "p0 must hold real numbers", dict(p0="even")),
    "p0 ragged": (InvalidPrior, "p0 must hold real numbers", dict(p0=[[0.5], [0.25, 0.25]])),
    "distortion rows": (ValueError, r"distortion has shape \(3, 3\)", dict(distortion=np.eye(3))),
    "distortion flat": (ValueError, "distortion must have 2 dim", dict(distortion=[0, 1])),
    "distortion nan": (ValueError, r"distortion\[0, 1\]", dict(distortion=[[0, math.nan], [1, 0]])),
    "D next to the least": (ValueError, r"1e\+09 times the 1e-11 at stake.*raise D", dict(D=1e-11)),
    "cost range": (
        ValueError,
        r"distortion\[0, 1\] = 1e\+10 costs 5e\+09 on average",
        dict(distortion=[[0, 1e10], [1, 0]]),
    ),
    "cost": (ValueError, "larger unit", dict(distortion=[[0, 1e200], [1, 0]])),
    "too large": (ValueError, "observes=query", dict(query=Query(sum, [(0, 1)] * 13))),
}


@pytest.mark.parametrize("error, message, change", BAD.values(), ids=BAD)
def test_bad_input(error, message, change):
    arguments = {"query": parity(2), "D": 0.2, "b": 0.5, **change}
    with pytest.raises(error, match=message):
        leakage_distortion(**arguments)


@pytest.mark.parametrize("L", [-0.1, math.inf, math.nan, "much"])
def test_bad_leakage(L):
    with pytest.raises(ValueError, match="L "):
        distortion_leakage(parity(2), L, 0.5)


def test_nothing_is_modified():
    p0, distortion = np.full((2, 2), 0.25), 1 - np.eye(2)
    leakage_distortion(parity(2), 0.2, 0.5, p0=p0, distortion=distortion)
    assert (p0 == 0.25).all() and (distortion == 1 - np.eye(2)).all()


@pytest.mark.parametrize("alphabet", [(1, 0), ("no", "yes"), (0, 1)])
def test_what_a_design_observes_has_the_alphabets_of_the_query(alphabet):
    """It was counted over 0 and 1: rows went to the wrong datasets, and D was exceeded eleven times."""
    query = SumQuery([(0, 1)] * 3, lambda total: int(total == 3), [alphabet] * 3)
    design = leakage_distortion(query, D=0.02, b=1.0)
    assert design.observes.alphabets == query.alphabets
    cost = sum(
        share * abs(query.function(x) - y) / 8
        for x in itertools.product(*query.alphabets)
        for y, share in enumerate(design.mechanism.channel[design.observes.function(x)])
    )
    assert cost == pytest.approx(design.distortion, abs=1e-12)
    again = leakage_distortion(query, D=0.02, b=1.0, observes=design.observes)
    assert again.value == pytest.approx(design.value, abs=1e-5)


def test_costs_of_both_signs_may_cancel():
    """The least distortion is 0, exactly, and D = 0 was refused as less than it."""
    one = Query(lambda x: x[0], [(0, 1)])
    for query, p0, costs in (
        (one, [0.5, 0.5], [[-2.0, 0], [2.0, 3.0]]),
        (counting(2), None, [[-2.0], [0.0], [2.0]]),
    ):
        design = leakage_distortion(query, 0.0, 0.3, p0=p0, distortion=costs)
        assert design.bound == design.value == 0 and abs(design.distortion) <= 1e-13


def test_names_of_symbols_and_of_outputs_count():
    """The distribution of a single record went by position, and names of outputs were dropped."""
    query = Query(lambda x: int(x[0] == 2), [(2, 1, 0)])
    for p0 in (pd.Series([0.9, 0.05, 0.05], index=[0, 1, 2]), {0: 0.9, 1: 0.05, 2: 0.05}):
        design = leakage_distortion(query, 0.02, 0.0, p0=p0, observes=query)
        assert design.mechanism.prior == pytest.approx([0.95, 0.05])
    costs = np.abs(np.subtract.outer(range(3), [2, 1, 0])).astype(float)
    design = leakage_distortion(
        counting(2), 0.1, 0.5, distortion=pd.DataFrame(costs, columns=[2, 1, 0])
    )
    assert design.mechanism.outputs == (2, 1, 0)
    assert design.mechanism.channel[0, 2] > 0.5


def test_a_distortion_below_the_least_by_rounding_counts_as_the_least():
    prior = [0.2775112636769311, 0.3281247743047954, 0.3943639620182733]
    costs = np.array(
        [
            [0.00022491644723465255, 0.0005251846470858345, 0.0003405855286971632],
            [2.6251455854179318e-05, 0.0007121860627533266, 7.831036177507711e-05],
            [0.0006933929302213119, 0.0007448658700244899, 0.0006931094429207622],
        ]
    )
    least = sum(Fraction(p) * Fraction(x) for p, x in zip(prior, costs.min(axis=1).tolist()))
    below = math.nextafter(float(least), 0)
    found = rate_distortion(prior, costs, below)
    assert found.bound <= found.value
