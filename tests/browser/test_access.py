"""Nobody is shut out: axe finds nothing on any page in either theme, and a phone never scrolls sideways."""

import pytest

axe = pytest.importorskip("axe_playwright_python.base")
SETTLED = "async () => { await window.MathJax?.startup?.promise; await document.fonts.ready }"
# MathJax's drawings are hidden from readers of the screen, who get the source; frames are pandas' own.
RULES = """options => axe.run({exclude: [["mjx-container"], ["table.dataframe"]]}, {resultTypes: ["violations"], ...options}).then(found =>
  found.violations.map(v => [v.id, v.nodes.length, v.nodes[0].html.slice(0, 200), v.nodes[0].failureSummary]))"""
WIDE = """() => document.documentElement.scrollWidth > innerWidth + 1 ?
  [...document.querySelectorAll("article *")].filter(e => e.getBoundingClientRect().right > innerWidth + 1)
    .slice(0, 5).map(e => e.outerHTML.slice(0, 160)) : []"""


def test_axe_finds_nothing(chromium, site, chapter):
    """All rules in the light, and in the dark the one that may differ: contrast."""
    page = chromium.new_page(color_scheme="light")
    page.goto(f"{site}/{chapter}")
    page.evaluate(SETTLED)
    page.evaluate(axe.AXE_FILE_PATH.read_text("utf-8"))
    page.add_style_tag(
        content="* { transition: none !important }"
    )  # colours are judged, not changes
    found = page.evaluate(RULES, {})
    page.emulate_media(color_scheme="dark")
    page.wait_for_function("document.documentElement.dataset.theme === 'dark'")
    found += page.evaluate(RULES, {"runOnly": ["color-contrast"]})
    page.close()
    assert not found, "\n".join(map(str, found))


def test_a_phone_never_scrolls_sideways(chromium, site, chapter):
    page = chromium.new_page(viewport={"width": 390, "height": 844})
    page.goto(f"{site}/{chapter}")
    page.evaluate(SETTLED)
    wide = page.evaluate(WIDE)
    page.close()
    assert not wide, "\n".join(wide)
