"""What leaks beside the mechanism, and files that are not what they seem."""

import codecs
import csv
import datetime
import decimal
import gzip
import io
import os
import signal
import stat
import struct
import threading
import time
import tracemalloc
from encodings.aliases import aliases
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pmlbook import Mechanism
from pmlbook.accounting.release import count_outcomes, count_values, release_file
from pmlbook.practice.strata import LevelExceeded
from pmlbook.release import csv_text, files, text_pieces
from pmlbook.release.columns import encode
from pmlbook.release.csv_fields import Layout
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


CLINIC = Mechanism(
    [[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]], [0.6, 0.3, 0.1], NAMES, NAMES
)
CONSTANT = Mechanism([[1.0]] * 3, [0.6, 0.3, 0.1], NAMES, ("x",))  # every answer becomes the same
GOOD = "id,said\n" + "".join(f"{i},{NAMES[i % 3]}\n" for i in range(20_000))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder to work in, and an ordinary umask."""
    monkeypatch.chdir(tmp_path)
    umask = os.umask(0o022)
    yield tmp_path
    os.umask(umask)


@pytest.fixture(params=["nameless", "named"])
def kind(request, monkeypatch):
    """Files without names where the system has them, and as if it had none."""
    if request.param == "named":
        monkeypatch.setattr(files, "nameless_file", lambda folder: None)
    return request.param


def rights(path):
    return stat.S_IMODE(os.lstat(path).st_mode)


def release(text, mechanism=CONSTANT, target="out.csv", **choice):
    """Release the column 'said' of a CSV file with this content, and give the new content."""
    Path("in.csv").write_bytes(text if isinstance(text, bytes) else text.encode())
    own = {name: choice.pop(name) for name in tuple(choice) if name in vars(Layout())}
    release_file("in.csv", target, "said", mechanism, layout=Layout(**own), **choice)
    return Path(target).read_bytes()


def listing(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


# who may read what is written


@pytest.mark.posix
@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize("mode", [0o600, 0o400, 0o640, 0o644, 0o666, 0o700, 0o4755, 0o604])
def test_a_release_has_at_most_the_rights_of_its_source(folder, kind, mode, force):
    Path("in.csv").write_text(GOOD)
    os.chmod("in.csv", mode)
    if force:
        Path("out.csv").touch(0o666)
    seen = []

    def look(rows, share):
        seen.extend(path for path in folder.iterdir() if path.suffix == ".part")
        assert all(rights(path) == 0o600 for path in seen)

    release_file("in.csv", "out.csv", "said", CLINIC, force=force, progress=look)
    assert rights("out.csv") == mode & 0o644 and bool(seen) == (kind == "named")


@pytest.mark.posix
def test_a_strict_umask_is_kept(folder, kind):
    os.umask(0o077)
    Path("in.csv").write_text(GOOD)
    os.chmod("in.csv", 0o644)
    release_file("in.csv", "out.csv", "said", CLINIC)
    assert rights("out.csv") == 0o600 and os.umask(0o077) == 0o077


@pytest.mark.posix
@pytest.mark.skipif(
    getattr(os, "geteuid", lambda: 1)() != 0, reason="only root may give files to other groups"
)
def test_another_group_gets_no_rights(folder, kind):
    Path("in.csv").write_text(GOOD)
    os.chown("in.csv", -1, os.getegid() + 1)
    os.chmod("in.csv", 0o644)
    release_file("in.csv", "out.csv", "said", CLINIC)
    assert rights("out.csv") == 0o600


@pytest.mark.posix
def test_a_list_of_rights_is_not_mistaken_for_rights_of_the_group(folder, kind):
    Path("in.csv").write_text(GOOD)
    entries = [(1, 6, -1), (2, 4, 4711), (4, 0, -1), (16, 4, -1), (32, 0, -1)]  # user 4711 may read
    packed = b"".join(struct.pack("<HHi", *entry) for entry in entries)
    try:
        os.setxattr("in.csv", "system.posix_acl_access", struct.pack("<I", 2) + packed)
    except (AttributeError, OSError):
        pytest.skip("no lists of rights here")
    assert rights("in.csv") == 0o640  # what looks like the group is the mask of the list
    release_file("in.csv", "out.csv", "said", CLINIC)
    assert rights("out.csv") == 0o600


@pytest.mark.posix
@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize("step", ["fsync", "link", "replace", "unlink", "fchmod"])
def test_nothing_but_the_target_ever_has_more_rights(folder, kind, monkeypatch, step, force):
    """Before each step towards a name, hence wherever a program is killed between them."""
    Path("in.csv").write_text(GOOD)
    os.chmod("in.csv", 0o644)
    real, seen = getattr(os, step), []

    def look(*arguments, **choice):
        seen.append({path.name: rights(path) for path in folder.iterdir() if path.name != "in.csv"})
        return real(*arguments, **choice)

    monkeypatch.setattr(os, step, look)
    release_file("in.csv", "out.csv", "said", CLINIC, force=force)
    before = seen if step == "fchmod" else [names for names in seen if "out.csv" not in names]
    assert all(mode == 0o600 for names in before for mode in names.values())
    assert not any(
        mode != 0o600 for names in seen for name, mode in names.items() if name != "out.csv"
    )
    assert rights("out.csv") == 0o644 and sorted(os.listdir()) == ["in.csv", "out.csv"]


@pytest.mark.parametrize("number", files.NO_LINKS)
def test_a_disk_without_hard_links_takes_an_output(folder, monkeypatch, number):
    """An empty file has the name first, which fails if it is taken."""

    def link(*names):
        raise OSError(number, "no such thing")

    monkeypatch.setattr(files, "nameless_file", lambda folder: None)
    monkeypatch.setattr(os, "link", link)
    release(GOOD, CLINIC)
    whole = Path("out.csv").read_bytes()
    with pytest.raises(FileExistsError, match="out.csv exists"):
        release(GOOD, CLINIC)
    with pytest.raises(FileExistsError, match="late exists"), files.new_file(Path("late")) as file:
        file.write(b"a")
        Path("late").write_bytes(b"first")
    assert Path("late").read_bytes() == b"first" and Path("out.csv").read_bytes() == whole
    release(GOOD, CLINIC, force=True)
    assert sorted(os.listdir()) == ["in.csv", "late", "out.csv"]


@pytest.mark.posix
def test_killed_at_random_moments(folder, kind):
    """The target is whole or not there, and nothing else is left unless a named file was killed outright."""
    Path("in.csv").write_text(GOOD)
    rng, ends = np.random.default_rng(5), []
    for trial in range(12):
        number = (signal.SIGTERM, signal.SIGKILL)[trial % 2]
        child = os.fork()
        if not child:
            try:
                release_file("in.csv", "out.csv", "said", CLINIC, force=True)
            finally:
                os._exit(0)
        time.sleep(float(rng.uniform(0, 0.1)))
        os.kill(child, number)
        ends.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        whole = os.path.exists("out.csv")
        assert not whole or Path("out.csv").read_text().count("\n") == 20_001
        parts = [path for path in folder.iterdir() if path.suffix == ".part"]
        assert not parts or (number == signal.SIGKILL and kind == "named")
        assert all(rights(path) == 0o600 for path in parts)
        for path in [*parts, *folder.glob("out.csv")]:
            path.unlink()
    assert set(ends) <= {0, -signal.SIGTERM, -signal.SIGKILL}


@pytest.mark.posix
def test_signals_are_left_as_they_were(folder, kind):
    mine = signal.signal(signal.SIGTERM, lambda number, frame: None)
    try:
        handler = signal.getsignal(signal.SIGTERM)
        release(GOOD, CLINIC, progress=lambda *_: os.kill(os.getpid(), signal.SIGTERM))
        assert (
            signal.getsignal(signal.SIGTERM) is handler
        )  # a program's own handler is not replaced
    finally:
        signal.signal(signal.SIGTERM, mine)
    release(GOOD, CLINIC, target="new.csv")
    assert signal.getsignal(signal.SIGTERM) is mine


# what stands where


@pytest.mark.posix
def test_a_source_is_opened_once(folder, monkeypatch):
    """Another file takes the name as soon as it was opened: the raw column of neither passes through."""
    Path("in.csv").write_text(GOOD)
    real, opened = io.open, []

    def swap(path, *arguments, **choice):
        file = real(path, *arguments, **choice)
        if str(path) == "in.csv":
            opened.append(path)
            with real("other.csv", "w") as other:
                other.write("said,id\n" + "secret,flu\n" * 10)
            os.replace("other.csv", "in.csv")
        return file

    monkeypatch.setattr("builtins.open", swap)
    release_file("in.csv", "out.csv", "said", CLINIC)
    count_values("in.csv", "said")
    assert len(opened) == 2 and Path("out.csv").read_text().count("\n") == 20_001
    assert "secret" not in Path("out.csv").read_text()


@pytest.mark.parametrize("change", ["longer", "shorter", "same size"])
def test_a_source_that_is_written_to_is_refused(folder, change):
    def write(rows, share):
        with open("in.csv", "r+b") as file:
            if change == "longer":
                file.seek(0, os.SEEK_END)
                file.write(b"7,flu\n")
            elif change == "shorter":
                file.truncate(file.seek(0, os.SEEK_END) - 1)
            else:
                file.write(b"ID")
        os.utime("in.csv")

    with pytest.raises(ValueError, match="changed while it was read"):
        release(GOOD, CLINIC, progress=write)
    assert os.listdir() == ["in.csv"]


@pytest.mark.posix
@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize("name", ["in.csv", "./in.csv", "hard.csv", "soft.csv", "far.csv"])
def test_a_source_is_never_replaced_under_any_name(folder, name, force):
    Path("in.csv").write_text(GOOD)
    os.link("in.csv", "hard.csv")
    Path("soft.csv").symlink_to("in.csv")
    Path("far.csv").symlink_to("soft.csv")
    with pytest.raises(ValueError, match="source and target"):
        release_file("in.csv", name, "said", CLINIC, force=force)
    with pytest.raises(ValueError, match="source and target"):
        release_file(name, "in.csv", "said", CLINIC, force=force)
    assert set(listing(folder).values()) == {GOOD.encode()} and len(os.listdir()) == 4


@pytest.mark.posix
def test_only_regular_files_are_replaced(folder):
    Path("in.csv").write_text(GOOD)
    Path("folder.csv").mkdir()
    os.mkfifo("pipe.csv")
    Path("target.csv").write_text("precious")
    Path("link.csv").symlink_to("target.csv")
    Path("dangling.csv").symlink_to("nowhere.csv")
    before = sorted(os.listdir())
    for name in ("folder.csv", "pipe.csv", "link.csv", "dangling.csv", "/dev/null"):
        for force in (False, True):
            with pytest.raises(OSError, match="no regular file" if force else "exists"):
                release_file("in.csv", name, "said", CLINIC, force=force)
    assert sorted(os.listdir()) == before and Path("target.csv").read_text() == "precious"
    assert not stat.S_ISREG(os.stat("/dev/null").st_mode)


@pytest.mark.posix
def test_a_pipe_can_be_released(folder):
    os.mkfifo("pipe.csv")
    os.mkfifo("pipe.parquet")
    for name in ("pipe.csv", "pipe.parquet"):
        pipe = Path(name)
        thread = threading.Thread(target=pipe.write_text, args=["id,said\n" + "7,flu\n" * 9])
        thread.start()
        if name == "pipe.csv":
            assert release_file(name, "out.csv", "said", CLINIC).rows == 9
        else:
            with pytest.raises(ValueError, match="no regular file"):
                release_file(name, "out.parquet", "said", CLINIC)
        thread.join()
    assert sorted(os.listdir()) == ["out.csv", "pipe.csv", "pipe.parquet"]
    assert rights("out.csv") == 0o600


# CSV as it is found

FOUND = {
    "plain": (b"id,said\n1,flu\n2,rare\n", b"id,said\n1,x\n2,x\n"),
    "byte order mark": (b"\xef\xbb\xbfsaid,id\nflu,1\n", b"\xef\xbb\xbfsaid,id\nx,1\n"),
    "carriage return and line feed": (b"id,said\r\n1,flu\r\n", b"id,said\r\n1,x\r\n"),
    "carriage return": (b"id,said\r1,flu\r", b"id,said\r1,x\r"),
    "no end of the last line": (b"id,said\n1,flu", b"id,said\n1,x"),
    "newline in quotes": (b'id,said\n"a\nb",flu\n', b'id,said\n"a\nb",x\n'),
    "carriage return in quotes": (b'id,said\n"a\rb",flu\n', b'id,said\n"a\rb",x\n'),
    "newline in quotes, ended by returns": (b'id,said\r"a\nb",flu\r', b'id,said\r"a\nb",x\r'),
    "newline in the header": (b'"i\nd",said\n1,flu\n', b'"i\nd",said\n1,x\n'),
    "quotes": (b'id,said\n"say ""a""","flu"\n', b'id,said\n"say ""a""",x\n'),
    "other columns alike": (b"id,id,said\n1,2,flu\n", b"id,id,said\n1,2,x\n"),
    "zeros and spaces": (b"id,said\n007 , flu\n".replace(b" flu", b"flu"), b"id,said\n007 ,x\n"),
    "nul": (b"id,said\na\0b,flu\n", b"id,said\na\0b,x\n"),
    "looks like the column": (b"id,said\nsaid,flu\n", b"id,said\nsaid,x\n"),
    "an empty text, and a gap": (b's,said\n"",flu\n,flu\n', b's,said\n"",x\n,x\n'),
    "quotes around all": (b'"id","said"\n"1","flu"\n', b'"id","said"\n"1","x"\n'),
    "quotes around text": (b'"id","said"\n1,"flu"\n', b'"id","said"\n1,"x"\n'),
    "mark and quotes": (b'\xef\xbb\xbf"said",id\n"flu",1\n', b'\xef\xbb\xbf"said",id\n"x",1\n'),
    "a quote within": (b'id,said\n5" a"",flu\n', b'id,said\n5" a"",x\n'),
    "all ends of lines": (b"id,said\r\n1,flu\n2,flu\r3,flu", b"id,said\r\n1,x\n2,x\r3,x"),
    "blank last lines": (b"id,said\n1,flu\n\r\n\n", b"id,said\n1,x\n\r\n\n"),
    "tells its delimiter": (b"sep=,\r\nid,said\r\n1,flu\r\n", b"sep=,\r\nid,said\r\n1,x\r\n"),
    "a large field": (
        b"id,said\n%b,flu\n" % (b"a" * 200_000),
        b"id,said\n%b,x\n" % (b"a" * 200_000),
    ),
    "control characters": (
        b'id,said\n"%b,",flu\n' % bytes(range(1, 32)),
        b'id,said\n"%b,",x\n' % bytes(range(1, 32)),
    ),
    "formulas and dates": (b"id,said\n=1+1 2024-01-01,flu\n", b"id,said\n=1+1 2024-01-01,x\n"),
    "line separators of Unicode": (
        "id,said\na\u2028b\x85c\x0bd,flu\n".encode(),
        "id,said\na\u2028b\x85c\x0bd,x\n".encode(),
    ),
}


@pytest.mark.parametrize("found, copied", FOUND.values(), ids=FOUND)
def test_csv_is_copied_byte_by_byte(folder, found, copied):
    copied = copied.replace(b"said", b"said_released", 1)
    assert release(found) == copied
    packed = release(gzip.compress(found), target="out.csv.gz")
    assert packed[4:8] == bytes(4) and gzip.decompress(packed) == copied  # with no time in it


@pytest.mark.parametrize(
    "limits",
    [
        {"BLOCK_ROWS": 1},
        {"BLOCK_CHARACTERS": 1},
        {"PIECE_BYTES": 1},
        {"BLOCK_ROWS": 2, "PIECE_BYTES": 3},
    ],
)
def test_csv_is_copied_alike_in_pieces_of_any_size(folder, monkeypatch, limits):
    for name, size in limits.items():
        monkeypatch.setattr(text_pieces if name == "PIECE_BYTES" else csv_text, name, size)
    for found, copied in FOUND.values():
        if len(found) < 1000:
            copied = copied.replace(b"said", b"said_released", 1)
            assert release(found, force=True) == copied


@pytest.mark.parametrize(
    "encoding", ["utf-16", "utf-16-be", "utf-32", "cp932", "utf-8-sig", "latin-1"]
)
def test_other_encodings_are_copied_too(folder, encoding):
    for mark in (b"", codecs.BOM_UTF16_BE, codecs.BOM_UTF16_LE):
        order = {codecs.BOM_UTF16_BE: "utf-16-be", codecs.BOM_UTF16_LE: "utf-16-le"}.get(mark)
        if mark and encoding != "utf-16":
            continue
        old, new = (
            f'id,{title}\n"a\\,é",{said}\n'.replace("é", "é" if encoding[:2] != "cp" else "表")
            for title, said in (("said", "flu"), ("said_released", "x"))
        )
        found = release(mark + old.encode(order or encoding), encoding=encoding, force=True)
        assert found == mark + new.encode(order or encoding)


def test_bytes_that_an_encoding_would_write_otherwise_are_refused(folder):
    with pytest.raises(
        ValueError, match="has bytes that cp932 writes otherwise: convert it to UTF-8"
    ):
        release(b"id,said\n\x87\x90,flu\n", encoding="cp932")
    assert os.listdir() == ["in.csv"]
    assert count_values("in.csv", "said", Layout(encoding="cp932")) == {"flu": 1}


@pytest.mark.parametrize("cut", [9, -9, -1])
def test_broken_gzip_is_refused(folder, cut):
    with pytest.raises(
        ValueError, match="in.csv cannot be read as gzip after row .*cut off or broken"
    ):
        release(gzip.compress(GOOD.encode())[:cut])
    assert os.listdir() == ["in.csv"]


WAYS = ["flu", '"flu"', "healthy", "NA", '"NA"', "", '""', '"a,b"']


@pytest.mark.parametrize("head", ["id,said", '"id","said"', '"id",said', 'id,"said"'])
@pytest.mark.parametrize("outcome", ["x", "3", "", "a,b", None])
def test_the_spelling_of_an_outcome_reveals_nothing_of_what_it_replaces(folder, head, outcome):
    """Not by its quotes, nor by how a gap is written: the copies of all files are one file."""
    names = (*NAMES, "a,b", None)
    made = Mechanism([[1.0]] * 5, [0.2] * 5, names, (outcome,))
    texts = {"missing_text": ["NA", ""] if outcome != "" else ["NA"]}
    for beside in ("1", '"1"', "a", '""'):
        copies = set()
        for way in WAYS:
            if way in ("", '""') and outcome == "":
                continue
            copies.add(release(f"{head}\n{beside},{way}\n", made, force=True, **texts))
        assert len(copies) == 1


def fields_of(text, delimiter, quote, escape):
    """Where the fields and the ends of lines of a text stand, one character after the other."""
    rows, row, start, place, inside = [], [], 0, 0, False
    while place < len(text):
        sign = text[place]
        if sign == escape:
            place += 2
        elif sign == quote and (inside or place == start):
            doubled = inside and text[place + 1 : place + 2] == quote
            inside, place = inside == doubled, place + 1 + doubled
        elif inside or sign not in (delimiter, "\r", "\n"):
            place += 1
        else:
            row.append(text[start:place])
            size = 2 if text[place : place + 2] == "\r\n" else 1
            if sign != delimiter:
                rows.append((row, text[place : place + size]))
                row = []
            start = place = place + size
    return rows + ([(row + [text[start:]], "")] if row or start < len(text) else [])


SPELT = ("flu", "a,b", 'x"y', "p|q;'\t", "back\\slash", "7")


@st.composite
def written_tables(draw):
    """A table as bytes, how it is written, and the options of `csv` that read it."""
    by = draw(st.sampled_from(["csv", "pandas", "polars", "pyarrow"]))
    end = (
        "\n"
        if by == "pyarrow"
        else draw(st.sampled_from(["\n", "\r\n"] + ["\r"] * (by != "polars")))
    )
    delimiter = draw(st.sampled_from(",;\t|"))
    quote = '"' if by == "pyarrow" else draw(st.sampled_from("\"'"))
    size, width = draw(st.integers(1, 6)), draw(st.integers(1, 3))
    cells = st.text("aé ,;\t|\"'\\" + end, max_size=4)  # `csv` quotes no other ends than its own
    columns = {}
    for place in range(width):
        kind = draw(st.sampled_from([cells, st.one_of(st.none(), cells), st.integers(-9, 99)]))
        columns[f"c{place},"] = draw(st.lists(kind, min_size=size, max_size=size))
    columns["said"] = draw(st.lists(st.sampled_from(SPELT), min_size=size, max_size=size))
    names = draw(st.permutations(list(columns)))
    columns = {name: columns[name] for name in names}
    reads = {"delimiter": delimiter, "quotechar": quote}
    if by in ("csv", "pandas"):
        quoting = draw(
            st.sampled_from(
                [csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC, csv.QUOTE_NONE]
            )
        )
        doubled = quoting != csv.QUOTE_NONE and draw(st.booleans())
        reads |= {
            "quoting": quoting,
            "doublequote": doubled,
            "escapechar": None if doubled else "\\",
        }
        stream = io.StringIO(newline="")
        if by == "csv":
            writer = csv.writer(stream, lineterminator=end, **reads)
            writer.writerows([list(columns), *zip(*columns.values())])
        else:
            options = {key: value for key, value in reads.items() if key != "delimiter"}
            pd.DataFrame(columns).to_csv(
                stream, index=False, sep=delimiter, lineterminator=end, **options
            )
        text = stream.getvalue()
    elif by == "polars":
        style = draw(st.sampled_from(["necessary", "always", "non_numeric"]))
        text = pl.DataFrame(columns).write_csv(
            separator=delimiter, quote_char=quote, quote_style=style, line_terminator=end
        )
    else:
        style, buffer = draw(st.sampled_from(["needed", "all_valid"])), io.BytesIO()
        pyarrow.csv.write_csv(
            pa.table(columns),
            buffer,
            pyarrow.csv.WriteOptions(delimiter=delimiter, quoting_style=style),
        )
        text = buffer.getvalue().decode()
    # `csv` cannot read a text that ends in the midst of an escaped end of line
    if draw(st.booleans()) and not text.removesuffix(end).endswith(("\\\r", "\\\n")):
        text = text.removesuffix(end)
    encoding = draw(st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]))
    return text, encoding, names.index("said"), reads


@given(written_tables(), st.integers(1, 9))
@settings(max_examples=100)
def test_only_the_fields_of_one_column_change(tmp_path_factory, table, piece):
    text, encoding, place, reads = table
    folder = tmp_path_factory.mktemp("copies")
    old, new = folder / "old.csv", folder / "new.csv"
    old.write_bytes(text.encode(encoding))
    made = Mechanism(np.roll(np.eye(6), 1, axis=1), np.full(6, 1 / 6), SPELT, SPELT)
    dialect = {key: reads.get(key) for key in ("delimiter", "quotechar", "escapechar")}
    literal = reads.get("quoting") == csv.QUOTE_NONE
    form = dialect | ({"quotechar": None} if literal else {})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_pieces, "PIECE_BYTES", piece)
        layout = Layout(encoding=encoding, missing_text="?", **form)
        release_file(old, new, "said", made, layout=layout)
    copy = new.read_bytes().decode(encoding)
    assert new.read_bytes() == copy.encode(encoding)
    before, after = (fields_of(some, *form.values()) for some in (text, copy))
    assert after[0][0][place] == before[0][0][place].replace("said", "said_released")
    for (old_row, old_end), (new_row, new_end) in zip(before, after, strict=True):
        del old_row[place], new_row[place]
        assert old_row == new_row and old_end == new_end
    said, turned = (
        [row[place] for row in csv.reader(io.StringIO(some, newline=""), strict=True, **reads)][1:]
        for some in (text, copy)
    )
    follows = {str(name): str(SPELT[(i + 1) % 6]) for i, name in enumerate(SPELT)}
    assert [follows[str(x)] for x in said] == [str(x) for x in turned]


REFUSED = {
    "nothing": (b"", "is empty"),
    "only a mark": (b"\xef\xbb\xbf", "is empty"),
    "only an end of line": (b"\n", "is empty"),
    "only a header": (b"id,said\n", "has no rows"),
    "blank line": (
        b"id,said\n1,flu\n\n2,flu\n",
        "row 2 of in.csv is blank; its header has 2 fields",
    ),
    "column twice": (b"said,said\nflu,flu\n", "column 'said' occurs more than once"),
    "no such column": (b"id,Said\n1,flu\n", "column 'said' is not in in.csv, which has 2 columns"),
    "quote within": (b'id,said\n"a"b,flu\n', "after row 0: ',' expected"),
    "quote without end": (b'id,said\n1,flu\n"a', "after row 1: a quote is never closed"),
    "another encoding": ("id,said\nmy secret é,flu\n".encode("latin-1"), "no utf-8 text"),
    "utf-16": ("id,said\n1,flu\n".encode("utf-16"), "no utf-8 text"),
    "unknown": (b"id,said\n1,my secret\n", r"holds a value \(str\) in row 1, not among"),
    "missing": (b"id,said\n1,\n", "is missing in row 1"),
    "no header": (b"my secret,flu\nmy secret,flu\n", "column 'said' is not in"),
}


@pytest.mark.parametrize("found, told", REFUSED.values(), ids=REFUSED)
def test_csv_that_is_refused_leaves_nothing_and_shows_nothing(folder, kind, found, told):
    with pytest.raises(ValueError, match=told) as error:
        release(found)
    assert os.listdir() == ["in.csv"] and "my secret" not in str(error.value)


ENCODINGS = sorted(
    {*aliases.values(), "utf-8", "utf-8-sig", "idna", "punycode", "unicode_escape", "undefined"}
    | {"raw_unicode_escape", "charmap", "mbcs", "oem", "klingon", "", "rot13", "utf-7", "\0"}
)


def test_an_encoding_keeps_the_text_or_is_refused(folder):
    text, taken = "id,said\n" + "a\\u0041.b,flu\n" * 3, set()
    for encoding in ENCODINGS:
        try:
            source = text.encode(encoding)
        except (LookupError, ValueError, AssertionError, TypeError):
            source = text.encode()
        try:
            new = release(source if isinstance(source, bytes) else text.encode(), encoding=encoding)
            taken.add(encoding)
            copied = text.replace("flu", "x").replace("said", "said_released")
            assert new.decode(encoding) == copied, encoding
            os.unlink("out.csv")
        except ValueError as error:
            assert "no encoding for a file of text" in str(error), (encoding, error)
        assert os.listdir() == ["in.csv"]
    assert {"utf_8", "utf_16", "latin_1", "cp1252", "cp500", "shift_jis", "gb18030"} <= taken
    assert not {"idna", "punycode", "unicode_escape", "raw_unicode_escape", "undefined"} & taken


def test_what_an_encoding_cannot_write_is_refused(folder):
    with pytest.raises(ValueError, match="cannot be written and read again in ascii"):
        release(
            "id,said\n1,flu\n",
            Mechanism([[1.0]] * 3, [0.6, 0.3, 0.1], NAMES, ("é",)),
            encoding="ascii",
        )
    with pytest.raises(ValueError, match="delimiter = '§' is no character of ascii"):
        release("id,said\n1,flu\n", encoding="ascii", delimiter="§")
    assert os.listdir() == ["in.csv"]


@pytest.mark.parametrize("text", ["NA", ["NA"], ("NA", "-")])
def test_one_missing_text_is_one_text(folder, text):
    source = "said\nflu\nNA\n"
    assert release(source, missing_text=text, missing="keep") == b"said_released\nx\nNA\n"
    with pytest.raises(ValueError, match="row 1, not among"):
        release("said\nN\n", missing_text=text, missing="keep", force=True)


@pytest.mark.parametrize(
    "choice",
    [
        {"missing_text": [None]},
        {"missing_text": 3 * (b"",)},
        {"delimiter": ""},
        {"delimiter": 7},
        {"encoding": None},
        {"encoding": 7},
    ],
)
def test_a_layout_that_is_none(folder, choice):
    with pytest.raises(ValueError, match=next(iter(choice))):
        release(GOOD, **choice)
    assert os.listdir() == ["in.csv"]


def endless(path, start, size=600 * 2**20):
    """A file of 600 MB without an end of line after its start; its zeros take no room on the disk."""
    path.write_bytes(start)
    os.truncate(path, size)
    return path


@pytest.mark.parametrize(
    "start", [b"", b"id,said", b"id,said\n", b"id,said\n1,flu\n", b'id,said\n"']
)
def test_an_endless_line_is_refused_in_little_memory(folder, start):
    endless(folder / "in.csv", start)
    tracemalloc.start()
    with pytest.raises(
        ValueError, match="longer than 1,048,576 characters|larger than field limit"
    ):
        release_file("in.csv", "out.csv", "said", CLINIC)
    assert tracemalloc.get_traced_memory()[1] < 2**24
    tracemalloc.stop()
    assert os.listdir() == ["in.csv"]


def test_an_endless_row_of_many_lines_is_refused(folder):
    with pytest.raises(ValueError, match="after row 1: a row longer than 1,048,576 characters"):
        release(b"id,said\n1,flu\n" + b'"\n",' * 300_000)
    assert release(b"id,said\n" + b'"\n",flu\n' * 300_000).count(b"x") == 300_000


def test_wide_rows_make_short_blocks(folder):
    """Sixteen thousand rows of a hundred kilobytes each would not fit into memory together."""
    with open("in.csv", "w") as file:
        file.write("note,said\n")
        for _ in range(400):
            file.write("a" * 100_000 + ",flu\n")
    tracemalloc.start()
    assert release_file("in.csv", "out.csv", "said", CLINIC).rows == 400
    assert tracemalloc.get_traced_memory()[1] < 6e7
    tracemalloc.stop()
    assert os.path.getsize("out.csv") > 4e7


# gaps and names in files


@pytest.mark.parametrize("missing", ["keep", "refuse"])
def test_a_gap_that_is_an_input_is_randomised_in_files(folder, missing):
    names = (*NAMES, None)
    made = Mechanism(TURNED, [0.25] * 4, names, names)
    text = "id,said\n1,flu\n2,\n3,healthy\n4,rare\n"
    assert (
        release(text, made, missing=missing) == b"id,said_released\n1,rare\n2,healthy\n3,flu\n4,\n"
    )
    text = text.replace(",\n", ",NA\n")
    new = release(text, made, missing=missing, missing_text="NA", force=True)
    assert new == b"id,said_released\n1,rare\n2,healthy\n3,flu\n4,NA\n"
    for make in (pa.array, lambda said: pa.array(said).dictionary_encode()):
        pq.write_table(pa.table({"said": make(SAID)}), "in.parquet")
        release_file("in.parquet", "out.parquet", "said", made, missing=missing, force=True)
        new = pq.read_table("out.parquet")["said_released"].to_pylist()
        assert new == [NEXT[value] for value in SAID]
    counts = count_outcomes("out.csv", "said_released", names, Layout(missing_text="NA"))
    assert counts.tolist() == [1, 1, 1, 1]


def test_names_that_look_alike_in_csv_are_refused(folder):
    for names in ((1, "1", 2), ("", None, 2), (True, "True", 2)):
        made = Mechanism(np.eye(3), [0.6, 0.3, 0.1], names, names)
        with pytest.raises(ValueError, match="look alike in a CSV file"):
            release("said\n1\n", made)
    made = Mechanism(np.eye(3), [0.6, 0.3, 0.1], NAMES, (*NAMES[:2], None))
    with pytest.raises(ValueError, match="no text for it"):
        release("said\nflu\n", made, missing_text=())


@pytest.mark.parametrize(
    "values", [[2**53, 2**53 + 1], [2**64 - 2, 2**64 - 1], [-(2**63), 2**63 - 1]]
)
def test_whole_numbers_do_not_collide_in_files(folder, values):
    made = Mechanism(np.eye(2)[::-1], [0.5, 0.5], values, values)
    pq.write_table(pa.table({"said": pa.array(np.array(values))}), "in.parquet")
    release_file("in.parquet", "out.parquet", "said", made)
    assert pq.read_table("out.parquet")["said_released"].to_pylist() == values[::-1]
    assert release(f"said\n{values[0]}\n{values[1]}\n", made).split() == [
        b"said_released",
        *(str(v).encode() for v in values[::-1]),
    ]


DAY = datetime.date(2024, 1, 1)
KINDS = {
    "booleans": (pa.array([True, False]), (True, False)),
    "dates": (pa.array([DAY, DAY.replace(day=2)]), (DAY, DAY.replace(day=2))),
    "floats": (pa.array([0.5, 1.5]), (0.5, 1.5)),
    "halves": (pa.array(np.array([0.5, 1.5], np.float16)), (0.5, 1.5)),
    "decimals": (
        pa.array([decimal.Decimal("0.1"), decimal.Decimal("0.2")]),
        (decimal.Decimal("0.1"), decimal.Decimal("0.2")),
    ),
    "bytes": (pa.array([b"a", b"b\0"]), (b"a", b"b\0")),
    "text in a view": (pa.array(["a", "b"], pa.string_view()), ("a", "b")),
}


@pytest.mark.parametrize("column, names", KINDS.values(), ids=KINDS)
def test_every_kind_of_parquet_column(folder, column, names):
    made = Mechanism(np.eye(2)[::-1], [0.5, 0.5], names, names)
    pq.write_table(pa.table({"said": column}), "in.parquet")
    release_file("in.parquet", "out.parquet", "said", made)
    new = pq.read_table("out.parquet")["said_released"]
    assert new.to_pylist() == list(names[::-1])


@pytest.mark.parametrize(
    "column",
    [
        pa.array([["my secret"]]),
        pa.array([{"a": "my secret"}]),
        pa.array([np.nan]),
        pa.array([None]),
    ],
    ids=str,
)
def test_parquet_columns_that_are_refused(folder, column):
    pq.write_table(pa.table({"said": column}), "in.parquet")
    with pytest.raises(ValueError, match="said") as told:
        release_file("in.parquet", "out.parquet", "said", CLINIC)
    assert "my secret" not in str(told.value) and os.listdir() == ["in.parquet"]


def test_nothing_of_the_old_column_is_left_in_parquet(folder):
    """Neither in its dictionary, nor in its statistics, nor in what is said about it."""
    said = pd.Categorical(["flu", "rare", "flu"], ["healthy", "flu", "rare", "my secret"])
    table = pa.Table.from_pandas(pd.DataFrame({"id": [1, 2, 3], "said": said}))
    field = table.schema.field("said").with_metadata({"largest": "my secret"})
    table = table.cast(table.schema.set(1, field))
    for options in ({}, {"store_schema": False}, {"use_dictionary": False}):
        pq.write_table(table, "in.parquet", **options)
        release_file("in.parquet", "out.parquet", "said", CONSTANT, force=True)
        new = Path("out.parquet").read_bytes()
        assert b"my secret" in Path("in.parquet").read_bytes() or options
        assert not any(word in new for word in (b"my secret", b"healthy", b"flu", b"rare"))
        assert pq.read_table("out.parquet")["id"].to_pylist() == [1, 2, 3]


def test_a_dot_in_a_name_is_no_path(folder):
    nested = pa.array([{"b": "my secret"}, {"b": "other"}])
    pq.write_table(pa.table({"a": nested, "a.b": ["flu", "rare"]}), "in.parquet")
    assert count_values("in.parquet", "a.b") == {"flu": 1, "rare": 1}
    assert release_file("in.parquet", "out.parquet", "a.b", CONSTANT).rows == 2
    new = pq.read_table("out.parquet")
    assert (
        new["a.b_released"].to_pylist() == ["x", "x"] and new["a"].to_pylist() == nested.to_pylist()
    )


def test_broken_parquet_is_reported_in_one_line(folder):
    pq.write_table(pa.table({"said": ["my secret"] * 1000}), "in.parquet")
    whole = Path("in.parquet").read_bytes()
    for broken in (
        b"",
        b"PAR1",
        whole[:-20],
        whole[:40] + bytes(40) + whole[80:],
        whole[:-9] + b"\xff" * 9,
    ):
        Path("in.parquet").write_bytes(broken)
        with pytest.raises((ValueError, OSError)) as told:
            release_file("in.parquet", "out.parquet", "said", CLINIC)
        assert "my secret" not in str(told.value) and os.listdir() == ["in.parquet"]


def test_a_seed_that_is_not_meant_releases_nothing(folder):
    for rng in (False, (), [], True, -1, "1"):
        with pytest.raises(ValueError, match="rng must be"):
            release(GOOD, rng=rng)
        assert os.listdir() == ["in.csv"]
    assert release(GOOD, CLINIC, rng=1) == release(GOOD, CLINIC, target="new.csv", rng=1)
    assert release(GOOD, CLINIC, force=True) != release(GOOD, CLINIC, target="new.csv", force=True)


# the columns that stay


def test_the_level_in_the_strata_is_counted_right(folder):
    """Against shares worked out by hand, for a mechanism and strata in fractions."""
    pairs = {("a", "healthy"): 50, ("a", "flu"): 30, ("b", "flu"): 10, ("b", "rare"): 40}
    text = "sex,said\n" + "".join(f"{sex},{said}\n" * n for (sex, said), n in pairs.items())
    for kind in ("csv", "parquet"):
        Path("in.csv").write_text(text)
        pq.write_table(pa.Table.from_pandas(pd.read_csv("in.csv")), "in.parquet")
        done = release_file(f"in.{kind}", f"out.{kind}", "said", CLINIC, given="sex")
        found = {stratum.name: stratum for stratum in done.strata}
        assert {name: stratum.rows for name, stratum in found.items()} == {("a",): 80, ("b",): 50}
        a = np.log(0.8 / (0.3 / 0.8 * 0.8 + 0.5 / 0.8 * 0.1))  # the outcome 'flu'
        b = np.log(0.8 / (0.2 * 0.8 + 0.8 * 0.1))
        assert np.isclose(found["a",].level, a, rtol=0, atol=1e-12)
        assert np.isclose(found["b",].level, b, rtol=0, atol=1e-12)
        assert all(stratum.worst > stratum.level for stratum in done.strata)


def test_strata_that_leak_more_release_nothing(folder):
    text = "sex,age,said\n" + "a,1,flu\na,2,rare\nb,1,rare\nb,2,flu\n" * 500
    Path("in.csv").write_text(text)
    choice = {"epsilon": CLINIC.epsilon + 1e-9}
    with pytest.raises(LevelExceeded, match="2 of 2 strata may leak more"):
        release_file("in.csv", "out.csv", "said", CLINIC, given="sex", **choice)
    with pytest.raises(LevelExceeded, match="4 of 4 strata"):
        release_file("in.csv", "out.csv", "said", CLINIC, given=["sex", "age"], **choice)
    with pytest.raises(LevelExceeded, match="the mechanism leaks more than 0.1 nats"):
        release_file("in.csv", "out.csv", "said", CLINIC, epsilon=0.1)
    assert os.listdir() == ["in.csv"]
    assert (
        release_file("in.csv", "out.csv", "said", CONSTANT, given="sex", epsilon=0.0).rows == 2000
    )


def test_strata_that_make_no_sense(folder):
    pq.write_table(
        pa.table({"said": ["flu"] * 2000, "id": range(2000), "list": [[1]] * 2000}), "in.parquet"
    )
    for beside, told in (
        ("said", "released and be visible"),
        ("id", "more than 1000 strata"),
        ("list", "cannot be counted"),
        ("sex", "is not in"),
    ):
        with pytest.raises(ValueError, match=told):
            release_file("in.parquet", "out.parquet", "said", CLINIC, given=beside)
    with pytest.raises(ValueError, match="confidence = 2 must lie"):
        release("sex,said\na,flu\n", CLINIC, given="sex", confidence=2)
    assert sorted(os.listdir()) == ["in.csv", "in.parquet"]


def test_a_nul_is_no_quote(tmp_path):
    """Without a quote character a NUL was taken for one that is never closed."""
    path = tmp_path / "nul.csv"
    path.write_bytes(b"x,y\na,p\\,q\nb,n\0\n")
    assert count_values(path, "x", Layout(quotechar=None, escapechar="\\")) == {"a": 1, "b": 1}
