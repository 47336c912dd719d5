"""A release in partitions is one release, also if workers are lost."""

import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from pmlbook import AlreadyReleased, BudgetExceeded, Mechanism, optimal_mechanism
from pmlbook.budget import ReleaseLog
from pmlbook.files import engines as module
from pmlbook.files import release_file, release_frame
from pmlbook.files.counted import check_terms
from pmlbook.files.engines import Task
from pmlbook.numerics.validation import LevelExceeded
from pmlbook.release.parts import Key

dd = pytest.importorskip("dask.dataframe")
dask = pytest.importorskip("dask")

NAMES = ("healthy", "flu", "rare")
SWAP = Mechanism(np.eye(3)[[1, 0, 2]], [0.6, 0.3, 0.1], NAMES, NAMES)  # no dice: flu for healthy
COIN = Mechanism(np.full((3, 2), 0.5), [0.6, 0.3, 0.1], NAMES, ("heads", "tails"))
DRAWN = optimal_mechanism(pd.Series([0.6, 0.3, 0.1], NAMES), 1.0).mechanism


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    """An empty folder, and an engine that is this thread alone."""
    monkeypatch.chdir(tmp_path)
    with dask.config.set(scheduler="synchronous"):
        yield tmp_path


def patients(rows):
    """A frame of which every second person is healthy and the others have the flu."""
    return pd.DataFrame({"id": range(rows), "diagnosis": ["healthy", "flu"] * (rows // 2)})


def lazily(rows=400, parts=4):
    return dd.from_pandas(patients(rows), npartitions=parts)


def nothing_is_left():
    return sorted(os.listdir()) in ([], ["log"])


def test_partitions_release_the_column_and_nothing_else():
    frame = patients(100)
    lazy = dd.from_pandas(frame, npartitions=4)
    done = release_frame(
        lazy[lazy["id"] >= 50], "diagnosis", SWAP, "out"
    ).frame  # the first are empty
    assert done.npartitions == 4 and list(done.columns) == ["id", "diagnosis"]
    answer = done.compute()
    assert answer["id"].tolist() == answer.index.tolist() == list(range(50, 100))
    assert answer["diagnosis"].tolist() == ["flu", "healthy"] * 25
    assert answer.dtypes.equals(done.dtypes) and frame.equals(patients(100))
    assert os.listdir() == ["out"]
    assert sorted(os.listdir("out")) == [f"part.{k}.parquet" for k in range(4)]
    for private in ("out", *Path("out").iterdir()):
        assert os.name != "posix" or os.stat(private).st_mode & 0o077 == 0, private


@pytest.mark.parametrize("kind", ["object", "category"])
def test_a_released_column_has_its_type_in_every_partition(kind):
    kind = pd.CategoricalDtype(NAMES) if kind == "category" else kind
    lazy = dd.from_pandas(patients(40).astype({"diagnosis": kind}), npartitions=2)
    some = release_frame(
        lazy[lazy["id"] < 10], "diagnosis", SWAP, "out"
    ).frame  # the second is empty
    assert some.compute().dtypes.equals(some.dtypes)
    assert isinstance(some.dtypes["diagnosis"], pd.CategoricalDtype) == (kind != "object")


def test_every_partition_and_every_release_draws_anew():
    twins = dd.from_pandas(pd.DataFrame({"diagnosis": ["flu"] * 400}), npartitions=2)
    first, second = (
        release_frame(twins, "diagnosis", COIN, name).frame.compute()["diagnosis_released"]
        for name in ("a", "b")
    )
    assert (first != second).any()
    assert (first[:200].to_numpy() != first[200:].to_numpy()).any()


def test_what_is_released_is_not_released_again():
    log = ReleaseLog("log", new=True)
    first = release_frame(lazily(), "diagnosis", DRAWN, "out", log=log, budget=1.0).frame.compute()
    with pytest.raises(FileExistsError, match="out exists"):
        release_frame(lazily(), "diagnosis", DRAWN, "out", log=log)
    os.rename("out", "day0")  # a nightly job moves its folder away, and runs again
    with pytest.raises(AlreadyReleased):
        release_frame(lazily(), "diagnosis", DRAWN, "out", log=log)
    with pytest.raises(BudgetExceeded):
        release_frame(lazily(), "diagnosis", DRAWN, "out", log=log, again=True)
    (entry,) = log.entries
    assert (entry.column, entry.rows, entry.budget) == ("diagnosis", 400, 1.0)
    assert sorted(os.listdir()) == ["day0", "log"] and first.equals(
        dd.read_parquet("day0").compute()
    )


def test_what_is_there_is_not_replaced():
    Path("out").mkdir()
    Path("out/notes").write_text("mine")
    with pytest.raises(FileExistsError, match="out exists"):
        release_frame(lazily(), "diagnosis", SWAP, "out")
    assert os.listdir() == ["out"] and os.listdir("out") == ["notes"]


def test_the_key_is_in_no_task():
    pickling = pytest.importorskip("cloudpickle")
    seen, keys = [], []

    def spy(graph, keys_, **options):
        seen.append(pickling.dumps(graph))  # what a client sends to its scheduler
        keys.extend(Key.read(path).secret for path in Path().glob(".out.*/key"))
        plain = graph.__dask_graph__() if hasattr(graph, "__dask_graph__") else dict(graph)
        return dask.get(plain, keys_)

    with dask.config.set(scheduler=spy):
        released = release_frame(lazily(), "diagnosis", DRAWN, "out").frame
        seen.append(pickling.dumps(released))
    (key,) = {*keys}
    assert not any(form in graph for graph in seen for form in (key, key.hex().encode()))
    assert not any(key in part.read_bytes() for part in Path("out").iterdir())


def test_bad_values_are_reported_with_partition_and_row_and_leave_nothing():
    frame = patients(10)
    frame.loc[7, "diagnosis"] = None
    lazy, log = dd.from_pandas(frame, npartitions=2), ReleaseLog("log", new=True)
    with pytest.raises(ValueError, match="'diagnosis', partition 1: .* missing in row 2"):
        release_frame(lazy, "diagnosis", SWAP, "out", log=log)
    frame.loc[7, "diagnosis"] = "cold"
    with pytest.raises(ValueError, match=r"\(str\) in row") as told:
        release_frame(dd.from_pandas(frame, npartitions=2), "diagnosis", SWAP, "out", log=log)
    assert "cold" not in str(told.value) and nothing_is_left() and not log.entries
    kept = release_frame(lazy, "diagnosis", SWAP, "kept", missing="keep").frame.compute()
    assert kept["diagnosis"].isna().tolist() == [row == 7 for row in range(10)]


@pytest.mark.parametrize(
    "change, error, told",
    [
        ({"column": "diagnoses"}, ValueError, "'diagnoses' is not in the frame"),
        ({"column": 3}, ValueError, "column must be"),
        ({"frame": patients(4)}, ValueError, "frame must be a frame of Dask .* got a DataFrame"),
        ({"missing": "drop"}, ValueError, "missing = 'drop'"),
        ({"mechanism": None}, ValueError, "mechanism must be a Mechanism, got a NoneType"),
        ({"folder": None}, ValueError, "folder must be a path, got a NoneType"),
        ({"epsilon": 0.5}, LevelExceeded, "leaks more than 0.5 nats"),
        ({"epsilon": -1.0}, ValueError, "epsilon"),
        ({"budget": 1.0}, ValueError, "need a log"),
        ({"log": "log"}, ValueError, "log must be"),
        ({"log": True, "budget": 0.5}, BudgetExceeded, "budget of 0.5 nats"),
        ({"folder": "none/out"}, FileNotFoundError, "none"),
    ],
)
def test_what_can_be_asked_is_asked_before_the_first_task(change, error, told):
    def watched(part):
        Path("a task has run").touch()
        return part

    if change.get("log") is True:
        change = change | {"log": ReleaseLog("log", new=True)}
    lazy = lazily()
    frame = lazy.map_partitions(watched, meta=lazy._meta)
    call = {"frame": frame, "column": "diagnosis", "mechanism": DRAWN, "folder": "out"}
    with pytest.raises(error, match=told):
        release_frame(**call | change)
    assert nothing_is_left()


def test_a_column_that_is_the_index_too_is_refused():
    frame = patients(4).set_index("diagnosis", drop=False)
    with pytest.raises(ValueError, match="'diagnosis' .* is the index too"):
        release_frame(dd.from_pandas(frame, npartitions=1, sort=False), "diagnosis", SWAP, "out")
    assert nothing_is_left()


def test_no_rows_are_no_release():
    lazy = lazily()
    with pytest.raises(ValueError, match="frame has no rows"):
        release_frame(lazy[lazy["id"] < 0], "diagnosis", SWAP, "out")
    assert nothing_is_left()


# what the level rests on


def clinics(rows=3000, ill=None):
    """Patients in parts of a hundred, a clinic that tells, and shares that may be others than the prior's."""
    rng = np.random.default_rng(9)
    said = rng.choice(NAMES, rows, p=ill or [0.6, 0.3, 0.1])
    there = rng.random(rows) < np.where(said == "rare", 0.8, 0.1)
    clinic = np.where(there, "there", "elsewhere")
    return dd.from_pandas(pd.DataFrame({"clinic": clinic, "diagnosis": said}), npartitions=30)


def test_a_column_that_tells_and_shares_that_moved_are_refused_as_from_a_file():
    clinics().compute().to_csv("in.csv", index=False)
    moved = clinics(ill=[0.7, 0.2, 0.1])
    with pytest.raises(LevelExceeded, match="for a reader who knows 'clinic'"):
        release_frame(clinics(), "diagnosis", DRAWN, "out")
    with pytest.raises(LevelExceeded, match="under the shares of this file"):
        release_frame(moved, "diagnosis", DRAWN, "out", only=True)
    assert sorted(os.listdir()) == ["in.csv"]
    found = release_frame(clinics(), "diagnosis", DRAWN, "out", visible="clinic").premises
    done = release_file("in.csv", "out.csv", "diagnosis", DRAWN, visible="clinic").premises
    assert found.within == done.within and found.own == done.own
    alone = release_frame(
        moved, "diagnosis", DRAWN, "alone", only=True, believed=True
    ).frame.compute()
    assert list(alone.columns) == ["diagnosis_released"] and len(alone) == 3000


# kills


def die(*arguments, **options):
    os.kill(os.getpid(), signal.SIGKILL)


def after_two_parts(patch):
    done = []  # the engine chooses their order

    run = Task.__call__

    def part(task, frame, number):
        done.append(number)
        return run(task, frame, number) if len(done) <= 2 else die()

    patch.setattr(Task, "__call__", part)


def before_the_row(patch):
    patch.setattr(ReleaseLog, "record", die)


def before_the_name(patch):
    patch.setattr(module.os, "rename", die)


def booked_release(point=None, frame=None):
    """One release with a budget for one; the process ends at a point."""
    with pytest.MonkeyPatch.context() as patch:
        if point:
            point(patch)
        lazy = lazily() if frame is None else dd.from_pandas(frame, npartitions=4)
        terms = {"log": ReleaseLog("log"), "budget": DRAWN.epsilon}
        return release_frame(lazy, "diagnosis", DRAWN, "out", **terms).frame


def forked(*targets):
    """Exit codes of functions that run in processes of their own."""
    runs = [get_context("fork").Process(target=target, args=rest) for target, *rest in targets]
    for run in runs:
        run.start()
    for run in runs:
        run.join(60)
    return [run.exitcode for run in runs]


@pytest.mark.posix
@pytest.mark.parametrize("point", [after_two_parts, before_the_row, before_the_name])
def test_killed_anywhere_and_called_again(point):
    log = ReleaseLog("log", new=True)
    assert forked((booked_release, point)) == [-signal.SIGKILL]
    (hidden,) = Path().glob(".out.*")
    assert hidden.stat().st_mode & 0o077 == 0 and not Path("out").exists()
    written = {path.name: path.read_bytes() for path in (hidden / "parts").iterdir()}
    booked = point is before_the_name
    assert written and len(log.entries) == booked
    assert len(booked_release()) == 400 and len(log.entries) == 1
    found = {name: (Path("out") / name).read_bytes() for name in written}
    assert (found == written) == booked  # what was not booked is drawn anew: it was never visible
    if booked:
        assert sorted(os.listdir()) == ["log", "out"]


@pytest.mark.posix
@pytest.mark.parametrize(
    "other",
    [
        lambda frame: frame[::-1].reset_index(drop=True),
        lambda frame: frame.assign(diagnosis=frame["diagnosis"].where(frame["id"] != 3, "rare")),
        lambda frame: frame.iloc[1:].reset_index(drop=True),
        lambda frame: frame.iloc[:-4],
    ],
    ids=["order", "value", "row", "end"],
)
def test_other_rows_under_its_row_do_not_go_out(other):
    log = ReleaseLog("log", new=True)
    assert forked((booked_release, before_the_name)) == [-signal.SIGKILL]
    with pytest.raises(ValueError, match="partition [0-3]: part [0-3] holds other rows"):
        booked_release(frame=other(patients(400)))
    assert not Path("out").exists() and len(log.entries) == 1
    assert len(booked_release()) == 400 and len(log.entries) == 1


@pytest.mark.posix
def test_rows_of_texts_and_numbers_are_other_rows():
    """A folder of one was released under the line of the other: both print alike."""
    log = ReleaseLog("log", new=True)
    made = Mechanism(np.full((2, 2), 0.5), [0.5, 0.5], ("1", 1), ("a", "b"))
    texts, mixed = (
        pd.DataFrame({"said": x}, dtype=object) for x in (["1", "1"] * 50, ["1", 1] * 50)
    )

    def called(frame, point=None):
        with pytest.MonkeyPatch.context() as patch:
            if point:
                point(patch)
            with dask.config.set({"dataframe.convert-string": False}):
                lazy = dd.from_pandas(frame, npartitions=2)
                return release_frame(lazy, "said", made, "out", log=ReleaseLog("log")).frame

    assert forked((called, texts, before_the_name)) == [-signal.SIGKILL]
    with pytest.raises(ValueError, match="holds other rows"):
        called(mixed)
    assert len(called(texts)) == 100 and len(log.entries) == 1


def task():
    """What a worker gets, with a key in the folder."""
    Path("parts").mkdir()
    Key.new().write(Path("key"))
    terms = check_terms("diagnosis", DRAWN, None, None, None, False, (), False, 0.95)
    return Task(terms, "refuse", None, ("index", "id"), Path())


def test_a_frame_that_changes_between_two_runs_of_a_task_is_refused():
    """A worker is lost after it has written its part, and the rows come back in another order."""
    run, frame = task(), patients(1000)
    assert run(frame, 0).digests == run(frame, 0).digests
    with pytest.raises(ValueError, match="partition 0: it holds other rows"):
        run(frame[::-1], 0)


def test_a_task_that_is_started_twice_at_once_writes_once():
    run, frame = task(), patients(100_000)
    with ThreadPoolExecutor(4) as pool:
        runs = [pool.submit(run, frame, 0) for _ in range(4)]
        assert len({run.result().digests[0] for run in runs}) == 1
    assert os.listdir("parts") == ["part.0.parquet"]


def test_what_a_killed_worker_has_half_written_does_not_go_out(monkeypatch):
    run = Task.__call__

    def stray(task, frame, number):
        (task.place / "parts" / ".part.1.parquet.0.part").write_text("half")
        return run(task, frame, number)

    monkeypatch.setattr(Task, "__call__", stray)
    release_frame(lazily(), "diagnosis", DRAWN, "out")
    assert sorted(os.listdir("out")) == [f"part.{k}.parquet" for k in range(4)]


@pytest.mark.posix
def test_two_at_once_are_one_release():
    log = ReleaseLog("log", new=True)
    codes = forked((booked_release,), (booked_release,), (booked_release,))
    assert codes.count(0) == 1 and len(log.entries) == 1
    assert sorted(os.listdir()) == ["log", "out"]


def test_tasks_that_still_run_leave_nothing_behind():
    """One partition is refused while other threads write theirs."""
    damaged = patients(800)
    damaged.loc[0, "diagnosis"] = "cold"
    for _ in range(20):
        with dask.config.set(scheduler="threads", num_workers=4):
            with pytest.raises(ValueError, match="partition 0"):
                release_frame(dd.from_pandas(damaged, npartitions=8), "diagnosis", SWAP, "out")
            assert nothing_is_left()


# real processes


@contextmanager
def workers(distributed, folder, count=3):
    """A scheduler, and workers that are processes of our own; a lost one is not started again."""
    cluster = distributed.LocalCluster(n_workers=0, dashboard_address=None)
    command = [sys.executable, "-m", "dask", "worker", cluster.scheduler_address, "--no-nanny"]
    command += ["--nthreads", "1", "--no-dashboard", "--local-directory", str(folder / "scratch")]
    env = os.environ | {
        "PYTHONPATH": str(Path(__file__).parents[2])
    }  # where `Dying` is imported from
    running = [subprocess.Popen(command, stderr=subprocess.DEVNULL, env=env) for _ in range(count)]
    client = distributed.Client(cluster)
    try:
        client.wait_for_workers(count, timeout=300)
        yield running
    finally:
        for process in running:
            process.kill()
            process.wait()
        with suppress(TimeoutError):  # how fast an engine stops is not asked here
            client.close(timeout=30)
            cluster.close(timeout=30)


class Dying(Task):
    """Release a part; the first time, the worker ends when the part is written and before it can report it."""

    def __call__(self, part, number):
        done = super().__call__(part, number)
        mark = self.place.parent / "killed"
        if number == 1 and not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return done


def test_a_worker_that_is_killed_releases_nothing_twice(monkeypatch, here):
    """Real processes: one ends when it has written a part, another between two computations of the result."""
    distributed = pytest.importorskip("distributed")
    monkeypatch.setattr(module, "Task", Dying)
    log = ReleaseLog("log", new=True)
    with workers(distributed, here) as running, dask.config.set(scheduler=None):
        done = release_frame(lazily(4000, 8), "diagnosis", DRAWN, "out", log=log)
        released = done.frame.persist()
        first = released.compute()
        alive = [process for process in running if process.poll() is None]
        assert len(alive) == 2
        alive[0].kill()
        second = released.compute()
    assert Path("killed").exists() and len(log.entries) == 1
    assert first.equals(second) and first["id"].tolist() == list(range(4000))


UNGUARDED = """
import dask, pandas as pd
from dask import dataframe as dd
from pmlbook import Mechanism
from pmlbook.files import release_frame

dask.config.set(scheduler="processes", num_workers=2)
frame = dd.from_pandas(pd.DataFrame({"said": ["no", "yes"] * 50}), npartitions=2)
flip = Mechanism([[0.6, 0.4], [0.4, 0.6]], [0.5, 0.5], ("no", "yes"))
release_frame(frame, "said", flip, "out")
"""


def test_a_script_without_a_main_guard_ends(here):
    """Each worker starts the script again; it waited for ever for the lock of the first."""
    Path("script.py").write_text(UNGUARDED)
    command = [sys.executable, "script.py"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240)
    assert (done.returncode == 0) == Path("out").exists()
    assert [name for name in os.listdir() if name.startswith(".out")] == []


MEMORY = """
import dask, pandas as pd
from dask import dataframe as dd
from pmlbook import Mechanism
from pmlbook.files import release_frame

def part(number):
    ids = range(number * 2**16, (number + 1) * 2**16)
    notes = pd.array([str(k) * 40 for k in ids], "string[pyarrow]")
    return pd.DataFrame({"id": ids, "said": ["no", "yes"] * 2**15, "note": notes})

def peak():
    lines = open("/proc/self/status")  # getrusage would tell the peak of the process that started this one
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))

dask.config.set(scheduler="synchronous")
flip = Mechanism([[0.75, 0.25], [0.25, 0.75]], [0.5, 0.5], ("no", "yes"))
frame = dd.from_map(part, range(16), meta=part(0).iloc[:0])
print(peak())
release_frame(frame, "said", flip, "out")
print(peak())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="asks Linux")
def test_memory_is_that_of_a_partition():
    """Sixteen partitions take 230 MB more than none, and 470 if all are in memory at once."""
    run = subprocess.run([sys.executable, "-c", MEMORY], capture_output=True, text=True, check=True)
    before, after = (int(size) // 1024 for size in run.stdout.split())
    assert after - before < 350, (before, after)
