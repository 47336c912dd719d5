"""Every mention of a result or a chapter is a link, and every link leads somewhere."""

import csv
import json
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
NBS = ROOT / "nbs"
PAGES = sorted(
    [*NBS.glob("*.ipynb"), *NBS.rglob("*/*.ipynb"), *NBS.glob("*.md"), *NBS.rglob("*/*.md")]
)
CHAPTERS = sorted(NBS.rglob("[0-9]*.ipynb"))  # a page of the library has no number
LEAST = 600  # cross-references in all

LINK = re.compile(r"(?<!!)\[(?:[^\[\]]|\[[^\]]*\])*\]\(([^()\s]+)\)")
KINDS = "Theorem|Lemma|Definition|Proposition|Claim|Remark|Corollary|Algorithm|Assumption|Example"
RESULT = re.compile(rf"\b(?:{KINDS}|Lemma|Corollarie)s?[ \N{{NO-BREAK SPACE}}]\d")
CHAPTER = re.compile(
    r"\b(?:[Tt]he|[Aa]n?) (?:last|next|previous|coming|following|earlier|later)(?: but one| \w+)? chapters?\b"
    r"|\b[Tt]he chapters? (?:before|on|that follow)|\b[Cc]hapters? \d"
)
NOT_PROSE = re.compile(  # what mentions without a link, each for a reason
    r"`{3,}.*?`{3,}"  # code
    r"|^:::+\{prf[^\n]*$"  # a box's title is the result
    r"|^> [^\n]*$"  # a summary is its module's docstring too
    r"|^#+ [^\n]*$",  # a heading is a target
    re.DOTALL | re.MULTILINE,
)


@cache
def prose(path):
    """The text of a page, without code cells and the way to other chapters."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        return text
    cells = [c for c in json.loads(text)["cells"] if c["cell_type"] == "markdown"]
    shown = [c for c in cells if "remove-cell" not in c["metadata"].get("tags", [])]
    return "\n\n".join("".join(c["source"]) for c in shown)


def slug(heading):
    """A heading's fragment, as GitHub and MyST make it."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


@cache
def targets(path):
    """Fragments of a page: headings, boxes and labels."""
    text = prose(path)
    found = {slug(line) for line in re.findall(r"^#{1,3} (.*)$", text, re.MULTILINE)}
    found |= set(re.findall(r"^:(?:label|name): *(\S+)", text, re.MULTILINE))
    return found | set(re.findall(r"^\(([\w.-]+)\)=", text, re.MULTILINE))


def links(path):
    """Targets of the links of a page that stay in the book."""
    text = re.sub(r"`{3,}.*?`{3,}", "", prose(path), flags=re.DOTALL)
    return [to for to in LINK.findall(text) if not re.match(r"[a-z]+:", to)]


def unlinked(pattern, path):
    """Mentions outside links and titles, each with what stands around it."""
    text = LINK.sub("@", NOT_PROSE.sub("", prose(path)))
    return [text[max(0, m.start() - 40) : m.end() + 30] for m in pattern.finditer(text)]


@pytest.mark.parametrize("path", PAGES, ids=[p.relative_to(NBS).as_posix() for p in PAGES])
def test_links_lead_somewhere(path):
    broken = []
    for link in links(path):
        where, _, fragment = link.partition("#")
        page = (path.parent / where).resolve() if where else path
        if not page.is_file() or (fragment and fragment not in targets(page)):
            broken.append(link)
    assert broken == []


def test_patterns_find_what_they_are_for():
    assert (
        RESULT.search("by Lemma 5")
        and RESULT.search("Algorithms 7, 8")
        and RESULT.search("Definition 2.1")
    )
    for text in (
        "the last chapter",
        "The next chapters",
        "Chapter 10",
        "the last but one chapter",
        "the chapter on",
    ):
        assert CHAPTER.search(text), text
    assert not CHAPTER.search("After this chapter")


@pytest.mark.parametrize("path", CHAPTERS, ids=[p.relative_to(NBS).as_posix() for p in CHAPTERS])
def test_results_and_chapters_are_named_by_links(path):
    assert unlinked(RESULT, path) + unlinked(CHAPTER, path) == []


def test_chapters_are_well_connected():
    count = sum(len(links(path)) for path in PAGES)
    print(f"{count} cross-references")
    assert count >= LEAST
    assert [p.relative_to(NBS).as_posix() for p in CHAPTERS if not links(p)] == []


def test_what_a_chapter_needs_comes_before_it():
    order = re.findall(r"file: (\S+)", (ROOT / "docs" / "_toc.yml").read_text(encoding="utf-8"))
    late = []
    for path in CHAPTERS:
        here = order.index(path.relative_to(NBS).with_suffix("").as_posix())
        for line in re.findall(r"^\*You need\* (.*)$", prose(path), re.MULTILINE):
            for link in LINK.findall(line):
                page = (path.parent / link).resolve().relative_to(NBS).with_suffix("")
                late += [(str(path), link)] if order.index(page.as_posix()) >= here else []
    assert late == []


def test_chapters_without_a_result_say_so():
    with open(NBS / "results.csv", encoding="utf-8", newline="") as file:
        with_results = {row["notebook"] for row in csv.DictReader(file)}
    head = re.compile(r"^\*(?:Beyond the paper|Machinery)\.\* \S", re.MULTILINE)
    wrong = []
    for path in CHAPTERS:
        name = path.relative_to(NBS).as_posix()
        says = bool(head.search(prose(path).split("\n## ")[0]))
        wrong += [name] if says == (name in with_results) else []
    assert wrong == []


def test_boxes_have_no_second_number():
    """JupyterLab would count the boxes of a chapter; their names are in their titles, as on the site."""
    numbered = []
    for path in CHAPTERS:
        boxes = re.findall(r"^:::+\{prf:\w+\}(.*)\n:label: *\S+\n(.*)", prose(path), re.MULTILINE)
        numbered += [(path.name, title) for title, option in boxes if option != ":nonumber:"]
        assert len(boxes) == len(re.findall(r"^:::+\{prf:(?!proof)", prose(path), re.MULTILINE)), (
            path
        )
    assert numbered == []
