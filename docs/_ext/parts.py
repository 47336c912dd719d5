"""The page that opens a part: a map of its chapters, how long they take; a paper's results for its referee, and its errata."""

from __future__ import annotations

import csv
import html
import re
from dataclasses import dataclass
from pathlib import Path

import nbformat
import yaml
from docutils import nodes
from docutils.statemachine import StringList
from minutes import minutes, rounded
from sphinx.util.docutils import SphinxDirective

IMPORT = re.compile(r"^\s*from pmlbook\.(\w+)\.(\w+) import", re.M)
LINK = re.compile(r"\]\((?:\.\./(\w+)/)?\d\d_(\w+)\.ipynb")
BOX, ROW, WIDE, GAP = 46, 84, 168, 18  # of the map, in pixels


@dataclass
class Chapter:
    """What a part page needs to know of a notebook; `needs` are slugs of the same folder."""

    path: Path
    title: str
    slug: str
    needs: set[str]
    minutes: float


def read_chapter(path: Path) -> Chapter:
    """Title, prerequisites and reading time of a notebook."""
    cells = nbformat.read(path, as_version=4).cells
    prose = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    code = "\n".join(cell.source for cell in cells if cell.cell_type == "code")
    title = next(line[2:] for line in prose.splitlines() if line.startswith("# "))
    folder = path.parent.name
    named = IMPORT.findall(code) + [(f or folder, slug) for f, slug in LINK.findall(prose)]
    needs = {slug for where, slug in named if where == folder}
    return Chapter(path, title, path.stem[3:], needs, minutes(path))


def pages_below(entries: list, page: str) -> list[str]:
    """The pages that a table of contents has directly below one."""
    for entry in entries:
        within = entry.get("entries", [])
        if entry["file"] == page:
            return [inner["file"] for inner in within]
        if found := pages_below(within, page):
            return found
    return []


def read_part(paths: list[Path]) -> list[Chapter]:
    """Chapters in reading order; each needs earlier ones only, and none that another brings along."""
    chapters = [read_chapter(path) for path in paths]
    brought: dict[str, set[str]] = {}  # all that a chapter rests on, near and far
    for chapter in chapters:
        near = chapter.needs & brought.keys()
        far = set().union(*(brought[slug] for slug in near))
        brought[chapter.slug] = near | far
        chapter.needs = near - far
    return chapters


def layers(chapters: list[Chapter]) -> dict[str, int]:
    """How many chapters must be read, one after the other, before each."""
    depth: dict[str, int] = {}
    for chapter in chapters:
        depth[chapter.slug] = max((depth[slug] + 1 for slug in chapter.needs), default=0)
    return depth


def placed(chapters: list[Chapter]) -> tuple[dict[str, tuple[float, float]], float, float]:
    """Middle of each chapter's box, and the width and height of the map."""
    depth = layers(chapters)
    rows = [[c for c in chapters if depth[c.slug] == k] for k in range(max(depth.values()) + 1)]
    broad = [row[k : k + 4] for row in rows for k in range(0, len(row), 4)]  # four boxes a line
    width = max(len(row) for row in broad) * (WIDE + GAP)
    middles: dict[str, tuple[float, float]] = {}
    for k, row in enumerate(broad):
        above = {c.slug: [middles[s][0] for s in c.needs if s in middles] for c in row}
        row.sort(key=lambda c: sum(above[c.slug]) / len(above[c.slug]) if above[c.slug] else 0)
        left = (width - len(row) * (WIDE + GAP)) / 2
        for j, chapter in enumerate(row):
            middles[chapter.slug] = (left + (j + 0.5) * (WIDE + GAP), 4 + BOX / 2 + k * ROW)
    return middles, width, len(broad) * ROW - ROW + BOX + 8


def lines_of(title: str) -> list[str]:
    """A title in one or two lines that fit a box."""
    words, first = title.split(), ""
    while words and len(first) + len(words[0]) < 22:
        first += (" " if first else "") + words.pop(0)
    return [first, " ".join(words)] if words else [first]


def picture(chapters: list[Chapter]) -> str:
    """The map as SVG: a box a chapter, each a link, and lines from what it needs."""
    middles, width, height = placed(chapters)
    parts = []
    for chapter in chapters:
        x, y = middles[chapter.slug]
        for slug in sorted(chapter.needs):
            a, b = middles[slug]
            top, bend = y - BOX / 2, ROW / 3
            parts.append(
                f'<path d="M{a:.0f} {b + BOX / 2:.0f} C{a:.0f} {b + BOX / 2 + bend:.0f} {x:.0f} {top - bend:.0f} {x:.0f} {top:.0f}"/>'
            )
    for number, chapter in enumerate(chapters, start=1):
        x, y = middles[chapter.slug]
        text = lines_of(chapter.title)
        spans = "".join(
            f'<tspan x="{x:.0f}" y="{y + 5 + 16 * (k - (len(text) - 1) / 2):.0f}">{html.escape(line)}</tspan>'
            for k, line in enumerate(text)
        )
        parts.append(
            f'<a href="{chapter.path.stem}.html"><title>{number}. {html.escape(chapter.title)}: {rounded(chapter.minutes)} minutes</title>'
            f'<rect x="{x - WIDE / 2:.0f}" y="{y - BOX / 2:.0f}" width="{WIDE}" height="{BOX}" rx="4"/>'
            f"<text>{spans}</text></a>"
        )
    return (
        f'<svg class="part-map" viewBox="0 0 {width:.0f} {height:.0f}" style="max-width:{width:.0f}px" role="group" '
        f'aria-label="The chapters of this part; a line runs from each to those that need it">{"".join(parts)}</svg>'
    )


class PartMap(SphinxDirective):
    """``part-map``: the map of the chapters below the page in the table of contents, and how long they take."""

    def run(self) -> list[nodes.Node]:
        contents = yaml.safe_load(Path(self.config.external_toc_path).read_text(encoding="utf-8"))
        entries = [entry for tree in contents["subtrees"] for entry in tree["entries"]]
        pages = pages_below(entries, self.env.docname)
        chapters = read_part([Path(self.env.srcdir) / f"{page}.ipynb" for page in pages])
        for chapter in chapters:
            self.env.note_dependency(str(chapter.path))
        total = rounded(sum(chapter.minutes for chapter in chapters))
        time = f"about {total} minutes for {len(chapters)} chapters, at 200 words and one piece of code a minute."
        note = "A line runs from a chapter to those that need it; each box is a link."
        said = nodes.paragraph("", "", nodes.strong("", "It takes"), nodes.Text(f" {time}"))
        return [said, nodes.raw("", picture(chapters), format="html"), nodes.paragraph("", note)]


class PaperTable(SphinxDirective):
    """The rows of one paper in a CSV file, as a table; each kind says how a row reads."""

    required_arguments = 1
    file = ""
    head: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()  # of errata that are shown; all rows if there are none

    def cells(self, row: dict[str, str]) -> tuple[str, ...]:
        """What stands under each head, as MyST."""
        raise NotImplementedError

    def run(self) -> list[nodes.Node]:
        source = Path(self.env.srcdir) / self.file
        self.env.note_dependency(str(source))
        with open(source, encoding="utf-8", newline="") as file:
            rows = [row for row in csv.DictReader(file) if row["paper"] == self.arguments[0]]
        rows = [row for row in rows if not self.classes or row["class"] in self.classes]
        if not rows:
            raise self.error(f"{self.file} has nothing here of {self.arguments[0]!r}")
        table = [self.head, ("---",) * len(self.head), *map(self.cells, rows)]
        lines = [f"| {' | '.join(cells)} |" for cells in table]
        found = nodes.container(classes=["part-results"])
        self.state.nested_parse(StringList(lines, source=str(source)), 0, found)
        return [found]


def chapter_of(row: dict[str, str]) -> str:
    """A link to the chapter of a row, by its title."""
    return f"{{doc}}`/{row['notebook'].removesuffix('.ipynb')}`"


class Referee(PaperTable):
    """``referee PAPER``: the paper's results in its own order: box, status, evidence, erratum."""

    file, head = "results.csv", ("result", "what it says", "status", "evidence", "erratum or note")

    def cells(self, row: dict[str, str]) -> tuple[str, ...]:
        """A result, linked to its box."""
        name = f"{row['kind'].capitalize()}\N{NO-BREAK SPACE}{row['number']}"
        about, note = (row[key].replace("|", r"\|") for key in ("about", "note"))
        evidence = f"{row['evidence']}: {chapter_of(row)}"
        return f"{{prf:ref}}`{name} <{row['id']}>`", about, row["status"], evidence, note


class Errata(PaperTable):
    """``errata PAPER``: what is printed, what holds, a counterexample with the hypotheses that it meets, and why."""

    file, head = (
        "errata.csv",
        ("where", "as printed", "what holds", "shown by", "hypotheses that it meets"),
    )
    classes: tuple[str, ...] = ("wrong", "slip")

    def cells(self, row: dict[str, str]) -> tuple[str, ...]:
        """An erratum, in plain words."""
        told = {key: re.sub(r"([|*_<>$])", r"\\\1", text) for key, text in row.items()}
        shown = f"{told['example']}. *Why:* {told['why']} ({chapter_of(row)})"
        place = f"{told['place']} ({told['class']})"
        return place, told["printed"], told["holds"], shown, told["hypothesis"]


class Remarks(Errata):
    """``remarks PAPER``: the same of what is right, and can be left out or improved."""

    classes = ("redundant", "improved")


def setup(app):
    """Register the directives."""
    app.add_directive("part-map", PartMap)
    app.add_directive("referee", Referee)
    app.add_directive("errata", Errata)
    app.add_directive("remarks", Remarks)
    return {"parallel_read_safe": True}
