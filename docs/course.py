"""The exercises of the book: their list, and the student's edition of the course.

usage: course.py                the student's edition of nbs/teaching.md's weeks, in _build/course
       course.py --list         write nbs/exercises.csv
       course.py --grade FILE   execute a student's notebook and say which checks pass

Below the heading 'Exercises' a question is a numbered paragraph that begins with its level, `1. *Proof.* ...`, with
boxes 'Hint' and a box 'Solution'; a reason is given in words. The cell after it is the solution. What stands below
its line `# check` is left to the student, who puts an answer in place of `answer = ...`.
"""

import ast
import builtins
import csv
import io
import re
import shutil
import sys
from os.path import relpath
from pathlib import Path
from posixpath import join, normpath

import nbformat
import yaml
from nbformat.v4 import new_code_cell, new_markdown_cell

ROOT = Path(__file__).resolve().parent.parent
NBS, COURSE, LIST = ROOT / "nbs", ROOT / "_build" / "course", ROOT / "nbs" / "exercises.csv"
sys.path.insert(0, str(ROOT / "docs" / "_ext"))
from boxes import files_of  # noqa: E402

MARK = "# check\n"
BLANK = "answer = ...\n"
SECTION = re.compile(r"^(?=## )", re.M)
QUESTION = re.compile(r"^(?=\d+\. )", re.M)
LEVEL = re.compile(r"\d+\. \*(Computation|Proof|Reason|Design)\.\* ")
SOLUTION = re.compile(r"\n*^:::\{admonition\} Solution\n.*?^:::$", re.M | re.S)
LINK = re.compile(r"(?<!!)\[([^\]]+)\]\(([^)#: ]*)(#[^)]*)?\)")
FIELDS = "chapter", "exercise", "level", "checked", "hints"


def check_of(source: str) -> str | None:
    """What of a solution is left to the student, if anything checks the answer."""
    below = ("\n" + source).partition("\n" + MARK)[2]
    return below or None


def blank(source: str) -> str | None:
    """The cell of a solution as the student finds it."""
    below = check_of(source)
    return below and BLANK + below


def headed(cells):
    """The cells, with each heading of a section at the beginning of one."""
    for cell in cells:
        if cell.cell_type == "code":
            yield cell
            continue
        for text in filter(str.strip, SECTION.split(cell.source)):
            yield new_markdown_cell(text.strip(), metadata=cell.metadata)


def split(notebook):
    """The cells before the exercises, each question with its code cells, and the cells after them."""
    cells = [
        c for c in headed(notebook.cells) if "remove-cell" not in c.metadata.get("tags", [])
    ]  # no way on
    heads = [k for k, cell in enumerate(cells) if cell.source.startswith("## ")]
    start = next((k for k in heads if cells[k].source.startswith("## Exercises")), len(cells))
    end = next((k for k in heads if k > start), len(cells))
    exercises: list[tuple[str, list]] = []
    for cell in cells[start:end]:
        if cell.cell_type == "code":
            exercises[-1][1].append(cell)
            continue
        for text in QUESTION.split(cell.source.removeprefix("## Exercises")):
            if text.strip():
                exercises.append((text.strip(), []))
    return cells[:start], exercises, cells[end:]


def weeks() -> list[tuple[str, list[str]]]:
    """The title of each week, and its chapters."""
    lines = (NBS / "teaching.md").read_text(encoding="utf-8").splitlines()
    rows = [line.split("|") for line in lines if re.match(r"\| \d+\. ", line)]
    return [(row[1].strip(), [m[2] for m in LINK.finditer(row[2])]) for row in rows]


def own_links(text: str, page: str, kept: set[str]) -> str:
    """Links within the course; of others their words stay."""

    def link(match):
        inside = not match[2] or normpath(join(page, "..", match[2])) in kept
        return match[0] if inside else match[1]

    return LINK.sub(link, text)


def graded(cell, name: str, solution: bool, points: int):
    """The cell with nbgrader's marks: what the student fills in, and what is locked and gives points."""
    marks = {"schema_version": 3, "grade_id": name, "grade": points > 0, "points": points}
    cell.metadata["nbgrader"] = marks | {
        "solution": solution,
        "locked": not solution,
        "task": False,
    }
    return cell


def edition(notebook, page: str, kept: set[str]):
    """A chapter without solutions; `page` is its path in the course."""
    cells, exercises, after = split(notebook)
    if exercises:
        cells.append(new_markdown_cell("## Exercises"))
    for number, (text, code) in enumerate(exercises, start=1):
        name = f"{Path(page).stem}-{number}"
        cells.append(new_markdown_cell(text))
        checks = [below for cell in code if (below := check_of(cell.source))]
        if checks:
            cells.append(graded(new_code_cell(BLANK.strip()), name, True, 0))
            cells.append(graded(new_code_cell("".join(checks).strip()), f"{name}-check", False, 1))
        else:
            cells.append(graded(new_markdown_cell("*Your answer.*"), name, True, 2))
    for k, cell in enumerate(cells := cells + after):
        cell.id = f"cell-{k}"
        if cell.cell_type == "markdown":
            cell.source = own_links(SOLUTION.sub("", cell.source), page, kept)
    notebook.cells = cells
    return notebook


def missing_names(notebook) -> set[str]:
    """Names that a check of the student's edition uses and no cell of it has defined."""
    known, used = {*vars(builtins), "answer"}, set()
    for cell in notebook.cells:
        if cell.cell_type != "code":
            continue
        for node in ast.walk(ast.parse(re.sub(r"^[%!].*$", "", cell.source, flags=re.M))):
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                known.update((a.asname or a.name).split(".")[0] for a in node.names)
            elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                known.add(node.name)
            elif isinstance(node, ast.arg):
                known.add(node.arg)
            elif isinstance(node, ast.Name):
                checks = cell.metadata.get("nbgrader", {}).get("grade")
                (used if checks and isinstance(node.ctx, ast.Load) else known).add(node.id)
    return used - known


def read(page: str):
    return nbformat.read(NBS / page, 4)


def write_edition() -> None:
    """The notebooks of all weeks, and a page with what each week asks."""
    pages = [page for _, chapters in weeks() for page in chapters]
    kept = {*pages, "teaching.md"}
    shutil.rmtree(COURSE, ignore_errors=True)
    for page in pages:
        target = COURSE / page
        target.parent.mkdir(parents=True, exist_ok=True)
        nbformat.write(edition(read(page), page, kept), target)
    table = (NBS / "teaching.md").read_text(encoding="utf-8").split("\n## Projects")[0]
    (COURSE / "teaching.md").write_text(own_links(table, "teaching.md", kept), encoding="utf-8")
    print(f"{relpath(COURSE)}: {len(pages)} chapters without solutions")


def listed() -> str:
    """The text of nbs/exercises.csv: every exercise of the book in reading order."""
    contents = yaml.safe_load((ROOT / "docs" / "_toc.yml").read_text(encoding="utf-8"))
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(FIELDS)
    for stem in files_of(contents["subtrees"]):
        if not (NBS / f"{stem}.ipynb").exists():
            continue
        for number, (question, code) in enumerate(split(read(f"{stem}.ipynb"))[1], start=1):
            if not (level := LEVEL.match(question)):
                sys.exit(f"{stem}: exercise {number} says no level, such as *Proof.*")
            checked = "yes" if any(check_of(cell.source) for cell in code) else "no"
            writer.writerow(
                (stem, number, level[1].lower(), checked, question.count("{admonition} Hint"))
            )
    return text.getvalue()


def grade(path: Path) -> dict[str, str]:
    """Each check of a student's notebook: 'right', or what it said."""
    from execnb.shell import CaptureShell

    shell, results = CaptureShell(path.parent), {}
    for cell in nbformat.read(path, 4).cells:
        if cell.cell_type == "code":
            shell.run(cell.source)
            marks = cell.metadata.get("nbgrader", {})
            if marks.get("grade"):
                results[marks["grade_id"]] = "right" if shell.exc is None else str(shell.exc)
    return results


if __name__ == "__main__":
    match sys.argv[1:]:
        case []:
            write_edition()
        case ["--list"]:
            LIST.write_text(listed(), encoding="utf-8", newline="")
        case ["--grade", *files] if files:
            for file in files:
                for name, result in grade(Path(file).resolve()).items():
                    print(f"{name}: {result}")
        case _:
            sys.exit(__doc__)
