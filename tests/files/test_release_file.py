"""Releasing a file: rights, kills, sources that change, CSV and Parquet as they are found, gaps, and strata."""

import csv
import datetime
import decimal
import gzip
import io
import os
import signal
import stat
import threading
import time
import tracemalloc
from itertools import chain, repeat
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
from refusals import refusal

from pmlbook import AlreadyReleased, BudgetExceeded, Mechanism
from pmlbook.budget import ReleaseLog
from pmlbook.files import release as module
from pmlbook.files import tables
from pmlbook.files.release import (
    Released,
    count_outcomes,
    count_strata,
    count_values,
    release_file,
    values_of,
)
from pmlbook.files.tables import Layout
from pmlbook.numerics.validation import LevelExceeded
from pmlbook.release import files

NAMES = ("healthy", "flu", "rare")
SAID = ["flu", None, "healthy", "rare"]
TURNED = np.eye(4)[[1, 2, 3, 0]]  # every secret becomes the next outcome, for certain
NEXT = dict(zip((*NAMES, None), (*NAMES[1:], None, NAMES[0])))
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


def rights(path):
    return stat.S_IMODE(os.lstat(path).st_mode)


def release(text, mechanism=CONSTANT, target="out.csv", **choice):
    """Release the column 'said' of a CSV file with this content, and give the new content."""
    Path("in.csv").write_bytes(text if isinstance(text, bytes) else text.encode())
    own = {name: choice.pop(name) for name in tuple(choice) if name in vars(Layout())}
    release_file("in.csv", target, "said", mechanism, layout=Layout(**own), **choice)
    return Path(target).read_bytes()


# who may read what is written


@pytest.mark.posix
@pytest.mark.parametrize("mode", [0o600, 0o400, 0o640, 0o644, 0o666, 0o700, 0o4755, 0o604])
def test_a_release_has_at_most_the_rights_of_its_source(folder, mode):
    """If all users may read the source, all may read the release; else only its owner, and until then too."""
    Path("in.csv").write_text(GOOD)
    os.chmod("in.csv", mode)
    seen = []

    def look(rows, share):
        seen.extend(path for path in folder.iterdir() if path.suffix == ".part")
        assert seen and all(rights(path) == 0o600 for path in seen)

    release_file("in.csv", "out.csv", "said", CLINIC, progress=look)
    assert rights("out.csv") == (mode & 0o644 if mode & 0o004 else 0o600)


@pytest.mark.posix
def test_a_strict_umask_is_kept(folder):
    os.umask(0o077)
    Path("in.csv").write_text(GOOD)
    os.chmod("in.csv", 0o644)
    release_file("in.csv", "out.csv", "said", CLINIC)
    assert rights("out.csv") == 0o600 and os.umask(0o077) == 0o077


@pytest.mark.posix
def test_killed_at_random_moments(folder):
    """The target is whole or not there, and what else is left is hidden and private."""
    Path("in.csv").write_text(GOOD)
    rng = np.random.default_rng(5)
    for trial in range(12):
        child = os.fork()
        if not child:
            try:
                release_file("in.csv", "out.csv", "said", CLINIC, force=True)
            finally:
                os._exit(0)
        time.sleep(float(rng.uniform(0, 0.1)))
        os.kill(child, (signal.SIGTERM, signal.SIGKILL)[trial % 2])
        os.waitpid(child, 0)
        whole = os.path.exists("out.csv")
        assert not whole or Path("out.csv").read_text().count("\n") == 20_001
        parts = [path for path in folder.iterdir() if path.suffix == ".part"]
        assert all(path.name.startswith(".") and rights(path) == 0o600 for path in parts)
        for path in [*parts, *folder.glob("out.csv")]:
            path.unlink()


@pytest.mark.posix
def test_a_full_disk_leaves_nothing_and_books_nothing(folder):
    resource = pytest.importorskip("resource")
    log = ReleaseLog("log", new=True)
    Path("in.csv").write_text(GOOD)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (30_000, limits[1]))
    try:
        with pytest.raises(OSError, match="out.csv"):
            release_file("in.csv", "out.csv", "said", CLINIC, log=log)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, ignored)
    assert sorted(os.listdir()) == ["in.csv", "log"] and not log.entries


@pytest.mark.posix
def test_two_programs_of_one_target_do_not_replace_each_other(folder):
    Path("in.csv").write_text(GOOD)
    with pytest.raises(FileExistsError, match="out.csv exists"):
        release_file(
            "in.csv", "out.csv", "said", CLINIC, progress=lambda *_: Path("out.csv").touch()
        )
    assert Path("out.csv").read_bytes() == b"" and sorted(os.listdir()) == ["in.csv", "out.csv"]


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
    for call in (("in.csv", name), (name, "in.csv")):
        with pytest.raises(ValueError, match="source and target"):
            release_file(*call, "said", CLINIC, force=force)
    assert {path.read_text() for path in folder.iterdir()} == {GOOD} and len(os.listdir()) == 4


@pytest.mark.posix
def test_only_regular_files_are_replaced_and_no_log_or_key(folder):
    Path("in.csv").write_text(GOOD)
    Path("folder.csv").mkdir()
    os.mkfifo("pipe.csv")
    Path("target.csv").write_text("precious")
    Path("link.csv").symlink_to("target.csv")
    Path("dangling.csv").symlink_to("nowhere.csv")
    before = sorted(os.listdir())
    for name in ("folder.csv", "pipe.csv", "link.csv", "dangling.csv", "/dev/null"):
        for force in (False, True):
            with pytest.raises(OSError, match="no regular file"):
                release_file("in.csv", name, "said", CLINIC, force=force)
    assert sorted(os.listdir()) == before and Path("target.csv").read_text() == "precious"
    log = ReleaseLog("log.csv", new=True)
    draw = log.begin("said", CLINIC)
    draw.book(1, ["00"])
    for kept in ("log.csv", log.key_file(log.entries[0])):
        whole = Path(kept).read_bytes()
        with pytest.raises(FileExistsError, match="never replaced"):
            release_file("in.csv", kept, "said", CLINIC, force=True)
        assert Path(kept).read_bytes() == whole


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


# CSV: the text of every other field is kept

FOUND = {
    "plain": (b"id,said\n1,flu\n2,rare\n", b"id,said\n1,x\n2,x\n"),
    "byte order mark": (b"\xef\xbb\xbfsaid,id\nflu,1\n", b"said,id\nx,1\n"),
    "carriage return and line feed": (b"id,said\r\n1,flu\r\n", b"id,said\r\n1,x\r\n"),
    "carriage return": (b"id,said\r1,flu\r", b"id,said\n1,x\n"),
    "no end of the last line": (b"id,said\n1,flu", b"id,said\n1,x\n"),
    "newline in quotes": (b'id,said\n"a\nb",flu\n', b'id,said\n"a\nb",x\n'),
    "line feed in a title": (b'"i\nd",said\r\n1,flu\r\n', b'"i\nd",said\r\n1,x\r\n'),
    "long first line": (b"i" * 70_000 + b",said\r\n1,flu\r\n", b"i" * 70_000 + b",said\r\n1,x\r\n"),
    "carriage return in quotes": (b'id,said\n"a\r\nb\r",flu\n', b'id,said\n"a\r\nb\r",x\n'),
    "newline in the header": (b'"i\nd",said\n1,flu\n', b'"i\nd",said\n1,x\n'),
    "quotes": (b'id,said\n"say ""a""","flu"\n', b'id,said\n"say ""a""",x\n'),
    "other columns alike": (b"id,id,said\n1,2,flu\n", b"id,id,said\n1,2,x\n"),
    "zeros and spaces": (b"id,said\n007 ,flu\n", b"id,said\n007 ,x\n"),
    "nul": (b"id,said\na\0b,flu\n", b"id,said\na\0b,x\n"),
    "looks like the column": (b"id,said\nsaid,flu\n", b"id,said\nsaid,x\n"),
    "a gap": (b"s,said\n,flu\n", b"s,said\n,x\n"),
    "quotes around all": (b'"id","said"\n"1","flu"\n', b"id,said\n1,x\n"),
    "a quote within": (b'id,said\n5" a,flu\n', b'id,said\n"5"" a",x\n'),
    "blank last lines": (b"id,said\n1,flu\n\r\n\n", b"id,said\n1,x\n"),
    "formulas and dates": (b"id,said\n=1+1 2024-01-01,flu\n", b"id,said\n=1+1 2024-01-01,x\n"),
    "line separators of Unicode": (
        "id,said\na\u2028b\x85c\x0bd,flu\n".encode(),
        "id,said\na\u2028b\x85c\x0bd,x\n".encode(),
    ),
}


@pytest.mark.parametrize("found, copied", FOUND.values(), ids=FOUND)
def test_csv_keeps_the_text_of_the_other_fields(folder, monkeypatch, found, copied):
    copied = copied.replace(b"said", b"said_released", 1)
    assert release(found) == copied
    packed = release(gzip.compress(found), target="out.csv.gz")
    assert packed[4:8] == bytes(4) and gzip.decompress(packed) == copied  # with no time in it
    monkeypatch.setattr(tables, "BLOCK_ROWS", 1)
    assert release(found, force=True) == copied


@pytest.mark.parametrize(
    "encoding", ["utf-16", "utf-16-be", "utf-32", "cp932", "utf-8-sig", "latin-1"]
)
def test_other_encodings_are_copied_too(folder, encoding):
    letter = "表" if encoding == "cp932" else "é"
    found = release(f"id,said\na{letter},flu\n".encode(encoding), encoding=encoding)
    assert found == f"id,said_released\na{letter},x\n".encode(encoding)


@pytest.mark.parametrize("cut", [9, -9, -1])
def test_broken_gzip_is_refused(folder, cut):
    with pytest.raises(ValueError, match="in.csv cannot be read as gzip after row .*cut off"):
        release(gzip.compress(GOOD.encode())[:cut])
    assert os.listdir() == ["in.csv"]


SPELT = ("flu", "a,b", 'x"y', "p|q;'\t", "back\\slash", "7")


@st.composite
def written_tables(draw):
    """A table as bytes, as four programs write it, and the options of `csv` that read it."""
    by = draw(st.sampled_from(["csv", "pandas", "polars", "pyarrow"]))
    end = "\n" if by == "pyarrow" else draw(st.sampled_from(["\n", "\r\n"]))
    delimiter = draw(st.sampled_from(",;\t|"))
    size, width = draw(st.integers(1, 6)), draw(st.integers(1, 3))
    cells = st.text("aé ,;\t|\"'\\" + end, max_size=4)
    columns = {}
    for place in range(width):
        kind = draw(st.sampled_from([cells, st.one_of(st.none(), cells), st.integers(-9, 99)]))
        columns[f"c{place},"] = draw(st.lists(kind, min_size=size, max_size=size))
    columns["said"] = draw(st.lists(st.sampled_from(SPELT), min_size=size, max_size=size))
    names = draw(st.permutations(list(columns)))
    columns = {name: columns[name] for name in names}
    if by in ("csv", "pandas"):
        quoting = draw(st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC]))
        stream = io.StringIO(newline="")
        if by == "csv":
            writer = csv.writer(stream, lineterminator=end, delimiter=delimiter, quoting=quoting)
            writer.writerows([list(columns), *zip(*columns.values())])
        else:
            pd.DataFrame(columns).to_csv(
                stream, index=False, sep=delimiter, lineterminator=end, quoting=quoting
            )
        text = stream.getvalue()
    elif by == "polars":
        style = draw(st.sampled_from(["necessary", "always", "non_numeric"]))
        text = pl.DataFrame(columns).write_csv(
            separator=delimiter, quote_style=style, line_terminator=end
        )
    else:
        buffer = io.BytesIO()
        pyarrow.csv.write_csv(
            pa.table(columns), buffer, pyarrow.csv.WriteOptions(delimiter=delimiter)
        )
        text = buffer.getvalue().decode()
    encoding = draw(st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]))
    return text, encoding, names.index("said"), delimiter


@given(written_tables(), st.integers(1, 9))
@settings(max_examples=100, deadline=None)
def test_only_the_fields_of_one_column_change(tmp_path_factory, table, rows):
    text, encoding, place, delimiter = table
    folder = tmp_path_factory.mktemp("copies")
    old, new = folder / "old.csv", folder / "new.csv"
    old.write_bytes(text.encode(encoding))
    made = Mechanism(np.roll(np.eye(6), 1, axis=1), np.full(6, 1 / 6), SPELT, SPELT)
    layout = Layout(delimiter, encoding, "?")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tables, "BLOCK_ROWS", rows)
        release_file(old, new, "said", made, layout=layout)
    copy = new.read_bytes().decode(encoding)
    before, after = (
        list(csv.reader(io.StringIO(some, newline=""), delimiter=delimiter, strict=True))
        for some in (text, copy)
    )
    follows = {name: SPELT[(i + 1) % 6] for i, name in enumerate(SPELT)} | {"said": "said"}
    for old_row, new_row in zip(before, after, strict=True):
        assert new_row.pop(place) == follows[old_row.pop(place)] and old_row == new_row


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
    "quote without end": (b'id,said\n1,flu\n"a', "after row 1: unexpected end of data"),
    "another encoding": ("id,said\nmy secret é,flu\n".encode("latin-1"), "no utf-8 text"),
    "utf-16": ("id,said\n1,flu\n".encode("utf-16"), "no utf-8 text"),
    "unknown": (b"id,said\n1,my secret\n", r"holds a value \(str\) in row 1, not among"),
    "missing": (b"id,said\n1,\n", "is missing in row 1"),
    "no header": (b"my secret,flu\nmy secret,flu\n", "column 'said' is not in"),
    "a title that is taken": (b"said,said_released\nflu,1\n", "as another one is: rename that"),
}


@pytest.mark.parametrize("found, told", REFUSED.values(), ids=REFUSED)
def test_csv_that_is_refused_leaves_nothing_and_shows_nothing(folder, found, told):
    with pytest.raises(ValueError, match=told) as error:
        release(found)
    assert os.listdir() == ["in.csv"] and "my secret" not in str(error.value)


def test_what_an_encoding_cannot_write_is_refused(folder):
    made = Mechanism([[1.0]] * 3, [0.6, 0.3, 0.1], NAMES, ("é",))
    with pytest.raises(ValueError, match="an outcome cannot be written in ascii"):
        release("id,said\n1,flu\n", made, encoding="ascii")
    assert os.listdir() == ["in.csv"]


@pytest.mark.parametrize("text", ["NA", ["NA"], ("NA", "-")])
def test_one_missing_text_is_one_text(folder, text):
    source = "said\nflu\nNA\n"
    assert release(source, missing_text=text, missing="keep") == b"said_released\nx\nNA\n"
    with pytest.raises(ValueError, match="row 1, not among"):
        release("said\nN\n", missing_text=text, missing="keep", force=True)


@pytest.mark.parametrize(
    "choice",
    [{"missing_text": [None]}, {"missing_text": 5}, {"delimiter": ""}, {"delimiter": 7}]
    + [{"delimiter": '"'}, {"delimiter": "é", "encoding": "ascii"}]
    + [{"encoding": name} for name in (None, 7, "klingon", "hex", "")],
)
def test_a_layout_that_is_none(folder, choice):
    with pytest.raises(ValueError, match="delimiter|encoding|missing_text"):
        release(GOOD, **choice)
    assert os.listdir() == ["in.csv"]


@pytest.mark.parametrize(
    "start", [b"", b"id,said", b"id,said\n", b"id,said\n1,flu\n", b'id,said\n"']
)
def test_an_endless_line_is_refused_in_little_memory(folder, start):
    """A file of 600 MB without an end of line after its start; its zeros take no room on the disk."""
    Path("in.csv").write_bytes(start)
    os.truncate("in.csv", 600 * 2**20)
    tracemalloc.start()
    with pytest.raises(ValueError, match="a line of 1,048,576 characters|larger than field limit"):
        release_file("in.csv", "out.csv", "said", CLINIC)
    assert tracemalloc.get_traced_memory()[1] < 2**25
    tracemalloc.stop()
    assert os.listdir() == ["in.csv"]


# gaps and names


@pytest.mark.parametrize("missing", ["keep", "refuse"])
def test_a_gap_that_is_an_input_is_randomised_in_files(folder, missing):
    names = (*NAMES, None)
    made = Mechanism(TURNED, [0.25] * 4, names, names)
    text = "id,said\n1,flu\n2,\n3,healthy\n4,rare\n"
    assert release(text, made, missing=missing) == b"id,said\n1,rare\n2,healthy\n3,flu\n4,\n"
    text = text.replace(",\n", ",NA\n")
    new = release(text, made, missing=missing, missing_text="NA", force=True)
    assert new == b"id,said\n1,rare\n2,healthy\n3,flu\n4,NA\n"
    for make in (pa.array, lambda said: pa.array(said).dictionary_encode()):
        pq.write_table(pa.table({"said": make(SAID)}), "in.parquet")
        release_file("in.parquet", "out.parquet", "said", made, missing=missing, force=True)
        new = pq.read_table("out.parquet")["said"].to_pylist()
        assert new == [NEXT[value] for value in SAID]
    counts = count_outcomes("out.csv", "said", names, Layout(missing_text="NA"))
    assert counts.tolist() == [1, 1, 1, 1]


def test_names_that_look_alike_in_csv_are_refused(folder):
    for names in ((1, "1", 2), ("", None, 2), (True, "True", 2)):
        made = Mechanism(np.eye(3), [0.6, 0.3, 0.1], names, names)
        with pytest.raises(ValueError, match="look alike in a CSV file"):
            release("said\n1\n", made)
    made = Mechanism(np.eye(3), [0.6, 0.3, 0.1], NAMES, (*NAMES[:2], None))
    with pytest.raises(ValueError, match="no text for it"):
        release("said\nflu\n", made, missing_text=())


def test_gaps_and_blocks_are_counted(folder, monkeypatch):
    monkeypatch.setattr(tables, "BLOCK_ROWS", 2)
    column, told = ["flu", "", "rare", "", "healthy"], []
    Path("gaps.csv").write_text("id,said\n" + "".join(f"{i},{x}\n" for i, x in enumerate(column)))
    gaps = "gaps.csv", "kept.csv", "said", CLINIC
    ahead = {"missing": "keep", "progress": lambda *how: told.append(how)}
    assert release_file(*gaps, **ahead) == Released(5, 2)
    assert [rows for rows, _ in told] == [2, 4, 5] and told[-1][1] == 1.0
    counts = count_values("kept.csv", "said")
    assert counts[None] == 2 and sum(counts.values()) == 5
    assert count_outcomes("gaps.csv", "said", NAMES, missing="keep").tolist() == [1, 1, 1]
    assert sum(values_of("gaps.csv", "said"), []) == ["flu", None, "rare", None, "healthy"]
    assert "missing in row 2" in refusal(release_file, *gaps, force=True)
    Path("gaps.csv").write_text("id,said\n" + "1,flu\n" * 4 + "1,cold\n")
    assert "in row 5" in refusal(release_file, *gaps, force=True)
    assert "in row 5" in refusal(count_outcomes, "gaps.csv", "said", NAMES)
    assert count_strata("gaps.csv", "said", "id", most=2) == {("1",): {"flu": 4, "cold": 1}}
    told = refusal(count_strata, "gaps.csv", "said", (), most=1)
    assert "more than 1 different values in its first 5 rows" in told
    assert "of one kind" in refusal(release_file, "gaps.csv", "x.parquet", "said", CLINIC)
    assert "visible as it is" in refusal(release_file, *gaps, given=["id", "said"], force=True)


def test_arguments_are_named_before_a_file_is_opened(folder):
    good = {"source": "none.csv", "target": "new.csv", "column": "said", "mechanism": CLINIC}
    wrong = {
        "source": (None, "source must be a path, got a NoneType"),
        "target": (b"new.csv", "target must be a path, got a bytes"),
        "column": (5, "column must be a str, got a int"),
        "mechanism": (CLINIC.certify(2.0), "mechanism must be a Mechanism, got a Certificate"),
        "layout": ({}, "layout must be a Layout, got a dict"),
        "given": (5, "given = 5 must be text, or several texts"),
        "budget": (1.0, "account, budget and again need a log"),
    }
    for name, (value, told) in wrong.items():
        assert refusal(release_file, **(good | {name: value})) == told
    for rng in (False, (), [], True, -1, "1"):
        assert "rng must be" in refusal(release_file, **good, rng=rng)


def test_seeds_repeat_and_no_seed_does_not(folder):
    assert release(GOOD, CLINIC, rng=1) == release(GOOD, CLINIC, target="new.csv", rng=1)
    assert release(GOOD, CLINIC, force=True) != release(GOOD, CLINIC, target="new.csv", force=True)
    with pytest.raises(ValueError, match="seeded release cannot be booked"):
        release(GOOD, CLINIC, force=True, rng=1, log=ReleaseLog("log", new=True))


# Parquet

DAY = datetime.date(2024, 1, 1)
KINDS = {
    "booleans": (pa.array([True, False]), (True, False)),
    "near whole numbers": (pa.array([2**53, 2**53 + 1]), (2**53, 2**53 + 1)),
    "large whole numbers": (pa.array(np.array([2**64 - 2, 2**64 - 1])), (2**64 - 2, 2**64 - 1)),
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
    new = pq.read_table("out.parquet")["said"]
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
    assert new["a.b_released"].to_pylist() == ["x", "x"]
    assert new["a"].to_pylist() == nested.to_pylist()


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


# the columns that stay


def test_the_level_in_the_strata_is_counted_right(folder):
    """Against shares worked out by hand, for a mechanism and strata in fractions."""
    pairs = {("a", "healthy"): 50, ("a", "flu"): 30, ("b", "flu"): 10, ("b", "rare"): 40}
    text = "sex,said\n" + "".join(f"{sex},{said}\n" * n for (sex, said), n in pairs.items())
    for kind in ("csv", "parquet"):
        Path("in.csv").write_text(text)
        pq.write_table(pa.Table.from_pandas(pd.read_csv("in.csv")), "in.parquet")
        done = release_file(f"in.{kind}", f"out.{kind}", "said", CLINIC, given=["sex", "sex"])
        found = {stratum.name: stratum for stratum in done.strata}
        assert {name: stratum.rows for name, stratum in found.items()} == {("a",): 80, ("b",): 50}
        a = np.log(0.8 / (0.3 / 0.8 * 0.8 + 0.5 / 0.8 * 0.1))  # the outcome 'flu'
        b = np.log(0.8 / (0.2 * 0.8 + 0.8 * 0.1))
        assert np.isclose(found["a",].level, a, rtol=0, atol=1e-12)
        assert np.isclose(found["b",].level, b, rtol=0, atol=1e-12)
        assert all(stratum.worst > stratum.level for stratum in done.strata)


def test_strata_that_leak_more_release_and_book_nothing(folder):
    text = "sex,age,said\n" + "a,1,flu\na,2,rare\nb,1,rare\nb,2,flu\n" * 500
    Path("in.csv").write_text(text)
    log, choice = ReleaseLog("log", new=True), {"epsilon": CLINIC.epsilon + 1e-9}
    for given_too, told in (("sex", "2 of 2 strata may leak"), (["sex", "age"], "4 of 4 strata")):
        with pytest.raises(LevelExceeded, match=told):
            release_file("in.csv", "out.csv", "said", CLINIC, given=given_too, log=log, **choice)
    with pytest.raises(LevelExceeded, match="the mechanism leaks more than 0.1 nats"):
        release_file("in.csv", "out.csv", "said", CLINIC, epsilon=0.1, log=log)
    assert sorted(os.listdir()) == ["in.csv", "log"] and not log.entries
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


# with a log


def killed(point, kind, budget=1.6):
    """Release in a process of its own, which ends at a point of the release."""
    child = os.fork()
    if child:
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
        return
    try:
        end = lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL)  # noqa: E731
        if point == "before the row":
            module.Draw.book = end
        elif point == "in the transaction":
            module.ReleaseLog._next, next_ = end, module.ReleaseLog._next
            module.ReleaseLog.ask = lambda self, column, release, **terms: next_(
                self, self.entries, column, release, **terms
            )
        elif point == "before the name":
            name = files._name
            files._name = lambda hidden, target, force: (
                end() if target.name.startswith("out") else name(hidden, target, force)
            )
        elif point == "after the name":
            module.Draw.finish = end
        booked(kind, budget=budget)
    finally:
        os._exit(0)


def booked(kind, budget=1.6, **terms):
    log = ReleaseLog("log")
    return release_file(
        f"in.{kind}", f"out.{kind}", "said", CLINIC, log=log, budget=budget, **terms
    )


@pytest.mark.posix
@pytest.mark.parametrize("kind", ["csv", "csv.gz", "parquet"])
@pytest.mark.parametrize(
    "point", ["before the row", "in the transaction", "before the name", "after the name"]
)
def test_killed_anywhere_and_run_again(folder, point, kind):
    """The budget is for one release; the second run draws what the first one drew, and books nothing."""
    log = ReleaseLog("log", new=True)
    pd.read_csv(io.StringIO(GOOD)).to_parquet("in.parquet")
    Path("in.csv").write_text(GOOD)
    Path("in.csv.gz").write_bytes(gzip.compress(GOOD.encode()))
    killed(point, kind)
    late = point in ("before the name", "after the name")
    assert len(log.entries) == late == len(list(folder.glob("log.*.key")))
    (first,) = [*folder.glob(".out*.part"), *folder.glob("out*")]
    drawn = first.read_bytes()
    assert Path(f"out.{kind}").exists() == (point == "after the name")
    done = booked(kind)
    assert done.completed == late and done.entry.number == 1 == len(log.entries)
    assert (Path(f"out.{kind}").read_bytes() == drawn) == late
    assert not list(folder.glob("log.*.key"))
    with pytest.raises(AlreadyReleased):  # what is complete is complete
        booked(kind, force=True)
    with pytest.raises(BudgetExceeded):
        booked(kind, force=True, again=True)


@pytest.mark.posix
def test_other_rows_are_not_the_release_that_was_cut_off(folder):
    log = ReleaseLog("log", new=True)
    Path("in.csv").write_text(GOOD)
    killed("before the name", "csv")
    (part,) = folder.glob(".out*.part")
    for changed in (
        GOOD.replace("7,flu", "7,rare", 1),
        GOOD + "20000,flu\n",
        GOOD[: GOOD.rindex("1999")],
        "id,said\n" + "\n".join(GOOD.split("\n")[:0:-1][1:]),
    ):
        Path("in.csv").write_text(changed)
        with pytest.raises(ValueError, match="other rows") as error:
            booked("csv")
        assert "booked as release 1" in error.value.__notes__[0]
        assert not Path("out.csv").exists() and len(log.entries) == 1
    Path("in.csv").write_text(GOOD)
    booked("csv")
    assert Path("out.csv").read_bytes() == part.read_bytes()


@pytest.mark.posix
def test_who_wants_the_rows_of_now_books_them(folder):
    log = ReleaseLog("log", new=True)
    Path("in.csv").write_text(GOOD)
    killed("before the name", "csv", budget=3.0)
    Path("in.csv").write_text(GOOD.replace("7,flu", "7,rare", 1))
    done = release_file("in.csv", "out.csv", "said", CLINIC, log=log, again=True)
    assert done.entry.number == 2 and not done.completed and log["said"].releases == 2


@pytest.mark.posix
def test_a_file_that_took_the_name_is_not_replaced_by_a_completed_release(folder):
    ReleaseLog("log", new=True)
    Path("in.csv").write_text(GOOD)
    killed("after the name", "csv")
    edited = Path("out.csv").read_bytes() + b"20000,flu\n"
    Path("out.csv").write_bytes(edited)
    with pytest.raises(FileExistsError, match="out.csv exists"):
        booked("csv")
    assert Path("out.csv").read_bytes() == edited
    assert release_file("in.csv", "b.csv", "said", CLINIC, log=ReleaseLog("log")).completed


@pytest.mark.posix
def test_two_programs_release_at_once_and_one_is_booked(folder):
    """Both have asked before either has drawn."""
    log = ReleaseLog("log", new=True)
    Path("in.csv").write_text(GOOD)
    children = []
    for name in ("a.csv", "b.csv"):
        child = os.fork()
        if not child:
            code = 1
            try:
                once = chain([0.5], repeat(0))
                wait = lambda *_, once=once: time.sleep(next(once))  # noqa: E731
                release_file("in.csv", name, "said", CLINIC, log=ReleaseLog("log"), progress=wait)
                code = 0
            except AlreadyReleased:
                code = 7
            finally:
                os._exit(code)
        children.append(child)
    codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    assert sorted(codes) == [0, 7] and len(log.entries) == 1
    assert len(list(folder.glob("?.csv"))) == 1 and not list(folder.glob("*.key"))


def test_a_release_that_is_refused_is_not_booked(folder):
    log = ReleaseLog("log", new=True)
    Path("in.csv").write_text(GOOD + "1,cold\n")
    with pytest.raises(ValueError, match="row 20001"):
        booked("csv")
    assert not log.entries and sorted(os.listdir()) == ["in.csv", "log"]


def test_numbers_that_were_rounded_at_random_are_the_first_of_their_account(folder):
    class Reader:
        rounds = True

        def __call__(self, values, what, row, missing, words):
            return np.array([0 if x == "flu" else 1 for x in values]) ^ (words(len(values)) & 1)

    log = ReleaseLog("log", new=True)
    Path("in.csv").write_text(GOOD)
    made = Mechanism([[0.6, 0.4], [0.4, 0.6]], [0.5, 0.5], (0.0, 1.0), ("a", "b"))
    other = Mechanism([[0.7, 0.3], [0.3, 0.7]], [0.5, 0.5], (0.0, 1.0), ("a", "b"))
    release_file("in.csv", "a.csv", "said", made, read=Reader(), log=log)
    with pytest.raises(ValueError, match="rounded at random once more"):
        release_file("in.csv", "b.csv", "said", other, read=Reader(), log=log)
    assert sorted(os.listdir()) == ["a.csv", "in.csv", "log"] and len(log.entries) == 1


@pytest.mark.parametrize("encoding", ["idna", "punycode", "rot13", "no-such"])
def test_an_encoding_that_writes_no_lines_is_refused(encoding):
    """That of host names writes nothing until its end, which no file has."""
    with pytest.raises(ValueError, match=f"encoding = '{encoding}' is no encoding of text"):
        Layout(encoding=encoding)
