"""The installed command as a process of its own: standard output, exit codes, a terminal, and a release that was killed."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = "import sys; from pmlbook.cli.command_line import main; sys.exit(main())"


def process(*words, **options):
    return subprocess.run(
        [sys.executable, "-c", PROGRAM, *words], capture_output=True, text=True, **options
    )


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "in.csv").write_text(
        "id,said\n"
        + "1,yes\n2,no\n3,no\n2,yes\n3,no\n1,no\n3,yes\n1,no\n2,no\n1,yes\n2,no\n3,no\n" * 10
    )
    return tmp_path


def test_json_is_all_of_standard_output(folder):
    """Libraries of solvers print to the descriptor, where a test within the process does not see it."""

    def refuse(text):
        raise AssertionError(f"{text} is no JSON")

    commands = [
        "design yes=1 no=2 --epsilon 0.5 -o m.json",
        "design a=5 b=3 c=2 --epsilon 0.5 --for frequencies -o f.json",
        "design 1=5 2=3 4=2 --epsilon 0.5 --for mean -o n.json",
        "design --counts in.csv --column said --epsilon 3 -o p.json",  # with a warning
        "release m.json in.csv out.csv --column said --start-log log.sqlite --budget 1",
        "estimate m.json out.csv --column said_released",
        "audit m.json --epsilon 0.5",
        "explain yes=1 no=2 --epsilon 0.5",
        "explain yes=1 no=2 --promise no~belief~more~than~doubles",
        "log log.sqlite",
    ]
    for command in commands:
        words = [word.replace("~", " ") for word in command.split()]
        done = process(*words, "--json", cwd=folder)
        assert done.returncode == 0, done.stderr
        assert isinstance(json.loads(done.stdout, parse_constant=refuse), dict)
    done = process("audit", "m.json", "--epsilon", "0.1", "--json", cwd=folder)
    assert done.returncode == 1 and json.loads(done.stdout)["holds"] is False


@pytest.mark.posix
def test_a_terminal_is_asked(folder):
    """The questions of a start at a real terminal, of which one is answered wrongly at first."""
    import pty

    main, terminal = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, "start", "in.csv"],
        cwd=folder,
        stdin=terminal,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as asked:
        os.write(main, b"sad\nsaid\n0.3\nfrequencies\nno\n")
        out, err = asked.communicate(timeout=120)
    os.close(main)
    os.close(terminal)
    assert asked.returncode == 0 and "'sad' is no column" in err, err
    assert "level: 0.3 nats" in out and (folder / "in.report.html").exists()


@pytest.mark.posix
def test_answers_that_end_and_ctrl_c(folder):
    done = process("start", "in.csv", cwd=folder, stdin=subprocess.DEVNULL)
    assert done.returncode == 2 and "this is no terminal" in done.stderr
    script = (
        "import sys, pmlbook.cli.commands as commands\n"
        "from pmlbook.cli.command_line import main\n"
        "def stop(*arguments, **choice): raise KeyboardInterrupt\n"
        "commands.design = stop\n"
        "sys.exit(main(['design', 'a=1', 'b=1', '--epsilon', '1']))\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 130 and "Traceback" not in done.stderr


def test_the_shell_completes_commands_and_options(folder):
    env = os.environ | {
        "_PMLBOOK_COMPLETE": "bash_complete",
        "COMP_WORDS": "pmlbook re",
        "COMP_CWORD": "1",
    }
    done = process(cwd=folder, env=env)
    assert done.returncode == 0 and {"plain,release", "plain,report"} == set(done.stdout.split())
    env |= {"COMP_WORDS": "pmlbook release --sh", "COMP_CWORD": "2"}
    assert set(process(cwd=folder, env=env).stdout.split()) == {
        "plain,--sha256",
        "plain,--show-values",
    }


def test_control_and_direction_characters_of_a_name_are_only_shown(folder):
    """In the terminal, in the printed commands and in the page; the printed command runs all the same."""
    name = "a\x1b[2J\u202eb\n'c"
    (folder / "evil.csv").write_text(f'"{name}",x\n' + "yes,1\nno,1\n" * 40)
    words = "--merge-below 0 --for frequencies --epsilon 0.5".split()
    done = process("start", "evil.csv", name, *words, cwd=folder)
    page = (folder / "evil.report.html").read_text(encoding="utf-8")
    assert done.returncode == 0, done.stderr
    for text in (done.stdout, done.stderr, page):
        assert text.replace("\n", "").isprintable()
    command = next(line for line in done.stdout.splitlines() if "pmlbook release" in line)
    if Path("/bin/bash").exists():
        typed = command.replace("RELEASED", "out.csv")
        shell = f'pmlbook() {{ {sys.executable} -c "{PROGRAM}" "$@"; }}; {typed}'
        released = subprocess.run(
            ["/bin/bash", "-c", shell],
            cwd=folder,
            capture_output=True,
            text=True,
            env=os.environ | {"LC_ALL": "C.UTF-8"},
        )
        assert released.returncode == 0 and (folder / "out.csv").exists(), released.stderr


KILLED = """
import os, sys
from pmlbook.budget.log import Draw
from pmlbook.cli.command_line import main
book = Draw.book
def book_and_die(*arguments, **options):
    book(*arguments, **options)
    os._exit(9)
Draw.book = book_and_die
main(sys.argv[1:])
"""


def test_the_same_command_completes_a_release_that_was_killed(folder):
    """Booked, and killed before the file had its name: the same values come out, and nothing is booked again."""
    assert process("design", "yes=1", "no=2", "--epsilon", "0.5", cwd=folder).returncode == 0
    words = "release mechanism.json in.csv out.csv --column said --json".split()
    begin = [*words, "--start-log", "log.sqlite", "--budget", "0.6"]
    assert subprocess.run([sys.executable, "-c", KILLED, *begin], cwd=folder).returncode == 9
    assert not (folder / "out.csv").exists() and len(list(folder.glob("log.sqlite.*.key"))) == 1
    done = process(*words, "--log", "log.sqlite", "--budget", "0.6", cwd=folder)
    assert done.returncode == 0, done.stderr
    facts = json.loads(done.stdout)
    assert facts["completed"] and facts["releases"] == 1 and facts["rows"] == 120
    assert not list(folder.glob("*.key"))
    # Complete, it is not drawn again by mistake.
    done = process(*words[:3], "two.csv", *words[4:], "--log", "log.sqlite", cwd=folder)
    assert done.returncode == 2 and "--again" in done.stderr


def test_a_log_next_to_the_source_is_mentioned_where_it_is_not_used(folder):
    assert process("design", "yes=1", "no=2", "--epsilon", "0.5", cwd=folder).returncode == 0
    words = "release mechanism.json in.csv out.csv --column said".split()
    assert process(*words, "--start-log", "pmlbook-log.sqlite", cwd=folder).returncode == 0
    done = process(*words, "--force", cwd=folder)
    assert done.returncode == 0 and "pmlbook-log.sqlite is not used" in done.stderr
    assert "log: none was used" in done.stdout


def test_a_log_that_was_begun_for_nothing_leaves_nothing(folder):
    assert process("design", "yes=1", "no=2", "--epsilon", "0.5", cwd=folder).returncode == 0
    before = sorted(os.listdir(folder))
    words = "release mechanism.json in.csv out.csv --column id --start-log log.sqlite".split()
    assert process(*words, cwd=folder).returncode == 2
    words = "release mechanism.json in.csv out.csv --column said --start-log log.sqlite".split()
    assert process(*words, "--budget", "0.1", cwd=folder).returncode == 1
    assert sorted(os.listdir(folder)) == before


def test_a_start_that_was_killed_while_it_released_is_completed(folder):
    """Its designs are there, of the same content, and are no obstacle."""
    words = "start in.csv said --merge-below 0 --for frequencies --epsilon 0.5 --release out.csv"
    begin = [*words.split(), "--start-log", "log.sqlite"]
    assert subprocess.run([sys.executable, "-c", KILLED, *begin], cwd=folder).returncode == 9
    assert (folder / "in.mechanism.json").exists() and not (folder / "out.csv").exists()
    done = process(*words.split(), "--log", "log.sqlite", cwd=folder)
    assert done.returncode == 0 and "the same values, and nothing booked" in done.stdout, (
        done.stderr
    )
    (folder / "in.report.html").write_text("mine")
    done = process(*words.split(), "--log", "log.sqlite", cwd=folder)
    assert done.returncode == 2 and (folder / "in.report.html").read_text() == "mine"
