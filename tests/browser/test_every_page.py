"""Each page loads whole, from this machine alone, with its formulas and references rendered."""

import re

RAW = re.compile(
    r".*(?:\\[(\[]|\$\$|:::|\{(?:ref|eq|doc|numref|math|term|cite|(?:cite|prf):\w+)\}).*"
)
# MathJax prints a macro that it doesn't know in red, without an error.
BAD = ".math:not(:has(mjx-container)), mjx-merror, [data-mjx-error], mjx-mtext[style*=red]"
PROSE = """() => {
  document.querySelectorAll("pre, code, script, style, mjx-container").forEach(e => e.remove());
  return document.title + "\\n" + document.body.textContent;
}"""


def test_page_is_whole(page, site, chapter):
    page.goto(f"{site}/{chapter}")
    page.evaluate(
        "window.MathJax?.startup?.promise?.then(() => document.fonts.ready.then(() => {}))"
    )
    assert page.locator(BAD).evaluate_all("all => all.map(e => e.closest('.math').outerHTML)") == []
    assert RAW.findall(page.evaluate(PROSE)) == []
