"""Windows and macOS as far as Linux can play them: no fcntl, no fchmod, other signals, open files that stay, a poor console."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from pmlbook import Mechanism
from pmlbook.budget import ReleaseLog

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="plays the other systems")
NAMES = ("nein", "Łódź", "日本")  # the last two are in no code page of western Europe
GONE = """
fchmod fork forkpty geteuid getuid getgid mkfifo killpg listxattr chown register_at_fork
O_NOFOLLOW O_DIRECTORY O_TMPFILE O_NONBLOCK O_CLOEXEC O_SYNC
""".split()

# What Windows lacks is missing; no file is renamed or removed while it is open; no text is written through a guessed encoding.
WINDOWS = f"""
import builtins, io, os, signal, subprocess, sys, warnings

for name in {GONE}:
    delattr(os, name)
for name in ("SIGALRM", "SIGHUP", "SIGKILL", "SIGPIPE", "alarm", "setitimer"):
    delattr(signal, name)
sys.modules.update(dict.fromkeys(("fcntl", "resource", "pwd", "grp", "termios", "pandas", "pyarrow", "tqdm")))


def is_open(path):
    found = os.path.realpath(path)
    return any(
        os.path.realpath(f"/proc/self/fd/{{number}}") == found
        for number in os.listdir("/proc/self/fd")
    )


def guarded(call):
    def checked(*paths, **options):
        for path in paths:
            if is_open(path):
                raise PermissionError(13, f"{{call.__name__}} of an open file", str(path))
        return call(*paths, **options)

    return checked


for name in ("link", "rename", "replace", "remove", "unlink"):
    setattr(os, name, guarded(getattr(os, name)))
plain = io.open


def opened(file, mode="r", *more, **options):
    assert "b" in mode or not set(mode) & set("wax+"), f"{{file}} is written as text"
    return plain(file, mode, *more, **options)


builtins.open = io.open = opened
warnings.filterwarnings("error", category=EncodingWarning, module=r"pmlbook\\b")
"""


def python(script, folder, *arguments):
    """Run a script on a console of western Europe: exit code, standard output and error."""
    environment = os.environ | {"PYTHONIOENCODING": "cp1252", "LC_ALL": "C.UTF-8"}
    done = subprocess.run(
        [sys.executable, "-X", "warn_default_encoding", "-c", script, *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
    )
    return done.returncode, done.stdout.decode("cp1252"), done.stderr.decode("cp1252")


COMMANDS = """
import json
from pmlbook.cli.command_line import main

for words in json.loads(sys.argv[1]):
    for stream in (sys.stdout, sys.stderr):
        print(end="\\0", file=stream)
    code = main(words)
    print(f"\\0{code}", end="", flush=True)
"""


@pytest.fixture
def run(tmp_path):
    """Command lines in a folder with a certificate and a file of answers: exit codes, and what each said."""
    rows = "".join(f"{i},{NAMES[i % 3]}\n" for i in range(300))
    (tmp_path / "in.csv").write_bytes(f"id,größe\n{rows}".encode())
    channel = [[0.4, 0.3, 0.3], [0.3, 0.4, 0.3], [0.3, 0.3, 0.4]]
    certificate = Mechanism(channel, [1 / 3] * 3, NAMES, NAMES).certify(0.3)
    (tmp_path / "m.json").write_bytes(certificate.to_json().encode())

    def call(*commands):
        ended, out, err = python(WINDOWS + COMMANDS, tmp_path, json.dumps(commands))
        assert ended == 0 and "Traceback" not in err, err
        said, told = out.split("\0")[1:], err.split("\0")[1:]
        return [int(code) for code in said[1::2]], [a + b for a, b in zip(said[::2], told)]

    return call


RELEASE = ["release", "m.json", "in.csv", "out.csv", "--column", "größe"]
ALONE = ["in.csv", "m.json"]


def test_every_public_name_can_be_had_and_the_checker_speaks(tmp_path):
    script = WINDOWS + (
        "import pmlbook\n"
        "from pmlbook.release.checker import verify_files\n"
        "from inspect import ismodule\n"
        "modules = [pmlbook, *filter(ismodule, map(pmlbook.__getattr__, pmlbook.__all__))]\n"
        "print(len([getattr(m, name) for m in modules for name in m.__all__]))\n"
        "sys.exit(verify_files(['日本.json']))"
    )
    code, out, err = python(script, tmp_path)
    # lazy_loader reads its stubs, which are ASCII, without an encoding
    assert code == 1 and "Traceback" not in err and int(out.split()[0]) > 80
    assert out.splitlines()[1].startswith("refused: ") and r"\u65e5\u672c.json" in out


def test_a_release_is_whole_utf_8_and_leaves_nothing(run, tmp_path):
    plain = [*RELEASE]
    codes, said = run(plain, plain, [*plain, "--force"])
    assert codes == [0, 2, 0] and "out.csv exists" in said[1] and "rows: 300" in said[2]
    source, released = ((tmp_path / name).read_bytes() for name in ("in.csv", "out.csv"))
    assert b"\r" not in released and released.count(b"\n") == source.count(b"\n")
    rows = [line.split(",") for line in released.decode("utf-8").splitlines()]
    assert rows[0] == ["id", "größe"] and {answer for _, answer in rows[1:]} == set(NAMES)
    assert sorted(os.listdir(tmp_path)) == [*ALONE, "out.csv"]


def test_a_log_is_booked_and_read_back(run, tmp_path):
    show = ["log", "log", "--json"]
    start, again = [*RELEASE, "--start-log", "log", "--budget", "0.3"], [*RELEASE, "--log", "log"]
    codes, said = run(start, show, [*again, "--force", "--again"], show)
    assert codes == [0, 0, 1, 0] and "has a budget of 0.3 nats" in said[2] and said[1] == said[3]
    (account,) = json.loads(said[1])["accounts"]
    assert (account["account"], account["releases"], account["exact"]) == ("größe", 1, True)
    log = ReleaseLog(tmp_path / "log")  # of Windows, read here
    assert sorted(os.listdir(tmp_path)) == sorted([*ALONE, "log", "out.csv"])
    assert log["größe"].epsilon == account["joint"]


def test_a_log_needs_no_locks_of_python(run, tmp_path):
    """SQLite brings its own, on a system without `fcntl` and `msvcrt` too."""
    codes, _ = run([*RELEASE, "--start-log", "log"], ["log", "log"])
    assert codes == [0, 0] and len(ReleaseLog(tmp_path / "log").entries) == 1


HURRIED = """
from pmlbook import Mechanism
from pmlbook.budget import ReleaseLog
for _ in range(5):
    flip = Mechanism([[0.75, 0.25], [0.25, 0.75]], [0.5, 0.5], ("no", "yes"))
    ReleaseLog("log").record("smokes", flip, again=True)
"""


def test_programs_wait_for_each_other_where_locks_do_not_wait(tmp_path):
    log = ReleaseLog(tmp_path / "log", new=True)
    log.record("a", Mechanism([[1.0]], [1.0]))
    start = [sys.executable, "-c", WINDOWS + HURRIED]
    crowd = [subprocess.Popen(start, cwd=tmp_path) for _ in range(3)]
    assert [process.wait(300) for process in crowd] == [0, 0, 0]
    assert ReleaseLog(log.path)["smokes"].releases == 15


def test_a_console_that_lacks_a_character_gets_its_code(run, tmp_path):
    """What fails has one line of its own, and nothing ends in an error of the encoding."""
    start = ["start", "in.csv", "größe", "--merge-below", "0", "--epsilon", "0.3", "--for"]
    shares = [f"{name}=1" for name in NAMES]
    codes, said = run(
        [*start, "frequencies"],
        ["design", *shares, "--epsilon", "0.3", "-o", "日本.json", "--force"],
        ["audit", "m.json", "--epsilon", "0.3"],
        ["estimate", "m.json", "in.csv", "--column", "größe"],
        ["explain", *shares, "--epsilon", "0.3"],
        ["explain", *shares, "--promise", "日本"],
        ["release", "m.json", "日本.csv", "out.csv", "--column", "größe"],
        ["log", "日本"],
        ["日本"],
    )
    assert codes == [0] * 5 + [2] * 4
    assert all(r"\u65e5\u672c" in text for text in said[:4] + said[5:])
    assert all(text.count("\n") == 1 for text in said[5:])
    for name in ("in.mechanism.json", "in.report.html", "日本.json"):
        content = (tmp_path / name).read_bytes()
        assert b"\r" not in content and content.decode("utf-8")
    assert "日本" in (tmp_path / "in.report.html").read_text(encoding="utf-8")


def test_the_plain_commands_are_those_of_make():
    """Without make the same checks run, and the same book is built."""
    root = Path(__file__).resolve().parent.parent
    listed = (root / "CONTRIBUTING.md").read_text(encoding="utf-8").split("```")[1].split("\n")
    made = (root / "Makefile").read_text(encoding="utf-8")
    for target in ("lint", "notebooks", "tests", "export", "book"):
        recipe = re.search(rf"^{target}:.*\n((?:\t.*\n)+)", made, re.MULTILINE)[1]
        steps = re.findall(r"^\t\$\(B\)/(.*)$", recipe, re.MULTILINE)
        assert steps and set(steps) <= set(listed), target


def test_file_names_are_legal_and_differ_on_every_system():
    root = Path(__file__).resolve().parent.parent
    folders = [root / name for name in ("benchmarks", "docs", "nbs", "pmlbook", "tests")]
    names = [path.relative_to(root).as_posix() for folder in folders for path in folder.rglob("*")]
    assert len(names) > 500 and len({name.casefold() for name in names}) == len(names)
    bad = re.compile(r"""[<>:"|?*\\]|[ .](/|$)|(^|/)(con|prn|aux|nul|com\d|lpt\d)(\.|/|$)""", re.I)
    assert [name for name in names if bad.search(name)] == []


@pytest.mark.parametrize("system, typed", [("win32", '"a b.csv"'), ("linux", "'a b.csv'")])
def test_commands_are_printed_as_they_are_typed(system, typed, monkeypatch):
    from pmlbook.cli.sentences import shell_line

    monkeypatch.setattr(sys, "platform", system)
    assert shell_line(["log", "a b.csv"]) == f"pmlbook log {typed}"


def test_the_book_is_executed_where_nothing_forks_or_rings(tmp_path):
    """With processes that start from nothing, and a clock without an alarm."""
    docs = Path(__file__).resolve().parent.parent / "docs"
    chapter = {
        "cells": [
            {"cell_type": "code", "id": "a", "metadata": {}, "source": "6 * 7", "outputs": []}
        ],
        "metadata": {},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    chapter["cells"][0]["execution_count"] = None
    (tmp_path / "chapter.ipynb").write_text(json.dumps(chapter), encoding="utf-8")
    (tmp_path / "script.py").write_text(
        "import multiprocessing, os, signal, sys\n"
        "from pathlib import Path\n"
        f"sys.path.insert(0, {str(docs)!r})\n"
        "del signal.SIGALRM\n"
        "multiprocessing.get_all_start_methods = lambda: ['spawn']\n"
        "import execute\n"
        "if __name__ == '__main__':\n"
        "    _, notebook, error, _ = execute.execute_apart(Path('chapter.ipynb').resolve())\n"
        "    print(error, notebook.cells[0].outputs[0].data['text/plain'][0])\n",
        encoding="utf-8",
    )
    done = subprocess.run(
        [sys.executable, "script.py"], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.stdout == "None 42\n", done.stderr
