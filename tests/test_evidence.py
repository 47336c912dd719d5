"""The table of changes that evidence notices belongs to the cells as they are now."""

import importlib.util
import sys
from pathlib import Path

import pytest
from test_results import NBS, table

DOCS = Path(__file__).resolve().parent.parent / "docs"


@pytest.fixture(scope="module")
def evidence():
    """The script as a module, which finds its neighbour."""
    sys.path.insert(0, str(DOCS))
    try:
        spec = importlib.util.spec_from_file_location("evidence", DOCS / "evidence.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(DOCS))
    return module


def test_each_result_that_is_proved_or_exact_was_tried_as_it_stands(evidence):
    counted = {
        name: sum(len(evidence.plan(cells)) for _, cells in evidence.evidence(path, name, verbs))
        for name, path, verbs in evidence.graded()
    }
    assert counted == {row["result"]: int(row["changes"]) for row in table(NBS / "mutations.csv")}
    assert all(counted.values())


def test_what_was_not_noticed_has_its_reason():
    for row in table(NBS / "mutations.csv"):
        unnoticed = int(row["changes"]) - int(row["noticed"])
        assert unnoticed >= 0 and bool(row["left"]) == (unnoticed > 0), row


CELL = """# proves one
def squares(x, y):
    return x * x - y * y


assert squares(3, 2) == 5
"""


@pytest.mark.posix
def test_a_change_is_a_sign_or_a_term_and_the_cell_is_run_with_it(evidence, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    made = [evidence.changed(CELL, place) for _, place in evidence.plan([CELL])]
    assert [words for _, words in made] == [
        "x * x - y * y -> x * x + y * y",
        "x * x - y * y -> x * x",
    ]
    path = tmp_path / "one.ipynb"
    assert not evidence.fails(path, [CELL])
    assert all(evidence.fails(path, [source]) for source, _ in made)
    blind = CELL.replace("== 5", "> 0")
    assert not evidence.fails(path, [evidence.changed(blind, 0)[0]])
