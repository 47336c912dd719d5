"""The whole book as one PDF: the pages of the built site in reading order, set by a Chromium part by part.

A part is printed in seconds, two thousand sheets at once never ended. The parts know at which sheet they begin;
what leads from one to another is printed as a web address and becomes a jump when they are joined.
Of code the book on paper has the signatures of public functions and the cells whose output is text.
"""

import ast
import html
import posixpath
import re
import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import unquote

import yaml
from playwright.sync_api import sync_playwright
from pypdf import PdfReader, PdfWriter
from pypdf.generic import NameObject

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "_ext"))
from boxes import files_of  # noqa: E402

SITE = HERE.parent / "_build" / "html"
TARGET = HERE.parent / "_build" / "pmlbook.pdf"
LEFT_OUT = ("library/", "api")  # docstrings stand in the chapters
INTERNALS = "For contributors"  # the second volume is not printed
MOST_SHEETS = 500  # a book that one can carry
ARTICLE = re.compile(r'<article class="bd-article">(.*?)</article>', re.S)
HEAD = """<!DOCTYPE html><html lang="en" data-theme="light" data-mode="light"><head><meta charset="utf-8"><title>pmlbook</title>
<script>window.MathJax = {"options": {"enableMenu": false, "processHtmlClass": "tex2jax_process|mathjax_process|math|output_area"}}</script>
<link rel="stylesheet" href="_static/styles/theme.css"><link rel="stylesheet" href="_static/styles/pydata-sphinx-theme.css">
<link rel="stylesheet" href="_static/pygments.css"><link rel="stylesheet" href="_static/styles/sphinx-book-theme.css">
%s<link rel="stylesheet" href="_static/book.css"><link rel="stylesheet" href="_static/site.css">
<link rel="stylesheet" href="_static/print.css"><script src="_static/book.js"></script>
<script defer src="_static/mathjax/tex-chtml.js"></script></head><body><main class="bd-content">"""
ELSEWHERE = "https://part.invalid/#"  # a link into another part, until they are joined
CELL = re.compile(
    r'(?P<cell><div class="cell[^"]*">\n)<div class="cell_input[^"]*">\n<div class="highlight-[^"]*">'
    r'<div class="highlight"><pre>(?P<code>.*?)</pre></div>\n</div>\n</div>\n'
    r'(?P<output><div class="cell_output[^"]*">\s*(?P<kind><[^>]*>))?',
    re.S,
)
TEXT_OUTPUT = re.compile(r'<div class="output (?:text_|stream)|<div class="pst-scrollable')
EVIDENCE = re.compile(r"# ((?:checks|proves|proves-step|refutes|corrects) .*)")


def moved(body: str, page: str, piece: set[str], book: set[str]) -> str:
    """A page's body with names of its own, and links that stay inside the one document."""
    folder = posixpath.dirname(page)

    def link(match: re.Match) -> str:
        attribute, address = match.groups()
        if re.match(r"\w+:|//", address):
            return match[0]
        file, _, mark = address.partition("#")
        path = posixpath.normpath(posixpath.join(folder, file)) if file else f"{page}.html"
        other = path.removesuffix(".html")
        if attribute == "src" or other not in book:
            return f'{attribute}="{path}"'
        return f'href="{"#" if other in piece else ELSEWHERE}{other}--{mark}"'

    body = re.sub(r'\bid="([^"]*)"', rf'id="{page}--\1"', body)
    body = re.sub(r"url\(#", f"url(#{page}--", body)
    return re.sub(r'\b(href|src)="([^"]*)"', link, body)


def signatures(code: str) -> str:
    """Heads of the public functions and classes of a cell, each with the first line of its docstring."""
    heads = []
    for node in ast.parse(code).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_"):
            inside = ast.get_docstring(node, clean=True)
            head = "\n".join(code.split("\n")[node.lineno - 1 : node.body[0].lineno - 1])
            heads += [f'{head}\n    """{inside.splitlines()[0]}"""'] if inside else []
    return "\n\n".join(heads)


def on_paper(cell: re.Match) -> str:
    """A cell as it is printed: its code, or signatures, or a line that names what the notebook has."""
    code = html.unescape(re.sub(r"<[^>]*>", "", cell["code"])).strip()
    before, after = cell["cell"], cell["output"] or ""
    evidence = EVIDENCE.match(code)
    left_out = f'<p class="left-out">{evidence[1] if evidence else "code"} (in the notebook)</p>\n'
    if cell["kind"] and TEXT_OUTPUT.match(cell["kind"]):
        quiet = before.replace('class="cell', 'class="cell evidence', 1)
        return f"{quiet}{left_out}{after}" if evidence else cell[0]
    if "tag_pml-export" in before and (heads := signatures(code)):
        return f'{before}<pre class="heads">{html.escape(heads)}</pre>{after}'
    return before + ("" if after or "tag_pml-export" in before else left_out) + after


def article(page: str) -> str:
    """The contents of a page of the site, as they are printed."""
    whole = ARTICLE.search((SITE / f"{page}.html").read_text("utf-8"))[1]
    return CELL.sub(on_paper, whole)


def title(page: str) -> str:
    """A page's heading."""
    heading = re.search(r"<h1>(.*?)<a class=\"headerlink\"", article(page), re.S)[1]
    return re.sub(r"<[^>]*>|#$", "", heading)


def pieces() -> list[list[str]]:
    """Pages of the book in reading order, in pieces that are printed one by one: a part each."""
    contents = yaml.safe_load((HERE / "_toc.yml").read_text("utf-8"))
    found = [[contents["root"]]]
    printed = [tree for tree in contents["subtrees"] if tree["caption"] != INTERNALS]
    for page in files_of(printed):
        if page.startswith(LEFT_OUT):
            continue
        if page.endswith("/index") or ("/" in found[-1][-1]) != ("/" in page):
            found.append([])
        found[-1].append(page)
    return found


def document(bodies: str, first: int) -> str:
    """A whole HTML document whose sheets are counted from `first` on."""
    styles = [f"_static/{path.name}" for path in SITE.glob("_static/mystnb.*.css")]
    linked = "".join(f'<link rel="stylesheet" href="{style}">' for style in styles)
    counted = f"<style>html {{ counter-reset: page {first - 1}; }}</style>"
    return f"{HEAD % (linked + counted)}{bodies}</main></body></html>"


def articles(piece: list[str], book: set[str]) -> str:
    """The pages of a piece, one after the other."""
    return "".join(
        f'<article class="bd-article" id="{page}--">{moved(article(page), page, set(piece), book)}</article>'
        for page in piece
    )


def dots(body: str, wanted: set[str]) -> str:
    """A dot that links to each place of a piece that other pieces want, or Chromium would not name it."""
    places = wanted & set(re.findall(r'\bid="([^"]+)"', body))
    links = "".join(f'<a href="#{place}">.</a>' for place in sorted(places))
    return f'<p class="dots" aria-hidden="true">{links}</p>'


def cover(sheets: dict[str, int]) -> str:
    """Title and contents, with the sheet on which each page begins."""
    lines = "".join(
        f'<li class="{"part" if "/" not in page or page.endswith("/index") else "chapter"}">'
        f'<a href="{ELSEWHERE}{page}--">{title(page)}</a> <span>{sheet}</span></li>'
        for page, sheet in sheets.items()
    )
    return (
        '<header class="cover"><h1>pmlbook</h1><p>Optimal privacy mechanisms, each with its certificate</p>'
        "<p>The printed book has signatures, and examples with their output; the notebooks have all code.</p></header>"
        f'<nav class="listing" aria-label="Contents"><h2>Contents</h2><ol>{lines}</ol></nav>'
    )


def printed(page, bodies: str, first: int, target: Path) -> PdfReader:
    """Set a document by the browser's page; its formulas and fonts must be there."""
    whole = SITE / "_piece.html"
    whole.write_text(document(bodies, first), "utf-8")
    page.goto(whole.as_uri(), wait_until="load")
    page.evaluate(
        "async () => { await window.MathJax.startup.promise; await document.fonts.ready }"
    )
    page.evaluate("document.querySelectorAll('details').forEach(d => d.open = false)")
    page.pdf(path=target, prefer_css_page_size=True)
    whole.unlink()
    return PdfReader(target)


def joined(front: PdfReader, parts: list[PdfReader], sheets: dict[str, int]) -> PdfWriter:
    """One document with bookmarks; addresses of other parts become jumps, and none may lead nowhere."""
    writer, above = PdfWriter(), None
    for reader in (front, *parts):
        writer.append(reader, import_outline=False)
    before = len(front.pages)
    writer.set_page_label(0, before - 1, style="/r")
    writer.set_page_label(before, len(writer.pages) - 1, style="/D")
    for page, sheet in sheets.items():
        chapter = "/" in page and not page.endswith("/index")
        mark = writer.add_outline_item(
            title=title(page), page_number=before + sheet - 1, parent=above if chapter else None
        )
        above = above if chapter else mark
    known = set(writer.named_destinations)
    for sheet in writer.pages:
        for note in (entry.get_object() for entry in sheet.get("/Annots", [])):
            address = str(note.get("/A", {}).get("/URI", ""))
            if address.startswith(ELSEWHERE):
                name = f"/{unquote(address.removeprefix(ELSEWHERE))}"
                if name not in known:
                    raise SystemExit(f"a link leads nowhere: {name}")
                del note["/A"]
                note[NameObject("/Dest")] = NameObject(name)
    return writer


def print_book(target: Path = TARGET) -> None:
    """Write the PDF, with bookmarks, page numbers and a linked table of contents."""
    parts = pieces()
    book = {page for piece in parts for page in piece}
    bodies = [articles(piece, book) for piece in parts]
    wanted = {f"{page}--" for page in book}
    wanted |= {place for body in bodies for place in re.findall(f'"{ELSEWHERE}([^"]+)"', body)}
    names = ["chromium", "chromium-browser", "google-chrome"]
    binary = next(filter(None, map(shutil.which, names)))
    readers, sheets, first = [], {}, 1
    with sync_playwright() as play, TemporaryDirectory() as folder:
        browser = play.chromium.launch(
            executable_path=binary, args=["--no-sandbox", "--allow-file-access-from-files"]
        )
        page = browser.new_page()
        page.set_default_timeout(0)
        for piece, body in zip(parts, bodies):
            printout = Path(folder) / f"{first}.pdf"
            reader = printed(page, body + dots(body, wanted), first, printout)
            print(f"{len(reader.pages):4} sheets  {piece[0]}", flush=True)
            starts = {
                name: reader.get_destination_page_number(at)
                for name, at in reader.named_destinations.items()
            }
            sheets |= {name: first + starts[f"/{name}--"] for name in piece}
            readers.append(reader)
            first += len(reader.pages)
        front = printed(page, cover(sheets), 1, Path(folder) / "front.pdf")
        browser.close()
        joined(front, readers, sheets).write(target)
    print(f"{first - 1} sheets in {target.name}, {target.stat().st_size / 1e6:.0f} MB")
    if first - 1 >= MOST_SHEETS:
        raise SystemExit(
            f"{target.name} has {first - 1} sheets; it should have fewer than {MOST_SHEETS}"
        )


if __name__ == "__main__":
    print_book()
