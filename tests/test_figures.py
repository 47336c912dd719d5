"""Every cell that draws describes its figure: a label, a caption and a text alternative; every control glides and has words."""

import ast
import json
import re
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import pytest

from pmlbook.display.explore import explore

NBS = Path(__file__).resolve().parent.parent / "nbs"


def book():
    """Chapters of the book volume."""
    contents = (NBS.parent / "docs" / "_toc.yml").read_text(encoding="utf-8")
    named = re.findall(r"file: (\w+/\d\d_\w+)", contents.partition("For contributors")[0])
    return [NBS / f"{name}.ipynb" for name in named]


CHAPTERS = [p for p in sorted(NBS.rglob("*.ipynb")) if ".ipynb_checkpoints" not in p.parts]
DRAWS = re.compile(r"plt\.(subplots|figure)\(|^\w+(\.\w+)*\.plot\(\)", re.M)
CONTROLS = {"labels", "alt"}
MOVES = re.compile(r"^(?:explore|simplex|foldable|staircase|saddle)\(", re.M)
WITHOUT_FIGURE = {  # chapters of the book volume that show tables, files or commands
    "release/01_certificate",
    "audit/09_where_we_stand",
    "files/01_release",
    "files/02_engines",
    "cli/01_command_line",
    "cli/02_wizard",
    "cli/03_report",
    "cli/04_real_tables",
}


@cache
def cells(path):
    """Code cells of a chapter."""
    found = json.loads(path.read_text(encoding="utf-8"))["cells"]
    code = [c for c in found if c["cell_type"] == "code"]
    return [SimpleNamespace(id=c["id"], source="".join(c["source"])) for c in code]


def directives(source):
    """The Quarto words at the top of a cell."""
    return dict(re.findall(r"^#\| (label|fig-cap|fig-alt): (.+)$", source, re.M))


def drawing(source):
    """Whether a cell shows a picture of Matplotlib."""
    return bool(DRAWS.search(source)) and "#| export" not in source and "plt.close" not in source


def explorers(source):
    """Calls of `explore` that a cell shows."""
    last = ast.parse(source).body[-1:]
    found = [n.value for n in last if isinstance(n, ast.Expr) and isinstance(n.value, ast.Call)]
    return [call for call in found if ast.unparse(call.func) == "explore"]


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda p: p.relative_to(NBS).as_posix())
def test_each_picture_has_words(path):
    for cell in cells(path):
        if drawing(cell.source):
            said = directives(cell.source)
            assert set(said) == {"label", "fig-cap", "fig-alt"}, cell.id
            assert re.fullmatch(r"fig-[a-z0-9-]+", said["label"])
            assert said["fig-cap"].endswith(".") and len(said["fig-cap"]) >= 30, cell.id
            assert said["fig-alt"].endswith(".") and len(said["fig-alt"]) >= 40, cell.id
            assert said["fig-alt"] != said["fig-cap"]


def test_each_chapter_that_draws_has_the_style_of_the_book():
    """Without it a figure is white on a dark page, and its labels are cut off."""
    styled = 'plt.style.use("pmlbook.book")'
    drawn = [p for p in CHAPTERS if any(drawing(c.source) or explorers(c.source) for c in cells(p))]
    assert len(drawn) > 90
    assert [p.stem for p in drawn if not any(styled in c.source for c in cells(p))] == []


def test_labels_are_unique():
    labels = [directives(c.source).get("label") for p in CHAPTERS for c in cells(p)]
    labels = [label for label in labels if label]
    assert len(labels) >= 96 and len(labels) == len(set(labels))


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda p: p.relative_to(NBS).as_posix())
def test_each_slider_glides_and_has_a_label(path):
    from pmlbook.display.explore import LABELS

    for cell in cells(path):
        for call in explorers(cell.source) if "explore(" in cell.source else []:
            given = {k.arg: k.value for k in call.keywords}
            named = ast.literal_eval(given["labels"]) if "labels" in given else {}
            for name in set(given) - CONTROLS:
                label = {name: name.replace("_", " "), **LABELS, **named}[name]
                assert len(label) > 3, (cell.id, name)
                if not isinstance(given[name], ast.Tuple):
                    continue  # a choice
                low, high, step, _ = ast.literal_eval(given[name])
                whole = all(float(v).is_integer() for v in (low, high, step))
                assert whole or step <= (high - low) / 100 * (1 + 1e-9), (cell.id, name)
                assert "(" in label or re.search(r"prob|share|number|rank", label), (cell.id, label)


def test_a_figure_that_cannot_be_drawn_is_an_error_where_it_is_made():
    with pytest.raises(ZeroDivisionError):
        explore(lambda epsilon: 1 / 0, alt="nothing at {epsilon}", epsilon=(0, 1, 0.01, 0.5))


@pytest.mark.parametrize("path", book(), ids=lambda p: p.relative_to(NBS).as_posix())
def test_a_chapter_of_the_book_with_a_figure_has_one_that_moves(path):
    sources = [cell.source for cell in cells(path) if "#| export" not in cell.source]
    if path.relative_to(NBS).with_suffix("").as_posix() in WITHOUT_FIGURE:
        assert not any("#| fig-cap" in source for source in sources)
    else:
        assert any(MOVES.search(source) for source in sources)


def test_chapters_of_the_book_have_exercises():
    """All but the comparison with other work."""
    bare = [p.stem for p in book() if "## Exercises" not in p.read_text(encoding="utf-8")]
    assert set(bare) <= {"09_where_we_stand"}
