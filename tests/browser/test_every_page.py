"""Each page, visited once: whole, moved by its controls, fit for a phone, open to everyone in both themes, from this machine alone."""

import re

import pytest

from .conftest import DESK, SITE

axe = pytest.importorskip("axe_playwright_python.base")

APART = (
    "internals/",
    "library/",
)  # these look as the book does; axe, which is slow, reads the book alone
PHONE = {"width": 390, "height": 844}
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
WORDS = """() => [...document.querySelectorAll(".pml-explore")].map(figure => ({
  labels: [...figure.querySelectorAll("input, select")].map(c => c.labels[0]?.textContent.trim()),
  alts: [...figure.querySelectorAll(".frame > svg")].map(svg => svg.getAttribute("aria-label")?.trim())
}))"""
BEFORE = """control => {
  control.before = [control.closest(".pml-explore").querySelector(".frame").innerHTML, control.parentElement.querySelector("output")?.innerText];
  return control.type === "range" ? control.value === control.max ? "ArrowLeft" : "ArrowRight" : null;
}"""
WRONG = """control => {
  const frame = control.closest(".pml-explore").querySelector(".frame"), [picture, said] = control.before;
  const box = frame.querySelector(":scope > svg").getBoundingClientRect();
  const output = control.parentElement.querySelector("output")?.innerText;
  return Object.entries({
    "the picture stays": frame.innerHTML === picture,
    "the picture is small": !(box.width > 100 && box.height > 50),
    "the picture is empty": frame.querySelectorAll("path, use, image").length <= 2,
    "the value stays": control.type === "range" && output === said,
    "the value is not told": control.type === "range" && output !== control.getAttribute("aria-valuetext"),
  }).filter(([, wrong]) => wrong).map(([words]) => `${control.labels[0]?.textContent.trim()}: ${words}`);
}"""
WIDE = """() => document.documentElement.scrollWidth <= innerWidth + 1 ? [] :
  [...document.querySelectorAll("article, article *")].flatMap(e => [e, ...(e.shadowRoot?.querySelectorAll("*") ?? [])])
    .filter(e => e.getBoundingClientRect().right > innerWidth + 1).map(e => e.outerHTML.slice(0, 160)).slice(0, 5)"""
SMALL = """() => [...document.querySelectorAll(".pml-figure")].flatMap(svg => {
  const scale = svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
  return scale ? [...svg.querySelectorAll("text")].filter(t => parseFloat(getComputedStyle(t).fontSize) * scale < 8.9) : [];
}).map(t => t.textContent)"""
# Axe looks at each node anew. A token of code has the colours of its kind, and readers of the screen get the source
# of MathJax's drawings and the words of figures: one of each kind and a word in their place give the same findings
# in a fraction of the time. Colours are judged, not changes of colour.
THIN = """() => {
  const seen = new Set();
  document.querySelectorAll("pre span").forEach(span => {
    const kind = `${span.closest(".cell_input, .cell_output")?.className} ${span.className}`;
    seen.has(kind) ? span.remove() : seen.add(kind);
  });
  document.querySelectorAll("mjx-container").forEach(formula => formula.replaceWith("formula"));
  document.querySelectorAll("svg :is(path, use, line, rect, circle, defs):not([role], [tabindex], [aria-label])").forEach(e => e.remove());
  document.head.append(Object.assign(document.createElement("style"), {textContent: "* { transition: none !important }"}));
}"""
# Contrast takes axe longest. It is the same for texts that look the same, down through all that lies below them:
# on all pages together, two of each look are marked, for one may be covered. What cannot be seen is not judged, nor
# are single signs. Returns how often each look has been seen.
MARK = """known => {
  const below = new Map(), seen = new Map(known);
  const ground = element => {
    if (!element) return "";
    if (!below.has(element)) {
      const s = getComputedStyle(element), parent = element.parentElement ?? element.getRootNode().host;
      const own = [s.backgroundColor, s.backgroundImage, s.opacity, s.filter, s.mixBlendMode, s.position, s.overflow].join();
      below.set(element, ground(parent) + (own === "rgba(0, 0, 0, 0),none,1,none,normal,static,visible" ? "" : own));
    }
    return below.get(element);
  };
  const walk = root => root.querySelectorAll("*").forEach(element => {
    if (element.shadowRoot) walk(element.shadowRoot);
    element.removeAttribute("data-look");
    const words = [...element.childNodes].filter(n => n.nodeType === Node.TEXT_NODE).map(n => n.data).join("").trim();
    const control = element.matches("input, select, textarea");
    if (!words && !control || !element.checkVisibility({visibilityProperty: true, opacityProperty: true})) return;
    const s = getComputedStyle(element);
    const look = [ground(element), s.color, s.fontSize, s.fontWeight, s.textShadow, s.webkitTextStroke, control, words.length > 1].join();
    seen.set(look, (seen.get(look) ?? 0) + 1);
    if (seen.get(look) <= 2) element.setAttribute("data-look", "");
  });
  walk(document.body);
  axe.configure({rules: [{id: "color-contrast", selector: "[data-look]"}]});
  return [...seen];
}"""
RULES = """options => axe.run({exclude: [["table.dataframe"]]}, {resultTypes: ["violations"], ...options}).then(found =>
  found.violations.map(v => [v.id, v.nodes.length, v.nodes[0].html.slice(0, 200), v.nodes[0].failureSummary]))"""


def pages():
    """Pages of the site, and those with controls, which come first in both for pytest to see one visit in them."""
    found = [(p.relative_to(SITE).as_posix(), p) for p in sorted(SITE.rglob("*.html"))]
    found = [(n, p) for n, p in found if not n.startswith("_") and n != "search.html"]
    moving = [n for n, p in found if '<div class="pml-explore"' in p.read_text("utf-8")]
    return moving + [n for n, _ in found if n not in moving], moving


def on(names):
    """Let `chapter` run over pages."""
    return pytest.mark.parametrize("chapter", names or ["index.html"], scope="module")


ALL, MOVING = map(on, pages())
READERS = on([name for name in pages()[0] if not name.startswith(APART)])


@pytest.fixture(scope="module")
def visit(tab, site, chapter):
    """A page as it opens, its formulas set, with all it asks for and complains of from then on."""
    tab.open(f"{site}/{chapter}")
    tab.page.evaluate(RENDERED)
    return tab


@ALL
def test_it_is_whole(visit):
    page = visit.page
    wrong = {
        "not set": page.locator(BAD).evaluate_all(PARAGRAPHS),
        "left over": RAW.findall(page.evaluate(PROSE)),
        "cut off": page.evaluate(CUT),
    }
    assert not any(wrong.values()), wrong


@ALL
def test_it_offers_its_notebook(visit):
    file = visit.page.locator(".page-file code").first.inner_text()
    address = visit.page.locator(".page-file a").first.evaluate("a => a.href")
    answer = visit.page.request.get(address)
    assert answer.ok and address.endswith(file.removeprefix("nbs"))
    assert answer.text().startswith("{" if file.endswith(".ipynb") else "#")


@MOVING
def test_its_controls_and_figures_have_words(visit):
    figures = visit.page.evaluate(WORDS)
    assert figures and all(f["labels"] and f["alts"] for f in figures)
    assert all(all(f["labels"] + f["alts"]) for f in figures), figures


@MOVING
def test_each_control_changes_its_figure(visit):
    wrong = []
    for control in visit.page.locator(".pml-explore :is(input[type=range], select)").all():
        key = control.evaluate(BEFORE)
        control.press(key) if key else control.select_option(index=1)
        wrong += control.evaluate(WRONG)
    assert not wrong, "\n".join(wrong)


@ALL
def test_a_phone_never_scrolls_sideways_and_its_figures_can_be_read(visit):
    visit.page.set_viewport_size(PHONE)
    wide = visit.page.evaluate(WIDE)
    assert not wide, "\n".join(wide)
    visit.page.evaluate(
        "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
    )
    small = visit.page.evaluate(SMALL)
    assert not small, small


@ALL
def test_it_asks_this_machine_alone_and_is_answered(visit):
    """Heard from the opening to here, and until it is quiet; axe asks for style sheets on its own."""
    visit.page.wait_for_load_state("networkidle")
    assert not visit.faults(), "\n".join(visit.faults())


@pytest.fixture(scope="module")
def looks():
    """How often each look of a text has been seen, on all pages that a process visits."""
    return []


@READERS
def test_axe_finds_nothing(visit, looks):
    """All rules in the light, and in the dark the one that may differ: contrast."""
    visit.page.evaluate(THIN)
    visit.page.set_viewport_size(DESK)
    visit.page.evaluate(axe.AXE_FILE_PATH.read_text("utf-8"))
    looks[:] = visit.page.evaluate(MARK, looks)
    found = visit.page.evaluate(RULES, {})
    visit.page.emulate_media(color_scheme="dark")
    visit.page.wait_for_function("document.documentElement.dataset.theme === 'dark'")
    looks[:] = visit.page.evaluate(MARK, looks)
    found += visit.page.evaluate(RULES, {"runOnly": ["color-contrast"], "preload": False})
    assert not found, "\n".join(map(str, found))
