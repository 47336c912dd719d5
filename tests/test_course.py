"""A student's notebooks hold no solution, and their checks tell a right answer from none."""

import csv
import sys
from pathlib import Path

import nbformat
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "docs"))
import course  # noqa: E402

PAGES = [page for _, chapters in course.weeks() for page in chapters]


def edition(page):
    return course.edition(course.read(page), page, set(PAGES))


def listed():
    with open(course.LIST, encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def test_the_list_is_that_of_the_chapters():
    text = course.LIST.read_text(encoding="utf-8")
    assert text == course.listed(), "run `python docs/course.py --list`"


@pytest.mark.parametrize(
    "row",
    listed(),
    ids=lambda row: f"{row['chapter']}-{row['exercise']}",
)
def test_what_is_computed_or_designed_is_checked(row):
    assert (row["checked"] == "yes") == (row["level"] in {"computation", "design"})
    assert int(row["hints"]) > 0 or row["chapter"] + ".ipynb" not in PAGES


@pytest.mark.parametrize("page", PAGES)
def test_no_solution_is_handed_out(page):
    handed = edition(page)
    nbformat.validate(handed)
    assert "{admonition} Solution" not in "".join(cell.source for cell in handed.cells)
    assert not course.missing_names(handed)
    _, exercises, _ = course.split(course.read(page))
    cells = {cell.source for cell in handed.cells}
    assert not any(cell.source in cells for _, code in exercises for cell in code)
    for cell in handed.cells:
        for target in course.LINK.findall(cell.source) if cell.cell_type == "markdown" else []:
            assert not target[1] or course.normpath(course.join(page, "..", target[1])) in PAGES


def test_a_notebook_is_graded(tmp_path):
    page = "foundations/03_adversaries.ipynb"
    nbformat.write(handed := edition(page), tmp_path / "blank.ipynb")
    blank = course.grade(tmp_path / "blank.ipynb")
    assert len(blank) == 2 and "right" not in blank.values()

    solutions = [
        cell.source.partition("\n" + course.MARK)[0]
        for _, code in course.split(course.read(page))[1]
        for cell in code
        if course.check_of(cell.source)
    ]
    for cell in handed.cells:
        if cell.source == course.BLANK.strip():
            cell.source = solutions.pop(0)
    nbformat.write(handed, tmp_path / "solved.ipynb")
    assert set(course.grade(tmp_path / "solved.ipynb").values()) == {"right"} and not solutions
