"""A release with a log that is killed and run again: one line, one draw, and a private key."""

import argparse
import errno
import json
import multiprocessing
import os
import pickle
import re
import signal
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pandas as pd
import pytest

from pmlbook import optimal_mechanism
from pmlbook.accounting import budgeted_release, disk_log, log_file
from pmlbook.accounting.budgeted_release import LOG, Booking
from pmlbook.accounting.manifest import Manifest, manifest_of
from pmlbook.accounting.release import Released
from pmlbook.budget import DiskLog
from pmlbook.cli.command_line import main
from pmlbook.release import files

NAMES = ("healthy", "flu", "rare")
DRAWN = replace(optimal_mechanism([0.6, 0.3, 0.1], 1.0).mechanism, inputs=NAMES)
CERTIFICATE = DRAWN.certify(DRAWN.epsilon)
RELEASE = "release m.json in.csv out.csv --column said"
FIRST = f"{RELEASE} --start-log {LOG} --budget {DRAWN.epsilon!r}"  # of one release, and no more


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A folder with a certificate and a file."""
    monkeypatch.chdir(tmp_path)
    Path("m.json").write_text(CERTIFICATE.to_json())
    Path("in.csv").write_text("id,said\n" + "".join(f"{i},{NAMES[i % 3]}\n" for i in range(900)))
    return tmp_path


def die(*arguments, **options):
    """End as a machine without power does."""
    os.kill(os.getpid(), signal.SIGKILL)


def before_the_line():
    log_file.append = disk_log.append = die


def at_the_receipt():
    whole = budgeted_release.new_file
    budgeted_release.new_file = lambda path: (
        die() if path.name.endswith("receipt.json") else whole(path)
    )


def before_the_name():
    take = files._take

    def seen(file, hidden, target, force):
        if target.name == "out.csv":
            content = Path(f"/proc/self/fd/{file.fileno()}" if file else hidden).read_bytes()
            Path("seen.csv").write_bytes(content)
            die()
        take(file, hidden, target, force)

    files._take = seen


def after_the_name():
    unlink = Path.unlink
    Path.unlink = lambda path, missing_ok=False: (
        die() if path.suffix == ".manifest" else unlink(path, missing_ok)
    )


def killed(point, command):
    point()
    main(command.split())


def kill(point, command=FIRST):
    """Run a command in a process of its own, which ends at a point."""
    process = multiprocessing.get_context("fork").Process(target=killed, args=(point, command))
    process.start()
    process.join(60)
    assert process.exitcode == -signal.SIGKILL


def manifests():
    return [path.name for path in Path().iterdir() if path.name.endswith(".manifest")]


@pytest.mark.parametrize("point", [before_the_line, at_the_receipt, before_the_name])
def test_killed_anywhere_and_run_again(point, folder, capsys):
    kill(point)
    assert not Path("out.csv").exists()
    (manifest,) = manifests()
    assert manifest == manifest_of(Path(LOG), Path("out.csv")).name
    assert os.stat(manifest).st_mode & 0o777 == 0o600
    assert Path(LOG).exists() == (point is not before_the_line)
    assert main(FIRST.split()) == 0
    assert len(DiskLog(LOG).entries) == 1 and manifests() == []
    assert json.loads(Path("out.csv.receipt.json").read_text())["rows"] == 900
    assert len(list(folder.glob("*receipt.json"))) == 1
    if point is before_the_name:
        assert Path("seen.csv").read_bytes() == Path("out.csv").read_bytes()
    assert (
        main(f"{RELEASE} --force".split()) == 1
    )  # what is finished is finished: one more is asked


def test_the_first_run_is_killed_and_the_second_too():
    kill(at_the_receipt)
    kill(before_the_name, RELEASE + f" --budget {DRAWN.epsilon!r}")
    seen = Path("seen.csv").read_bytes()
    kill(before_the_name, FIRST)
    assert main(FIRST.split()) == 0 and Path("out.csv").read_bytes() == seen
    assert len(DiskLog(LOG).entries) == 1


@pytest.mark.parametrize("options", ["", " --force"])
@pytest.mark.parametrize("moved", [False, True])
def test_killed_when_the_data_have_their_name(options, moved):
    kill(after_the_name)
    first, rights = Path("out.csv").read_bytes(), os.stat("out.csv").st_mode
    if moved:
        Path("out.csv").rename("moved.csv")  # another process has moved them
    assert main(f"{FIRST}{options}".split()) == 0
    assert Path("out.csv").read_bytes() == first and len(DiskLog(LOG).entries) == 1
    assert os.stat("out.csv").st_mode == rights and manifests() == []
    assert len(list(Path().glob("*receipt.json"))) == 1


@pytest.mark.parametrize("ending", ["parquet", "csv.gz"])
def test_a_packed_file_is_the_same_again(ending):
    table = pd.read_csv("in.csv")
    table.to_parquet("in.parquet") if ending == "parquet" else table.to_csv("in.csv.gz")
    command = FIRST.replace("in.csv", f"in.{ending}").replace("out.csv", f"out.{ending}")
    kill(after_the_name, command)
    first = Path(f"out.{ending}").read_bytes()
    assert main(command.split()) == 0 and manifests() == []
    assert Path(f"out.{ending}").read_bytes() == first and len(DiskLog(LOG).entries) == 1


@pytest.mark.parametrize("options", ["", " --force"])
def test_a_log_on_a_disk_without_hard_links(monkeypatch, options, folder):
    """A log, a manifest, a receipt and the data get their names there too, so that nothing is booked in vain."""

    def link(*names, **options):
        raise OSError(errno.EPERM, "no such thing")

    monkeypatch.setattr(files, "nameless_file", lambda folder: None)
    monkeypatch.setattr(os, "link", link)
    assert main(f"{FIRST}{options}".split()) == 0 and manifests() == []
    assert len(DiskLog(LOG).entries) == 1 and Path("out.csv.receipt.json").stat().st_size
    assert not list(folder.glob(".*"))


def test_a_release_that_was_cut_off_replaces_no_other_file(capsys):
    kill(after_the_name)
    edited = Path("out.csv").read_bytes() + b"901,r0\n"
    Path("out.csv").write_bytes(edited)
    assert main(FIRST.split()) == 2
    told = capsys.readouterr().err
    assert "booked as line 1" in told and "out.csv exists" in told and "not released" not in told
    assert Path("out.csv").read_bytes() == edited and len(DiskLog(LOG).entries) == 1


def test_a_new_log_is_one_that_its_release_has_begun(capsys):
    """A manifest without its line in the log does not make an old log a new one."""
    DiskLog(LOG, new=True).record("other", DRAWN)
    Manifest.new(manifest_of(Path(LOG), Path("out.csv")), {}).write()
    assert main(FIRST.split()) == 2 and "needs a new name" in capsys.readouterr().err


START = "start in.csv said --for frequencies --epsilon 0.5 --merge-below 0 --release out.csv"


@pytest.mark.parametrize("point", [at_the_receipt, before_the_name, after_the_name])
@pytest.mark.parametrize("option", ["--start-log", "--log"])
def test_a_start_that_was_killed_ends_its_release(point, option, capsys):
    if option == "--log":
        DiskLog(LOG, new=True).record("other", DRAWN)
    command, lines = f"{START} {option} {LOG} --account said", 2 if option == "--log" else 1
    kill(point, command)
    kept = Path("in.mechanism.json").read_bytes()
    assert main(command.replace("0.5", "0.4").split()) == 2  # another design is another release
    assert re.search(r"in\.\w+\.\w+ exists", capsys.readouterr().err)
    assert main(command.split()) == 0 and Path("in.mechanism.json").read_bytes() == kept
    assert len(DiskLog(LOG).entries) == lines and manifests() == []
    if point is before_the_name:
        assert Path("seen.csv").read_bytes() == Path("out.csv").read_bytes()
    assert main(command.split()) == 2  # what is finished is finished


def test_other_rows_are_no_release_that_was_cut_off(capsys):
    kill(before_the_name)
    whole = Path("in.csv").read_text()
    Path("in.csv").write_text(whole.replace("7,flu", "7,rare"))
    assert main(FIRST.split()) == 2
    assert "booked as line 1" in (told := capsys.readouterr().err) and "holds other rows" in told
    assert not Path("out.csv").exists()
    Path("in.csv").write_text(whole)
    assert main(FIRST.split()) == 0
    assert Path("out.csv").read_bytes() == Path("seen.csv").read_bytes()


def test_another_column_mechanism_or_option_is_named(capsys):
    kill(at_the_receipt)
    log = f"--log {LOG}"
    for options, told in (
        (f"--column id {log} --budget {DRAWN.epsilon!r}", "column = 'said', not 'id'"),
        (f"--column said {log}", f"budget = '{DRAWN.epsilon!r}', not None"),
        (f"--column said {log} --account x --budget {DRAWN.epsilon!r}", "account = None, not 'x'"),
    ):
        assert main(f"release m.json in.csv out.csv {options}".split()) == 2
        assert told in capsys.readouterr().err, options
    assert main(f"release m.json in.csv else.csv --column said {log}".split()) == 1  # another one
    assert len(DiskLog(LOG).entries) == 1 and len(manifests()) == 1


def test_a_key_that_others_know_is_refused(capsys, folder):
    kill(at_the_receipt)
    (name,) = manifests()
    whole = Path(name).read_bytes()
    os.chmod(name, 0o640)
    assert main(FIRST.split()) == 2 and "not yours alone" in capsys.readouterr().err
    os.rename(name, "elsewhere")
    os.chmod("elsewhere", 0o600)
    os.symlink("elsewhere", name)
    assert main(FIRST.split()) == 2
    os.unlink(name)
    key = json.loads(whole.split(b"\n")[0])["key"]
    for damaged in (b"", whole[:40], whole.replace(b"key", b"kye"), whole.replace(b"1", b"z")):
        Path(name).write_bytes(damaged)
        os.chmod(name, 0o600)
        capsys.readouterr()
        assert main(FIRST.split()) == 2
        told = capsys.readouterr().err
        assert "is damaged, or no manifest" in told and key not in told
    Path(name).write_bytes(whole)
    assert main(FIRST.split()) == 0


def test_a_manifest_shows_no_key_and_gives_way_to_nothing(capsys):
    manifest = Manifest.new(Path("k.manifest"), {"column": "said"})
    manifest.write()
    assert manifest.key.hex() not in repr(manifest) and Manifest.read(manifest.path) == manifest
    assert Manifest.new(manifest.path, {}).key != manifest.key
    with pytest.raises(TypeError, match="not pickled"):
        pickle.dumps(manifest)
    with pytest.raises(FileExistsError):
        manifest.write()
    assert main(f"{RELEASE.replace('out.csv', 'k.manifest')} --no-log --force".split()) == 2
    assert "never replaced" in capsys.readouterr().err


def test_a_note_that_was_cut_off_is_as_if_it_was_never_begun():
    manifest = Manifest.new(Path("k.manifest"), {"column": "said"})
    manifest.write()
    with open("k.manifest", "ab") as file:
        file.write(b'{"line": "00')
    assert Manifest.read(manifest.path) == manifest
    manifest.note("ab", "cd")
    assert Manifest.read(manifest.path).notes == ({"line": "ab", "drawn": "cd"},)


def test_the_second_of_two_gets_an_error_and_adds_no_line():
    """Two runs have asked; the first is between its line and its data when the second comes to the log."""
    DiskLog(LOG, new=True).record("other", DRAWN)
    names = {"target": Path("out.csv"), "column": "said", "force": False, "receipt": None}
    options = {"budget": None, "account": "said", "new_account": None}
    asked = argparse.Namespace(**names, **options)
    first, second = (Booking(DiskLog(LOG), CERTIFICATE, asked, []) for _ in range(2))
    first(Released(900, 0))
    with pytest.raises(FileExistsError, match="another program is releasing"):
        second(Released(900, 0))
    assert len(DiskLog(LOG).entries) == 2


def test_of_two_releases_that_must_be_alone_the_second_is_refused():
    """Both have asked before either has a line: the rule is checked again where the line is written."""
    DiskLog(LOG, new=True).record("other", DRAWN)
    options = {"column": "said", "force": False, "receipt": None, "budget": None}
    first, second = (
        Booking(
            DiskLog(LOG),
            CERTIFICATE,
            argparse.Namespace(target=Path(name), account="said", new_account=None, **options),
            [],
            alone=True,
        )
        for name in ("out.csv", "two.csv")
    )
    first(Released(900, 0))
    with pytest.raises(ValueError, match="rounded at random once more leak more"):
        second(Released(900, 0))
    assert len(DiskLog(LOG).entries) == 2


# what differs in nothing but the draw


class Still(datetime):
    """A clock that stands still: all lines are of one second."""

    @classmethod
    def now(cls, tz=None):
        return cls(2026, 1, 1, tzinfo=tz)


def test_a_release_that_was_killed_does_not_take_the_line_of_another(monkeypatch, capsys):
    """Both would have written the same line in the same second; the other one did."""
    monkeypatch.setattr(disk_log, "datetime", Still)
    kill(before_the_line)
    assert main(FIRST.replace("out.csv", "two.csv").split()) == 0
    assert main(FIRST.split()) == 2
    assert main(f"{RELEASE} --log {LOG}".split()) == 1 and "budget" in capsys.readouterr().err
    assert len(DiskLog(LOG).entries) == 1 and not Path("out.csv").exists()


def test_the_loser_of_two_new_logs_leaves_no_key(monkeypatch):
    monkeypatch.setattr(disk_log, "datetime", Still)
    options = {"budget": None, "account": None, "new_account": None}
    names = {"column": "said", "force": False, "receipt": None}
    first, second = (
        Booking(
            DiskLog(LOG, new=True),
            CERTIFICATE,
            argparse.Namespace(target=Path(name), **names, **options),
            [],
        )
        for name in ("out.csv", "two.csv")
    )
    first(Released(900, 0))
    with pytest.raises(FileExistsError, match="begun by another program: use it as it is"):
        second(Released(900, 0))
    assert manifests() == [manifest_of(Path(LOG), Path("out.csv")).name]
    assert first.entry.digest != second.entry.digest
