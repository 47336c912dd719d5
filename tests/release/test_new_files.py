"""Ends that no ordinary day reaches: an empty file, a log under the name of the output, a full disk, rights, signals."""

import errno
import os
import signal
import stat
from pathlib import Path
from unittest.mock import patch

import pytest
from refusals import refusal

from pmlbook.release import files as module
from pmlbook.release.files import (
    ENDING_SIGNALS,
    KEPT_BEGINNINGS,
    NO_SUCH_FILES,
    nameless_file,
    new_file,
    open_source,
    orderly_end,
)


def write(path, force=False, like=None, data=b"other"):
    with new_file(path, force, like) as file:
        file.write(data)
        if not data:
            raise OSError("the disk is full")


pytestmark = pytest.mark.posix


def test_shares_that_are_read(tmp_path):
    for text, shares in {b"four": [0, 0.25, 0.5], b"1": [0, 1, 1]}.items():
        (tmp_path / "read.txt").write_bytes(text)
        with open_source(tmp_path / "read.txt") as source:
            assert [(source.share(), source.file.read(1))[0] for _ in shares] == shares
    (tmp_path / "none.txt").touch()
    for nothing in (tmp_path / "none.txt", Path(os.devnull)):  # an empty file, and no regular one
        with open_source(nothing) as source:
            assert source.file.read() == b"" and source.share() == 0.0


def test_a_log_is_never_replaced(tmp_path):
    for first in KEPT_BEGINNINGS:
        (tmp_path / "log").write_bytes(first + b"...")
        assert "never replaced" in refusal(write, tmp_path / "log", force=True)
        (tmp_path / "log").write_bytes(first[:-1])  # not to the end: an ordinary file
        write(tmp_path / "log", force=True)


def test_systems_without_nameless_files(tmp_path, monkeypatch):
    (tmp_path / "any").touch()
    with patch.object(os, "O_TMPFILE", 0, create=True):
        for number in NO_SUCH_FILES:
            with patch.object(os, "open", side_effect=OSError(number, "no such files")):
                assert nameless_file(tmp_path) is None
        with patch.object(os, "open", side_effect=OSError(errno.ENOSPC, "the disk is full")):
            assert "disk is full" in refusal(nameless_file, tmp_path)
        number = os.open(tmp_path / "any", os.O_RDWR)
        with patch.object(os, "open", return_value=number):
            made = nameless_file(tmp_path)
        assert (made is None) == (not Path("/proc/self/fd").exists())
        if made:
            made.close()
    monkeypatch.setattr(module, "nameless_file", lambda folder: None)
    write(tmp_path / "any", force=True, data=b"named")
    assert "any exists" in refusal(write, tmp_path / "any")
    assert (tmp_path / "any").read_bytes() == b"named"
    assert not list(tmp_path.glob(".*"))


@pytest.fixture
def usual_umask():
    """New files may be read by everybody, unless something else is asked for."""
    umask = os.umask(0o022)
    yield
    assert os.umask(umask) == 0o022


@pytest.fixture
def default_signals():
    """The handlers of the system; those of pytest are back afterwards."""
    handlers = {number: signal.signal(number, signal.SIG_DFL) for number in ENDING_SIGNALS}
    yield
    for number, handler in handlers.items():
        signal.signal(number, handler)


def test_rights_that_would_mean_something_else_are_not_lent(tmp_path, usual_umask):
    (tmp_path / "a.txt").touch()
    lent, real = {}, os.fstat

    def other_group(number):
        """The result of `fstat`, with another group for the source."""
        found = list(real(number))
        found[5] += number == source.fileno()
        return os.stat_result(found)

    def listed_rights(number):
        return ["system.posix_acl_access"] if number == source.fileno() else []

    for mode in (0o640, 0o666, 0o777):
        (tmp_path / "a.txt").chmod(mode)
        for name, change in {
            "plain": {"listxattr": lambda number: []},
            "group": {"fstat": other_group},
            "list": {"listxattr": listed_rights},
        }.items():
            with (
                open(tmp_path / "a.txt", "rb") as source,
                patch.multiple(os, create=True, **change),
            ):
                write(tmp_path / "lent.txt", force=True, like=source)
            lent[f"{mode:o}", name] = f"{stat.S_IMODE((tmp_path / 'lent.txt').stat().st_mode):o}"
    assert {key: bits for key, bits in lent.items() if bits != "600"} == {
        ("640", "plain"): "640",
        ("666", "plain"): "644",
        ("777", "plain"): "644",
    }
    with open(os.devnull, "rb") as source:  # everybody's, and no regular file
        write(tmp_path / "lent.txt", force=True, like=source)
    assert stat.S_IMODE((tmp_path / "lent.txt").stat().st_mode) == 0o600


def test_an_orderly_end_stands_a_second_signal(default_signals):
    ignored = ENDING_SIGNALS[-1]
    signal.signal(ignored, signal.SIG_IGN)
    cleaned, status = False, None
    with patch.object(os, "kill") as kill:
        try:
            with orderly_end():
                assert signal.getsignal(ignored) is signal.SIG_IGN
                try:
                    signal.raise_signal(signal.SIGTERM)
                finally:
                    signal.raise_signal(signal.SIGTERM)  # a second one, while it cleans up
                    cleaned = True
        except SystemExit as end:
            status = end.code
        assert cleaned and status == 128 + signal.SIGTERM
        kill.assert_called_once_with(os.getpid(), signal.SIGTERM)
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
        with orderly_end():  # nothing came: nothing is sent
            pass
        assert kill.call_count == 1


def test_file_and_folder_are_confirmed(tmp_path):
    confirmed = []
    with patch.object(os, "fsync", lambda number: confirmed.append(os.fstat(number).st_mode)):
        write(tmp_path / "confirmed.txt")
    assert [stat.S_ISDIR(mode) for mode in confirmed] == [False, True]
