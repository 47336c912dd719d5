"""Worst-case utility: reference values, an independent bisection, exact promises, bad input."""

import json
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from oracles import exp_from_below, largest_lift
from scipy.optimize import linprog

from pmlbook.numerics.linear_programmes import Infeasible
from pmlbook.numerics.validation import InvalidPrior, check_prior
from pmlbook.worst_case.dual_certificate import dual_certificate_bound
from pmlbook.worst_case.expected_utility import expected_utility_mechanism
from pmlbook.worst_case.frontier import worst_case_frontier, worst_case_mechanism
from pmlbook.worst_case.least_leakage import (
    maximal_outputs,
    min_leakage,
    min_leakage_of_mask,
)
from pmlbook.worst_case.problem import rank_matrix, worst_value

FILE = Path(__file__).parents[3] / "shared" / "cases" / "worst_case.json"
CASES = json.loads(FILE.read_text()) if FILE.exists() else {}
RANDOM = CASES.get("random", [])
IDS = [f"{k}-{case['N']}x{case['M']}" for k, case in enumerate(RANDOM)]


def test_the_reference_values_are_there():
    if not CASES:
        pytest.skip(f"no reference values at {FILE}")
    assert RANDOM and CASES["special"] and CASES["fig3"]


def holds(design, prior):
    """The level is kept in exact arithmetic, by code that shares nothing with the book's."""
    lift = largest_lift(design.mechanism.channel, np.asarray(design.mechanism.prior))
    assert lift <= exp_from_below(design.value) * (1 + Fraction(1, 10**45))
    assert design.mechanism.certify(design.value) and design.bound <= design.value


@pytest.mark.parametrize("case", RANDOM, ids=IDS)
def test_reference_by_value(case):
    utilities = np.array(case["utility"])
    for row in case["by_value"]:
        design = min_leakage(utilities, case["prior"], row["tau"])
        assert design.value == pytest.approx(row["eps_opt"], abs=1e-9)
        assert design.bound == pytest.approx(row["eps_opt"], abs=1e-9)
        assert worst_value(design.mechanism.channel, utilities) >= row["tau"]
        holds(design, case["prior"])


@pytest.mark.parametrize(
    "case", [case for case in RANDOM if not case["ties"]], ids=lambda c: f"{c['N']}x{c['M']}"
)
def test_reference_by_rank(case):
    for row in case["by_rank"]:
        design = min_leakage(case["utility"], case["prior"], row["h"], by="rank")
        assert design.value == pytest.approx(row["eps_opt"], abs=1e-9)
        holds(design, case["prior"])


@pytest.mark.parametrize("case", CASES.get("special", []), ids=lambda c: c["name"])
def test_reference_special(case):
    _, value, bound = min_leakage_of_mask(case["allowed"], case["prior"])
    assert value == pytest.approx(math.log(case["exp_opt"]), abs=1e-9)
    assert bound == pytest.approx(math.log(case["exp_opt"]), abs=1e-9)


@pytest.mark.parametrize("case", CASES.get("fig3", []), ids=lambda c: f"{c['pmin']}")
def test_reference_figure_3(case):
    low = case["pmin"]
    prior = [low, low, low, 1 - 3 * low]
    ranks = [[4, 3, 2, 1], [1, 4, 3, 2], [2, 1, 4, 3], [3, 2, 1, 4]]
    for rank in (2, 3):
        design = min_leakage(ranks, prior, rank, by="rank")
        assert design.value == pytest.approx(case[f"h{rank}_opt"], abs=1e-9)


def test_irrational_optimum():
    allowed = [[0, 0, 0, 0, 0, 1], [1, 0, 0, 1, 1, 0], [1, 1, 0, 0, 0, 0], [0, 1, 0, 1, 0, 0]]
    allowed += [[1, 1, 0, 1, 0, 1], [0, 0, 0, 0, 1, 0], [0, 0, 0, 0, 0, 1]]
    _, value, bound = min_leakage_of_mask(allowed, [0.16, 0.3, 0.05, 0.11, 0.19, 0.12, 0.07])
    exact = math.log((103 - math.sqrt(2609)) / 16)
    assert bound - 1e-15 <= exact <= value + 1e-15 and value - bound < 1e-9


def bisection(allowed, prior, low, high, steps):
    """The least e^epsilon between two ends by halving; the programme is typed anew."""
    n, m = allowed.shape
    rows = np.zeros((n, n * m))
    for i in range(n):
        rows[i, i * m : (i + 1) * m] = 1
    mix = np.tile(np.hstack([prior[k] * np.eye(m) for k in range(n)]), (n, 1))
    for _ in range(steps):
        middle = (low + high) / 2
        open_ = allowed & (prior @ allowed >= 1 / middle)
        bounds = [(0, int(v)) for v in open_.ravel()]
        status = linprog(
            np.zeros(n * m), np.eye(n * m) - middle * mix, np.zeros(n * m), rows, np.ones(n), bounds
        ).status
        low, high = (low, middle) if status == 0 else (middle, high)
    return low, high


@pytest.mark.parametrize("seed", range(10))
def test_random_tables_against_bisection(seed):
    """Twenty tables for each seed; halving starts from a bracket that must hold the optimum."""
    rng = np.random.default_rng(seed)
    for _ in range(20):
        n, m = rng.integers(1, 6, size=2)
        prior = (
            rng.integers(1, 7, size=n) if rng.random() < 0.5 else rng.dirichlet(np.ones(n)) + 1e-3
        )
        prior = prior / prior.sum()
        allowed = rng.random((n, m)) < rng.choice([0.3, 0.5, 0.8])
        allowed[np.arange(n), rng.integers(m, size=n)] = True
        channel, value, bound = min_leakage_of_mask(allowed, prior)
        assert not channel[~allowed].any() and bound <= value <= bound + 1e-9
        best = math.exp(value)
        low, _ = bisection(allowed, prior, best * (1 - 1e-5), best * (1 + 1e-5), 5)
        assert low == pytest.approx(best, rel=3e-6) or best < 1 + 1e-9
        assert largest_lift(channel, check_prior(prior)) <= exp_from_below(value)


def test_size_extremes():
    assert min_leakage([[1.0]], [1.0], 1).value == 0
    assert min_leakage([[1.0, 2.0]], [1.0], 2).value == 0
    assert min_leakage([[0.0]] * 4, [0.25] * 4, 0).value == 0
    eye = min_leakage(np.eye(4), [0.4, 0.3, 0.2, 0.1], 1)
    assert eye.value == pytest.approx(math.log(10), abs=1e-12)
    rare = min_leakage(np.eye(2), [1 - 1e-9, 1e-9], 1)
    assert rare.value == pytest.approx(9 * math.log(10), abs=1e-9)


def test_inputs_are_not_modified_and_names_are_kept():
    table = pd.DataFrame([[3, 2, 1], [1, 3, 2], [2, 1, 3]], columns=["a", "b", "c"])
    prior = pd.Series({"x": 0.6, "y": 0.25, "z": 0.15})
    before = table.copy(), prior.copy()
    for design in (
        min_leakage(table, prior, 2),
        worst_case_mechanism(table, prior, 0.7),
        expected_utility_mechanism(table, prior, 0.7, 2),
        worst_case_frontier(table, prior)[1].design,
    ):
        assert design.mechanism.inputs == ("x", "y", "z")
        assert design.mechanism.outputs == ("a", "b", "c")
    assert table.equals(before[0]) and prior.equals(before[1])


def test_merging_keeps_the_first_of_equal_outputs():
    allowed = np.array([[1, 1, 0, 0, 1], [1, 1, 1, 0, 0], [0, 0, 1, 0, 0]], dtype=bool)
    assert maximal_outputs(allowed).tolist() == [0, 2]


def test_dual_certificate_bound_is_exact_with_fractions():
    allowed = np.array([[1, 1, 0], [0, 1, 1], [1, 0, 1]], dtype=bool)
    prior = np.array([Fraction(3, 5), Fraction(1, 4), Fraction(3, 20)])
    dual = np.array([Fraction(0), Fraction(1, 2), Fraction(1, 2)])
    assert dual_certificate_bound(allowed, prior, dual) == 2


@pytest.mark.parametrize("seed", range(4))
def test_frontier_and_mechanism_agree_with_single_thresholds(seed):
    rng = np.random.default_rng(100 + seed)
    n, m = rng.integers(2, 6, size=2)
    prior, table = rng.dirichlet(np.ones(n)), rng.integers(-4, 5, size=(n, m)).astype(float)
    thresholds = np.unique(table[table <= table.max(axis=1).min()])
    costs = np.array([min_leakage(table, prior, t).value for t in thresholds])
    steps = worst_case_frontier(table, prior)
    for epsilon in [0.0, *np.maximum(costs + 1e-8, 1e-6), 20.0]:
        design = worst_case_mechanism(table, prior, epsilon)
        expected = thresholds[costs <= epsilon].max()
        assert design.value == design.bound == expected
        assert [s.worst for s in steps if s.design.value <= epsilon][-1] == expected
        assert design.mechanism.certify(epsilon)
        assert design.mechanism.epsilon <= costs[thresholds == expected][0] + 1e-9


@pytest.mark.parametrize("seed", range(5))
def test_floor_and_level_are_kept_exactly(seed):
    rng = np.random.default_rng(200 + seed)
    n, m = rng.integers(2, 7, size=2)
    prior, table = rng.dirichlet(np.ones(n)), rng.normal(size=(n, m))
    floor = np.median(table[table <= table.max(axis=1).min()])
    cost = min_leakage(table, prior, floor).value
    for extra in (0, 1e-12, 0.01, 0.3, 3):
        level = max(cost + extra, 1e-6) if extra else cost
        design = expected_utility_mechanism(table, prior, level, floor)
        assert design.mechanism.certify(level)
        assert worst_value(design.mechanism.channel, table) >= floor
        assert design.value <= design.bound
        assert design.gap < 1e-6 or extra < 1e-9


U, P = [[3, 2, 1], [1, 3, 2], [2, 1, 3]], [0.6, 0.25, 0.15]
DOORS = {
    "min_leakage": lambda u, p: min_leakage(u, p, 2),
    "frontier": worst_case_frontier,
    "worst_case_mechanism": lambda u, p: worst_case_mechanism(u, p, 0.5),
    "expected_utility_mechanism": lambda u, p: expected_utility_mechanism(u, p, 0.7, 2),
}
BAD = {
    "nan": (([[math.nan, 1], [1, 2]], [0.5, 0.5]), ValueError, r"utilities\[0, 0\] = nan"),
    "inf": (([[1, -math.inf], [1, 2]], [0.5, 0.5]), ValueError, r"utilities\[0, 1\] = -inf"),
    "rows": ((U, [0.5, 0.5]), ValueError, "utilities has 3 rows, but there are 2 symbols"),
    "vector": (([1, 2, 3], P), ValueError, r"utilities must have 2 dimension.*\(3,\)"),
    "ragged": (([[1], [1, 2], [3]], P), ValueError, "utilities"),
    "word": (("high", P), ValueError, "utilities.*'high'"),
    "zero": ((U, [0.5, 0.5, 0]), InvalidPrior, r"prior\[2\] = 0"),
    "counts": ((U, [3, 5, 2]), InvalidPrior, "divided by their sum"),
}


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("why", BAD)
def test_bad_tables(door, why):
    arguments, error, message = BAD[why]
    with pytest.raises(error, match=message):
        DOORS[door](*arguments)


NAMED = pd.Series({"a": 0.6, "b": 0.25, "c": 0.15})
OTHERS = {
    "threshold-above": (lambda: min_leakage(U, P, 9), Infeasible, "forbidden for input 0"),
    "threshold-above-one": (
        lambda: min_leakage([[5, 1], [1, 2]], [0.5, 0.5], 3),
        Infeasible,
        "forbidden for input 1",
    ),
    "threshold-named": (lambda: min_leakage(U, NAMED, 9), Infeasible, "input 'a'"),
    "threshold-nan": (lambda: min_leakage(U, P, math.nan), ValueError, "threshold.*nan"),
    "threshold-word": (lambda: min_leakage(U, P, "low"), ValueError, "threshold.*'low'"),
    "rank-high": (lambda: min_leakage(U, P, 4, by="rank"), ValueError, "rank = 4 exceeds"),
    "rank-zero": (lambda: min_leakage(U, P, 0, by="rank"), ValueError, "rank = 0"),
    "rank-half": (lambda: min_leakage(U, P, 1.5, by="rank"), ValueError, "rank must be a whole"),
    "rank-tie": (lambda: min_leakage([[1, 1]], [1], 1, by="rank"), ValueError, "different"),
    "by": (lambda: min_leakage(U, P, 2, by="order"), ValueError, "by = 'order' is none of"),
    "mask-row": (
        lambda: min_leakage_of_mask([[1, 0], [0, 0]], [0.5, 0.5]),
        Infeasible,
        "every output is forbidden for input 1",
    ),
    "mask-values": (lambda: min_leakage_of_mask([[2.0]], [1]), ValueError, "True and False"),
    "mask-rows": (lambda: min_leakage_of_mask([[1]], P), ValueError, "1 rows.*3 symbols"),
    "epsilon-negative": (lambda: worst_case_mechanism(U, P, -1), ValueError, "epsilon = -1"),
    "epsilon-nan": (lambda: worst_case_mechanism(U, P, math.nan), ValueError, "epsilon = nan"),
    "epsilon-word": (lambda: worst_case_mechanism(U, P, "x"), ValueError, "epsilon.*'x'"),
    "floor-epsilon": (lambda: expected_utility_mechanism(U, P, -1, 2), ValueError, "epsilon = -1"),
    "floor-dear": (
        lambda: expected_utility_mechanism(U, P, 0.5, 2),
        Infeasible,
        r"no mechanism within epsilon = 0\.5 keeps the floor 2.*0\.693147",
    ),
    "floor-above": (lambda: expected_utility_mechanism(U, P, 9, 9), Infeasible, "input 0"),
}


@pytest.mark.parametrize("why", OTHERS)
def test_other_bad_input(why):
    call, error, message = OTHERS[why]
    with pytest.raises(error, match=message):
        call()


def test_ranks_through_the_value_door():
    ranks = rank_matrix([[0.3, -1, 7], [2, 5, 1], [9, 8, 7]])
    one, two = (min_leakage(ranks, P, 3, by=by).value for by in ("rank", "value"))
    assert one == two
