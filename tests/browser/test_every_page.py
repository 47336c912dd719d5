"""Each page, visited once: whole, light, from this machine alone; on a phone; with its notebook; open to everyone."""

import re
from types import SimpleNamespace
from urllib.parse import urlsplit

import pytest
from conftest import complaints

axe = pytest.importorskip("axe_playwright_python.base")

HEAVIEST = 1_500_000  # bytes that a cold page and all it asks for take on the wire
PHONE, DESK = {"width": 390, "height": 844}, {"width": 1280, "height": 720}
# Left-over delimiters, directives and roles, with the words around them.
RAW = re.compile(r"(?s).{0,40}(?:\\[(\[]|\$|:::|\{(?:eq|ref|doc|numref|cite|prf)[:\w]*\}).{0,40}")
RENDERED = "async () => { await window.MathJax?.startup?.promise; await document.fonts.ready }"
# MathJax prints a macro that it doesn't know in red, without an error.
BAD = ".math:not(:has(mjx-container)), mjx-merror, [data-mjx-error], mjx-mtext[style*=red]"
CUT = """() => [...document.querySelectorAll("div.math mjx-container")]
  .filter(e => e.scrollWidth > e.clientWidth + 2).map(e => e.textContent.slice(0, 100))"""
PARAGRAPHS = "all => all.map(e => e.closest('.math').parentElement.innerText)"
PROSE = """() => {
  const body = document.body.cloneNode(true);
  body.querySelectorAll("pre, code, script, style, mjx-container").forEach(e => e.remove());
  return document.title + "\\n" + body.textContent;
}"""
WIDE = """() => document.documentElement.scrollWidth <= innerWidth + 1 ? [] :
  [...document.querySelectorAll("article, article *")].flatMap(e => [e, ...(e.shadowRoot?.querySelectorAll("*") ?? [])])
    .filter(e => e.getBoundingClientRect().right > innerWidth + 1).map(e => e.outerHTML.slice(0, 160)).slice(0, 5)"""
# Axe looks at each node anew. A token of code has the colours of its kind, and of MathJax's drawings readers
# of the screen get the source: one of each kind and a word in their place tell the same in a fifth of the time.
# Colours are judged, not changes of colour; frames are pandas' own.
THIN = """() => {
  const seen = new Set();
  document.querySelectorAll("pre span").forEach(span => {
    const kind = `${span.closest(".cell_input, .cell_output")?.className} ${span.className}`;
    seen.has(kind) ? span.remove() : seen.add(kind);
  });
  document.querySelectorAll("mjx-container").forEach(formula => formula.replaceWith("formula"));
  document.head.append(Object.assign(document.createElement("style"), {textContent: "* { transition: none !important }"}));
}"""
RULES = """options => axe.run({exclude: [["table.dataframe"]]}, {resultTypes: ["violations"], ...options}).then(found =>
  found.violations.map(v => [v.id, v.nodes.length, v.nodes[0].html.slice(0, 200), v.nodes[0].failureSummary]))"""


@pytest.fixture(scope="module")
def visit(chromium, site, chapter):
    """A page after its first, cold load, with all it asked for and complained of."""
    context = chromium.new_context(color_scheme="light", viewport=DESK)
    page, answers = context.new_page(), []
    log = complaints(page)
    page.on("response", lambda answer: answers.append(answer))
    page.on("websocket", lambda socket: log.append(socket.url))
    page.goto(f"{site}/{chapter}", wait_until="networkidle")
    page.evaluate(RENDERED)
    yield SimpleNamespace(page=page, answers=answers, log=log)
    context.close()


def test_it_is_whole(visit):
    assert visit.page.locator(BAD).evaluate_all(PARAGRAPHS) == []
    assert RAW.findall(visit.page.evaluate(PROSE)) == []
    assert visit.page.evaluate(CUT) == []


def test_it_asks_this_machine_alone_and_is_answered(visit):
    outside = [a.url for a in visit.answers if urlsplit(a.url).hostname not in (None, "127.0.0.1")]
    assert not outside, "\n".join(outside)
    assert all(a.status < 400 for a in visit.answers), [a.url for a in visit.answers]
    assert not visit.log, "\n".join(visit.log)


def test_it_is_light(visit):
    sizes = [(a.request.sizes()["responseBodySize"], a.url) for a in visit.answers]
    assert 100_000 < sum(size for size, _ in sizes) < HEAVIEST, sorted(sizes, reverse=True)[:5]


def test_it_offers_its_notebook(visit):
    file = visit.page.locator(".page-file code").first.inner_text()
    address = visit.page.locator(".page-file a").first.evaluate("a => a.href")
    answer = visit.page.request.get(address)
    assert answer.ok and address.endswith(file.removeprefix("nbs"))
    assert answer.text().startswith("{" if file.endswith(".ipynb") else "#")


def test_a_phone_never_scrolls_sideways(visit):
    visit.page.set_viewport_size(PHONE)
    wide = visit.page.evaluate(WIDE)
    visit.page.set_viewport_size(DESK)
    assert not wide, "\n".join(wide)


def test_axe_finds_nothing(visit):
    """All rules in the light, and in the dark the one that may differ: contrast."""
    visit.page.evaluate(THIN)
    visit.page.evaluate(axe.AXE_FILE_PATH.read_text("utf-8"))
    found = visit.page.evaluate(RULES, {})
    visit.page.emulate_media(color_scheme="dark")
    visit.page.wait_for_function("document.documentElement.dataset.theme === 'dark'")
    found += visit.page.evaluate(RULES, {"runOnly": ["color-contrast"]})
    assert not found, "\n".join(map(str, found))
