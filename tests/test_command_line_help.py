"""What people get wrong on the command line is said aloud, before it is done."""

import json
import os
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from pmlbook import Mechanism, epsilon_max
from pmlbook.practice.command_line import main
from pmlbook.practice.verbs import CATEGORIES, published

CLINIC = "--prior healthy=60 flu=30 rare=10"


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """A command line in an empty folder: exit code, standard output, standard error."""
    monkeypatch.chdir(tmp_path)

    def call(command, *more):
        code = main([*command.split(), *more])
        return code, *capsys.readouterr()

    return call


# levels that forbid nothing


@pytest.mark.parametrize("goal", ["information", "frequencies"])
def test_a_level_that_forbids_nothing_is_told(run, goal):
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
        assert published(made) == share
        Path("m.json").write_text(made.certify(1.0).to_json())
        code, out, err = run("release m.json in.csv out.csv --column said --force --json")
        assert code == 0 and json.loads(out)["published"] == share
        assert ("leave one answer only" in err) == (share > 0)


def test_a_likely_answer_that_is_proved_below_the_largest_level_is_told(run):
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
    assert CATEGORIES**2 == 2**20


# rows that do not count


def test_empty_cells_are_counted_aloud(run):
    Path("in.csv").write_text("id,said\n" + "1,yes\n" * 60 + "1,\n" * 1500 + "1,NA\n" + "1,no\n")
    command = "design --counts in.csv --column said --epsilon 0.1 --force --missing-text"
    code, out, err = run(command, "", "NA")
    assert code == 0 and "counted: 61 values; 1,501 rows are empty and not counted" in out
    code, out, err = run(command, "", "NA", "--json")
    assert json.loads(out)["counted"] == 61 and json.loads(out)["empty"] == 1501
    Path("in.csv").write_text("id,said\n1,yes\n2,no\n")
    assert "counted: 2 values\n" in run(command, "")[1]
    assert "counted" not in json.loads(run("design --prior 1 1 --epsilon 1 --force --json")[1])
    Path("in.csv").write_text("id,said\n1,\n2,\n")
    assert run(command, "")[0] == 2
