"""A log as a file: hostile files run nothing, kills and full disks leave it whole, and programs take turns."""

import json
import multiprocessing
import os
import random
import shutil
import signal
import sqlite3
import stat
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from hashlib import sha256
from pathlib import Path

import pytest

from pmlbook import BudgetExceeded, Mechanism
from pmlbook.accounting import disk_log, log_file
from pmlbook.accounting.log_file import opened
from pmlbook.budget import DiskLog, compose
from pmlbook.cli.command_line import main

FLIP = Mechanism([[0.75, 0.25], [0.25, 0.75]], [0.5, 0.5], ("no", "yes"))
SILENT = Mechanism([[1.0], [1.0]], [0.5, 0.5], ("no", "yes"))
FORKED = multiprocessing.get_context("fork") if hasattr(os, "fork") else None


@pytest.fixture
def log(tmp_path):
    """A log with two lines."""
    log = DiskLog(tmp_path / "log", new=True)
    log.record("smokes", FLIP, budget=5.0)
    log.record("smokes", SILENT)
    return log


def edited(path, *statements):
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)


# hostile files


@pytest.mark.parametrize(
    "statements, told",
    [
        (["CREATE VIEW v AS SELECT 1"], "holds the view 'v'"),
        (["CREATE TABLE t (a)"], "holds the table 't'"),
        (["CREATE INDEX i ON releases (sha256)"], "holds the index 'i'"),
        (
            ["CREATE TRIGGER t AFTER INSERT ON releases BEGIN DELETE FROM releases; END"],
            "holds the trigger 't'",
        ),
        (["ANALYZE"], "holds the table 'sqlite_stat1'"),
        (["ALTER TABLE releases ADD COLUMN a"], "holds the table 'releases'"),
        (
            [
                "ALTER TABLE releases RENAME TO t",
                "CREATE VIEW releases AS SELECT number, entry, sha256 FROM t",
            ],
            "holds the ",
        ),
        (["DROP TABLE releases"], "is empty"),
        (["DELETE FROM releases"], "holds no line|no longer the log"),
        (["PRAGMA journal_mode = WAL"], "is in WAL mode"),
        (
            [
                "PRAGMA writable_schema = ON",
                "UPDATE sqlite_master SET sql = 'CREATE TABLE releases (number, entry, sha256"
                " GENERATED ALWAYS AS (load_extension(entry)))'",
            ],
            "is no log, or was changed|is damaged",
        ),
        (
            ["PRAGMA writable_schema = ON", "UPDATE sqlite_master SET sql = 'CREATE nonsense'"],
            "is damaged, or no log",
        ),
        (
            ["PRAGMA writable_schema = ON", "UPDATE sqlite_master SET rootpage = 99"],
            "is damaged|is no log",
        ),
    ],
)
def test_whatever_is_planted_is_refused_and_nothing_is_added(log, statements, told):
    edited(log.path, *statements)
    whole = log.path.read_bytes()
    for call in (lambda: DiskLog(log.path), lambda: log.record("smokes", SILENT)):
        with pytest.raises(ValueError, match=told):
            call()
    assert log.path.read_bytes() == whole


@pytest.mark.parametrize(
    "statement", ["PRAGMA application_id = 7", "PRAGMA user_version = 9", "VACUUM"]
)
def test_what_leaves_the_rows_as_they_are_does_no_harm(log, statement):
    edited(log.path, "PRAGMA synchronous = OFF", "PRAGMA secure_delete = OFF", statement)
    assert DiskLog(log.path).entries == log.entries
    assert log.record("smokes", SILENT).number == 3


def test_every_byte_of_the_file_may_be_changed_and_no_line_changes(log):
    """A damaged byte is refused, or stands where nothing is kept; the lines are never other ones."""
    whole, random_bytes = log.path.read_bytes(), random.Random(7)
    for place in [*range(100), *random_bytes.sample(range(len(whole)), 150)]:
        damaged = bytearray(whole)
        damaged[place] ^= 1 << random_bytes.randrange(8)
        log.path.write_bytes(damaged)
        try:
            assert DiskLog(log.path).entries == log.entries
        except (OSError, ValueError):
            pass
    log.path.write_bytes(whole)
    assert sorted(os.listdir(log.path.parent)) == ["log"]


@pytest.mark.parametrize("size", [1, 50, 100, 3000, 4096, 5000, 8191])
def test_a_truncated_file_is_refused(log, size):
    os.truncate(log.path, size)
    with pytest.raises(ValueError, match="is damaged|is no log|is empty|has been changed"):
        DiskLog(log.path)
    with pytest.raises(ValueError):
        log.record("smokes", SILENT)
    assert log.path.stat().st_size == size


def test_another_file_is_no_log(tmp_path):
    other = tmp_path / "log"
    other.write_text("a,b\n" * 999)
    with pytest.raises(ValueError, match="is no log: --start-log begins a new one"):
        DiskLog(other)


@pytest.mark.parametrize(
    "name", ["'; DROP TABLE releases; --", '"', "a\\'", "${x}", "%s", "?1", ":number", "x\x00y"]
)
def test_names_are_no_sql(log, name):
    entry = log.record(name, SILENT, account=name)
    assert DiskLog(log.path).entries[-1] == entry and entry.column == name
    assert DiskLog(log.path).budget(name) is None and len(DiskLog(log.path).entries) == 3


NAMES = ["a b", "a?mode=ro", "a#b", "a%20b", "ü", "a&b", "x" * 240]
POSIX = [":memory:", "file:a", "a\nb", "a\\b", "~", "\udcff"]  # the last is a byte that is no text


@pytest.mark.parametrize(
    "name", [*NAMES, *(pytest.param(n, marks=pytest.mark.posix) for n in POSIX)]
)
def test_any_name_of_a_file_will_do(tmp_path, name):
    DiskLog(tmp_path / name, new=True).record("smokes", FLIP)
    assert len(DiskLog(tmp_path / name).entries) == 1 and os.listdir(tmp_path) == [name]


def test_a_name_that_leaves_no_room_for_the_journal_is_refused(tmp_path):
    with pytest.raises(OSError, match="too long"):
        DiskLog(tmp_path / ("x" * 250), new=True).record("smokes", FLIP)
    assert os.listdir(tmp_path) == []


# links, rights and other files


@pytest.mark.parametrize("kind", ["journal", "wal", "shm"])
def test_a_new_log_takes_over_nothing_of_an_old_one(tmp_path, kind):
    """SQLite would put pages of the old log, which was moved away, over those of the new one."""
    left = tmp_path / f"log-{kind}"
    left.write_bytes(b"pages")
    with pytest.raises(FileExistsError, match=f"log-{kind} exists, and belongs to another log"):
        DiskLog(tmp_path / "log", new=True).record("smokes", FLIP)
    assert os.listdir(tmp_path) == [left.name] and left.read_bytes() == b"pages"


@pytest.mark.posix
@pytest.mark.parametrize("kind", ["journal", "wal", "shm"])
def test_a_link_beside_the_log_is_no_trap(log, tmp_path, kind):
    """If `log-journal` is a planted link, the log writes nothing to its target."""
    victim = tmp_path / "victim"
    victim.write_bytes(b"precious")
    os.symlink(victim, f"{log.path}-{kind}")
    try:
        log.record("smokes", SILENT)
    except OSError:
        os.unlink(f"{log.path}-{kind}")
    assert victim.read_bytes() == b"precious"
    assert len(DiskLog(log.path).entries) in (2, 3)


@pytest.mark.posix
def test_the_journal_is_the_owners_alone(log, monkeypatch):
    seen = []

    def looking(connection, entry):
        log_file.append(connection, entry)
        seen.extend((p.name, stat.S_IMODE(p.stat().st_mode)) for p in log.path.parent.iterdir())

    before = os.umask(0)
    try:
        monkeypatch.setattr(disk_log, "append", looking)
        log.record("smokes", SILENT)
    finally:
        os.umask(before)
    assert dict(seen) == {"log": 0o600, "log-journal": 0o600}
    assert os.listdir(log.path.parent) == ["log"]


@pytest.mark.posix
@pytest.mark.parametrize("write", [False, True])
def test_a_link_that_comes_while_the_log_is_opened_is_refused(log, tmp_path, monkeypatch, write):
    """The name is a file when it is looked at, and a link when SQLite opens it."""
    regular = log_file._regular

    def swapped(path):
        state = regular(path)
        os.replace(path, tmp_path / "aside")
        os.symlink(tmp_path / "aside", path)
        return state

    monkeypatch.setattr(log_file, "_regular", swapped)
    with pytest.raises(ValueError, match="symbolic link"), opened(log.path, write):
        pass


@pytest.mark.posix
@pytest.mark.parametrize("new", [False, True])
def test_a_file_that_is_put_aside_is_not_written(log, monkeypatch, tmp_path, new):
    """Another program replaces the log while this one waits for its lock; the new log stays as it is."""
    wait, whole, path = log_file._wait, log.path.read_bytes(), tmp_path / ("new" if new else "log")
    shutil.copy(log.path, tmp_path / "other")

    def slow(connection, statement):
        if statement.startswith("BEGIN"):
            os.replace(path, tmp_path / "aside")
            shutil.copy(tmp_path / "other", path)
        return wait(connection, statement)

    monkeypatch.setattr(log_file, "_wait", slow)
    with pytest.raises(ValueError, match="put aside"):
        (DiskLog(path, new=True) if new else log).record("smokes", SILENT)
    assert path.read_bytes() == whole


def unprivileged():
    """Whether this process may drop the rights of root, which no file mode holds back."""
    return hasattr(os, "geteuid") and os.geteuid() == 0


@pytest.mark.posix
def test_who_only_reads_needs_no_right_to_write(log):
    """An auditor of another user, in a folder that he cannot write either."""
    os.chmod(log.path, 0o644)

    def read():
        if unprivileged():
            os.setgroups([])
            os.setuid(65534)
        assert len(DiskLog(log.path).entries) == 2
        try:
            DiskLog(log.path).record("smokes", SILENT)
        except PermissionError:
            os._exit(7)

    for folder in log.path.parents:
        if not folder.stat().st_mode & 0o001:
            os.chmod(folder, 0o755)
    os.chmod(log.path, 0o444), os.chmod(log.path.parent, 0o555)
    process = FORKED.Process(target=read)
    process.start(), process.join(60)
    os.chmod(log.path.parent, 0o755)
    assert process.exitcode == 7 and os.listdir(log.path.parent) == ["log"]


def test_a_journal_or_a_log_gives_way_to_no_output(log, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("m.json").write_text(FLIP.certify(1.2).to_json())
    Path("in.csv").write_text("smokes\nno\nyes\n")
    for target in ("log-journal", "log-wal", "log-shm"):
        command = f"release m.json in.csv {target} --column smokes --log log --force"
        assert main(command.split()) == 2 and not Path(target).exists()
    Path("left-journal").write_bytes(bytes.fromhex("d9d505f920a163d7") + bytes(600))
    assert main("release m.json in.csv left-journal --column smokes --no-log --force".split()) == 2


# kills, full disks, races, clocks


def records(path, count=10**6, **options):
    for _ in range(count):
        DiskLog(path).record("smokes", SILENT, **options)


@pytest.mark.posix
def test_a_kill_at_any_moment_leaves_a_valid_log(log):
    """All lines that were reported as written are there, and the next one follows them."""
    wait, lines = random.Random(3), 2
    for _ in range(25):
        process = FORKED.Process(target=records, args=(log.path,))
        before = log.path.stat().st_mtime_ns
        process.start()
        while log.path.stat().st_mtime_ns == before:  # until it has written a line
            time.sleep(0.001)
        time.sleep(wait.uniform(0, 0.05))
        os.kill(process.pid, signal.SIGKILL)
        process.join(60)
        now = len(DiskLog(log.path).entries)
        assert now >= lines
        lines = DiskLog(log.path).record("smokes", SILENT).number
        assert lines == now + 1
    assert lines >= 2 + 25 and os.listdir(log.path.parent) == ["log"]


def killed_while_writing(path):
    """End with some of the new pages on the disk, and the journal beside them."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA cache_size = 2")
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("UPDATE releases SET entry = entry || hex(zeroblob(30000))")
        connection.execute("INSERT INTO releases VALUES (9, hex(zeroblob(90000)), 'b')")
        os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.posix
def test_a_log_that_was_cut_off_is_put_right_by_the_next_who_may_write(log, monkeypatch):
    whole = log.path.read_bytes()
    process = FORKED.Process(target=killed_while_writing, args=(log.path,))
    process.start(), process.join(60)
    assert log.path.read_bytes() != whole and Path(f"{log.path}-journal").stat().st_size
    assert stat.S_IMODE(Path(f"{log.path}-journal").stat().st_mode) == 0o600
    connect = (
        sqlite3.connect
    )  # a reader without the right to write cannot repair it, and gets an error
    monkeypatch.setattr(
        sqlite3, "connect", lambda name, **options: connect(name.replace("=rw", "=ro"), **options)
    )
    with pytest.raises(PermissionError, match="cut off while it wrote this log"):
        DiskLog(log.path)
    monkeypatch.undo()
    assert DiskLog(log.path).entries == log.entries
    assert log.path.read_bytes() == whole and os.listdir(log.path.parent) == ["log"]


LIMITED = """
import resource, sys
from pathlib import Path
from pmlbook import Mechanism
from pmlbook.budget import DiskLog
size = Path("log").stat().st_size if Path("log").exists() else 0
resource.setrlimit(resource.RLIMIT_FSIZE, (size + int(sys.argv[1]), -1))
silent = Mechanism([[1.0], [1.0]], [0.5, 0.5], ("no", "yes"))
log = DiskLog("log", new=not size)
while True:
    try:
        log.record("smokes", silent)
    except OSError as error:
        print(len(log.entries), error)
        break
"""


@pytest.mark.skipif(sys.platform != "linux", reason="sets a limit on the size of files")
@pytest.mark.parametrize("room", [0, 4096, 12_288])
@pytest.mark.parametrize("new", [False, True])
def test_a_full_disk_leaves_the_log_as_it_was(log, tmp_path, room, new):
    if new:
        log.path.unlink()
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(room)], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0 and "log" in done.stdout, done.stderr
    known = int(done.stdout.split()[0])
    if known:
        assert len(DiskLog(log.path).entries) == known
        assert log.record("smokes", SILENT) if not new else True
    assert os.listdir(tmp_path) == (["log"] if known else [])


def one_of_many(path, budget):
    try:
        DiskLog(path).record("drinks", FLIP, budget=budget, account="drinks")
    except BudgetExceeded:
        sys.exit(1)


@pytest.mark.posix
def test_programs_and_threads_that_race_keep_one_budget(log):
    budget = compose(*[FLIP] * 3).epsilon
    crowd = [FORKED.Process(target=one_of_many, args=(log.path, budget)) for _ in range(8)]
    [process.start() for process in crowd], [process.join(120) for process in crowd]
    assert sorted(process.exitcode for process in crowd) == [0] * 3 + [1] * 5
    shared = DiskLog(log.path)

    def refused(_):
        try:
            shared.record("eats", FLIP, budget=budget, account="eats")
        except BudgetExceeded:
            return True
        return False

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(refused, range(8))) == 5
    later = DiskLog(log.path)
    assert later["drinks"].epsilon == later["eats"].epsilon == budget


def test_a_reader_and_a_writer_wait_for_each_other(log):
    """A reader reads the log before or after a line, and a line waits until no program reads."""
    with ThreadPoolExecutor(2) as pool:
        with opened(log.path) as connection:
            assert connection.execute("SELECT count(*) FROM releases").fetchone() == (2,)
            writing = pool.submit(log.record, "smokes", SILENT)
            time.sleep(0.7)
            assert not writing.done()
        assert writing.result(60).number == 3


def test_who_waits_too_long_is_refused(log, monkeypatch):
    """A disk that grants no lock looks like a program that never ends."""
    monkeypatch.setattr(log_file, "LOCK_WAIT_SECONDS", 0)
    with opened(log.path, write=True):
        with pytest.raises(OSError, match="or the disk knows no locks"):
            log.record("smokes", SILENT)
    assert log.record("smokes", SILENT).number == 3


def test_a_clock_that_goes_backwards_changes_nothing(log, monkeypatch):
    from datetime import UTC, datetime

    class Clock(datetime):
        @classmethod
        def now(cls, zone=None):
            return datetime(1999, 1, 1, tzinfo=UTC)

    monkeypatch.setattr(disk_log, "datetime", Clock)
    assert log.record("smokes", SILENT).time.startswith("1999")
    assert [entry.number for entry in DiskLog(log.path).entries] == [1, 2, 3]


def test_an_error_of_the_callback_before_a_line_writes_nothing(log):
    def no(entry):
        raise OSError("no")

    with pytest.raises(OSError, match="no"):
        log.record("smokes", SILENT, ahead=no)
    assert len(DiskLog(log.path).entries) == 2 and os.listdir(log.path.parent) == ["log"]


def test_the_settings_are_in_force(log):
    with opened(log.path) as connection:
        found = {n: connection.execute(f"PRAGMA {n}").fetchone()[0] for n in log_file.SETTINGS}
    assert found["synchronous"] == 3 and found["trusted_schema"] == 0
    assert found["cell_size_check"] == 1


# the export


def test_an_auditor_needs_no_sqlite(log, capsys):
    assert main(["log", str(log.path), "--lines"]) == 0
    lines, previous = capsys.readouterr().out.splitlines(), "0" * 64
    assert lines == log.lines and len(lines) == 2
    for line in lines:
        content = json.loads(line)
        digest = content.pop("sha256")
        assert sha256(json.dumps(content).encode()).hexdigest() == digest
        assert content["previous"] == previous
        previous = digest
    assert previous == log.entries[-1].digest


def test_a_table_whose_text_is_damaged_is_named(log):
    content = bytearray(log.path.read_bytes())
    content[content.find(b"CREATE TABLE releases") + 2] ^= 128  # no UTF-8 any more
    log.path.write_bytes(content)
    with pytest.raises(ValueError, match="log is damaged, or no log"):
        DiskLog(log.path)
