"""The whole book as one PDF: the pages of the built site in reading order, set by a Chromium."""

import json
import posixpath
import re
import shutil
from pathlib import Path

import yaml
from playwright.sync_api import sync_playwright

HERE = Path(__file__).resolve().parent
SITE = HERE.parent / "_build" / "html"
TARGET = HERE.parent / "_build" / "pmlbook.pdf"
LEFT_OUT = ("library/", "api")  # docstrings stand in the chapters
ARTICLE = re.compile(r'<article class="bd-article">(.*?)</article>', re.S)
HEAD = """<!DOCTYPE html><html lang="en" data-theme="light" data-mode="light"><head><meta charset="utf-8"><title>pmlbook</title>
<script>window.MathJax = {"options": {"enableMenu": false, "processHtmlClass": "tex2jax_process|mathjax_process|math|output_area"}}</script>
<link rel="stylesheet" href="_static/styles/theme.css"><link rel="stylesheet" href="_static/styles/pydata-sphinx-theme.css">
<link rel="stylesheet" href="_static/pygments.css"><link rel="stylesheet" href="_static/styles/sphinx-book-theme.css">
%s<link rel="stylesheet" href="_static/book.css"><link rel="stylesheet" href="_static/site.css">
<link rel="stylesheet" href="_static/print.css"><script src="_static/book.js"></script>
<script defer src="_static/mathjax/tex-chtml.js"></script></head><body><main class="bd-content">"""
FOOT = (
    '<div style="width:100%;text-align:center;font-size:8px"><span class="pageNumber"></span></div>'
)


def reading_order(entries: list) -> list[str]:
    """Pages of the table of contents."""
    found = []
    for entry in entries:
        found += [entry["file"]] if "file" in entry else []
        found += reading_order(entry.get("entries", []))
    return found


def moved(body: str, page: str, pages: set[str]) -> str:
    """A page's body with names of its own, and links that stay inside the one document."""
    folder = posixpath.dirname(page)

    def link(match: re.Match) -> str:
        attribute, address = match.groups()
        if re.match(r"\w+:|//", address):
            return match[0]
        file, _, mark = address.partition("#")
        path = posixpath.normpath(posixpath.join(folder, file)) if file else f"{page}.html"
        other = path.removesuffix(".html")
        inside = attribute == "href" and other in pages
        return f'{attribute}="{f"#{other}--{mark}" if inside else path}"'

    body = re.sub(r'\bid="([^"]*)"', rf'id="{page}--\1"', body)
    body = re.sub(r"url\(#", f"url(#{page}--", body)
    return re.sub(r'\b(href|src)="([^"]*)"', link, body)


def assembled() -> str:
    """One HTML document: title, contents, and every page."""
    contents = yaml.safe_load((HERE / "_toc.yml").read_text("utf-8"))
    parts = [contents["root"], *reading_order(contents["subtrees"])]
    pages = [page for page in parts if not page.startswith(LEFT_OUT)]
    bodies, lines = [], []
    for page in pages:
        body = ARTICLE.search((SITE / f"{page}.html").read_text("utf-8"))[1]
        title = re.sub(
            r"<[^>]*>|#$", "", re.search(r"<h1>(.*?)<a class=\"headerlink\"", body, re.S)[1]
        )
        depth = "part" if page.endswith("index") or "/" not in page else "chapter"
        lines.append(f'<li class="{depth}"><a href="#{page}--">{title}</a></li>')
        bodies.append(
            f'<article class="bd-article {depth}" id="{page}--">{moved(body, page, set(pages))}</article>'
        )
    style = "".join(
        f'<link rel="stylesheet" href="_static/{p.name}">'
        for p in SITE.glob("_static/mystnb.*.css")
    )
    cover = '<header class="cover"><h1>pmlbook</h1><p>Optimal privacy mechanisms, each with its certificate</p></header>'
    listed = f'<nav class="listing" aria-label="Contents"><h2>Contents</h2><ol>{"".join(lines)}</ol></nav>'
    return f"{HEAD % style}{cover}{listed}{''.join(bodies)}</main></body></html>"


def print_book() -> None:
    """Write the PDF, with bookmarks, page numbers and a linked table of contents."""
    whole = SITE / "_whole.html"
    whole.write_text(assembled(), "utf-8")
    binary = next(
        filter(None, map(shutil.which, ["chromium", "chromium-browser", "google-chrome"]))
    )
    margin = {"top": "18mm", "bottom": "18mm", "left": "20mm", "right": "20mm"}
    with sync_playwright() as play:
        browser = play.chromium.launch(
            executable_path=binary, args=["--no-sandbox", "--allow-file-access-from-files"]
        )
        page = browser.new_page()
        page.set_default_timeout(0)
        page.goto(whole.as_uri(), wait_until="load")
        page.evaluate(
            "async () => { await window.MathJax.startup.promise; await document.fonts.ready }"
        )
        page.evaluate("document.querySelectorAll('details').forEach(d => d.open = false)")
        page.pdf(
            path=TARGET, format="A4", margin=margin, outline=True, tagged=True,
            display_header_footer=True, header_template="<span></span>", footer_template=FOOT,
        )  # fmt: skip
        browser.close()
    whole.unlink()
    print(json.dumps({"pdf": str(TARGET.relative_to(HERE.parent)), "bytes": TARGET.stat().st_size}))


if __name__ == "__main__":
    print_book()
