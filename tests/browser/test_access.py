"""Nobody is shut out: axe finds nothing on any page in either theme, and a phone never scrolls sideways."""

import pytest

axe = pytest.importorskip("axe_playwright_python.base")
SETTLED = "async () => { await window.MathJax?.startup?.promise; await document.fonts.ready }"
# What MathJax draws is hidden from readers of the screen, who get the formula's source instead.
RULES = """() => axe.run({exclude: [["mjx-container"]]}, {resultTypes: ["violations"]}).then(found =>
  found.violations.map(v => [v.id, v.nodes.length, v.nodes[0].html.slice(0, 200), v.nodes[0].failureSummary]))"""
WIDE = """() => document.documentElement.scrollWidth > innerWidth + 1 ?
  [...document.querySelectorAll("article *")].filter(e => e.getBoundingClientRect().right > innerWidth + 1)
    .slice(0, 5).map(e => e.outerHTML.slice(0, 160)) : []"""


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing(chromium, site, chapter, theme):
    page = chromium.new_page(color_scheme=theme)
    page.goto(f"{site}/{chapter}")
    page.evaluate(SETTLED)
    page.evaluate(axe.AXE_FILE_PATH.read_text("utf-8"))
    found = page.evaluate(RULES)
    page.close()
    assert not found, "\n".join(map(str, found))


def test_a_phone_never_scrolls_sideways(chromium, site, chapter):
    page = chromium.new_page(viewport={"width": 390, "height": 844})
    page.goto(f"{site}/{chapter}")
    page.evaluate(SETTLED)
    wide = page.evaluate(WIDE)
    page.close()
    assert not wide, "\n".join(wide)
