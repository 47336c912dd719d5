"""A column released by each engine, against the same engine writing the table with another column: rows a CPU second, and the peak of memory.

Run: python benchmarks/engines.py [--rows 10000000] [--engines polars duckdb dask spark]
Each line is a process of its own, whose imports and first small table are not counted. Linux only: the processor time is
that of the process and all below it, a Java machine and its workers among them.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from pmlbook import Mechanism
from pmlbook.files import release_frame

NAMES = ("healthy", "flu", "rare")
KEEPS = np.eye(3) * 0.4 + 0.2  # .6 that an answer stays
SMALL = 1000  # rows of the first table


def make(path: Path, rows: int) -> None:
    """Two numbers that identify, one that groups, and the column to release."""
    rng = np.random.default_rng(0)
    said = pl.Series(NAMES).gather(rng.choice(3, rows, p=[0.6, 0.3, 0.1]))
    columns = {"id": np.arange(rows), "age": rng.integers(0, 90, rows), "weight": rng.random(rows)}
    pl.DataFrame(columns | {"said": said}).write_parquet(path)


def polars(path: Path) -> tuple[Any, Callable[[Path], Any]]:
    """A lazy frame, and a plain copy of it."""
    frame = pl.scan_parquet(path)
    upper = frame.with_columns(pl.col("said").str.to_uppercase())
    return frame, lambda target: upper.sink_parquet(target)


def duckdb(path: Path) -> tuple[Any, Callable[[Path], Any]]:
    """A relation, and a plain copy of it."""
    import duckdb as engine

    connection = engine.connect()
    connection.sql("SET enable_progress_bar = false")
    frame = connection.read_parquet(str(path))
    upper = frame.project("id, age, weight, upper(said) AS said")
    return frame, lambda target: upper.write_parquet(str(target))


def dask(path: Path) -> tuple[Any, Callable[[Path], Any]]:
    """A frame in partitions of the file's row groups, and a plain copy of it."""
    from dask import config
    from dask import dataframe as dd

    config.set(scheduler="threads")
    frame = dd.read_parquet(path, split_row_groups=True)
    upper = frame.assign(said=frame["said"].str.upper())
    return frame, lambda target: upper.to_parquet(target)


def spark(path: Path) -> tuple[Any, Callable[[Path], Any]]:
    """A frame of two threads, and a plain copy of it."""
    from pyspark.sql import SparkSession, functions

    options = {"spark.driver.host": "127.0.0.1", "spark.ui.enabled": "false"}
    options |= {"spark.log.level": "OFF", "spark.ui.showConsoleProgress": "false"}
    session = SparkSession.builder.master("local[2]").config(map=options).getOrCreate()
    frame = session.read.parquet(path.as_uri())
    upper = frame.withColumn("said", functions.upper("said"))
    return frame, lambda target: upper.write.parquet(target.as_uri())


ENGINES = {"polars": polars, "duckdb": duckdb, "dask": dask, "spark": spark}


def processor() -> float:
    """Seconds of processor time of this process and all below it."""
    times, parents = {}, {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = entry.read_text().rpartition(")")[2].split()
        except OSError:  # it has ended
            continue
        one = int(entry.parent.name)
        times[one], parents[one] = sum(map(int, fields[11:15])), int(fields[1])
    below = {os.getpid()}
    while more := {one for one, above in parents.items() if above in below} - below:
        below |= more
    return sum(times[one] for one in below) / os.sysconf("SC_CLK_TCK")


def peak() -> int:
    """The peak of this process's memory, in MB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) // 1024 for line in lines if line.startswith("VmHWM"))


def run(name: str, released: bool, folder: Path) -> None:
    """Copy or release the small table, and then the large one: seconds of the second, MB more than before it."""
    mechanism = Mechanism(KEEPS, [0.6, 0.3, 0.1], NAMES, NAMES)
    taken, before = 0.0, 0
    for size in ("small", "large"):
        frame, plain = ENGINES[name](folder / f"{size}.parquet")
        target = folder / f"{name}-{released}-{size}"
        before, taken = peak(), processor()
        if released:
            release_frame(frame, "said", mechanism, target)
        else:
            plain(target)
        taken = processor() - taken
        shutil.rmtree(target) if target.is_dir() else target.unlink()
    print(taken, peak() - before)


def measured(name: str, released: bool, folder: Path) -> tuple[float, int]:
    """What `run` prints in a process of its own."""
    command = [sys.executable, "-W", "ignore", __file__, "--run", name, str(released), str(folder)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    taken, more = done.stdout.split()[-2:]
    return float(taken), int(more)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--run"]:
        run(sys.argv[2], sys.argv[3] == "True", Path(sys.argv[4]))
        sys.exit()
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10**7)
    parser.add_argument(
        "--engines", nargs="*", default=["polars", "duckdb", "dask"], choices=ENGINES
    )
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as kept:
        place = Path(kept)
        make(place / "small.parquet", SMALL)
        make(place / "large.parquet", options.rows)
        least, _ = measured("polars", False, place)
        print(
            f"{options.rows:,d} rows; plain Polars: {options.rows / least:,.0f} rows a CPU second"
        )
        print(
            "  engine   plain, rows/CPU s   released   times plain   times plain Polars   MB more"
        )
        for engine in options.engines:
            copied, _ = measured(engine, False, place)
            seconds, memory = measured(engine, True, place)
            print(
                f"  {engine:8s} {options.rows / copied:17,.0f} {options.rows / seconds:10,.0f}"
                f" {seconds / copied:13.2f} {seconds / least:20.2f} {memory:9,d}",
                flush=True,
            )
