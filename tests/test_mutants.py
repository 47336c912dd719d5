"""`make mutants` changes what behaves, one place at a time, and leaves texts alone."""

import ast
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "docs"))
import mutants  # noqa: E402

CELL = '''#| export
def share(x: "1 + 2", most: float = 0.5) -> "3 + 4":
    """Says 5 + 6."""
    if x < 0 or not x:
        raise ValueError(f"x is {x + 7}")
    return min(-x, most) + np.exp(x)
'''


def test_each_mutant_is_one_change_of_what_behaves():
    count = len(mutants.changes(ast.parse(CELL), every=True))
    made = dict(mutants.mutant(CELL, k)[::-1] for k in range(count))
    assert set(made) == {
        "min(-x, most) + np.exp(x) -> min(-x, most) - np.exp(x)",
        "min(-x, most) + np.exp(x) -> min(-x, most)",
        "-x -> x",
        "x < 0 -> x >= 0",
        "x < 0 or not x -> x < 0 and (not x)",
        "0 -> 1",
        "0.5 -> 1.5",
        "min -> max",
        "np.exp -> np.expm1",
    }
    plain = ast.unparse(ast.parse(CELL))
    assert len(set(made.values())) == count
    for text in made.values():
        assert text.startswith("#| export\n") and ast.unparse(ast.parse(text)) != plain
        assert "1 + 2" in text and "5 + 6" in text and "x + 7" in text


def test_a_seed_draws_the_same_changes_again(monkeypatch):
    few = list(mutants.places(ROOT, ["estimation"]))[:40]
    monkeypatch.setattr(mutants, "places", lambda root, parts: few)
    first = list(mutants.drawn(ROOT, 30, 1, []))
    assert len(first) == 30 and first == list(mutants.drawn(ROOT, 30, 1, []))
    assert len(list(mutants.drawn(ROOT, 100, 1, []))) == 40


def test_the_tests_that_mention_a_chapter_are_found():
    files = [
        Path(name).name
        for name in mutants.witnesses(ROOT, Path("nbs/estimation/03_two_way_table.ipynb"))
    ]
    assert files[0] == "test_two_way.py" and len(files) <= 8
