"""Codes of columns: the fast ways against the slow one, each refusal in its words, and the types that come back."""

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from pmlbook import Mechanism
from pmlbook.numerics.names import plain as python_value
from pmlbook.release.columns import (
    EXACT_INTEGERS,
    MISSING,
    READERS,
    UNKNOWN,
    blocks,
    codes_of_arrow,
    codes_of_list,
    codes_of_numpy,
    codes_of_pandas,
    codes_of_polars,
    comparable,
    decode,
    decode_numpy,
    encode,
    length,
    library,
    name_array,
)
from pmlbook.release.labels import brief, is_missing, listed_names, plain, without_missing

names = ("healthy", "flu", "rare")


said = ["flu", "healthy", "flu", "rare"]


def as_list(column):
    ways = [way for way in ("to_pylist", "to_list", "tolist") if hasattr(column, way)]
    return [None if is_missing(value) else value for value in getattr(column, ways[0])()]


def refusal(values, **choice):
    """Why a column is refused, or nothing."""
    try:
        encode(values, names, **choice)
    except ValueError as error:
        return str(error)
    return ""


pairs, days = [("a", 1), ("b", 2)], [dt.date(2026, 1, 2), dt.date(2026, 1, 3)]


def test_fast_ways_give_the_codes_of_the_slow_one():
    rng = np.random.default_rng(6)
    whole = {
        "a run": [4, 5, 6, 7],
        "a run in another order": [6, 4, 5],
        "holes": [-3, 9, 2],
        "far apart": [-(2**63), 2**63 - 1, 0],
        "one": [5],
        "a table's width": [0, 2**16 - 1],
        "one more": [0, 2**16],
    }
    for names_of in whole.values():
        near = [name + d for name in names_of for d in (-1, 0, 1) if -(2**63) <= name + d < 2**63]
        cells = rng.permutation(np.array(near, dtype=object)).tolist()
        expected = [names_of.index(cell) if cell in names_of else UNKNOWN for cell in cells]
        assert codes_of_list(cells, names_of).tolist() == expected
        assert codes_of_numpy(np.array(cells, dtype=np.int64), names_of).tolist() == expected
        for known in (names_of, [int(name) for name in names_of]):
            assert codes_of_numpy(np.array(known, dtype=np.int64), names_of).max() == len(known) - 1
        for make in (pd.Series, pl.Series, pa.array):
            reader = READERS[library(make(cells))]
            assert reader(make(cells), names_of).tolist() == expected


def test_numpy_columns_are_read_as_lists_are():
    mixed = [
        (np.array([2.0, 0.5, np.nan, 3.0]), [0.5, 3.0], [UNKNOWN, 0, MISSING, 1]),
        (np.array([2.0, 0.5, np.nan, 3.0]), [3, 2], [1, UNKNOWN, MISSING, 0]),
        (np.array([2.0**53, -(2.0**53)]), [2**53, -(2**53)], [0, 1]),
        (np.array([2.0**53, -(2.0**53)]), [2**53 + 1, -(2**53) - 1], [UNKNOWN, UNKNOWN]),
        (np.array([True, False]), [False, True], [1, 0]),
        (np.array([True, False]), [0, 1], [1, 0]),
        (np.array([0, 1, 2]), [False, True], [0, 1, UNKNOWN]),
        (np.array([0, 1, 2]), [2.0, 1.0], [UNKNOWN, 1, 0]),
        (np.array(["b", "c", ""]), ["b", "", "a"], [0, UNKNOWN, 1]),
        (np.array(["1", "2"]), [1, "2"], [UNKNOWN, 1]),
        (np.array([1, 2]), [1, "2"], [0, UNKNOWN]),
        (np.array([b"x", b"y"]), [b"y", b"x"], [1, 0]),
        (np.array([2**63, 1], np.uint64), [1, 2**63], [1, 0]),
        (np.array([2**63 - 1, 1], np.uint64), [1, 2**63 - 1], [1, 0]),
        (np.array([3, 1], np.uint8), [1, 3], [1, 0]),
        (np.array([None, 7, "x"], object), [7, "x"], [MISSING, 0, 1]),
        (np.ma.masked_equal(np.array([1.0, 5, 2]), 5), [1, 2], [0, MISSING, 1]),
    ]
    for column, known, expected in mixed:
        assert codes_of_numpy(column, known).tolist() == expected


def test_a_name_that_numpy_cuts_is_refused():
    for text in (np.array(["a"]), np.array([b"a"])):
        with pytest.raises(ValueError, match="NUL"):
            codes_of_numpy(text, ["a", "a\0"])
    assert codes_of_numpy(np.array(["a\0"], object), ["a", "a\0"]).tolist() == [1]


def test_pandas_columns():
    assert codes_of_pandas(pd.Series([("b", 2), ("c", 3), None]), pairs).tolist() == [1, -2, -1]
    assert codes_of_pandas(pd.Series([1, None, 9], dtype="Int64"), [9, 1]).tolist() == [1, -1, 0]
    assert codes_of_pandas(pd.Series([1.5, None, 9]), [9, 1.5]).tolist() == [1, -1, 0]
    assert codes_of_pandas(pd.Series([True, False]), [False, True]).tolist() == [1, 0]
    assert codes_of_pandas(pd.Categorical(["x", None, "y", "z"]), ["y", "x"]).tolist() == [
        1,
        -1,
        0,
        -2,
    ]
    assert codes_of_pandas(pd.Index(["x", "q"]), ["y", "x"]).tolist() == [1, -2]
    text = pd.Series(["b", None, "a", np.nan, pd.NA, "z", "b"], dtype=object)
    assert codes_of_pandas(text, ["a", "b"]).tolist() == [1, -1, 0, -1, -1, -2, 1]
    mixed = pd.Series(["1", 1, True, 1.0, pd.NaT, ("1",)], dtype=object)
    assert codes_of_pandas(mixed, ["1", 1]).tolist() == [0, 1, 1, 1, -1, -2]


def test_polars_and_arrow_columns():
    assert codes_of_polars(pl.Series([days[1], None, days[0]]), days).tolist() == [1, -1, 0]
    assert codes_of_arrow(pa.array([days[1], None]), days).tolist() == [1, -1]
    spans = pa.array([(1, 2, 3), None, (4, 5, 6)], pa.month_day_nano_interval())
    assert codes_of_arrow(spans, [(4, 5, 6), (1, 2, 3)]).tolist() == [1, -1, 0]
    objects = pl.Series([pairs[1], None, pairs[0]], dtype=pl.Object)
    assert codes_of_polars(objects, pairs).tolist() == [1, -1, 0]


def test_names_for_a_gap():
    assert [is_missing(value) for value in (None, np.nan, pd.NaT, pd.NA)] == [True] * 4
    assert [is_missing(value) for value in (0, "", False, "nan")] == [False] * 4
    assert without_missing(["a", None, "b"]) == (["a", "b"], [0, 2])
    assert without_missing(["a"]) == (["a"], [0])
    assert encode(["b", None, "a"], ["a", None, "b"]).tolist() == [2, 1, 0]
    assert encode(["b", "x", None][:1], ["a", None, "b"], missing="keep").tolist() == [2]
    for bad in ([None, np.nan], ["a", None, np.nan, "b"]):
        with pytest.raises(ValueError, match="2 names mean a missing value"):
            encode(["a"], bad)
    assert "'drop' is none of refuse, keep and the names" in refusal(["flu"], missing="drop")


def test_what_is_no_column_is_refused():
    no_columns = ["flu", b"flu", {"flu": 1}, {"flu"}, 7, None, iter(said), np.array("flu")]
    for thing in no_columns:
        assert refusal(thing) == f"values must be a column of values, got a {type(thing).__name__}"
    two = {"a": said, "b": said}  # a table of one column is a column
    for thing in (pd.DataFrame(two), np.array([said]), pl.DataFrame(two)):
        assert refusal(thing) == f"values must be one column, got shape {thing.shape}"
    for empty in ([], (), np.array([]), pd.Series([]), pl.Series([]), pa.array([])):
        assert refusal(empty, what="the column") == "the column is empty"
    assert refusal(["flu", "flu", [1]]).endswith("hashable values, but row 2 holds a list")
    assert refusal(np.array(["flu", {}], object)).endswith(
        "hashable values, but row 1 holds a dict"
    )


def test_the_row_of_an_unknown_value_is_named():
    assert [length(thing) for thing in ([], [1, 2], 7)] == [0, 2, None]
    assert refusal(["flu", None, "x", None]).startswith("values holds a value (str) in row 2, not")
    assert refusal(["flu", None, "x"], missing="keep", first_row=10).startswith(
        "values holds a value (str) in row 12, not"
    )
    assert refusal([None] * 3) == "values is missing in row 0, 1, 2: fill it, or leave the row out"
    assert "in row 0, 1, 2 and 1 more: fill it" in refusal([None] * 4)
    assert "in row 1, 2, 3 and 2 more, not among" in refusal(["flu", *"abcde"])
    assert refusal(pd.Series(["flu", "x"], index=[1, 0]), show_values=True).startswith(
        "values holds 'x'"
    )


def test_long_values_are_cut():
    for size in (39, 40, 41, 100):  # two of them are the quotation marks
        text = brief("x" * (size - 2))
        assert len(text) == min(size, 40) and text.endswith("...") == (size > 40)
    assert brief("abcdefgh", 7) == "'abc..." and brief("abc", 5) == "'abc'"
    assert listed_names(range(10)) == str(list(range(10)))
    assert listed_names(range(11)) == f"{str(list(range(10)))[:-1]}, ... 11 in all]"
    assert listed_names("abc", 2) == "['a', 'b', ... 3 in all]"


def test_columns_are_read_in_blocks():
    for total in (0, 1, 5, 6, 7, 12):
        parts = list(blocks(list(range(total)), 6))
        assert sum((part for _, part in parts), []) == list(range(total))
        assert [start for start, _ in parts] == [0, 6][: 1 + (total > 6)]
    assert all(next(iter(blocks(thing))) == (0, thing) for thing in ({"a": 1}, {"flu"}, 7))
    assert plain(np.int8(3)) == plain(pa.scalar(3)) == plain(3) == 3
    assert type(plain(np.int8(3))) is type(plain(pa.scalar(3))) is int


def test_names_keep_their_types():
    assert name_array([1, 2]).dtype == np.int64 and name_array(["a", "bc"]).dtype.kind == "U"
    for odd in ([1, "a"], [1, 2.0], [True, 2], [(1, 2), (3, 4)], ["a", "a\0"], [2**70, 1]):
        table = name_array(odd)
        assert table.dtype == object and table.shape == (len(odd),) and table.tolist() == odd
        assert [type(name) for name in table] == [type(name) for name in odd]


def test_numpy_columns_are_decoded():
    rng = np.random.default_rng(6)
    codes = np.array([2, -1, 0, 2])
    assert decode_numpy(codes, [5, 6, 7]).tolist() == [7, None, 5, 7]
    assert decode_numpy(codes[2:], [5, 6, 7]).tolist() == [5, 7]
    assert decode_numpy(codes[2:], [5, 6, 7]).dtype == np.int64
    assert decode_numpy(np.array([-1, -1]), [5, 6]).tolist() == [None, None]
    long = rng.integers(0, 3, 2**18 + 5)
    assert (decode_numpy(long, [5, 6, 7]) == long + 5).all()


def test_a_type_stays_where_the_names_fit():
    kept = {
        "pandas int8": (pd.Series([1, 2], dtype="int8"), [1, 2, 3], "int8"),
        "pandas object": (pd.Series([1, 2], dtype=object), [1, 2, 3], "object"),
        "pandas, too wide": (pd.Series([1, 2], dtype="int8"), [1, 2, 300], "int64"),
        "pandas, a half": (pd.Series([1, 2], dtype="int8"), [1.5, 2.0, 3.0], "float64"),
        "Polars": (pl.Series([1, 2], dtype=pl.Int8), [1, 2, 3], pl.Int8),
        "Polars, too wide": (pl.Series([1, 2], dtype=pl.Int8), [1, 2, 300], pl.Int64),
        "Arrow": (pa.array([1, 2], pa.int8()), [1, 2, 3], pa.int8()),
        "Arrow, too wide": (pa.array([1, 2], pa.int8()), [1, 2, 300], pa.int64()),
    }
    for like, known, kind in kept.values():
        back = decode(np.array([2, 0]), known, like)
        assert as_list(back) == [known[2], known[0]]
        assert (back.type if library(like) == "pyarrow" else back.dtype) == kind


def test_gaps_stay_gaps():
    for make in (pd.Series, pl.Series, pa.array, pd.Categorical):
        like = make([4, 4, 4, 6])
        assert as_list(decode(np.array([1, -1, 0, 2]), [4, None, 6], like)) == [None, None, 4, 6]


def test_pandas_columns_keep_index_and_name():
    codes = np.array([2, -1, 0, 2])
    like = pd.Series(["a", "b", None, "b"], [5, 6, 7, 8], dtype=object, name="said")
    for known in ([5, 6, 7], ["u", "v", "w"], [True, (1,), "a"]):
        back, one, other = decode(codes, known, like), known[0], known[2]
        pd.testing.assert_series_equal(
            back, pd.Series([other, None, one, other], [5, 6, 7, 8], object, "said_released")
        )
        assert list(map(type, back)) == list(map(type, [other, None, one, other]))


def test_arrow_columns_keep_their_form():
    cut = decode(np.array([1, 0]), ["a", "b"], pa.chunked_array([["a"], ["b"]]))
    assert isinstance(cut, pa.ChunkedArray) and cut.to_pylist() == ["b", "a"]
    coded = decode(np.array([1, -1]), ["a", "b"], pa.array(["a"]).dictionary_encode())
    assert isinstance(coded, pa.DictionaryArray) and coded.to_pylist() == ["b", None]
    spans = [(1, 2, 3), (4, 5, 6)]
    odd = decode(np.array([1, -1]), spans, pa.array(spans, pa.month_day_nano_interval()))
    assert odd.to_pylist() == [spans[1], None] and odd.type == pa.month_day_nano_interval()
    for like in (pl.Series([1]), pa.array([1])):
        with pytest.raises(ValueError, match="do not fit into one column"):
            decode(np.array([0]), [1, "a"], like)


def test_names_are_comparable_where_no_digit_is_lost():
    for names, kind, fits in (
        ([EXACT_INTEGERS, -EXACT_INTEGERS], "f", True),  # beyond, floats leave whole numbers out
        ([EXACT_INTEGERS + 1, 0], "f", False),
        ([0, -EXACT_INTEGERS - 1], "f", False),
        ([EXACT_INTEGERS + 1, 0], "i", True),
        ([0.5, 1.5], "f", True),
        ([0.5, 1.5], "i", False),
        ([True, False], "i", False),
        (["a", "b"], "U", True),
        (["a", "b\0"], "U", False),  # NumPy would drop the last character
        (["a", 1], "U", False),
    ):
        table = comparable(kind, names)
        assert (table is not None) is fits and (not fits or table.tolist() == names)


def test_an_outcome_without_a_value_is_no_truth_value():
    """In a pandas column of truth values the outcome None became False."""
    made = Mechanism(
        [[0.2, 0.3, 0.5], [0.3, 0.3, 0.4]], [0.5, 0.5], (False, True), (False, True, None)
    )
    column = pd.Series([False, True] * 200)
    plain, framed = made.privatize(column.tolist(), rng=1).tolist(), made.privatize(column, rng=1)
    assert framed.isna().sum() == plain.count(None) > 0
    assert (
        made.estimate(framed, partly=True).counts.tolist()
        == made.estimate(plain, partly=True).counts.tolist()
    )
    two = Mechanism([[0.6, 0.4], [0.4, 0.6]], [0.5, 0.5], (False, True), (False, True))
    assert two.privatize(column, rng=1).dtype == bool


def test_times_in_nanoseconds_are_times():
    """NumPy counts nanoseconds, and the count was taken for the name."""
    days = pd.to_datetime(["2020-01-01", "2021-01-01"])
    made = Mechanism([[0.6, 0.4], [0.4, 0.6]], [0.5, 0.5], inputs=list(days))
    column = pd.Series(days)
    assert list(made.privatize(column.to_numpy(), rng=1)) == list(made.privatize(column, rng=1))
    fine = np.datetime64("2020-01-01T00:00:00.000000001", "ns")
    assert python_value(fine) == fine and python_value(column.to_numpy()[0]) == days[0]
