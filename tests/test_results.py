"""The map of results is right: every result has its box and its evidence."""

import ast
import csv
import itertools
import json
import re
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
NBS = ROOT / "nbs"
STATUSES = {"planned", "holds", "corrected", "refuted"}
GRADES = {"proves": "proved", "proves-step": "step proved"}  # by the first line of a cell
FORMAL = "formal"  # checked by a proof kernel, tests/test_formal.py; a solver may prove a scope of it too
STRENGTHS = {FORMAL, *GRADES.values(), "exact", "computed"}


def table(path):
    """The rows of a CSV file, as dictionaries; ValueError unless each has as many fields as the head."""
    with open(path, encoding="utf-8", newline="") as file:
        head, *rows = csv.reader(file, strict=True)
    if len(head) != len(set(head)):
        raise ValueError(f"{path} names a column twice: {head}")
    for line, row in enumerate(rows, start=2):
        if len(row) != len(head):
            raise ValueError(f"{path}, line {line}: {len(row)} fields for {len(head)}")
    return [dict(zip(head, row)) for row in rows]


def cells(path, kind):
    """The sources of the cells of one kind."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    return ["".join(c["source"]) for c in notebook["cells"] if c["cell_type"] == kind]


ROWS = table(NBS / "results.csv")
SHOWN = [row for row in ROWS if row["status"] != "planned"]


@cache
def claims(path):
    """The comments that open the code cells of a notebook which assert something."""
    found = []
    for source in cells(path, "code"):
        lines = [line for line in source.splitlines() if not line.startswith("#|")]
        if any(isinstance(node, ast.Assert) for node in ast.walk(ast.parse(source))):
            found += itertools.takewhile(lambda line: line.startswith("# "), lines)
    return found


def evidence(path, verb="checks"):
    """The ids that code cells of a notebook check, prove or refute, with an assertion."""
    for line in claims(path):
        if line.startswith(f"# {verb} "):
            yield from line.split()[2:]


FILES = [path for part in ("nbs", "benchmarks", "tests") for path in (ROOT / part).rglob("*.csv")]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_line_of_a_csv_file_has_all_its_fields(path):
    rows = table(path)
    assert rows and all(key == key.strip() for key in rows[0])
    assert [row for row in rows if any(v != v.strip() for v in row.values())] == []


def test_a_comma_too_many_is_noticed(tmp_path):
    (tmp_path / "loose.csv").write_text("id,scope\na,up to 3, or 4\n", encoding="utf-8")
    with pytest.raises(ValueError, match="line 2: 3 fields for 2"):
        table(tmp_path / "loose.csv")


def test_rows_have_a_known_status():
    assert [row["id"] for row in ROWS if row["status"] not in STATUSES] == []


def test_planned_rows_have_no_notebook():
    assert [
        row["id"] for row in ROWS if (row["status"] == "planned") != (not row["notebook"])
    ] == []


def test_boxes_are_where_the_rows_say():
    prefixes = tuple({row["paper"] + "-" for row in ROWS})
    found = defaultdict(list)
    for path in sorted(NBS.rglob("*.ipynb")):
        if ".ipynb_checkpoints" not in path.parts:
            for source in cells(path, "markdown"):
                for label in re.findall(r"^:label: *(\S+)", source, re.MULTILINE):
                    if label.startswith(prefixes):
                        found[label].append(path.relative_to(NBS).as_posix())
    assert found == {row["id"]: [row["notebook"]] for row in SHOWN}


@pytest.mark.parametrize("row", SHOWN, ids=[row["id"] for row in SHOWN])
def test_box_has_evidence(row):
    assert row["id"] in evidence(NBS / row["notebook"])


def test_rows_have_a_known_strength():
    assert [row["id"] for row in SHOWN if row["strength"] not in STRENGTHS] == []


@pytest.mark.parametrize("row", SHOWN, ids=[row["id"] for row in SHOWN])
@pytest.mark.parametrize("verb", GRADES)
def test_proved_rows_and_cells_that_prove_are_the_same(row, verb):
    proved = row["id"] in evidence(NBS / row["notebook"], verb)
    if row["strength"] != FORMAL:
        assert (row["strength"] == GRADES[verb]) == proved


def test_who_proves_a_step_says_so():
    """And who proves all leaves nothing to the text, to a theorem that joins, or to a computation."""
    short = re.compile(r"\bsteps?\b|\bone example\b")
    rest = re.compile(r"\bcomputed\b|\bcertified\b|\bjoins?\b|in the text|reached by")
    for row in SHOWN:
        if row["strength"] in GRADES.values():
            part = row["strength"] == "step proved"
            assert bool(short.search(row["scope"])) == part, row["id"]
            assert part or not rest.search(row["scope"]), row["id"]


def test_every_row_says_for_what_or_why_not_more():
    assert [row["id"] for row in SHOWN if not row["scope"]] == []


CORRECTED = [row for row in SHOWN if row["status"] in ("corrected", "refuted")]


@pytest.mark.parametrize("row", CORRECTED, ids=[row["id"] for row in CORRECTED])
def test_a_correction_has_an_exact_counterexample(row):
    assert row["id"] in evidence(NBS / row["notebook"], "refutes")
    assert row["strength"] != "computed"


def test_cells_refute_only_what_is_corrected():
    paths = [path for path in NBS.rglob("*.ipynb") if ".ipynb_checkpoints" not in path.parts]
    found = {name for path in paths for name in evidence(path, "refutes")}
    assert found == {row["id"] for row in CORRECTED}


def own_results():
    """Label and notebook of each result that is the book's own, or older than the papers."""
    block = r"^:::+ *\{prf:(?:theorem|lemma|proposition|corollary)\}[^\n]*\n:label: *(\S+)"
    listed = {row["id"] for row in ROWS}
    for path in sorted(NBS.rglob("*.ipynb")):
        if ".ipynb_checkpoints" not in path.parts:
            for source in cells(path, "markdown"):
                for label in re.findall(block, source, re.MULTILINE):
                    if label not in listed:
                        yield label, path


OWN = dict(own_results())


@pytest.mark.parametrize("label", OWN)
def test_own_result_has_evidence(label):
    assert any(label in evidence(OWN[label], verb) for verb in ("checks", *GRADES))


@pytest.mark.parametrize("verb", GRADES)
def test_cells_prove_only_what_is_listed(verb):
    paths = [path for path in NBS.rglob("*.ipynb") if ".ipynb_checkpoints" not in path.parts]
    found = {name for path in paths for name in evidence(path, verb)}
    formal = {row["id"] for row in ROWS if row["strength"] == FORMAL}
    graded = {row["id"] for row in ROWS if row["strength"] == GRADES[verb]}
    assert found - set(OWN) - formal == graded


def test_every_result_of_the_papers_is_listed():
    papers = ROOT.parent / "shared" / "papers" / "results.csv"
    if not papers.exists():
        pytest.skip(f"the list of the papers' results is not here: {papers}")
    assert [row["id"] for row in ROWS] == [row["id"] for row in table(papers)]
