"""What people get wrong on the command line is said aloud, before it is done, and help comes at once."""

import gzip
import json
import os
import subprocess
import sys
import tracemalloc
from pathlib import Path

import click
import numpy as np
import pytest

import pmlbook
from pmlbook import Mechanism
from pmlbook.cli import commands
from pmlbook.cli.messages import one_line
from pmlbook.cli.reading import MAX_CATEGORIES
from pmlbook.foundations import epsilon_max

CLINIC = "healthy=60 flu=30 rare=10"


# levels that forbid nothing


@pytest.mark.parametrize("goal", ["information", "frequencies"])
def test_a_level_that_forbids_nothing_has_a_warning(run, goal):
    most = epsilon_max([0.6, 0.3, 0.1])
    for level, warns in ((most * 0.99, False), (most + 1e-12, True), (50.0, True)):
        command = f"design {CLINIC} --epsilon {level!r} --for {goal} --force --json"
        code, out, err = run(command)
        assert code == 0 and ("forbid nothing" in err) == warns
        assert (json.loads(out)["published"] == pytest.approx(1, abs=1e-9)) == warns


def test_a_release_that_publishes_says_so_before(run):
    names = ("healthy", "flu")
    Path("in.csv").write_text("said\nflu\nhealthy\n")
    for channel, share in (
        (np.eye(2), 1.0),
        ([[0.5, 0.5], [0, 1]], 0.25),
        ([[0.6, 0.4], [0.4, 0.6]], 0.0),
    ):
        made = Mechanism(channel, [0.5, 0.5], names, names)
        assert made.published == share
        Path("m.json").write_text(made.certify(1.0).to_json())
        code, out, err = run("release m.json in.csv out.csv --column said --force --json")
        assert code == 0 and json.loads(out)["published"] == share
        assert ("leave one answer only" in err) == (share > 0)


def test_a_likely_answer_that_is_proved_below_the_largest_level_has_a_warning(run):
    code, out, err = run(f"design {CLINIC} --epsilon 1.0 --json")
    assert code == 0 and "forbid nothing" not in err
    assert ("leave one answer only" in err) == (json.loads(out)["published"] > 0)


# columns that are no categories


def test_identifiers_are_refused_while_they_are_counted(run):
    Path("in.csv").write_text("id\n" + "".join(f"{i}\n" for i in range(200_000)))
    tracemalloc.start()
    code, out, err = run("design --counts in.csv --column id --epsilon 1")
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert code == 2 and "'id' of in.csv has more than 1,024 different values" in err
    assert out == "" and os.listdir() == ["in.csv"] and most < 40e6


@pytest.mark.parametrize("given", ["", " --given kind"])
def test_nearly_as_many_names_as_rows_are_refused(run, given):
    for different, rows, code in ((60, 100, 2), (21, 30, 2), (5, 6, 0)):
        lines = [f"n{i % different},k{i % 2}\n" for i in range(rows)]
        Path("in.csv").write_text("name,kind\n" + "".join(lines))
        command = f"design --counts in.csv --column name --epsilon 0.1 --force{given}"
        found, out, err = run(command)
        if code or not given:
            assert found == code and ("merge them into classes" in err) == (code == 2)


def test_as_many_categories_as_a_certificate_holds():
    assert MAX_CATEGORIES**2 == 2**20


# rows that do not count


def test_empty_cells_are_counted_aloud(run):
    Path("in.csv").write_text("id,said\n" + "1,yes\n" * 60 + "1,\n" * 1500 + "1,NA\n" + "1,no\n")
    command = "design --counts in.csv --column said --epsilon 0.1 --force"
    gaps = "--missing-text", "", "--missing-text", "NA"
    code, out, err = run(command, *gaps)
    assert code == 0 and "counted: 61 values; 1,501 rows are empty and not counted" in out
    code, out, err = run(command, *gaps, "--json")
    assert json.loads(out)["counted"] == 61 and json.loads(out)["empty"] == 1501
    Path("in.csv").write_text("id,said\n1,yes\n2,no\n")
    assert "counted: 2 values\n" in run(command)[1]
    assert "counted" not in json.loads(run("design 1 1 --epsilon 1 --force --json")[1])
    Path("in.csv").write_text("id,said\n1,\n2,\n")
    assert run(command)[0] == 2


# words that are nearly right, and help that comes at once


# Click suggests options in every version that is allowed, and commands in newer ones.
SUGGESTS = pytest.mark.skipif(not hasattr(click.exceptions, "NoSuchCommand"), reason="older Click")


@pytest.mark.parametrize(
    "command, meant",
    [
        pytest.param("relase m.json in.csv out.csv", "release", marks=SUGGESTS),
        pytest.param("desing 1 1", "design", marks=SUGGESTS),
        ("--versoin", "--version"),
        (f"design {CLINIC} --epsilom 1", "--epsilon"),
        (f"design {CLINIC} --epsilom=1", "--epsilon"),
        ("estimate m.json in.csv --colunm said", "--column"),
        ("estimate m.json in.csv --column said --intervall exact", "--interval"),
        ("design --counts in.csv --column sayd --epsilon 1", "'said'"),
        ("design --counts in.csv --column Said --epsilon 1", "'said'"),
    ],
)
def test_a_word_that_is_nearly_right_is_answered(run, command, meant):
    Path("in.csv").write_text("id,said\n1,yes\n2,no\n")
    code, out, err = run(command)
    assert code == 2 and out == "" and err.count("\n") == 1
    assert "did you mean" in err.lower() and meant in err


@pytest.mark.parametrize(
    "command", ["x", "design --xyzzy 1", "release m.json --column 1", "", "--"]
)
def test_a_word_that_is_like_none_is_only_refused(run, command):
    code, out, err = run(command)
    assert code == 2 and "did you mean" not in err.lower() and err.count("\n") == 1


def test_the_version_is_printed(run):
    assert run("--version") == (0, f"pmlbook {pmlbook.__version__}\n", "")


def test_a_defect_ends_with_three_and_shows_no_value(run, monkeypatch):
    def crash(*arguments, **choice):
        raise IndexError("the diagnosis of row 7")

    monkeypatch.setattr(commands.pmlbook, "optimal_mechanism", crash, raising=False)
    code, out, err = run(f"design {CLINIC} --epsilon 1")
    assert code == 3 and out == "" and err.count("\n") == 1
    assert "a defect of pmlbook, IndexError in " in err and "row 7" not in err
    assert "PMLBOOK_TRACE=1" in err and os.listdir() == []
    monkeypatch.setenv("PMLBOOK_TRACE", "1")
    code, out, err = run(f"design {CLINIC} --epsilon 1")
    assert code == 3 and "Traceback" in err and "row 7" in err


HELP = """
import sys
try:
    {}
except SystemExit as end:
    assert end.code == 0
print(sorted({{"numpy", "scipy", "highspy", "matplotlib", "pandas"}} & set(sys.modules)))
"""


@pytest.mark.parametrize(
    "statement",
    [
        "import pmlbook; dir(pmlbook)",
        "from pmlbook.cli.command_line import main; assert main(['design']) == 2",
        "from pmlbook.cli.command_line import main; main(['--help'])",
        "from pmlbook.cli.command_line import main; main(['release', '--help'])",
        "from pmlbook.cli.command_line import main; main(['--version'])",
        "from pmlbook.cli.command_line import main; assert main(['desing']) == 2",
    ],
)
def test_help_waits_for_nothing(statement):
    code = HELP.format(statement)
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.splitlines()[-1] == "[]"


BLAS = """
import os
from pmlbook.cli.command_line import main
main(["estimate", "m.json", "no.csv", "--column", "said"])
print(os.environ["OPENBLAS_NUM_THREADS"])
"""


@pytest.mark.parametrize("given, used", [({}, "1"), ({"OMP_NUM_THREADS": "3"}, "3"),
                                         ({"OPENBLAS_NUM_THREADS": "2"}, "2")])  # fmt: skip
def test_a_command_multiplies_matrices_in_one_thread_unless_told(given, used):
    here = {name: text for name, text in os.environ.items() if "NUM_THREADS" not in name}
    run = subprocess.run(
        [sys.executable, "-c", BLAS], capture_output=True, text=True, env=here | given
    )
    assert run.stdout.splitlines()[-1] == used


# what people bring from elsewhere


def test_a_single_answer_has_level_zero_and_not_minus_zero(run):
    code, _, err = run("design all=1 --epsilon 0.5")
    assert code == 0 and "whose largest level is 0:" in err


def test_an_estimate_outside_zero_to_one_names_the_other_method(run):
    names = ("no", "yes")
    made = Mechanism([[0.75, 0.25], [0.25, 0.75]], [0.5, 0.5], names, names)
    Path("m.json").write_text(made.certify(1.0).to_json())
    Path("out.csv").write_text("said\n" + "yes\n" * 20)
    command = "estimate m.json out.csv --column said"
    code, out, err = run(command)
    assert code == 0 and "yes: 1.5000" in out and "--method likelihood keeps them inside" in err
    code, out, err = run(f"{command} --method likelihood")
    assert code == 0 and "yes: 1.0000" in out and not err


def test_a_layout_goes_from_counting_to_estimating(run):
    rows = "".join(f"{i};'flu;{i}\r\n" for i in range(30)) + "".join(
        f"{i};cold;\r\n" for i in range(30)
    )
    text = "id;said;note\r\n" + rows
    Path("in.csv.gz").write_bytes(gzip.compress(text.encode("utf-16")))
    how = "--delimiter ; --encoding utf-16"
    code, out, err = run(
        f"design --counts in.csv.gz --column said --epsilon 0.5 {how} --visible note --json"
    )
    assert code == 0 and json.loads(out)["inputs"] == 2, err
    code, _, err = run(
        f"release mechanism.json in.csv.gz out.csv --column said --quiet {how} --visible note"
    )
    new = Path("out.csv").read_text("utf-16")
    assert code == 0 and new.startswith("id;said_released;note"), err
    assert [line.split(";")[2] for line in new.splitlines()[1:]] == [
        *map(str, range(30)),
        *[""] * 30,
    ]
    code, out, err = run(f"estimate mechanism.json out.csv --column said_released {how} --json")
    assert code == 0 and {row["name"] for row in json.loads(out)["estimate"]} == {"'flu", "cold"}, (
        err
    )


WITHOUT_PANDAS = """
import sys
sys.modules["pandas"] = None
import pmlbook as pb
from pmlbook.cli.command_line import main
from pmlbook.audit.choosing_epsilon import meaning

assert main(["explain", "a=1", "b=2", "--epsilon", "0.3"]) == 0
made = pb.Mechanism([[0.8, 0.2], [0.2, 0.8]], [0.5, 0.5])
calls = {
    "to_frame": made.to_frame,
    "to_frame ": pb.audit.audit_leakage(made, [0.5, 0.5]).to_frame,
    "explain": lambda: pb.audit.explain([0.5, 0.5], 0.1),
    "meaning": lambda: meaning([0.5, 0.5], 0.1),
}
for name, call in calls.items():
    try:
        call()
        raise AssertionError(name)
    except ImportError as error:
        assert str(error) == f"{name.strip()} makes a table of pandas: pip install pandas"
"""


def test_tables_of_pandas_ask_for_pandas():
    subprocess.run([sys.executable, "-c", WITHOUT_PANDAS], check=True)


def test_the_error_of_a_broken_quote_names_its_file(run):
    Path("m.csv").write_text('a,b\n"1,2\n')
    code, _, err = run("audit m.csv 1 1")
    assert code == 2 and err.startswith("pmlbook: m.csv is no table of numbers")


def test_line_breaks_and_commands_to_a_terminal_are_written_out():
    assert one_line("not\nat all \x1b[31m\u202e") == r"not\nat all \x1b[31m\u202e"
