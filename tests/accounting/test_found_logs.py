"""Which log a release finds, what it says of the others, and the names of its receipt."""

import argparse
import json
import os
from pathlib import Path

import pytest

from pmlbook import optimal_mechanism
from pmlbook.accounting.budgeted_release import (
    LOG,
    NEEDS_LOG,
    Booking,
    accounts,
    find_log,
    note_unused_logs,
)
from pmlbook.accounting.release import Released
from pmlbook.budget import DiskLog

HALF = optimal_mechanism([0.6, 0.3, 0.1], 0.25).mechanism
CERTIFICATE = HALF.certify(HALF.epsilon)
FIRST, SECOND = f"a/{LOG}", f"c/{LOG}"
NOTES = {log: f"note: {log} is next to the source, and is not used" for log in (FIRST, SECOND)}


@pytest.fixture(autouse=True)
def folders(tmp_path, monkeypatch):
    """Four folders: a and c have a log, and the sources of b and c are links that lead to that of a."""
    monkeypatch.chdir(tmp_path)
    for name in "abcd":
        Path(name).mkdir()
    for name in "ad":
        Path(name, "in.csv").write_text("diagnosis\n")
    for path in (FIRST, SECOND):
        DiskLog(path, new=True).record("diagnosis", CERTIFICATE)
    Path("b/in.csv").symlink_to("../a/in.csv")
    Path("c/in.csv").symlink_to(Path("b/in.csv").absolute())


@pytest.fixture
def asked(capsys, tmp_path):
    """The log that a release of a source would use, and its notes."""

    def ask(source, **options):
        plain = {"log": None, "start_log": None, "no_log": False} | dict.fromkeys(NEEDS_LOG)
        arguments = argparse.Namespace(**plain | options, source=source, target="out.csv")
        log = find_log(arguments)
        note_unused_logs(arguments, log)
        said = capsys.readouterr().err.replace(f"{tmp_path}/", "").replace("b/../", "")
        notes = [line.removeprefix("pmlbook: ") for line in said.splitlines()]
        return log and os.path.relpath(log.path), notes

    return ask


def test_a_log_next_to_the_source_is_used_also_through_a_link(asked):
    assert asked("a/in.csv") == asked("b/in.csv") == (FIRST, [])


def test_a_log_that_is_not_used_is_named(asked):
    assert asked("a/in.csv", no_log=True) == (None, [NOTES[FIRST]])
    assert asked("c/in.csv", log=SECOND) == (SECOND, [NOTES[FIRST]])
    assert asked("c/in.csv", no_log=True) == (None, [NOTES[SECOND], NOTES[FIRST]])
    assert asked("a/in.csv", log=f"b/../{FIRST}") == (FIRST, [])


def test_of_two_logs_one_has_to_be_named(asked):
    with pytest.raises(ValueError, match="both next to the source"):
        asked("c/in.csv")


def test_where_there_is_no_log_none_is_used(asked):
    for source in ("d/in.csv", "d", "d/absent.csv"):
        assert asked(source) == asked(source, no_log=True) == (None, [])


@pytest.mark.parametrize("name", NEEDS_LOG)
def test_an_option_of_logs_asks_for_one(asked, name):
    with pytest.raises(ValueError, match=f"^--{name.replace('_', '-')} needs a log: --log names"):
        asked("d/in.csv", **{name: 0.0})


def test_a_new_log_is_begun_where_there_is_none(asked):
    assert asked("d/in.csv", start_log="d/new") == ("d/new", [])
    with pytest.raises(FileExistsError):
        asked("d/in.csv", start_log=FIRST)
    with pytest.raises(FileNotFoundError, match="^d/absent does not exist: --start-log begins"):
        asked("d/in.csv", log="d/absent")


def test_a_log_is_compared_with_a_receipt(asked):
    assert asked("a/in.csv", after=DiskLog(FIRST).entries[-1].digest) == (FIRST, [])
    with pytest.raises(ValueError):
        asked("a/in.csv", after="0" * 64)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_pipe_has_no_folder(asked):
    os.mkfifo("d/pipe")
    note = "note: d/pipe is no regular file, and has no log next to it: --log names one"
    assert asked("d/pipe") == (None, [note])
    assert asked("d/pipe", no_log=True) == (None, [])
    assert asked("d/pipe", log=FIRST) == (FIRST, [])


def booking(receipt=None):
    """A release of the first log to later.csv."""
    names = {"budget": None, "account": None, "new_account": None, "column": "diagnosis"}
    target = Path("later.csv")
    options = argparse.Namespace(**names, force=False, target=target, receipt=receipt)
    return Booking(DiskLog(FIRST), CERTIFICATE, options, [])


def test_a_receipt_replaces_no_file():
    plain = Path("later.csv.receipt.json")
    assert booking().receipt == plain
    plain.write_text("another person's")
    with pytest.raises(FileExistsError):
        booking(plain)
    for own in ("later.csv", "d/../later.csv", FIRST):
        with pytest.raises(ValueError, match="names of their own"):
            booking(Path(own))
    assert booking().receipt.name == "later.csv.2.receipt.json"
    assert plain.read_text() == "another person's"


def test_the_receipt_has_the_line_of_its_release():
    release = booking()
    release(Released(5, 0))
    entries = DiskLog(FIRST).entries
    assert json.loads(release.receipt.read_text())["line"] == release.entry.digest
    assert entries[-1].digest == release.entry.digest and entries[-1].rows == 5
    (account,) = accounts(DiskLog(FIRST))
    assert release.facts["releases"] == account["releases"] == 2
    assert release.facts["joint"] == account["joint"] and account["account"] == "diagnosis"


def test_an_error_states_whether_the_line_remains(capsys):
    release = booking()
    with pytest.raises(OSError, match="^full$"), release.line_stated():
        raise OSError("full")
    release(Released(5, 0))
    late = f"booked as line 2 of {FIRST}, but not released"
    with pytest.raises(ValueError, match=f"^{late}: full$"), release.line_stated():
        raise OSError("full")
    with pytest.raises(KeyboardInterrupt), release.line_stated():
        raise KeyboardInterrupt
    assert late in capsys.readouterr().err
