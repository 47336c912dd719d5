"""Slides of a chapter need no network: reveal.js and MathJax lie beside the page."""

import sys
from pathlib import Path

import nbformat.v4 as v4

sys.path.insert(0, str(Path(__file__).parents[2] / "docs"))
from slides import copy_assets, slides  # noqa: E402

CELLS = [
    v4.new_markdown_cell("# One\n\n$x^2$"),
    v4.new_markdown_cell("# Two"),
    v4.new_code_cell("6 * 7"),
]


def test_slides_move_and_show_formulas_without_a_network(tmp_path, chromium):
    source, page = tmp_path / "talk.ipynb", tmp_path / "talk.slides.html"
    source.write_text(v4.writes(v4.new_notebook(cells=CELLS)), encoding="utf-8")
    copy_assets(tmp_path / "assets")
    page.write_text(slides(source), encoding="utf-8")
    shown, asked = chromium.new_page(), []
    shown.on("request", lambda request: asked.append(request.url))
    shown.goto(page.as_uri())
    shown.wait_for_selector(".slides mjx-container")
    shown.wait_for_function("Reveal.isReady()")
    shown.keyboard.press("ArrowRight")
    assert shown.evaluate("Reveal.getCurrentSlide().textContent").strip().startswith("Two")
    assert asked and [url for url in asked if not url.startswith(("file:", "data:"))] == []
    shown.close()
