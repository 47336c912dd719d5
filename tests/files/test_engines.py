"""One promise on every engine: a column goes out once, whatever is computed twice. `make spark` runs the rows of Spark, which needs Java."""

import importlib.util
import os
import signal
import subprocess
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from pmlbook import AlreadyReleased, BudgetExceeded, Mechanism, optimal_mechanism
from pmlbook.budget import ReleaseLog
from pmlbook.files import engines, release_file, release_frame
from pmlbook.files.engines import Task
from pmlbook.numerics.validation import LevelExceeded

pa = pytest.importorskip("pyarrow")
pl = pytest.importorskip("polars")
duckdb = pytest.importorskip("duckdb")
dask = pytest.importorskip("dask")
dd = pytest.importorskip("dask.dataframe")

NAMES = ("healthy", "flu", "rare")
DRAWN = optimal_mechanism(pd.Series([0.6, 0.3, 0.1], NAMES), 0.3).mechanism
CONNECTION = duckdb.connect()  # relations of older versions do not keep theirs open
SPARK = importlib.util.find_spec("pyspark") is not None


@cache
def spark():
    """A session of two threads, in which a lost task is tried again."""
    from pyspark.sql import SparkSession

    options = {"spark.driver.host": "127.0.0.1", "spark.ui.enabled": "false"}
    options |= {"spark.log.level": "OFF", "spark.ui.showConsoleProgress": "false"}
    builder = SparkSession.builder.master("local[2,4]").config(map=options)
    return builder.config("spark.sql.shuffle.partitions", 2).getOrCreate()


def of_dask(frame):
    return dd.from_pandas(frame, npartitions=3)


def of_polars(frame):
    return pl.from_pandas(frame).lazy()


def of_duckdb(frame):
    return CONNECTION.from_arrow(pa.Table.from_pandas(frame))


def of_spark(frame):
    return spark().createDataFrame(pa.Table.from_pandas(frame))  # in two partitions


def read(frame):
    """A lazy table as pandas, by its id."""
    for method in ("compute", "collect", "df", "toPandas"):
        if hasattr(frame, method) and not (method == "collect" and hasattr(frame, "toPandas")):
            found = getattr(frame, method)()
            found = found if isinstance(found, pd.DataFrame) else found.to_pandas()
            return found.sort_values("id").reset_index(drop=True) if "id" in found else found


MAKERS = [of_dask, of_polars, of_duckdb]
MAKERS.append(
    pytest.param(of_spark, marks=pytest.mark.skipif(not SPARK, reason="`make spark` runs it"))
)
on_every_engine = pytest.mark.parametrize("lazily", MAKERS)


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    """An empty folder, and Dask in this thread alone."""
    monkeypatch.chdir(tmp_path)
    with dask.config.set(scheduler="synchronous"):
        yield tmp_path


def patients(rows=3000, **more):
    rng = np.random.default_rng(9)
    said = rng.choice(NAMES, rows, p=DRAWN.prior)
    sex = rng.choice(["f", "m"], rows)
    return pd.DataFrame({"id": range(rows), "sex": sex, "diagnosis": said} | more)


@on_every_engine
def test_a_second_reading_draws_nothing_anew(lazily):
    frame = patients()
    log = ReleaseLog("log", new=True)
    done = release_frame(lazily(frame), "diagnosis", DRAWN, "out", log=log, budget=0.3)
    first, second = read(done.frame), read(done.frame)
    assert first.equals(second) and list(first)[:3] == ["id", "sex", "diagnosis_released"]
    assert first[["id", "sex"]].astype(object).equals(frame[["id", "sex"]].astype(object))
    assert set(first["diagnosis_released"]) <= set(DRAWN.outputs)
    assert done.rows == log.entries[0].rows == 3000 and sorted(os.listdir()) == ["log", "out"]
    with pytest.raises(AlreadyReleased):
        release_frame(lazily(frame), "diagnosis", DRAWN, "out2", log=log)
    with pytest.raises(BudgetExceeded):
        release_frame(lazily(frame), "diagnosis", DRAWN, "out2", log=log, again=True)
    assert len(log.entries) == 1 and sorted(os.listdir()) == ["log", "out"]


OTHERS = {
    "order": lambda frame: frame.assign(id=frame["id"].to_numpy()[::-1]).sort_values("id"),
    "value": lambda frame: frame.assign(
        diagnosis=frame["diagnosis"].where(frame["id"] != 1700, "rare")
    ),
    "row": lambda frame: frame[frame["id"] != 5],
    "end": lambda frame: frame[:-1],
}


@on_every_engine
def test_a_run_that_was_booked_and_cut_off_is_gone_on_with_on_the_same_rows_alone(
    lazily, monkeypatch
):
    written, log = {}, ReleaseLog("log", new=True)
    terms = {"log": log, "budget": 0.3}

    def end(parts, target):
        written.update({path.name: path.read_bytes() for path in parts.iterdir()})
        raise KeyboardInterrupt

    frame = patients()
    frame.loc[1700, "diagnosis"] = "flu"
    with monkeypatch.context() as patch:
        patch.setattr(engines.os, "rename", end)
        with pytest.raises(KeyboardInterrupt):
            release_frame(lazily(frame), "diagnosis", DRAWN, "out", **terms)
    assert len(log.entries) == 1 and not Path("out").exists()
    for name, other in OTHERS.items():
        rows = other(frame).reset_index(drop=True)
        with pytest.raises(ValueError, match="holds other rows|booked with other rows"):
            release_frame(lazily(rows), "diagnosis", DRAWN, "out", **terms)
        assert not Path("out").exists() and len(log.entries) == 1, name
    left = Path(
        f".out.{log.entries[0].release}.killed"
    )  # with the key, as a killed program leaves it
    left.mkdir()
    done = release_frame(lazily(frame), "diagnosis", DRAWN, "new", **terms)
    assert done.completed and len(log.entries) == 1 and sorted(os.listdir()) == ["log", "new"]
    assert {path.name: path.read_bytes() for path in Path("new").iterdir()} == written


@on_every_engine
def test_the_level_rests_on_the_same_premises_as_that_of_a_file(lazily):
    frame = patients()
    there = np.random.default_rng(1).random(3000) < np.where(frame["diagnosis"] == "rare", 0.8, 0.1)
    frame["clinic"] = np.where(there, "there", "elsewhere")
    frame.to_csv("in.csv", index=False)
    with pytest.raises(LevelExceeded, match="for a reader who knows 'clinic'"):
        release_frame(lazily(frame), "diagnosis", DRAWN, "out")
    options = {"visible": "clinic", "given": ["sex", "clinic"], "stated": 0.31}
    done = release_frame(lazily(frame), "diagnosis", DRAWN, "out", **options)
    same = release_file("in.csv", "out.csv", "diagnosis", DRAWN, **options)
    assert done.premises.within == same.premises.within and done.premises.own == same.premises.own
    assert done.strata == same.strata and len(done.strata) == 4
    moved = frame.assign(diagnosis=["healthy", "rare"] * 1500)
    with pytest.raises(LevelExceeded, match="under the shares of this file"):
        release_frame(lazily(moved), "diagnosis", DRAWN, "alone", only=True)
    alone = release_frame(lazily(moved), "diagnosis", DRAWN, "alone", only=True, believed=True)
    assert list(read(alone.frame)) == ["diagnosis_released"] and alone.premises.believed


@on_every_engine
def test_names_are_read_by_their_text_and_gaps_and_others_have_one(lazily):
    made = Mechanism(np.eye(4), [0.25] * 4, ("1", "2", "other", "none"), ("a", "b", "c", "d"))
    frame = pd.DataFrame({"id": range(5), "said": pd.array([2, 7, None, 1, 2], "Int64")})
    terms = {"believed": True, "other": "other", "missing": "none"}
    done = release_frame(lazily(frame), "said", made, "out", **terms)
    assert read(done.frame)["said_released"].tolist() == ["b", "c", "d", "a", "b"]
    kept = release_frame(lazily(frame[frame["id"] != 1]), "said", made, "kept", missing="keep")
    assert read(kept.frame)["said_released"].isna().tolist() == [False, True, False, False]
    assert kept.gaps == 1
    with pytest.raises(ValueError, match="other = 'rest' is none of the names"):
        release_frame(lazily(frame), "said", made, "out2", **(terms | {"other": "rest"}))


@on_every_engine
def test_a_bad_value_and_a_bad_request_leave_nothing(lazily):
    frame = patients(30)
    frame.loc[27, "diagnosis"] = "cold"
    with pytest.raises(ValueError, match="column 'diagnosis', partition [0-2]: .* in row") as told:
        release_frame(lazily(frame), "diagnosis", DRAWN, "out")
    assert "cold" not in str(told.value)
    for bad, words in [
        ({"column": "diagnoses"}, "'diagnoses' is not in the frame"),
        ({"visible": "age"}, "'age' is not in the frame"),
        ({"given": "diagnosis"}, "cannot be released and be visible"),
        ({"epsilon": 0.1}, "leaks more than 0.1 nats"),
        ({"budget": 1.0}, "need a log"),
    ]:
        call = {"frame": lazily(patients(30)), "column": "diagnosis", "mechanism": DRAWN}
        with pytest.raises(ValueError, match=words):
            release_frame(**call | {"folder": "out"} | bad)
    with pytest.raises(ValueError, match="frame has no rows"):
        release_frame(lazily(patients(0)), "diagnosis", DRAWN, "out")
    assert not os.listdir()


@pytest.mark.parametrize("title", ["diagnosis_released", "Diagnosis_Released"])
def test_a_title_that_is_taken_is_refused(title):
    """DuckDB and Spark do not tell capitals: the labels came back as 'diagnosis_released_1'."""
    frame = patients(30, **{title: "healthy"})
    with pytest.raises(ValueError, match="'diagnosis_released', as another one is"):
        release_frame(of_duckdb(frame), "diagnosis", DRAWN, "out")


def objects():
    return pl.DataFrame({"note": pl.Series([{}, 1], dtype=pl.Object), "said": ["a", "b"]}).lazy()


def mixed():
    notes = pd.Series([1, "a secret"], dtype=object)
    with dask.config.set({"dataframe.convert-string": False}):
        return dd.from_pandas(pd.DataFrame({"note": notes, "said": ["a", "b"]}), npartitions=1)


def coded():
    coded = pd.Series(["a", "b"], dtype=pd.ArrowDtype(pa.dictionary(pa.int8(), pa.string())))
    return dd.from_pandas(pd.DataFrame({"note": coded, "said": ["a", "b"]}), npartitions=1)


def indexed():
    frame = pd.DataFrame({"note": 1}, index=pd.Index(["a", "b"], name="said"))
    return dd.from_pandas(frame, npartitions=1)


@pytest.mark.parametrize(
    "lazily, told",
    [
        (objects, "column 'note' holds Python objects"),
        (mixed, "column 'said', partition 0: a column that stays has no type of Parquet: .* note"),
        (coded, "frame has a type that a Parquet file does not keep"),
        (indexed, "column 'said' is the index of the frame"),
    ],
)
def test_what_a_file_does_not_keep_is_refused_before_it_is_booked(lazily, told):
    """Objects became addresses in memory, a coded column could not be read again, an error showed a value."""
    coin, log = Mechanism([[0.5, 0.5]] * 2, [0.5, 0.5], ("a", "b")), ReleaseLog("log", new=True)
    with pytest.raises(ValueError, match=told) as seen:
        release_frame(lazily(), "said", coin, "out", log=log)
    assert "secret" not in str(seen.value) and not log.entries and os.listdir() == ["log"]


@pytest.mark.parametrize("folder", ["out[1]", "o*t", "o?t", "{out}/a"])
def test_a_folder_that_engines_read_as_a_pattern_is_refused(folder):
    """Its key was left behind, and Polars did not find it."""
    with pytest.raises(ValueError, match="has one of"):
        release_frame(of_polars(patients(30)), "diagnosis", DRAWN, folder)
    assert not os.listdir()


@pytest.mark.parametrize("frame", [patients(3), pl.DataFrame({"diagnosis": ["flu"]}), [1], None])
def test_what_is_no_lazy_table_is_refused(frame):
    with pytest.raises(ValueError, match="frame must be a frame of Dask or Spark, a lazy frame"):
        release_frame(frame, "diagnosis", DRAWN, "out")


@pytest.mark.parametrize("kind", [pl.Categorical, pl.Enum(NAMES)], ids=str)
def test_categories_of_polars_stay_in_every_part(kind, monkeypatch):
    monkeypatch.setattr("pmlbook.files.adapters.PART_ROWS", 7)
    swap = Mechanism(np.eye(3)[[1, 0, 2]], DRAWN.prior, NAMES, NAMES)
    lazy = pl.from_pandas(patients(30)).lazy().with_columns(pl.col("diagnosis").cast(kind))
    done = release_frame(lazy, "diagnosis", swap, "out", believed=True)
    found, before = done.frame.collect(), lazy.collect()["diagnosis"].cast(pl.String)
    assert len(os.listdir("out")) == 5 and found["diagnosis"].dtype == kind
    swapped = before.replace({"healthy": "flu", "flu": "healthy"}).to_list()
    assert found["diagnosis"].cast(pl.String).to_list() == swapped


MEMORY = """
import duckdb, polars as pl
from pmlbook import Mechanism
from pmlbook.files import adapters, release_frame

def peak():
    lines = open("/proc/self/status")  # getrusage would tell the peak of the process that started this one
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))

adapters.PART_ROWS = 2**14  # of 2 kB each
connection = duckdb.connect(config={"threads": 1})
connection.sql("SET enable_progress_bar = false")
flip = Mechanism([[0.75, 0.25], [0.25, 0.75]], [0.5, 0.5], ("no", "yes"))
connection.sql(
    "SELECT range AS id, CASE range % 2 WHEN 0 THEN 'no' ELSE 'yes' END AS said, "
    "repeat(range::VARCHAR, 300) AS note FROM range(550_000)"
).write_parquet("in.parquet", row_group_size=8192)
print(peak())
for read in (connection.read_parquet, pl.scan_parquet):
    release_frame(read("in.parquet"), "said", flip, read.__name__)
    print(peak())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="asks Linux")
def test_memory_is_that_of_a_part():
    """A table of 960 MB, which Polars reads some 500 MB ahead."""
    command = [sys.executable, "-c", MEMORY]
    env = os.environ | {"POLARS_MAX_THREADS": "1"}
    run = subprocess.run(command, capture_output=True, text=True, env=env)
    assert run.returncode == 0, run.stderr
    before, duck, bear = (int(size) // 1024 for size in run.stdout.split())
    assert duck - before < 450 and bear - before < 750, (before, duck, bear)


# Spark


class Dying(Task):
    """Release a part; the first time, the worker ends when the part is written and before it can report it."""

    def __call__(self, part, number, counted=None):
        done = super().__call__(part, number, counted)
        mark = self.place.parent / "killed"
        if number == 1 and not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return done


@pytest.mark.skipif(not SPARK, reason="`make spark` runs it")
@pytest.mark.parametrize("shuffled", [False, True])
def test_a_spark_worker_that_is_killed_releases_nothing_twice(shuffled, monkeypatch, here):
    """Its task runs again: on the same rows the same values, and on rows in another order an error."""
    from pyspark import cloudpickle

    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    monkeypatch.setattr(engines, "Task", Dying)
    mark = here / "killed"

    def upstream(batches):
        import pyarrow

        rows = pyarrow.Table.from_batches(list(batches))
        again = shuffled and mark.exists()
        yield from (rows[::-1] if again else rows).to_batches()

    lazy = of_spark(patients())
    lazy, log = lazy.mapInArrow(upstream, lazy.schema), ReleaseLog("log", new=True)
    if shuffled:
        with pytest.raises(ValueError, match="partition 1: it holds other rows"):
            release_frame(lazy, "diagnosis", DRAWN, "out", log=log)
        assert mark.exists() and not log.entries and not Path("out").exists()
        return
    done = release_frame(lazy, "diagnosis", DRAWN, "out", log=log)
    assert mark.exists() and len(log.entries) == 1 and read(done.frame).equals(read(done.frame))
    assert read(done.frame)["id"].tolist() == list(range(3000))
