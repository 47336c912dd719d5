"""Input that is accepted and refused, on both sides of each limit; names in every form; equal results."""

import dataclasses
import math
import pickle
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import pmlbook as pb
from pmlbook.numerics.validation import (
    Frozen,
    Unnamed,
    aligned,
    all_distinct,
    check_channel,
    check_count,
    check_distribution,
    check_epsilon,
    check_flag,
    check_instance,
    check_names,
    check_nonnegative,
    check_pair,
    check_prior,
    design_prior,
    first_names,
    frozen_array,
    labels_of,
    names_of,
    order_of,
    shortened,
)
from pmlbook.robust.estimated_prior import PriorRegion


@dataclass(frozen=True, eq=False)
class Levels(Frozen):
    nats: np.ndarray


def refusal(check, *arguments, **more):
    try:
        check(*arguments, **more)
    except ValueError as error:
        return f"{type(error).__name__}: {error}"
    return ""


frame = pd.DataFrame([[0.9, 0.1], [0.4, 0.6]], ["a", "b"], ["y", "z"])


rows = [pd.Series([0.9, 0.1], ["y", "z"]), pd.Series([0.6, 0.4], ["z", "y"])]


numbers, given = Unnamed((0, 1)), ("a", "b")


@dataclass(frozen=True, eq=False)
class Found(Frozen):
    array: np.ndarray
    parts: tuple = ()
    note: float = dataclasses.field(default=0.0, compare=False)


base = Found(np.array([0.0, 1.0]), (np.array([1]), math.nan))


def test_sums_near_one_are_divided_out():
    for off in (0.9e-9, -0.9e-9, 2.0**-52, 0.0):
        left = check_prior([0.5, 0.5 + off])
        assert abs(math.fsum(left) - 1) <= 2.0**-52 and left[0] == (
            0.5 if abs(off) < 1e-12 else 0.5 / (1 + off)
        )
    for off in (1.1e-9, -1.1e-9):
        assert "not to 1 (tolerance 1e-09)" in refusal(check_prior, [0.5, 0.5 + off])


def test_sums_of_one_stay_as_they_are():
    kept = [0.1] * 10  # rounded sums differ, the sum of the floats is one and 2^-54
    assert check_distribution(kept).tolist() == kept and math.fsum(kept) == 1
    nearly = [0.5, 0.5 - 2.0**-46]  # just close enough to stay as it is, and the next that is not
    assert check_distribution(nearly).tolist() == nearly
    assert check_distribution([0.5, 0.5 - 1.5 * 2.0**-46]).tolist() != [0.5, 0.5 - 1.5 * 2.0**-46]


def test_single_precision_may_be_off_by_its_own_rounding():
    for kind, eps in ((np.float32, 2.0**-23), (np.float16, 2.0**-10)):
        single = np.array([0.5, 0.5 + 8 * eps], kind)
        assert math.isclose(check_prior(single).sum(), 1, rel_tol=0, abs_tol=2.0**-52)
        assert "not to 1" in refusal(check_prior, np.array([0.5, 0.5 + 9 * eps], kind))


def test_what_a_sum_says():
    assert check_prior([Fraction(1, 3), Fraction(2, 3)])[0] == 1 / 3
    assert "; counts must be divided" in refusal(check_prior, [3, 1])
    assert "; counts" not in refusal(check_prior, [0.5, 1]) + refusal(check_prior, [0.0, 0.0])
    assert refusal(check_prior, [1e308] * 2).startswith("InvalidPrior: prior sums to inf")
    assert refusal(check_channel, [[1.0, 0], [0.5, 0.25]]).startswith(
        "InvalidChannel: row 1 of channel sums"
    )
    mixed = check_channel([[0.5, 0.5], [0.25, 0.75 + 1e-10]])
    assert mixed[0].tolist() == [0.5, 0.5] and math.fsum(mixed[1]) == 1


def test_the_entry_that_is_refused_is_named():
    for given, said in [
        ([0.5, np.inf], "prior[1] = inf is not finite"),
        ([1.5, -0.5], "prior[1] = -0.5 is negative"),
        ([[1.0]], "prior must have 1 dimension(s), got shape (1, 1)"),
        ([], "prior is empty: shape (0,)"),
        (["a"], "prior must hold real numbers in 1 dimension(s)"),
        ([1j], "prior must hold real numbers"),
        ([10**400], "prior holds a number too large for a float"),
        (0.5, "prior must have 1 dimension(s), got shape ()"),
        ([0.5, 0, 0.5], "prior[1] = 0: drop a symbol"),
        ({"a": 1.0, "b": 0.0}, "prior['b'] = 0: drop a symbol"),
    ]:
        assert said in refusal(check_prior, given)
    assert "channel[1, 0] = -1 is negative" in refusal(check_channel, [[0, 1], [-1, 2]])
    assert "real numbers in 2 dimension(s)" in refusal(check_channel, [[1.0], [0.5, 0.5]])
    assert "channel has 2 rows, but there are 3 symbols" in refusal(check_channel, np.eye(2), 3)


def test_no_input_is_modified():
    before = np.array([0.5, 0.5 + 1e-10])
    check_prior(before)
    assert before.tolist() == [0.5, 0.5 + 1e-10] and check_prior(before) is not before


def test_long_values_are_cut():
    assert len(shortened("x" * 198)) == 200 and shortened("x" * 199) == "'" + "x" * 199 + "..."


def test_levels_are_finite_numbers_of_nats():
    for level in (0, 0.0, 5e-324, 1e308, Fraction(1, 2), np.float32(2)):
        assert check_epsilon(level) == float(level) and type(check_epsilon(level)) is float
        assert check_epsilon(pa.scalar(float(level)), up=True) == float(level)
    for level in (-5e-324, math.inf, 10**400, math.nan, -1):
        assert "must be finite and at least 0 (nats)" in refusal(check_epsilon, level)
    for level in ("1", True, None, [1], 1j):
        assert "must be a number of nats, got" in refusal(check_epsilon, level)


def test_what_is_no_level_is_not_called_one():
    assert check_nonnegative(Fraction(1, 4), "D") == 0.25
    assert refusal(check_nonnegative, -1, "D") == "ValueError: D = -1 must be finite and at least 0"
    assert refusal(check_nonnegative, "1", "D") == "ValueError: D must be a number, got '1'"


def test_counts_are_whole_numbers():
    assert (
        check_count(1) == 1
        and check_count(np.int64(3), least=3) == 3
        and check_count(0, least=0) == 0
    )
    assert refusal(check_count, 0) == "ValueError: n = 0 must be at least 1"
    assert refusal(check_count, 2, "people", 3) == "ValueError: people = 2 must be at least 3"
    assert "whole number, got 1.0" in refusal(check_count, 1.0)
    assert refusal(check_instance, 1, str, "name") == "ValueError: name must be a str, got a int"


def test_flags_are_true_or_false():
    for flag in (True, False, np.True_, np.False_):
        assert check_flag(flag, "each") is bool(flag)
    for odd in ("no", "", 0, 1, 1.0, None, [], np.array(True), np.int64(1)):
        assert "ValueError: each must be True or False, got" in refusal(check_flag, odd, "each")


def test_what_is_no_list_of_numbers_is_refused():
    for odd in ([None, 0.5], [Fraction(1, 2), "0.5"], np.array([], dtype=str), [[0.5], 0.5]):
        assert "prior must hold real numbers in 1 dimension(s)" in refusal(check_prior, odd)


def test_names_of_every_form():
    assert names_of(frame) == ("a", "b") and names_of(frame, 1) == ("y", "z")
    assert names_of({"a": 1}) == ("a",) and names_of({"a": 1}, 1) is None
    assert names_of(np.eye(2)) is names_of([1, 2]) is names_of(pd.Series([1]), 1) is None


def test_names_of_rows():
    assert names_of(rows, 1) == ("y", "z") and names_of(rows) is names_of([], 1) is None
    assert names_of([{"y": 1}], 1) is None


def test_numbers_of_rows_are_no_names():
    plain = pd.DataFrame(np.eye(2))
    assert isinstance(names_of(plain), Unnamed) and names_of(plain, 1) == (0, 1)
    for named in ([1, 0], [0, 1]):
        assert not isinstance(names_of(pd.Series([0.5, 0.5], index=named)), Unnamed)
    assert not isinstance(names_of(pd.Series([0.5, 0.5], index=pd.RangeIndex(1, 3))), Unnamed)


def test_the_first_names_given_win():
    assert first_names(None, numbers, given) == given and first_names(numbers, None) is numbers
    assert first_names(None, ()) is first_names() is None and first_names(given, ("c",)) == given


def test_names_differ():
    assert (
        all_distinct([1, "1", None])
        and not all_distinct([1, True])
        and not all_distinct([[1]])
        and all_distinct([])
    )
    assert (
        check_names(["a", np.int64(1)], "names") == ("a", 1)
        and check_names(numbers, "n") is numbers
    )
    assert type(check_names(np.array([1, 2]), "names")[0]) is int and check_names(
        {"a": 1}.keys(), "n"
    ) == ("a",)
    for names in ({"a", "b"}, {"a": 1}, 7, np.array("a"), None):
        assert "names must be a sequence of names" in refusal(check_names, names, "names")
    for names, count in ((["a", "a"], None), (["a"], 2), (["a", "b"], 1), ([["a"]], None)):
        assert "different names" in refusal(check_names, names, "names", count)
    assert check_names(["a", "b"], "names", 2) == ("a", "b")


def test_names_are_brought_into_one_order():
    assert order_of(["a", "b", "c"], ["c", "a", "b"], "x", "y") == [2, 0, 1]
    assert order_of(None, ["a"], "x", "y") is order_of(["a"], None, "x", "y") is None
    assert order_of(numbers, given, "x", "y") is order_of(given, numbers, "x", "y") is None
    assert order_of(numbers, (1, 0), "x", "y") == [1, 0]
    for other in (("a", "c"), ("a",), ("a", "b", "c")):
        assert "x and y have different names" in refusal(order_of, given, other, "x", "y")


def test_values_are_brought_into_the_order_of_names():
    assert aligned(frame, ["b", "a"], "x", "y").equals(frame.loc[["b", "a"]])
    assert aligned(frame, ["z", "y"], "x", "y", 1).equals(frame[["z", "y"]])
    assert aligned(frame, ["a", "b"], "x", "y") is frame and aligned(
        [1, 2], ["a", "b"], "x", "y"
    ) == [
        1,
        2,
    ]
    both = aligned(rows, ["z", "y"], "x", "y", 1)
    assert [row.tolist() for row in both] == [[0.1, 0.9], [0.6, 0.4]]
    assert check_channel(rows).tolist() == [[0.9, 0.1], [0.4, 0.6]]
    assert list(aligned({"a": 1, "b": 2}, ["b", "a"], "x", "y").items()) == [("b", 2), ("a", 1)]
    assert labels_of(frame, 2) == ("a", "b") and labels_of([0.5, 0.5], 2) == (0, 1)
    assert "names of prior must be 3 different names" in refusal(labels_of, frame, 3)
    swapped = pd.Series([0.25, 0.75], ["b", "a"])
    assert check_pair(frame, swapped)[1].tolist() == [0.75, 0.25]
    assert "rows, but there are 3" in refusal(check_pair, np.eye(2), [0.5, 0.25, 0.25])


def test_equal_results_are_equal_and_hash_alike():
    assert base == Found(np.array([-0.0, 1.0]), (np.array([1]), math.nan), 5.0)
    assert hash(base) == hash(Found(np.array([-0.0, 1.0]), (np.array([1]), math.nan), 5.0))
    others = [
        Found(np.array([0.0, 2.0]), base.parts),
        Found(np.array([0, 1]), base.parts),
        Found(np.array([[0.0, 1.0]]), base.parts),
        Found(np.array([0.0, 1.0]), (np.array([2]), math.nan)),
        Found(np.array([0.0, 1.0]), (np.array([1]), 1.0)),
        Levels(np.array([0.0, 1.0])),
        7,
    ]
    assert not any(base == other for other in others) and base != 7


def test_results_keep_their_own_copy():
    source = np.array([1.0, 2.0])
    copied = Found(source, (source, "x"))
    source[0] = 9
    assert copied.array.tolist() == copied.parts[0].tolist() == [1, 2]
    again = pickle.loads(pickle.dumps(Found(source, note=3.0)))
    assert again.note == 3 and not again.array.flags.writeable and not again.parts
    assert (
        frozen_array([[1, 2], [3, 4]]).tolist() == [[1, 2], [3, 4]] and frozen_array(3).shape == ()
    )


def test_two_kinds_are_never_equal():
    @dataclass(frozen=True, eq=False)
    class Rates(Frozen):
        nats: np.ndarray

    assert Rates(base.array) == Rates(base.array) != Levels(base.array)


GAPS = {
    "Float64": pd.array([0.5, 0.5, None], dtype="Float64"),
    "Int64": pd.array([1, 0, None], dtype="Int64"),
    "a Series": pd.Series([0.5, 0.5, None], dtype="Float64"),
    "masked": np.ma.masked_array([0.5, 0.5, 0.0], [0, 0, 1]),
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("numbers", GAPS.values(), ids=GAPS)
def test_a_gap_is_refused_by_its_place(numbers):
    """Arrays of pandas ended in AttributeError: numpy.ndarray object has no attribute 'filled'."""
    with pytest.raises(pb.InvalidPrior, match=r"prior\[2\] = nan is not finite"):
        pb.optimal_mechanism(numbers, 0.5)
    with pytest.raises(pb.InvalidPrior, match=r"prior\[2\] = nan is not finite"):
        pb.Mechanism(np.eye(3), numbers)
    with pytest.raises(pb.InvalidChannel, match=r"channel\[1, 2\] = nan is not finite"):
        pb.epsilon_pml([[0.5, 0.5, 0.0], numbers], [0.5, 0.5])


def test_a_masked_number_is_refused():
    for call in (
        lambda hidden: pb.optimal_mechanism([0.5, 0.5], hidden),
        lambda hidden: pb.optimal_mechanism([0.5, hidden], 0.5),
        lambda hidden: pb.dp_leakage([[0.5, 0.5]], hidden),
        lambda hidden: pb.foundations.exponential([[1, hidden]], 1, 1),
    ):
        with pytest.raises(ValueError, match="masked|nan is not finite|real number"):
            call(np.ma.masked)


@pytest.mark.parametrize("least", [1e-13, 1e-300])
def test_answers_too_rare_for_a_mechanism_are_named(least):
    prior = {"often": 1 - least, "rarely": least}
    said = r"prior\['rarely'\] = .* is rarer than 1e-12: merge answers that are rarer"
    for call in (
        lambda: pb.optimal_mechanism(prior, 0.5),
        lambda: pb.min_leakage(np.eye(2), prior, 1.0),
        lambda: pb.worst_case_mechanism(np.eye(2), prior, 0.5),
        lambda: pb.estimation_mechanism(prior, 0.5),
        lambda: pb.extremal.delta_mechanism(prior, 0.5, 0.1),
        lambda: pb.extremal.binary_mechanism(prior, 0.5),
        lambda: pb.robust.robust_mechanism(PriorRegion(prior, [0, 0], [1, 1]), 0.5),
    ):
        with pytest.raises(pb.InvalidPrior, match=said):
            call()
    # what only measures or stores takes any prior, as that of a sum
    level = pb.Mechanism(np.eye(2), prior).epsilon
    assert level == pytest.approx(-math.log(least), rel=1e-15)
    assert pb.epsilon_pml(np.eye(2), prior) == pytest.approx(level, rel=1e-15)


@pytest.mark.parametrize("level", [5e-324, 1e-9, 9.99e-7])
def test_levels_too_small_to_search_for_are_refused(level):
    prior, ranks = [0.5, 0.3, 0.2], [[3, 2, 1], [1, 3, 2], [2, 1, 3]]
    for call in (
        lambda: pb.optimal_mechanism(prior, level, method="enumeration"),
        lambda: pb.worst_case_mechanism(ranks, prior, level),
        lambda: pb.worst_case.expected_utility_mechanism(ranks, prior, level, 1),
        lambda: pb.estimation_mechanism(prior, level),
        lambda: pb.extremal.delta_mechanism(prior, level, 0.1),
        lambda: pb.min_distortion([prior], level),
        lambda: pb.distortion_leakage(pb.records.counting(3), level, 1.0),
    ):
        with pytest.raises(ValueError, match="too small to search for: ask for 0, or for at least"):
            call()
    # a formula, a mechanism and a composition take any level
    assert pb.optimal_mechanism(prior, level).mechanism.certify(level)
    assert not pb.Mechanism(np.eye(3), prior).certify(level)
    assert pb.budget.composed_level(level, level) == pytest.approx(2 * level)


def test_a_prior_in_single_precision_may_be_as_rare_as_any():
    shares = np.array([1e-12, 0.25, 0.75], np.float32) * np.float32(1 + 5e-7)
    assert len(design_prior(shares)) == 3 == len(pb.Mechanism(np.eye(3), shares).prior)
