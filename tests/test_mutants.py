"""`make mutants` changes what behaves, one place at a time, and leaves texts alone."""

import ast
import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
CELL = '''#| export
def share(x: "1 + 2", most: float = 0.5) -> "3 + 4":
    """Says 5 + 6."""
    if x < 0 or not x:
        raise ValueError(f"x is {x + 7}")
    return min(-x, most) + np.exp(x)
'''


@pytest.fixture(scope="module")
def mutants():
    """The script as a module."""
    spec = importlib.util.spec_from_file_location("mutants", ROOT / "docs" / "mutants.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_each_mutant_is_one_change_of_what_behaves(mutants):
    made = [mutants.mutant(CELL, k) for k in range(len(mutants.sites(ast.parse(CELL))))]
    before = {row[1] for _, row in made}
    assert before == {
        "x < 0 or not x",
        "x < 0",
        "0",
        "0.5",
        "min(-x, most) + np.exp(x)",
        "min(-x, most)",
        "np.exp",
        "-x",
    }
    plain = ast.unparse(ast.parse(CELL))
    assert (
        len({text for text, _ in made}) == len(made) == 9
    )  # the condition is turned and its `or` too
    for text, (function, old, new) in made:
        assert function == "share" and old != new and text.startswith("#| export\n")
        assert ast.unparse(ast.parse(text)) != plain
        assert "1 + 2" in text and "5 + 6" in text and "x + 7" in text


def test_a_seed_draws_the_same_changes_again(mutants, monkeypatch):
    few = list(mutants.places(ROOT, ["estimation"]))[:40]
    monkeypatch.setattr(mutants, "places", lambda root, parts: few)
    first = list(mutants.drawn(ROOT, 30, 1, []))
    assert len(first) == 30 and first == list(mutants.drawn(ROOT, 30, 1, []))
    assert len(list(mutants.drawn(ROOT, 100, 1, []))) == 40


def test_the_tests_that_mention_a_chapter_are_found(mutants):
    files = [
        Path(name).name
        for name in mutants.witnesses(ROOT, Path("nbs/estimation/03_two_way_table.ipynb"))
    ]
    assert files[0] == "test_two_way.py" and len(files) <= 8
