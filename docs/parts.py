"""Write the lists of part pages and referee pages, and the way from each chapter to the one before and after it.

All are plain Markdown that the site, JupyterLab and a forge show alike (``--check`` fails when one is stale). A page
marks the place of a list: ``<!-- chapters -->``, or ``<!-- results PAPER -->``, ``errata`` and ``remarks``, down to
``<!-- end -->``. The way is a notebook's last cell, which the site, where each page has its own, leaves out.
"""

import csv
import json
import re
import sys
from functools import cache
from os.path import relpath
from pathlib import Path

import nbformat
import yaml

ROOT = Path(__file__).resolve().parent.parent
NBS = ROOT / "nbs"
sys.path.insert(0, str(ROOT / "docs" / "_ext"))
from boxes import files_of  # noqa: E402

WAY = "000000a1"  # the cell with the way, the same in every notebook
PLACE = re.compile(r"(<!-- (chapters|results|errata|remarks) ?(\w*) -->\n).*?(<!-- end -->)", re.S)
HEAD = re.compile(r"^# (.*)\n+> (.*)$", re.M)
RESULTS = "result", "what it says", "status", "evidence", "erratum or note"
ERRATA = "where", "as printed", "what holds", "shown by", "hypotheses that it meets"
CLASSES = {"errata": ("wrong", "slip"), "remarks": ("redundant", "improved")}


@cache
def head(page: Path) -> tuple[str, str]:
    """A page's title and the line below it."""
    text = page.read_text(encoding="utf-8")
    if page.suffix == ".ipynb":
        text = "\n".join(c.source for c in nbformat.reads(text, 4).cells if "# " in c.source[:2])
    return HEAD.search(text).groups()


def link(page: Path, source: Path, words: str = "", mark: str = "") -> str:
    """A link that the site, JupyterLab and a forge follow."""
    address = Path(relpath(page, source.parent)).as_posix()
    return f"[{words or head(page)[0]}]({address}{mark})"


def pages() -> list[Path]:
    """All pages in reading order."""
    contents = yaml.safe_load((ROOT / "docs" / "_toc.yml").read_text(encoding="utf-8"))
    stems = files_of(contents["subtrees"])
    return [next(NBS.glob(f"{stem}.*")) for stem in stems]


def table(names: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    """Rows as a table in Markdown."""
    lines = [names, ("---",) * len(names), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def rows_of(file: str, paper: str) -> list[dict[str, str]]:
    """What a file says of a paper."""
    with open(NBS / file, encoding="utf-8", newline="") as lines:
        return [row for row in csv.DictReader(lines) if row["paper"] == paper]


def chapters(source: Path, _: str) -> str:
    """The chapters of a part, each with the line below its title, and the parts before and after."""
    all_pages = pages()
    own = [page for page in all_pages if page.parent == source.parent and page != source]
    lines = [f"{k}. {link(page, source)}: {head(page)[1]}" for k, page in enumerate(own, 1)]
    parts = [
        page
        for page in all_pages
        if page.name == "index.md" and PLACE.search(page.read_text("utf-8"))
    ]
    place = parts.index(source)
    ways = ("Previous", parts[max(place - 1, 0)]), ("Next", parts[min(place + 1, len(parts) - 1)])
    way = " · ".join(f"{word}: {link(page, source)}" for word, page in ways if page != source)
    return "\n".join([*lines, "", way])


def results(source: Path, paper: str) -> str:
    """A paper's results in its own order."""
    lines = []
    for row in rows_of("results.csv", paper):
        page, name = (
            NBS / row["notebook"],
            f"{row['kind'].capitalize()}\N{NO-BREAK SPACE}{row['number']}",
        )
        about, note = (row[key].replace("|", r"\|") for key in ("about", "note"))
        box, evidence = (
            link(page, source, name, f"#{row['id']}"),
            f"{row['evidence']}: {link(page, source)}",
        )
        lines.append((box, about, row["status"], evidence, note))
    return table(RESULTS, lines)


def errata(source: Path, paper: str, classes: tuple[str, ...]) -> str:
    """What is printed, what holds, and a counterexample with the hypotheses that it meets."""
    lines = []
    for row in rows_of("errata.csv", paper):
        if row["class"] in classes:
            told = {key: re.sub(r"([|*_<>$])", r"\\\1", text) for key, text in row.items()}
            shown = (
                f"{told['example']}. *Why:* {told['why']} ({link(NBS / row['notebook'], source)})"
            )
            place = f"{told['place']} ({told['class']})"
            lines.append((place, told["printed"], told["holds"], shown, told["hypothesis"]))
    return table(ERRATA, lines)


def filled(source: Path) -> str:
    """A page with its lists as they are today."""

    def written(match: re.Match) -> str:
        before, kind, paper, after = match.groups()
        if kind in CLASSES:
            return f"{before}\n{errata(source, paper, CLASSES[kind])}\n\n{after}"
        return f"{before}\n{globals()[kind](source, paper)}\n\n{after}"

    return PLACE.sub(written, source.read_text(encoding="utf-8"))


def with_way(before: Path, page: Path, after: Path | None) -> str:
    """A notebook whose last cell leads on, and back."""
    notebook = json.loads(page.read_text(encoding="utf-8"))
    ways = [("Previous", before), *([("Next", after)] if after else [])]
    words = [f"{word}: {link(other, page)}" for word, other in ways]
    words.append(link(NBS / "index.ipynb", page, "The front page"))
    way = {
        "cell_type": "markdown",
        "id": WAY,
        "metadata": {"tags": ["remove-cell"]},
        "source": [" · ".join(words)],
    }
    notebook["cells"] = [cell for cell in notebook["cells"] if cell["id"] != WAY] + [way]
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"


def written() -> dict[Path, str]:
    """Every page that has a list, and every chapter, as it should be."""
    texts = {page: page.read_text(encoding="utf-8") for page in sorted(NBS.rglob("*.md"))}
    found = {page: filled(page) for page, text in texts.items() if PLACE.search(text)}
    chapters = [page for page in pages() if page.name[0].isdigit() or page.name == "index.md"]
    for before, page, after in zip(chapters, chapters[1:], [*chapters[2:], None]):
        if page.suffix == ".ipynb":
            found[page] = with_way(before, page, after)
    return found


if __name__ == "__main__":
    stale = {page: text for page, text in written().items() if page.read_text("utf-8") != text}
    if "--check" in sys.argv[1:]:
        if stale:
            sys.exit("run `make parts`: " + ", ".join(str(p.relative_to(NBS)) for p in stale))
    else:
        for page, text in stale.items():
            page.write_text(text, encoding="utf-8", newline="\n")
