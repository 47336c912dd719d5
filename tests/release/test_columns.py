"""A release gives back the kind of column it was given, and names what it cannot read."""

from collections import UserDict, deque
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from pmlbook import Mechanism
from pmlbook.estimation import two_way
from pmlbook.release.columns import decode, encode
from pmlbook.release.sampling import alias_tables, guide, random_words, to_weights

NAMES = ("healthy", "flu", "rare")
TRUTH = Mechanism(np.eye(3), [0.6, 0.3, 0.1], NAMES, NAMES)
NUMBERS = Mechanism(np.eye(3), [0.6, 0.3, 0.1], (3, 1, 2), (3, 1, 2))
SAID = ["flu", "healthy", "flu", "rare"]
GAPPY = ["flu", None, "healthy", "rare"]

MAKERS = {
    "list": list,
    "deque": deque,  # cannot be cut into parts
    "NumPy objects": lambda v: np.array(v, dtype=object),
    "pandas": lambda v: pd.Series(v, index=list("wxyz"), name="diagnosis"),
    "pandas objects": lambda v: pd.Series(v, dtype=object, index=[9, 9, 8, 8]),
    "pandas string": lambda v: pd.Series(v, dtype="string"),
    "pandas categories": lambda v: pd.Series(pd.Categorical(v, NAMES), index=[3, 1, 2, 0]),
    "pandas Categorical": lambda v: pd.Categorical(v),
    "pandas Index": lambda v: pd.Index(v),
    "pandas array": lambda v: pd.Series(v).array,
    "pandas array of Arrow": lambda v: pd.array(v, pd.ArrowDtype(pa.string())),
    "Polars": lambda v: pl.Series("diagnosis", v),
    "Polars categories": lambda v: pl.Series("diagnosis", v, dtype=pl.Categorical),
    "Polars enum": lambda v: pl.Series("diagnosis", v, dtype=pl.Enum(NAMES)),
    "Arrow": pa.array,
    "Arrow chunks": lambda v: pa.chunked_array([v[:1], v[1:]]),
    "Arrow large": lambda v: pa.array(v, pa.large_string()),
    "Arrow dictionary": lambda v: pa.array(v).dictionary_encode(),
}


def as_list(column):
    if isinstance(column, (list, deque)):
        return list(column)
    way = next(way for way in ("to_pylist", "to_list", "tolist") if hasattr(column, way))
    return [None if pd.isna(value) else value for value in getattr(column, way)()]


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
@pytest.mark.parametrize("said", [SAID, GAPPY], ids=["full", "gaps"])
def test_the_truth_comes_back_in_kind(make, said):
    column = make(said)
    released = TRUTH.privatize(column, missing="keep")
    assert as_list(released) == said == as_list(column)
    if isinstance(column, pd.Series):
        pd.testing.assert_series_equal(released, column)
    elif isinstance(column, pl.Series):
        assert released.dtype == column.dtype and released.name == column.name
    elif isinstance(column, (pa.Array, pa.ChunkedArray)):
        assert released.type == column.type and type(released) is type(column)


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_missing_is_refused_with_its_row(make):
    with pytest.raises(ValueError, match="missing in row 1: fill it"):
        TRUTH.privatize(make(GAPPY))


@pytest.mark.parametrize(
    "name", [n for n in MAKERS if n not in ("pandas categories", "Polars enum")]
)
def test_unknown_is_named_with_its_row(name):
    with pytest.raises(ValueError, match="holds a value .str. in row 2, not among"):
        TRUTH.privatize(MAKERS[name](["flu", "rare", "cold", "flu"]))


WIDTHS = ["int8", "int16", "int32", "int64", "uint8", "uint64", "float32", "float64"]


@pytest.mark.parametrize("width", WIDTHS)
def test_numbers_keep_their_width(width):
    column = pd.Series([1, 3, 2, 1], dtype=width, index=list("abcd"))
    pd.testing.assert_series_equal(NUMBERS.privatize(column), column)
    assert NUMBERS.privatize(column.to_numpy()).tolist() == [1, 3, 2, 1]
    arrow = pa.array(column.to_numpy())
    assert NUMBERS.privatize(arrow).equals(arrow)
    wide = pl.Series("n", column.to_numpy())
    assert NUMBERS.privatize(wide).to_list() == [1, 3, 2, 1]


EXTREMES = [np.iinfo(np.int64).min, np.iinfo(np.int64).max, -1, 0, 4]


@pytest.mark.parametrize("names", [(1, 2, 3), (3, 1, 2), (1, 3, 2000)])
@pytest.mark.parametrize("value", EXTREMES)
def test_numbers_outside_are_unknown_however_far(names, value):
    with pytest.raises(ValueError, match="holds a value .int. in row 1, not among"):
        encode(np.array([1, value, 3]), names)
    with pytest.raises(ValueError, match="missing in row 1"):
        encode(np.array([1.0, np.nan, 3.0]), names)


@pytest.mark.parametrize(
    "values", [[], np.array([]), pd.Series([], dtype=str), pl.Series([], dtype=pl.String)]
)
def test_empty_columns_are_refused(values):
    with pytest.raises(ValueError, match="empty"):
        TRUTH.privatize(values)


@pytest.mark.parametrize(
    "values",
    ["flu", 3, None, {"flu": 1}, [["flu"]], np.eye(2), pd.DataFrame({"a": SAID, "b": SAID})],
)
def test_what_is_no_column_is_refused(values):
    with pytest.raises(ValueError, match="column"):
        TRUTH.privatize(values)


def test_the_row_counts_from_the_beginning_of_a_long_column():
    column = np.resize(NAMES, 600_000).astype(object)
    column[-1] = "cold"
    with pytest.raises(ValueError, match="in row 599999"):
        TRUTH.privatize(column)


def test_columns_are_not_changed():
    for make in MAKERS.values():
        column = make(GAPPY)
        TRUTH.privatize(column, missing="keep")
        assert as_list(column) == GAPPY
    numbers = np.array([1, 2, 3])
    numbers.flags.writeable = False
    assert Mechanism(np.eye(3), [0.6, 0.3, 0.1], (1, 2, 3)).privatize(numbers).tolist() == [
        "r0",
        "r1",
        "r2",
    ]


@pytest.mark.parametrize("m", [1, 2, 3, 128, 129, 255, 256, 257, 1000])
def test_the_guide_says_what_the_tables_say(m):
    rng = np.random.default_rng(m)
    tables = alias_tables(to_weights(rng.dirichlet(np.full(m, 0.2), size=3)))
    codes = rng.integers(3, size=20_000)
    direct = tables.draw(codes, random_words(5))
    drawn = guide(tables).draw(codes, random_words(5))
    assert (drawn == direct).all() and direct.max() < m


@pytest.mark.parametrize("kind", ["str", "string[pyarrow]", "string[python]"])
def test_text_kept_by_arrow_reads_and_writes_as_objects_do(kind):
    names = ["a\0", "a", "\u00e9", "e\u0301", ""]
    codes = np.random.default_rng(0).integers(-1, 5, 200)
    cells = [None if code < 0 else names[code] for code in codes]
    column = pd.Series(cells, dtype=kind, index=np.arange(200) + 7, name="x")
    assert (encode(column, names, missing="keep") == codes).all()
    assert (encode(pd.concat([column, column]), names, missing="keep")[200:] == codes).all()
    back = decode(codes, names, column)
    assert back.dtype == column.dtype and back.index.equals(column.index)
    assert back.name == "x_released"
    assert back.equals(column) and decode(codes[:0], names, column[:0]).dtype == column.dtype
    with pytest.raises(ValueError, match="row 0"):
        encode(pd.Series(["b"], dtype=kind), names)


def test_names_that_are_sequences_of_different_lengths():
    names = [("a",), "a", ("b", "c")]
    for like in (np.array([0, 1, 2]), pd.Series([0, 1, 2], dtype=object)):
        assert list(decode(np.array([2, 0, 1]), names, like)) == [("b", "c"), ("a",), "a"]


@pytest.mark.parametrize("names", [[("a",), ("b", "c")], [(1, 2), (3, 4)], [(), (0,), ("a", None)]])
def test_names_that_are_sequences_are_read_too(names):
    column = np.fromiter(names[::-1], dtype=object, count=len(names))
    for values in (column, pd.Series(column), pd.Index(column, tupleize_cols=False)):
        assert encode(values, names).tolist() == [*range(len(names))][::-1]
    with pytest.raises(ValueError, match="row 0, 1, not among"):
        encode(np.array([1, 2]), names)


def test_levels_of_an_index_are_read_as_tuples():
    names, index = [(1, "a"), (2, "b")], pd.MultiIndex.from_tuples([(2, "b"), (1, "a"), (2, "b")])
    assert encode(index, names).tolist() == [1, 0, 1]
    with pytest.raises(ValueError, match="row 1, not among"):
        encode(index, [(2, "b"), None])


def test_whole_numbers_of_arrow_in_pandas_are_read():
    column = pd.array([1, 3, None, 2], "int64[pyarrow]")
    assert encode(column, (3, 1, 2), missing="keep").tolist() == [1, 0, -1, 2]


def test_a_mapping_is_no_column():
    with pytest.raises(ValueError, match="values must be a column of values, got a UserDict"):
        TRUTH.privatize(UserDict({0: "flu"}))


def test_a_signalling_nan_is_no_public_value():
    flip = Mechanism([[0.75, 0.25], [0.25, 0.75]], [0.5, 0.5], outputs=(0, 1))
    with pytest.raises(ValueError, match="covariate must be one column of hashable values"):
        two_way(flip, [0, 1], [Decimal(1), Decimal("sNaN")])


def test_a_gap_is_refused_or_kept_and_nothing_else():
    with pytest.raises(ValueError, match="missing = None is none of refuse, keep"):
        TRUTH.privatize(SAID, missing=None)
