"""Columns that are not what they seem: gaps, near numbers, texts, and what is never shown."""

import decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pytest

from pmlbook import Mechanism
from pmlbook.release.columns import UNKNOWN, codes_of_numpy, encode
from pmlbook.release.sampling import random_words

NAMES = ("healthy", "flu", "rare")
SAID = ["flu", None, "healthy", "rare"]
TURNED = np.eye(4)[[1, 2, 3, 0]]  # every secret becomes the next outcome, for certain
NEXT = dict(zip((*NAMES, None), (*NAMES[1:], None, NAMES[0])))

TEXTS = {
    "list": list,
    "NumPy": lambda v: np.array(v, dtype=object),
    "NumPy masked": lambda v: np.ma.array([x or "" for x in v], mask=[x is None for x in v]),
    "pandas": pd.Series,
    "pandas objects": lambda v: pd.Series(v, dtype=object),
    "pandas string": lambda v: pd.Series(v, dtype="string"),
    "pandas Arrow": lambda v: pd.Series(v, dtype=pd.ArrowDtype(pa.string())),
    "pandas categories": lambda v: pd.Series(v, dtype="category"),
    "pandas unused categories": lambda v: pd.Series(pd.Categorical(v, [*NAMES, "never"])),
    "pandas Categorical": pd.Categorical,
    "pandas Index": pd.Index,
    "Polars": pl.Series,
    "Polars categories": lambda v: pl.Series(v, dtype=pl.Categorical),
    "Polars enum": lambda v: pl.Series(v, dtype=pl.Enum(NAMES)),
    "Arrow": pa.array,
    "Arrow chunks": lambda v: pa.chunked_array([v[:1], v[1:]]),
    "Arrow large": lambda v: pa.array(v, pa.large_string()),
    "Arrow view": lambda v: pa.array(v, pa.string_view()),
    "Arrow dictionary": lambda v: pa.array(v).dictionary_encode(),
    "Arrow null in the dictionary": lambda v: pa.DictionaryArray.from_arrays(
        pa.array(range(len(v)), pa.int8()), pa.array(v)
    ),
}
NUMBERS = {
    "NumPy": lambda v: np.array([np.nan if x is None else x for x in v]),
    "NumPy masked": lambda v: np.ma.masked_equal([-1 if x is None else x for x in v], -1),
    "pandas": pd.Series,
    "pandas Int64": lambda v: pd.Series(v, dtype="Int64"),
    "Polars": pl.Series,
    "Polars nan": lambda v: pl.Series([np.nan if x is None else float(x) for x in v]),
    "Arrow": pa.array,
    "Arrow nan": lambda v: pa.array([np.nan if x is None else float(x) for x in v]),
}


def as_list(column):
    ways = [way for way in ("to_pylist", "to_list", "tolist") if hasattr(column, way)]
    return [None if pd.isna(value) else value for value in getattr(column, ways[0])()]


@pytest.mark.parametrize("missing", ["keep", "refuse"])
@pytest.mark.parametrize("gap", [None, np.nan, pd.NA, pd.NaT], ids=repr)
@pytest.mark.parametrize("name", TEXTS)
def test_a_gap_that_is_an_input_is_randomised(name, gap, missing):
    names = (*NAMES, gap)
    made = Mechanism(TURNED, [0.25] * 4, names, names)
    released = made.privatize(TEXTS[name](SAID), missing=missing)
    assert as_list(released) == [NEXT[value] for value in SAID]
    assert encode(released, names).tolist() == [(x + 1) % 4 for x in encode(SAID, names)]


@pytest.mark.parametrize("missing", ["keep", "refuse"])
@pytest.mark.parametrize("name", NUMBERS)
def test_a_gap_among_numbers_is_randomised(name, missing):
    made = Mechanism(TURNED, [0.25] * 4, (1, 2, 3, None), (1, 2, 3, None))
    assert as_list(made.privatize(NUMBERS[name]([2, None, 1, 3]), missing=missing)) == [
        3,
        1,
        2,
        None,
    ]


def test_only_one_name_may_mean_a_gap():
    with pytest.raises(ValueError, match=r"2 names mean a missing value, \[None, nan\]"):
        encode(["a", None], ("a", None, np.nan))


def test_nothing_but_gaps():
    silent = Mechanism([[1.0]], [1.0], (None,), (None,))
    for make in TEXTS.values():
        assert as_list(silent.privatize(make([None, None]))) == [None, None]


@pytest.mark.parametrize("name", ["list", "NumPy", "pandas", "Polars", "Arrow"])
@pytest.mark.parametrize(
    "near",
    [
        [2**53, 2**53 + 1],
        [2**63 - 2, 2**63 - 1],
        [-(2**63), 2**63 - 1],
        [2**63, 2**63 + 1],
        [2**64 - 2, 2**64 - 1],
    ],
    ids=str,
)
def test_whole_numbers_do_not_collide(name, near):
    make = (NUMBERS | {"list": list, "NumPy": np.array, "Arrow": lambda v: pa.array(np.array(v))})[
        name
    ]
    made = Mechanism(np.eye(2)[::-1], [0.5, 0.5], near, near)
    assert encode(make(near), near).tolist() == [0, 1]
    assert as_list(made.privatize(make(near))) == near[::-1]


def test_whole_numbers_and_floats_are_compared_exactly():
    near, rounded = [2**53, 2**53 + 1], np.array([2.0**53, 2.0**53])
    assert encode(rounded, near).tolist() == [0, 0]
    assert encode(np.array(near), [2.0**53, 2**53 + 1]).tolist() == [0, 1]
    for values in (np.array(near), pd.Series(near), pl.Series(near), pa.array(near)):
        with pytest.raises(ValueError, match=r"\(int\) in row 1, not among"):
            encode(values, [2.0**53, 3.0])
    with pytest.raises(ValueError, match=r"\(float\) in row 0"):
        encode(rounded, [2**53 + 1, 3])
    assert encode(np.array(near, np.uint64), near).tolist() == [0, 1]
    with pytest.raises(ValueError, match=r"\(int\) in row 0"):
        encode(np.array([2**64 - 1], np.uint64), [-1, 2])


@pytest.mark.parametrize("make", [list, pd.Series, pl.Series, pa.array])
def test_a_nul_at_the_end_of_a_name_counts(make):
    names = ["a", "a\0", "a\0\0", "a\0b"]
    made = Mechanism(TURNED, [0.25] * 4, names, names)
    assert as_list(made.privatize(make(names))) == [*names[1:], names[0]]
    with pytest.raises(ValueError, match=r"\(str\) in row 0"):
        encode(make(["a"]), names[1:])


def test_text_of_fixed_width_is_compared_as_it_is():
    """The oldest arrays of text compare without blanks, and text in a record may have no width."""
    old = np.array(["a"]).view(np.char.chararray)
    assert codes_of_numpy(old, ["a "]).tolist() == [UNKNOWN]
    empty = np.zeros(2, dtype=[("text", "<U0")])["text"]
    assert codes_of_numpy(empty, ["a", ""]).tolist() == [1, 1]


def test_text_of_fixed_width_cannot_hold_a_nul_at_its_end():
    with pytest.raises(ValueError, match="dtype=object"):
        encode(np.array(["a", "a\0"]), ["a", "a\0"])
    assert encode(np.array(["a", "a\0"], dtype=object), ["a", "a\0"]).tolist() == [0, 1]


HOSTILE = {
    "lists": [["my secret"]] * 50,
    "one list": ["flu", ["my secret"]],
    "text": "my secret",
    "bytes": b"my secret",
    "dictionary": {"my secret": 1},
    "set": {"my secret"},
    "class": list,
    "scalar": np.array("my secret"),
    "table": pd.DataFrame({"a": ["my secret"]}),
    "Arrow table": pa.table({"a": ["my secret"]}),
    "Polars table": pl.DataFrame({"a": ["my secret"]}),
    "Arrow lists": pa.array([["my secret"]]),
    "Polars lists": pl.Series([["my secret"]]),
    "pandas lists": pd.Series([["my secret"]]),
    "unknown": ["flu", "my secret"],
    "unknown object": np.array(["flu", "my secret"], dtype=object),
    "unknown category": pd.Categorical(["my secret"]),
    "signalling": [decimal.Decimal("sNaN"), "my secret"],
}


@pytest.mark.parametrize("values", HOSTILE.values(), ids=HOSTILE)
def test_a_refused_column_is_not_shown(values):
    made = Mechanism(np.eye(3), [0.6, 0.3, 0.1], NAMES, NAMES)
    with pytest.raises(ValueError) as told:
        made.privatize(values)
    assert "my secret" not in str(told.value) and len(str(told.value)) < 200


def test_one_value_is_shown_where_asked_and_shortened():
    with pytest.raises(
        ValueError, match="^values holds .secret secret.+[.]{3} in row 0, 1, not"
    ) as told:
        encode(["secret " * 10**5, "other"], NAMES, show_values=True)
    assert len(str(told.value)) < 200 and "other" not in str(told.value)


@pytest.mark.parametrize("outputs", [("a", "b"), (0.5, 1.5), (300, -1), (2**64, -1), (True, False)])
@pytest.mark.parametrize("width", ["int8", "int64", "uint8", "float32", "str", "bool"])
def test_outcomes_are_never_bent_to_fit_the_old_type(outputs, width):
    said = ["0", "1"] if width == "str" else np.array([0, 1]).astype(width).tolist()
    made = Mechanism(np.eye(2), [0.5, 0.5], said, outputs)
    columns = [np.array(said, width), pd.Series(said, dtype=width), pl.Series(said), pa.array(said)]
    for column in [*columns, pd.Categorical(said), pa.array(said).dictionary_encode()]:
        try:
            assert as_list(made.privatize(column)) == list(outputs)
        except ValueError as error:  # no column of Arrow or Polars holds these two
            assert "do not fit into one column" in str(error) and outputs[0] == 2**64


def test_mixed_names_fit_into_no_column_of_one_type():
    made = Mechanism(np.eye(2), [0.5, 0.5], ("a", "b"), ("a", 1))
    for make in (pl.Series, pa.array):
        with pytest.raises(ValueError, match=r"names \['a', 1\] do not fit"):
            made.privatize(make(["a", "b"]))
    assert made.privatize(pd.Series(["a", "b"])).tolist() == ["a", 1]


def test_a_released_category_reveals_nothing_about_the_column():
    made = Mechanism(np.eye(3), [0.6, 0.3, 0.1], NAMES, NAMES)
    column = pd.Series(pd.Categorical(["flu"], ["flu", "my secret"]))
    assert made.privatize(column).cat.categories.tolist() == list(NAMES)
    assert made.privatize(pa.array(["flu"]).dictionary_encode()).dictionary.to_pylist() == list(
        NAMES
    )


SEEDS = [False, True, (), [], [1], (1, 2), "1", b"1", 1.0, np.float64(1), -1, np.nan, {}, object()]
STATES = [np.random.RandomState(1), np.random.PCG64(1), np.random.SeedSequence(1), np.random]


@pytest.mark.parametrize("rng", [*SEEDS, *STATES], ids=lambda rng: type(rng).__name__)
def test_a_seed_is_an_int_or_a_generator_and_nothing_else(rng):
    with pytest.raises(ValueError, match="rng must be None, a numpy.random.Generator or an int"):
        random_words(rng)
    with pytest.raises(ValueError, match="rng"):
        Mechanism(np.eye(2), [0.5, 0.5]).privatize([0, 1], rng)


def test_an_older_generator_names_its_successor():
    with pytest.raises(ValueError, match="RandomState.*: numpy.random.default_rng takes its place"):
        random_words(np.random.RandomState(1))


def test_seeds_repeat_and_no_seed_does_not():
    assert random_words(np.int64(7))(8).tolist() == random_words(7)(8).tolist()
    same = [random_words(7)(8).tolist(), random_words(np.random.default_rng(7))(8).tolist()]
    assert same[0] == same[1] != random_words(0)(8).tolist()
    assert random_words()(8).tolist() != random_words()(8).tolist()
