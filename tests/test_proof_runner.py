"""`make proofs` runs what a proof needs and nothing else, and notices a proof that fails."""

import csv
import importlib.util
import json
from pathlib import Path

import pytest

pytest.importorskip("z3")

SCRIPT = Path(__file__).resolve().parent.parent / "docs" / "proofs.py"


@pytest.fixture
def proofs():
    """The script as a module."""
    spec = importlib.util.spec_from_file_location("proofs", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def book(folder, *sources):
    """A folder with one notebook of these code cells."""
    cells = [{"cell_type": "code", "source": source} for source in sources]
    (folder / "one.ipynb").write_text(json.dumps({"cells": cells}), encoding="utf-8")
    return folder


IMPORTS = "from pmlbook.numerics.proof import prove, reals"
TRUE = "# proves true-thm\n(x,) = reals('x')\nassert prove(x * x >= low, identity='a square')"
FALSE = TRUE.replace("true-thm", "false-thm").replace(">=", ">")


def test_a_proof_runs_with_the_cells_that_it_needs(proofs, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    chapter = ["low = 0", "raise SystemExit('not needed')", IMPORTS, TRUE, "low = 5"]
    monkeypatch.setattr(proofs, "NBS", book(tmp_path, *chapter))
    assert not proofs.main([])
    assert "proves true-thm" in capsys.readouterr().out


@pytest.mark.parametrize(
    "cell", [FALSE, FALSE.replace("assert", "1 / 0 #"), FALSE.replace("low", "nothing")]
)
def test_a_proof_that_fails_is_noticed(proofs, tmp_path, monkeypatch, capsys, cell):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(proofs, "NBS", book(tmp_path, "low = 0", IMPORTS, TRUE, cell))
    assert proofs.main([])
    assert "proves false-thm  FAILED" in capsys.readouterr().out
    assert not proofs.main(["true-thm"])
    assert proofs.main(["no-such-id"])  # nothing was proved


NEEDS = "# proves-step it\n(x,) = reals('x')\nassert prove(x * x >= x, x >= 1)"


@pytest.mark.parametrize(
    ("cell", "needless"),
    [
        (NEEDS, False),
        (NEEDS.replace("x * x >= x", "[x >= 0, x * x >= 0]"), False),  # a part needs them
        (NEEDS.replace("x * x >= x", "x / x == 1"), False),  # or divides by 0
        (NEEDS.replace("x * x >= x", "x * x >= 0"), True),
        (NEEDS.replace("x * x >= x, x >= 1", "x * x >= 0"), True),  # it has none
        (NEEDS.replace("x * x >= x, x >= 1", "x * x >= 0, identity='a square'"), False),
        (NEEDS.replace("x >= 1)", "x >= 1); assert not prove(x * x >= x)"), False),  # refuted
    ],
)
def test_hypotheses_that_are_not_needed_are_noticed(
    proofs, tmp_path, monkeypatch, capsys, cell, needless
):
    monkeypatch.chdir(tmp_path)
    unasked = "(y,) = reals('y')\nassert prove(y == y)\ndef other(): pass"  # not of this cell
    monkeypatch.setattr(proofs, "NBS", book(tmp_path, IMPORTS, unasked, cell + "\nother()"))
    assert bool(proofs.main([])) == needless
    assert ("true without hypotheses" in capsys.readouterr().out) == needless


def test_times_of_a_whole_run_are_kept(proofs, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(proofs, "NBS", book(tmp_path, "low = 0", IMPORTS, TRUE))
    assert not proofs.main([], proofs.record)
    head, line = (tmp_path / "proof_times.csv").read_text(encoding="utf-8").splitlines()
    assert head == "id,seconds,run" and line.startswith("true-thm,")
    (tmp_path / "proof_times.csv").unlink()
    monkeypatch.setattr(proofs, "NBS", book(tmp_path, "low = 0", IMPORTS, TRUE, FALSE))
    assert proofs.main([], proofs.record)
    assert not (tmp_path / "proof_times.csv").exists()


def test_every_proof_has_a_time(proofs):
    with open(proofs.NBS / "proof_times.csv", encoding="utf-8", newline="") as file:
        timed = {row["id"] for row in csv.DictReader(file)}
    sources = [source for path in proofs.NBS.rglob("*.ipynb") for source in proofs.cells(path)]
    assert timed == {name for source in sources for _, name in proofs.claims(source)}


def test_two_solvers_that_contradict_each_other_are_noticed(proofs, monkeypatch):
    from collections import Counter

    from pmlbook.numerics.proof import prove, reals

    tally = Counter()
    monkeypatch.setattr(proofs, "ask_another", lambda formulas: "none")
    search = proofs.with_second_opinion(lambda formulas, steps: ("found", {}), tally)
    (x,) = reals("x")
    with pytest.raises(AssertionError, match="cvc5 says none"):
        search([x > 0], 1)
    assert prove(x * x >= 0)


def test_the_second_solver_decides(proofs):
    pytest.importorskip("cvc5")
    from pmlbook.numerics.proof import reals

    x, y = reals("x y")
    assert proofs.ask_another([x > 0, y < 0, x * y > 0]) == "none"
    assert proofs.ask_another([x * y == 1, x + y < 2]) != "none"
    assert proofs.ask_another([x > 1, x + y < 2]) == "found"
