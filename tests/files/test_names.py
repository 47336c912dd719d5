"""Names of a design and values of a file: the same answer in another kind of storage, unknown answers, and gaps."""

from datetime import date
from pathlib import Path

import numpy as np
import pytest

from pmlbook import Mechanism
from pmlbook.budget import ReleaseLog
from pmlbook.files import Layout, release_file

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")


def open_mechanism(*names):
    """Each answer becomes an outcome of its own, so that what was read can be seen."""
    size = len(names)
    return Mechanism(np.eye(size), np.full(size, 1 / size), names, [f"r{i}" for i in range(size)])


def read(path, column, mechanism, **options):
    """What a file was read as: the positions of the names, None for a gap."""
    target = path.with_name(f"out{path.suffix}")
    terms = {"believed": True, "force": True} | options
    release_file(path, target, column, mechanism, **terms)
    if path.suffix == ".parquet":
        found = pq.read_table(target)[f"{column}_released"].to_pylist()
    else:
        found = [line or None for line in target.read_text("utf-8").splitlines()[1:]]
    return [None if text is None else int(text[1:]) for text in found]


@pytest.mark.parametrize(
    "values",
    [
        pa.array([1, 4, 2], pa.int64()),
        pa.array([1, 4, 2], pa.uint8()),
        pa.array([1.0, 4.0, 2.0]),
        pa.array(["1", "4", "2"]),
        pa.array(["1.0", "4", "2"]).dictionary_encode(),
    ],
    ids=str,
)
@pytest.mark.parametrize("names", [("1", "2", "4"), (1, 2, 4), ("1.0", "2.0", "4.0")])
def test_numbers_are_read_by_names_of_another_kind(tmp_path, names, values):
    path = tmp_path / "in.parquet"
    pq.write_table(pa.table({"code": values}), path)
    assert read(path, "code", open_mechanism(*names)) == [0, 2, 1]


def test_what_pandas_writes_where_a_column_has_gaps(tmp_path):
    """Whole numbers become floats there, and '1' becomes '1.0'."""
    path = tmp_path / "in.csv"
    path.write_text("code\n1.0\n2.0\n4.0\n")
    assert read(path, "code", open_mechanism("1", "2", "4")) == [0, 1, 2]


def test_dates_of_parquet_are_named_by_their_text(tmp_path):
    path = tmp_path / "in.parquet"
    pq.write_table(pa.table({"day": [date(2024, 2, 29), date(2024, 3, 1)]}), path)
    assert read(path, "day", open_mechanism("2024-03-01", "2024-02-29")) == [1, 0]


@pytest.mark.parametrize(
    "names, values",
    [
        (("1", "2"), ["01", "2"]),  # a postcode is no number
        (("1", "2"), ["1.5", "2"]),
        (("1", "1.0"), ["1.00", "1"]),  # two names of this text
        ((1, 2), [False, True]),
    ],
)
def test_what_is_not_the_same_text_is_refused_without_being_shown(tmp_path, names, values):
    path = tmp_path / "in.parquet"
    pq.write_table(pa.table({"code": values}), path)
    with pytest.raises(ValueError, match="in rows? 1.*not among"):
        read(path, "code", open_mechanism(*names))
    assert not (tmp_path / "out.parquet").exists()


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_unknown_answers_and_gaps_are_released_under_the_names_for_them(tmp_path, kind):
    path, made = tmp_path / f"in.{kind}", open_mechanism("a", "b", "other", "no answer")
    said = ["b", "zebra", None, "a", "", "other", "yak"]
    if kind == "csv":
        path.write_text("said\n" + "".join(f"{'-' if x is None else x}\n" for x in said))
    else:
        pq.write_table(pa.table({"said": said}), path)
    terms = {"other": "other", "missing": "no answer", "layout": Layout(missing_text="-")}
    # An empty line of CSV is an empty field, which is no gap under this layout.
    assert read(path, "said", made, **terms) == [1, 2, 3, 0, 2, 2, 2]
    with pytest.raises(ValueError, match="in rows? 2"):
        read(path, "said", made, **(terms | {"other": None}))
    with pytest.raises(ValueError, match="other = 'rest' is none of the names"):
        read(path, "said", made, **(terms | {"other": "rest"}))
    assert Path(path).exists()


@pytest.mark.parametrize("names", [("1", "2", "4"), (1, 2, 4), (1.5, "2.0", "4")])
@pytest.mark.parametrize(
    "make",
    [list, np.array, pd.Series, pl.Series, pa.array],
    ids=["list", "numpy", "pandas", "polars", "arrow"],
)
def test_a_column_in_memory_is_read_by_names_of_another_kind(names, make):
    """The outcomes are read by their text too: pandas makes numbers of '1' where it reads a released file."""
    made = open_mechanism(*names)
    assert [*map(str, made.privatize(make([4, 2, 4])))] == ["r2", "r1", "r2"]
    answers = Mechanism(made.channel, made.prior, names, ("2", "1", "4"))
    assert answers.estimate(make([1, 4])).frequencies.tolist() == [0, 0.5, 0.5]


def test_unknown_answers_and_gaps_in_memory(tmp_path):
    made = open_mechanism("a", "b", "other", 9)
    said, names = ["b", "zebra", None, "a"], {"other": "other", "missing": "9"}
    for column in (said, pd.Series(said), pl.Series(said), pa.array(said)):
        assert [*map(str, made.privatize(column, **names))] == ["r1", "r2", "r3", "r0"]
        with pytest.raises(ValueError, match="in row 1, not among"):
            made.privatize(column, missing=9)
    log = ReleaseLog(tmp_path / "log", new=True)
    assert log.privatize("said", made, said, **names).tolist() == ["r1", "r2", "r3", "r0"]
    for wrong in ({"other": "rest"}, {"missing": "rest"}):
        with pytest.raises(ValueError, match="'rest' is none of"):
            made.privatize(said, **(names | wrong))
