"""What the front page, the part pages and the course promise a reader: times, answers, and what to skip."""

import re
import sys
from itertools import takewhile
from pathlib import Path

import nbformat.v4 as v4
import pytest
from test_links import LINK, NBS, prose

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "docs" / "_ext"))
from minutes import minutes  # noqa: E402
from nbdev_reader import read  # noqa: E402

FRONT = prose(NBS / "index.ipynb")
PARTS = [p for p in sorted(NBS.glob("*/index.md")) if "<!-- chapters -->" in prose(p)]
BOOK = sorted(NBS.glob("*/[0-9]*.ipynb"))
SCREEN = 24  # lines of code; equal to LONG in docs/_static/book.js
ROUTES = ["You study this", "You have a column to release"]
QUESTIONS = {  # the page that answers, and words that the answer has
    "What is PML?": ("foundations/02_leakage.ipynb", "pointwise maximal leakage"),
    "Can I use it with pandas?": ("internals/release/06_columns.ipynb", "pandas"),
    "How is it different from local differential privacy?": (
        "audit/01_differential_privacy.ipynb",
        "no level of local DP",
    ),
    "Which epsilon?": ("audit/02_choosing_epsilon.ipynb", "largest level"),
    "What if my prior is wrong?": ("robust/01_estimated_prior.ipynb", "sample"),
    "How do I report to my board?": ("cli/03_report.ipynb", "report"),
    "Where are the proofs?": ("results.ipynb", "solver"),
    "How do I teach this?": ("teaching.md", "six weeks"),
    "How do I cite it?": ("bibliography.md", "Grosse"),
    "How do I contribute?": ("contributing.md", "CONTRIBUTING.md"),
}


def test_a_newcomer_finds_ten_answers_by_one_link():
    rows = re.findall(r"^\| ([A-Z][^|]*\?) \| (.*) \|$", FRONT, re.M)
    found = {question: LINK.findall(answer) for question, answer in rows}
    assert set(found) == set(QUESTIONS)
    for question, (page, answer) in QUESTIONS.items():
        assert page in found[question]
        assert answer.lower() in (NBS / page).read_text(encoding="utf-8").lower(), question


def test_the_first_screen_says_what_and_leads_on():
    """The name in full, one picture, three ways, and why not differential privacy, before anything else."""
    first = FRONT.partition("## Where to begin")[0]
    assert "Pointwise maximal leakage" in first and first.count("![") == 1
    assert re.findall(r"\(#(you-[\w-]+)\)", first) == [
        "you-study-this",
        "you-have-a-column-to-release",
        "you-referee-a-paper",
    ]
    assert "audit/01_differential_privacy.ipynb" in first and len(first.split()) < 170


def test_the_first_screen_repeats_what_a_chapter_computes():
    said = re.search(r"needs ([\d.]+ to [\d.]+) times as many people", FRONT)[1]
    chapter = NBS / "estimation" / "01_optimal_design.ipynb"
    code = [c.source for c in read(chapter.read_text("utf-8")).cells if c.cell_type == "code"]
    assert any(f'== "{said}"' in source for source in code)


def route(heading):
    """The chapters that a route of the front page names, and its minutes."""
    text = FRONT.partition(f"### {heading}\n")[2].partition("\n### ")[0]
    before, said = re.match(r"(.*?)take about (\d+) minutes", text, re.S).groups()
    return {NBS / link for link in LINK.findall(before) if "/index" not in link}, int(said)


def with_all_needed(chapters):
    """Chapters, what they need, what that needs, and so on: by the lines *You need*."""
    found, new = set(), {path.resolve() for path in chapters}
    while new:
        found |= new
        lines = {p: re.findall(r"^\*You need\* (.*)$", prose(p), re.M) for p in new}
        links = [(p, link) for p in new for line in lines[p] for link in LINK.findall(line)]
        new = {(p.parent / link.partition("#")[0]).resolve() for p, link in links} - found
    return found


def missing(chapters):
    """What some chapters need, to the first one, and is not among them."""
    return sorted(p.relative_to(NBS).as_posix() for p in with_all_needed(chapters) - chapters)


@pytest.mark.parametrize("heading", ROUTES)
def test_a_route_takes_as_long_as_it_says(heading):
    chapters, said = route(heading)
    assert len(chapters) >= 3
    assert 0.85 <= sum(map(minutes, chapters)) / said <= 1.15


@pytest.mark.parametrize("heading", ROUTES)
def test_a_route_needs_no_chapter_that_is_not_on_it(heading):
    assert missing(route(heading)[0]) == []


def test_what_may_be_skipped_is_needed_only_by_what_may_be_skipped_too():
    skipped = set()
    for path in PARTS:
        words = prose(path).partition("skip**")[2].partition("<!--")[0]
        skipped |= {(path.parent / link).resolve() for link in LINK.findall(words)}
    for path in set(BOOK) - skipped:
        assert not with_all_needed([path]) & skipped, path
    assert not any(skipped & route(heading)[0] for heading in ROUTES)


@pytest.mark.parametrize("path", BOOK, ids=[p.relative_to(NBS).as_posix() for p in BOOK])
def test_a_chapter_is_used_before_its_code_fills_a_screen(path):
    """The first code that is shown is an example, or at most as long as what the site shows before it folds."""
    code = [cell for cell in read(path.read_text("utf-8")).cells if cell.cell_type == "code"]
    tags = {cell.id: cell.metadata.get("tags", []) for cell in code}
    shown = [c for c in code if not any(t.startswith(("hide", "remove")) for t in tags[c.id])]
    exported = takewhile(lambda cell: "pml-export" in tags[cell.id], shown)
    assert sum(len(cell.source.splitlines()) for cell in exported) <= SCREEN


def test_the_first_week_needs_no_chapter_that_is_not_in_it():
    week = FRONT.partition("In a first week")[2].partition("\n\n")[0]
    parts = [NBS / link for link in LINK.findall(week) if link.endswith("/index.md")]
    chapters = {path for part in parts for path in part.parent.glob("[0-9]*.ipynb")}
    last = NBS / re.search(r"up to \[[^]]*\]\(([^)]*)", week)[1]
    later = {path for path in last.parent.glob("[0-9]*.ipynb") if path.name > last.name}
    alone = {NBS / link for link in LINK.findall(week.partition(last.name)[2]) if "audit" in link}
    assert len(alone) == 1 and missing(chapters - later | alone) == []


def test_a_week_of_the_course_needs_no_later_chapter_and_says_how_long_it_takes():
    before, course = set(), prose(NBS / "teaching.md")
    weeks = re.findall(r"^\| \d\. [^|]*\|([^|]*)\| (\d+) \|", course, re.M)
    for chapters, said in weeks:
        week = {NBS / link for link in LINK.findall(chapters)}
        before |= week
        assert missing(before) == []
        assert 0.85 <= sum(map(minutes, week)) / int(said) <= 1.15
    assert len(weeks) == 6


def test_needs_are_followed_to_the_first_chapter():
    needed = with_all_needed([NBS / "extremal" / "03_binary.ipynb"])
    assert NBS / "foundations" / "01_probability.ipynb" in needed


@pytest.mark.parametrize("path", PARTS, ids=lambda path: path.parent.name)
def test_a_part_says_what_it_proves_what_it_needs_and_what_to_skip(path):
    text = prose(path)
    for head in ("**What it proves.**", "**You need**", "**On a first reading skip**"):
        assert text.count(head) == 1
    assert len(text.partition("<!--")[0].split()) < 180
    for link in LINK.findall(text.partition("skip**")[2].partition("<!--")[0]):
        assert (path.parent / link).parent == path.parent, "a chapter of this part"


def test_every_part_has_its_page():
    assert {path.parent for path in PARTS} == {path.parent for path in BOOK}


def test_minutes_count_words_and_the_code_that_is_shown(tmp_path):
    codes = ["#| export\nx = 1", "import math", "#| default_exp part.chapter"]
    cells = [v4.new_markdown_cell("word " * 400), *map(v4.new_code_cell, codes)]
    cells.append(v4.new_code_cell("assert x", metadata={"tags": ["hide-cell"]}))
    path = tmp_path / "01_chapter.ipynb"
    path.write_text(v4.writes(v4.new_notebook(cells=cells)), encoding="utf-8")
    assert minutes(path) == 3


def test_no_page_speaks_of_an_edition_that_never_was():
    never = re.compile(
        r"\b[Ee]arlier editions?\b|\bAn earlier version\b|\beditions? of (?:this|the) (?:book|chapter)"
    )
    pages = [*NBS.rglob("*.ipynb"), *NBS.rglob("*.md")]
    assert [p.name for p in pages if never.search(p.read_text(encoding="utf-8"))] == []
