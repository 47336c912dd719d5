"""Worst-case utilities: masks and worst cases, the parts of a leakage, the utility-safe mechanism."""

import json
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from oracles import largest_lift
from strategies import levels, pairs, priors

from pmlbook.foundations.leakage import epsilon_max, epsilon_pml, local_dp
from pmlbook.numerics.validation import InvalidChannel, InvalidPrior
from pmlbook.worst_case.leakage_rules import ldp_for_pml, ldp_to_pml, leakage_parts
from pmlbook.worst_case.problem import (
    allowed_by_rank,
    allowed_by_value,
    check_utilities,
    rank_matrix,
    worst_rank,
    worst_value,
)
from pmlbook.worst_case.utility_safe import utility_safe_leakage, utility_safe_mechanism

FILE = Path(__file__).parents[3] / "shared" / "cases" / "worst_case.json"
CASES = json.loads(FILE.read_text())["random"] if FILE.exists() else []
UNTIED = [case for case in CASES if not case["ties"]]
FAIR, SMALL = [0.5, 0.5], [[0, -1, -4], [-2, 0, -1]]


@st.composite
def tables(draw, rows, columns=None):
    """Utilities without ties in a row."""
    m = columns or draw(st.integers(1, 5))
    numbers = st.lists(st.integers(-50, 50), min_size=m, max_size=m, unique=True)
    return np.array([draw(numbers) for _ in range(rows)])


@st.composite
def problems(draw, least=1):
    """A prior, utilities without ties in a row, and a rank."""
    prior = draw(priors(least))
    table = draw(tables(len(prior)))
    return prior, table, draw(st.integers(1, table.shape[1]))


@st.composite
def competitors(draw):
    """A problem and a channel on its allowed pairs that uses every outcome some secret may produce."""
    prior, table, rank = draw(problems())
    allowed = allowed_by_rank(table, rank)
    entries = st.lists(st.integers(0, 6), min_size=allowed.size, max_size=allowed.size)
    weights = np.array(draw(entries)).reshape(allowed.shape) * allowed
    assume(weights.any(axis=1).all())
    assume((weights.any(axis=0) == allowed.any(axis=0)).all())
    return prior, table, rank, weights / weights.sum(axis=1, keepdims=True)


# What may happen, and the worst of it


@given(problems())
def test_ranks_count_from_the_lowest(problem):
    _, table, rank = problem
    for row, ranks, allowed in zip(table, rank_matrix(table), allowed_by_rank(table, rank)):
        order = sorted(row)
        assert ranks.tolist() == [order.index(value) + 1 for value in row]
        assert allowed.tolist() == [value >= order[rank - 1] for value in row]


@given(pairs(), st.data())
def test_worst_pair_by_loops(pair, data):
    channel, _ = pair
    table = data.draw(tables(*channel.shape))
    places = [place for place, p in np.ndenumerate(channel) if p > 0]
    worst = min(table[place] for place in places)
    assert worst_value(channel, table) == worst
    assert worst_rank(channel, table) == min(sum(table[i] <= table[i, j]) for i, j in places)
    for threshold in (worst, worst + 0.5):
        kept = allowed_by_value(table, threshold)
        assert all(kept[place] for place in places) == (threshold <= worst)


def test_ties_and_thresholds_by_value():
    assert allowed_by_value([[1, 1, 0], [2, 0, 0]], 1).tolist() == [[1, 1, 0], [1, 0, 0]]
    assert not allowed_by_value([[1, 0], [5, 5]], 2)[0].any()
    assert allowed_by_value([[1, 0]], -1e308).all()


# The parts of a leakage


@given(pairs())
def test_parts_add_up_exactly(pair):
    channel, prior = pair
    ruled_out, beyond = leakage_parts(channel, prior)
    for j, column in enumerate(channel.T):
        support = np.flatnonzero(column)
        if not len(support):
            assert np.isnan([ruled_out[j], beyond[j]]).all()
            continue
        mass = float(sum(Fraction(p) for p in prior[support]) / sum(map(Fraction, prior)))
        inside = column[support] / (prior[support] / mass @ column[support])
        assert np.isclose(ruled_out[j], -math.log(mass), rtol=0, atol=1e-14)
        assert np.isclose(beyond[j], math.log(inside.max()), rtol=0, atol=1e-13)
        assert ruled_out[j] >= 0 and beyond[j] >= 0


@given(pairs(least=2))
def test_local_dp_bounds_pml(pair):
    channel, prior = pair
    assert epsilon_pml(channel, prior) <= ldp_to_pml(prior, local_dp(channel)) + 1e-13
    assert ldp_to_pml(prior, math.inf) == pytest.approx(epsilon_max(prior))


@given(priors(least=2), levels)
def test_ldp_for_pml_is_the_inverse(prior, epsilon):
    level = ldp_for_pml(prior, epsilon)
    if epsilon >= epsilon_max(prior) + 1e-12:
        assert level == math.inf
    elif epsilon < epsilon_max(prior) - 1e-6:
        assert epsilon <= level < math.inf
        assert ldp_to_pml(prior, level) == pytest.approx(epsilon, rel=1e-9, abs=1e-15)


def test_one_secret_leaks_nothing():
    assert ldp_to_pml([1], 3) == 0 and ldp_for_pml([1], 0) == math.inf
    assert utility_safe_mechanism([[3, 1, 2]], [1], 2).channel.tolist() == [[0.5, 0, 0.5]]


# The utility-safe mechanism


@given(competitors())
def test_no_mechanism_with_every_outcome_leaks_less_anywhere(competitor):
    prior, table, rank, channel = competitor
    safe = utility_safe_mechanism(table, prior, rank)
    assert worst_rank(channel, table) >= rank
    for ours, theirs in zip(safe.channel.T, channel.T):
        assert ours.any() == theirs.any()
        if ours.any():
            assert ours.max() / (prior @ ours) <= theirs.max() / (prior @ theirs) * (1 + 1e-13)


@given(problems())
def test_utility_safe_by_sets(problem):
    prior, table, rank = problem
    safe = utility_safe_mechanism(table, prior, rank)
    kept = table.shape[1] - rank + 1
    for row, entries in zip(table, safe.channel):
        best = sorted(row)[-kept:]
        assert np.allclose(entries, [(value in best) / kept for value in row], rtol=0, atol=1e-12)
    assert worst_rank(safe.channel, table) == rank
    exact = float(largest_lift(safe.channel, prior))
    assert math.exp(utility_safe_leakage(table, prior, rank)) == pytest.approx(exact, rel=1e-13)
    assert safe.epsilon == pytest.approx(math.log(exact), abs=1e-13)


@pytest.mark.parametrize("number", range(len(UNTIED)) or [None])
def test_reference_leakage(number):
    if number is None:
        pytest.skip(f"no reference values at {FILE}")
    case = UNTIED[number]
    for row in case["by_rank"]:
        found = utility_safe_leakage(case["utility"], case["prior"], row["h"])
        assert found == pytest.approx(row["eps_safe"], abs=1e-12)
        assert found >= row["eps_opt"] - 1e-9


def test_names_come_from_pandas():
    table = pd.DataFrame([[0, -1], [-2, 0]], columns=["left", "right"])
    safe = utility_safe_mechanism(table, pd.Series({"a": 0.5, "b": 0.5}), 2)
    assert safe.inputs == ("a", "b") and safe.outputs == ("left", "right")


# Bad input


TABLE_DOORS = {
    "check_utilities": lambda u: check_utilities(u, FAIR),
    "rank_matrix": rank_matrix,
    "allowed_by_value": lambda u: allowed_by_value(u, 0),
    "allowed_by_rank": lambda u: allowed_by_rank(u, 1),
    "worst_value": lambda u: worst_value(np.eye(2), u),
    "worst_rank": lambda u: worst_rank(np.eye(2), u),
    "utility_safe_mechanism": lambda u: utility_safe_mechanism(u, FAIR, 1),
    "utility_safe_leakage": lambda u: utility_safe_leakage(u, FAIR, 1),
}
BAD_TABLES = {
    "nan": ([[0, 1], [math.nan, 2]], r"utilities\[1, 0\] = nan is not finite"),
    "inf": ([[0, -math.inf], [1, 2]], r"utilities\[0, 1\] = -inf is not finite"),
    "vector": ([1, 2], r"utilities must have 2 dimension.*\(2,\)"),
    "ragged": ([[1, 2], [1]], "utilities must hold real numbers"),
    "word": ("best", "utilities must hold real numbers.*'best'"),
    "none": (None, "utilities.*None"),
    "complex": ([[1j, 0], [0, 1]], "utilities must hold real numbers.*1j"),
    "empty": ([[], []], r"utilities is empty: shape \(2, 0\)"),
}


@pytest.mark.parametrize("door", TABLE_DOORS)
@pytest.mark.parametrize("why", BAD_TABLES)
def test_bad_utilities(door, why):
    value, message = BAD_TABLES[why]
    with pytest.raises(ValueError, match=message):
        TABLE_DOORS[door](value)


OTHERS = {
    "rows": (lambda: check_utilities([[0, 1]], FAIR), "utilities has 1 rows.* 2 symbols"),
    "prior": (lambda: check_utilities(SMALL, [0.5, 0.4]), r"prior sums to 0\.9"),
    "shape": (lambda: worst_value(np.eye(2), SMALL), r"utilities has shape \(2, 3\).*\(2, 2\)"),
    "channel": (lambda: worst_value([[1, 1]], [[1, 2]]), "row 0 of channel sums to 2"),
    "tie": (
        lambda: rank_matrix([[0, 1, 2], [5, 4, 5]]),
        r"row 1 of utilities holds the value 5 at outputs \[0, 2\]",
    ),
    "tie-safe": (lambda: utility_safe_mechanism([[1, 1]], [1], 1), "row 0.*value 1"),
    "tie-zero": (lambda: rank_matrix([[0.0, -0.0]]), "row 0 of utilities holds the value"),
    "threshold-nan": (lambda: allowed_by_value(SMALL, math.nan), "threshold.*nan"),
    "threshold-inf": (lambda: allowed_by_value(SMALL, math.inf), "threshold.*inf"),
    "threshold-word": (lambda: allowed_by_value(SMALL, "0"), "threshold.*'0'"),
    "threshold-googol": (
        lambda: allowed_by_value(SMALL, 10**400),
        "threshold holds a number too large",
    ),
    "threshold-none": (lambda: allowed_by_value(SMALL, None), "threshold.*None"),
    "rank-zero": (lambda: allowed_by_rank(SMALL, 0), "rank = 0 must be at least 1"),
    "rank-high": (lambda: utility_safe_mechanism(SMALL, FAIR, 4), "rank = 4 exceeds.*3"),
    "rank-half": (lambda: allowed_by_rank(SMALL, 1.5), r"rank must be a whole number, got 1\.5"),
    "level-nan": (lambda: ldp_to_pml(FAIR, math.nan), "epsilon = nan must be"),
    "level-negative": (lambda: ldp_to_pml(FAIR, -1), "epsilon = -1 must be"),
    "level-inf": (lambda: ldp_for_pml(FAIR, math.inf), "epsilon = inf must be finite"),
}


@pytest.mark.parametrize("why", OTHERS)
def test_other_bad_input(why):
    call, message = OTHERS[why]
    with pytest.raises(ValueError, match=message):
        call()


def test_kinds_of_errors():
    with pytest.raises(InvalidPrior, match=r"prior\[1\] = 0"):
        utility_safe_mechanism(SMALL, [1.0, 0.0], 1)
    with pytest.raises(InvalidChannel, match="channel has 2 rows, but there are 3 symbols"):
        leakage_parts(np.eye(2), [0.5, 0.3, 0.2])


def test_inputs_stay_as_they_are():
    prior, table, channel = np.array(FAIR), np.array(SMALL), np.array([[0.5, 0.5, 0], [0, 0, 1]])
    before = prior.copy(), table.copy(), channel.copy()
    for array in (prior, table, channel):
        array.flags.writeable = False
    utility_safe_mechanism(table, prior, 2)
    worst_rank(channel, table), leakage_parts(channel, prior)
    assert all((a == b).all() for a, b in zip(before, (prior, table, channel)))
