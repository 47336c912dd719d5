"""Each page loads whole, from this machine alone, with its formulas and references rendered."""

import re

# Left-over delimiters, directives and roles, with the words around them.
RAW = re.compile(r"(?s).{0,40}(?:\\[(\[]|\$|:::|\{(?:eq|ref|doc|numref|cite|prf)[:\w]*\}).{0,40}")
RENDERED = "async () => { await window.MathJax?.startup?.promise; await document.fonts.ready }"
# MathJax prints a macro that it doesn't know in red, without an error.
BAD = ".math:not(:has(mjx-container)), mjx-merror, [data-mjx-error], mjx-mtext[style*=red]"
PARAGRAPHS = "all => all.map(e => e.closest('.math').parentElement.innerText)"
PROSE = """() => {
  document.querySelectorAll("pre, code, script, style, mjx-container").forEach(e => e.remove());
  return document.title + "\\n" + document.body.textContent;
}"""


def test_page_is_whole(page, site, chapter):
    page.goto(f"{site}/{chapter}")
    page.evaluate(RENDERED)
    assert page.locator(BAD).evaluate_all(PARAGRAPHS) == []
    assert RAW.findall(page.evaluate(PROSE)) == []
