"""A release in partitions is one release, also if workers are lost; sweeps in parallel are the designs one by one."""

import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from multiprocessing import get_context
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from pmlbook import BudgetExceeded, Mechanism, optimal_mechanism
from pmlbook.accounting import disk_log, scale
from pmlbook.accounting.manifest import Manifest
from pmlbook.accounting.scale import part_file, release_dask, release_frame, release_part, sweep
from pmlbook.budget import DiskLog
from pmlbook.practice.strata import LevelExceeded

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
    done = release_dask(lazy[lazy["id"] >= 50], "diagnosis", SWAP, "out")  # the first are empty
    assert done.npartitions == 4 and list(done.columns) == ["id", "diagnosis_released"]
    answer = done.compute()
    assert answer["id"].tolist() == answer.index.tolist() == list(range(50, 100))
    assert answer["diagnosis_released"].tolist() == ["flu", "healthy"] * 25
    assert answer.dtypes.equals(done.dtypes) and frame.equals(patients(100))
    assert sorted(os.listdir("out")) == [f"part.{k}.parquet" for k in range(4)]
    for private in ("out", "out.manifest", *Path("out").iterdir()):
        assert os.stat(private).st_mode & 0o077 == 0, private


@pytest.mark.parametrize("kind", ["object", "category"])
def test_no_rows_have_the_same_type_as_some(kind):
    frame = patients(4).astype(
        {"diagnosis": pd.CategoricalDtype(NAMES) if kind != "object" else kind}
    )
    some, none = (release_frame(part, "diagnosis", SWAP) for part in (frame, frame.iloc[:0]))
    assert len(none) == 0 and list(none.columns) == list(some.columns)
    assert none["diagnosis_released"].dtype == some["diagnosis_released"].dtype
    released = release_dask(dd.from_pandas(frame, npartitions=2), "diagnosis", SWAP, "out")
    assert released.compute()["diagnosis_released"].tolist() == some["diagnosis_released"].tolist()
    assert isinstance(released.dtypes["diagnosis_released"], pd.CategoricalDtype) == (
        kind == "category"
    )


def test_every_partition_and_every_release_draws_anew():
    twins = dd.from_pandas(pd.DataFrame({"diagnosis": ["flu"] * 400}), npartitions=2)
    first, second = (
        release_dask(twins, "diagnosis", COIN, name).compute()["diagnosis_released"]
        for name in ("a", "b")
    )
    assert (first != second).any()
    assert (first[:200].to_numpy() != first[200:].to_numpy()).any()


def test_computed_twice_and_called_twice_it_is_one_release():
    released = release_dask(lazily(), "diagnosis", DRAWN, "out")
    first, held = released.compute(), released.persist()
    again = release_dask(lazily(), "diagnosis", DRAWN, "out")
    for other in (released, held, again):
        assert other.compute().equals(first)


def test_a_part_that_is_lost_comes_back_as_it_was():
    release_dask(lazily(), "diagnosis", DRAWN, "out")
    whole = {path: path.read_bytes() for path in Path("out").iterdir()}
    part_file(Path("out"), 1).unlink()
    release_dask(lazily(), "diagnosis", DRAWN, "out")
    assert {path: path.read_bytes() for path in Path("out").iterdir()} == whole


@pytest.mark.parametrize(
    "other",
    [
        lambda frame: frame[::-1],
        lambda frame: frame.assign(diagnosis=frame["diagnosis"].where(frame["id"] != 3, "rare")),
        lambda frame: frame.iloc[1:],
        lambda frame: frame.assign(id=frame["id"] + 1),
    ],
    ids=["order", "value", "row", "person"],
)
def test_other_rows_under_the_same_name_do_not_go_out(other):
    released = release_dask(lazily(), "diagnosis", DRAWN, "out").compute()
    frame = other(patients(400)).reset_index(drop=True)
    with pytest.raises(ValueError, match="partition [0-3]: it holds other rows"):
        release_dask(dd.from_pandas(frame, npartitions=4), "diagnosis", DRAWN, "out")
    assert release_dask(lazily(), "diagnosis", DRAWN, "out").compute().equals(released)


def test_the_same_key_serves_no_two_different_frames():
    """By hand, past all refusals: one key, the same values at the same places, one value changed."""
    manifest = Manifest.new(Path("key"), {"column": "diagnosis"})
    manifest.write()
    frame = pd.DataFrame({"diagnosis": ["flu"] * 1000})
    changed = frame.assign(diagnosis=["flu"] * 999 + ["rare"])
    drawn = []
    for part, name in ((frame, "a"), (frame, "b"), (changed, "c")):
        Path(name).mkdir()
        release_part(part, 0, "diagnosis", COIN, "refuse", manifest.path, Path(name))
        drawn.append(pd.read_parquet(part_file(Path(name), 0))["diagnosis_released"])
    assert (drawn[0] == drawn[1]).all()
    assert 400 < (drawn[0] != drawn[2]).sum() < 600  # as two coins: words that share nothing


@pytest.mark.parametrize(
    "change, told",
    [
        ({"column": "id"}, "column = 'diagnosis', not 'id'"),
        ({"mechanism": COIN}, "certificate = "),
        ({"missing": "keep"}, "missing = 'refuse', not 'keep'"),
        ({"frame": lazily(400, 5)}, "partitions = 4, not 5"),
        ({"frame": dd.from_pandas(patients(400).astype({"id": float}), npartitions=4)}, "types = "),
        ({"log": DiskLog("log", new=True)}, "log = None, not "),
    ],
)
def test_another_release_needs_another_folder(change, told):
    call = {"frame": lazily(), "column": "diagnosis", "mechanism": DRAWN, "folder": "out"}
    first = release_dask(**call).compute()
    with pytest.raises(ValueError, match=told):
        release_dask(**call | change)
    assert release_dask(**call).compute().equals(first) and not Path("log").exists()


def test_what_is_there_is_not_replaced():
    Path("out").mkdir()
    Path("out/notes").write_text("mine")
    with pytest.raises(FileExistsError, match="out exists, and no manifest"):
        release_dask(lazily(), "diagnosis", SWAP, "out")
    assert os.listdir() == ["out"] and os.listdir("out") == ["notes"]


def test_a_key_that_others_know_is_refused():
    release_dask(lazily(), "diagnosis", DRAWN, "out")
    os.chmod("out.manifest", 0o644)
    with pytest.raises(ValueError, match="not yours alone"):
        release_dask(lazily(), "diagnosis", DRAWN, "out")


def test_the_key_is_in_no_task():
    seen = []

    def spy(graph, keys, **options):
        seen.append(cloudpickle(graph))  # what a client sends to its scheduler
        plain = graph.__dask_graph__() if hasattr(graph, "__dask_graph__") else dict(graph)
        return dask.get(plain, keys)

    with dask.config.set(scheduler=spy):
        released = release_dask(lazily(), "diagnosis", DRAWN, "out")
        seen.append(cloudpickle(released))
    key = Manifest.read(Path("out.manifest")).key
    assert b"out.manifest" in seen[0]
    assert not any(form in graph for graph in seen for form in (key, key.hex().encode()))
    assert not any(key in part.read_bytes() for part in Path("out").iterdir())


def cloudpickle(thing):
    return pytest.importorskip("cloudpickle").dumps(thing)


def test_bad_values_are_reported_with_partition_and_row_and_leave_nothing():
    frame = patients(10)
    frame.loc[7, "diagnosis"] = None
    lazy = dd.from_pandas(frame, npartitions=2)
    with pytest.raises(ValueError, match="'diagnosis', partition 1: .* missing in row 2"):
        release_dask(lazy, "diagnosis", SWAP, "out")
    assert nothing_is_left()
    kept = release_dask(lazy, "diagnosis", SWAP, "kept", missing="keep").compute()
    assert kept["diagnosis_released"].isna().tolist() == [row == 7 for row in range(10)]
    frame.loc[7, "diagnosis"] = "cold"
    with pytest.raises(ValueError, match=r"\(str\) in row") as told:
        release_dask(dd.from_pandas(frame, npartitions=2), "diagnosis", SWAP, "out")
    assert "cold" not in str(told.value) and not Path("out.manifest").exists()
    frame.loc[7, "diagnosis"] = "flu"
    assert len(release_dask(dd.from_pandas(frame, npartitions=2), "diagnosis", SWAP, "out")) == 10


@pytest.mark.parametrize(
    "change, error, told",
    [
        ({"column": "diagnoses"}, KeyError, "diagnoses"),
        ({"column": 3}, ValueError, "column must be"),
        ({"frame": patients(4)}, ValueError, "frame must be a Dask frame, got a DataFrame"),
        ({"missing": "drop"}, ValueError, "missing = 'drop'"),
        ({"mechanism": None}, ValueError, "mechanism must be a Mechanism, got a NoneType"),
        ({"folder": None}, ValueError, "folder must be a path, got a NoneType"),
        ({"epsilon": 0.5}, LevelExceeded, "leaks more than 0.5 nats"),
        ({"epsilon": -1.0}, ValueError, "epsilon"),
        ({"budget": 1.0}, ValueError, "budget: there is no such option, or it needs a log"),
        ({"rng": 1}, ValueError, "rng: there is no such option"),
        ({"log": DiskLog("log", new=True), "rows": 1}, ValueError, "rows: there is no such"),
        ({"log": "log"}, ValueError, "log must be"),
        ({"log": DiskLog("log", new=True), "budget": 0.5}, BudgetExceeded, "budget of 0.5 nats"),
        ({"folder": "none/out"}, FileNotFoundError, "does not exist"),
    ],
)
def test_what_can_be_asked_is_asked_before_the_first_task(change, error, told):
    def watched(part):
        Path("a task has run").touch()
        return part

    lazy = lazily()
    frame = lazy.map_partitions(watched, meta=lazy._meta)
    call = {"frame": frame, "column": "diagnosis", "mechanism": DRAWN, "folder": "out"}
    with pytest.raises(error, match=told):
        release_dask(**call | change)
    assert nothing_is_left()


def test_a_column_that_is_the_index_too_is_refused():
    frame = patients(4).set_index("diagnosis", drop=False)
    with pytest.raises(ValueError, match="'diagnosis' is the index too"):
        release_dask(dd.from_pandas(frame, npartitions=1, sort=False), "diagnosis", SWAP, "out")
    assert nothing_is_left()


def test_no_rows_are_no_release():
    lazy = lazily()
    with pytest.raises(ValueError, match="frame has no rows"):
        release_dask(lazy[lazy["id"] < 0], "diagnosis", SWAP, "out")
    assert nothing_is_left()


def test_the_log_has_one_line_and_the_budget_counts_once():
    call = (lazily(), "diagnosis", DRAWN)
    options = {"log": DiskLog("log", new=True), "budget": DRAWN.epsilon}
    first = release_dask(*call, "out", **options).compute()
    stale = DiskLog("log")
    with pytest.raises(BudgetExceeded):
        release_dask(*call, "other", **options)
    assert release_dask(*call, "out", **options | {"log": stale}).compute().equals(first)
    (entry,) = DiskLog("log").entries
    assert (entry.column, entry.rows, entry.budget) == ("diagnosis", 400, DRAWN.epsilon)
    assert not Path("other").exists() and not Path("other.manifest").exists()


def test_a_refused_release_does_not_take_the_line_of_another(monkeypatch):
    """Two programs begin one log in the same second, with the same budget for the same release."""
    second = datetime(2026, 1, 1, tzinfo=UTC)
    monkeypatch.setattr(disk_log, "datetime", SimpleNamespace(now=lambda zone: second))
    call, options = (lazily(), "diagnosis", DRAWN), {"budget": DRAWN.epsilon}
    ours, theirs = DiskLog("log", new=True), DiskLog("log", new=True)
    release_dask(*call, "one", log=ours, **options)
    with pytest.raises(FileExistsError, match="begun by another program"):
        release_dask(*call, "two", log=theirs, **options)
    with pytest.raises(BudgetExceeded):
        release_dask(*call, "two", log=DiskLog("log"), **options)
    assert len(DiskLog("log").entries) == 1
    assert sorted(os.listdir()) == ["log", "one", "one.manifest"]


def die(*arguments, **options):
    os.kill(os.getpid(), signal.SIGKILL)


def after_two_parts(patch):
    done = []  # the engine chooses their order

    def part(frame, number, **rest):
        done.append(number)
        return release_part(frame, number, **rest) if len(done) <= 2 else die()

    patch.setattr(scale, "release_part", part)


def before_the_line(patch):
    patch.setattr(DiskLog, "record", die)


def before_the_name(patch):
    patch.setattr(scale.os, "rename", die)


def after_the_name(patch):
    patch.setattr(scale, "confirm_folder", die)


def booked_release(point=None):
    """One release with a budget for one; the process ends at a point."""
    with pytest.MonkeyPatch.context() as patch:
        if point:
            point(patch)
        log = DiskLog("log", new=not Path("log").exists())
        return release_dask(lazily(), "diagnosis", DRAWN, "out", log=log, budget=DRAWN.epsilon)


def forked(*targets):
    """Exit codes of functions that run in processes of their own."""
    runs = [get_context("fork").Process(target=target, args=rest) for target, *rest in targets]
    for run in runs:
        run.start()
    for run in runs:
        run.join(60)
    return [run.exitcode for run in runs]


@pytest.mark.parametrize(
    "point", [after_two_parts, before_the_line, before_the_name, after_the_name]
)
def test_killed_anywhere_and_called_again(point):
    assert forked((booked_release, point)) == [-signal.SIGKILL]
    (hidden,) = {*Path().glob(".out.*.part"), *Path().glob("out")}
    written = {path.name: path.read_bytes() for path in hidden.iterdir()}
    assert written and Path("out").exists() == (point is after_the_name)
    key = Manifest.read(Path("out.manifest")).key
    released = booked_release()
    assert len(released) == 400 and Manifest.read(Path("out.manifest")).key == key
    assert {name: (Path("out") / name).read_bytes() for name in written} == written
    assert len(DiskLog("log").entries) == 1
    assert sorted(os.listdir()) == ["log", "out", "out.manifest"]


def test_two_at_once_are_one_release():
    DiskLog("log", new=True).record("smokes", Mechanism([[1.0], [1.0]], [0.5, 0.5]))
    assert forked((booked_release,), (booked_release,), (booked_release,)) == [0, 0, 0]
    assert len(DiskLog("log").entries) == 2 and len(booked_release()) == 400


def test_a_task_that_is_started_twice_at_once_writes_once():
    manifest = Manifest.new(Path("key"), {"column": "diagnosis"})
    manifest.write()
    rest = ("diagnosis", DRAWN, "refuse", manifest.path, Path())
    frame = patients(100_000)
    with ThreadPoolExecutor(4) as pool:
        runs = [pool.submit(release_part, frame, 0, *rest) for _ in range(4)]
        assert {run.result()[0] for run in runs} == {100_000}
    assert sorted(os.listdir()) == ["key", "part.0.parquet"]


@contextmanager
def workers(distributed, folder, count=3):
    """A scheduler, and workers that are processes of our own; a lost one is not started again."""
    cluster = distributed.LocalCluster(n_workers=0, dashboard_address=None)
    command = [sys.executable, "-m", "dask", "worker", cluster.scheduler_address, "--no-nanny"]
    command += ["--nthreads", "1", "--no-dashboard", "--local-directory", str(folder / "scratch")]
    running = [subprocess.Popen(command, stderr=subprocess.DEVNULL) for _ in range(count)]
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


def dying_part(frame, number, *, mark, **rest):
    """Release a part; the first time, the worker ends when the part is written and before it can report it."""
    rows = release_part(frame, number, **rest)
    if number == 1 and not os.path.exists(mark):
        Path(mark).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return rows


def test_a_worker_that_is_killed_releases_nothing_twice(monkeypatch, here):
    """Real processes: one ends when it has written a part, another between two computations of the result."""
    distributed = pytest.importorskip("distributed")
    pickling = pytest.importorskip("cloudpickle")
    pickling.register_pickle_by_value(sys.modules[__name__])
    mark = str(here / "killed")
    monkeypatch.setattr(scale, "release_part", lambda *a, **k: dying_part(*a, mark=mark, **k))
    log = DiskLog("log", new=True)
    with workers(distributed, here) as running, dask.config.set(scheduler=None):
        released = release_dask(lazily(4000, 8), "diagnosis", DRAWN, "out", log=log).persist()
        first = released.compute()
        alive = [process for process in running if process.poll() is None]
        assert len(alive) == 2
        alive[0].kill()
        second = released.compute()
    assert Path(mark).exists() and len(log.entries) == 1
    assert first.equals(second) and first["id"].tolist() == list(range(4000))
    monkeypatch.undo()
    with dask.config.set(scheduler="synchronous"):  # and every part is what it would be here
        os.chdir(here)
        again = release_dask(lazily(4000, 8), "diagnosis", DRAWN, "out", log=log)
        assert again.compute().equals(first)


MEMORY = """
import dask, numpy as np, pandas as pd
from dask import dataframe as dd
from pmlbook import optimal_mechanism
from pmlbook.accounting.scale import release_dask

def part(number):
    kinds = np.random.default_rng(number).choice(3, 1_000_000)
    said = pd.array(np.array(["a", "b", "c"], object)[kinds], "string[pyarrow]")
    return pd.DataFrame({"id": np.arange(1_000_000), "said": said})

dask.config.set(scheduler="synchronous")
mechanism = optimal_mechanism(pd.Series([0.6, 0.3, 0.1], ["a", "b", "c"]), 1.0).mechanism
frame = dd.from_map(part, range(4), meta=part(0).iloc[:0])
release_dask(frame, "said", mechanism, "out")
# getrusage would tell the peak of the process that started this one
print(*(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="asks Linux")
def test_memory_is_that_of_a_partition():
    """Partitions of a million rows, one after another; twenty of them take no more, and five times as long."""
    run = subprocess.run([sys.executable, "-c", MEMORY], capture_output=True, text=True, check=True)
    assert int(run.stdout) < 500 * 1024


def test_a_sweep_is_the_designs_one_by_one():
    joblib = pytest.importorskip("joblib")
    prior, levels = [0.5, 0.3, 0.2], [0.9, 0.1, 0.5]  # in no order
    with joblib.parallel_config(backend="threading"):
        found = sweep(prior, levels, jobs=2, utility="total_variation")
    alone = [optimal_mechanism(prior, level, utility="total_variation") for level in levels]
    assert [design.value for design in found] == [design.value for design in alone]
    assert all((a.mechanism.channel == b.mechanism.channel).all() for a, b in zip(found, alone))
    assert sweep(prior, [], jobs=1) == []


def test_an_invalid_level_is_refused_before_anything_is_computed(monkeypatch):
    pytest.importorskip("joblib")
    monkeypatch.setattr(scale, "optimal_mechanism", lambda *a, **k: pytest.fail("computed"))
    with pytest.raises(ValueError, match=r"epsilons\[1\] = -1"):
        sweep([0.5, 0.5], [0.1, -1.0], jobs=1)


def test_tasks_that_still_run_leave_nothing_behind():
    """One partition is refused while other threads write theirs."""
    damaged = patients(800)
    damaged.loc[0, "diagnosis"] = "cold"
    for _ in range(40):
        with dask.config.set(scheduler="threads", num_workers=4):
            with pytest.raises(ValueError, match="partition 0"):
                release_dask(dd.from_pandas(damaged, npartitions=8), "diagnosis", SWAP, "out")
            assert nothing_is_left()


def grown(rows):
    return pd.DataFrame({"diagnosis": (["flu", "healthy"] * rows)[:rows]})


@pytest.mark.parametrize("logged", [False, True])
def test_a_folder_that_was_moved_away_is_released_once(here, logged):
    """A nightly job moved its folder away and released a longer frame, with new noise and without a line."""
    options = {"log": DiskLog("log", new=True), "budget": 9.0} if logged else {}
    first = release_dask(
        dd.from_pandas(grown(400), npartitions=2), "diagnosis", DRAWN, "out", **options
    )
    released = first.compute()
    os.rename("out", "day0")
    for other in (grown(410), grown(400)[::-1]):
        with pytest.raises(ValueError, match="partition [01]: it holds other rows"):
            release_dask(
                dd.from_pandas(other, npartitions=2, sort=False),
                "diagnosis",
                DRAWN,
                "out",
                **options,
            )
        assert not Path("out").exists() and Path("out.manifest").exists()
    again = release_dask(
        dd.from_pandas(grown(400), npartitions=2), "diagnosis", DRAWN, "out", **options
    )
    assert again.compute().equals(released)
    assert not logged or len(DiskLog("log").entries) == 1


def test_a_refused_run_keeps_the_key_of_what_was_released(here):
    """A run with a bad value threw the key away, and the next one drew the same rows anew."""
    released = release_dask(
        dd.from_pandas(grown(400), npartitions=2), "diagnosis", DRAWN, "out"
    ).compute()
    os.rename("out", "day0")
    with pytest.raises(ValueError, match="not among"):
        bad = grown(400).replace({"diagnosis": {"healthy": "maybe"}})
        release_dask(dd.from_pandas(bad, npartitions=2), "diagnosis", DRAWN, "out")
    again = release_dask(dd.from_pandas(grown(400), npartitions=2), "diagnosis", DRAWN, "out")
    assert again.compute().equals(released)


def test_a_part_that_was_deleted_is_drawn_again_from_the_same_rows_only(here):
    frame = grown(400)
    released = release_dask(
        dd.from_pandas(frame, npartitions=2), "diagnosis", DRAWN, "out"
    ).compute()
    part_file(Path("out"), 1).unlink()
    changed = frame.assign(diagnosis=[*frame["diagnosis"][:-1], "rare"])
    with pytest.raises(ValueError, match="partition 1: it holds other rows"):
        release_dask(dd.from_pandas(changed, npartitions=2), "diagnosis", DRAWN, "out")
    assert not part_file(Path("out"), 1).exists()
    again = release_dask(dd.from_pandas(frame, npartitions=2), "diagnosis", DRAWN, "out")
    assert again.compute().equals(released)


def test_a_budget_may_be_written_in_two_ways(here):
    log = DiskLog("log", new=True)
    first = release_dask(lazily(), "diagnosis", DRAWN, "out", log=log, budget=2)
    again = release_dask(lazily(), "diagnosis", DRAWN, "out", log=log, budget=2.0)
    assert len(first) == len(again)


@pytest.mark.parametrize(
    "levels, jobs, told", [(0.1, 1, "epsilons must be"), ([0.1], 0, "jobs = 0")]
)
def test_a_sweep_needs_levels_and_processes(levels, jobs, told):
    with pytest.raises(ValueError, match=told):
        sweep([0.5, 0.5], levels, jobs)
