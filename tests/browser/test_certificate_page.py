"""A certificate that is dropped on the page, or chosen with the keyboard, is decided as elsewhere."""

import base64
import csv
from pathlib import Path

import pytest

from pmlbook.release.certificate import Certificate

FORGERIES = Path(__file__).parents[1] / "forgeries"
PAGE = "internals/release/04_checker.html"
SAYS = {
    "holds": "The certificate holds.",
    "does not hold": "It is a certificate, and it does not hold.",
    "refused": "Refused: ",
}
DROP = """([field, name, data]) => {
  const bytes = Uint8Array.from(atob(data), (c) => c.charCodeAt(0));
  const dataTransfer = new DataTransfer();
  dataTransfer.items.add(new File([bytes], name));
  field.querySelector("output").replaceChildren();
  for (const kind of ["dragenter", "dragover", "drop"]) {
    field.dispatchEvent(new DragEvent(kind, { dataTransfer, bubbles: true, cancelable: true }));
  }
}"""


@pytest.fixture
def field(page, site):
    """The field on the page."""
    page.on("filechooser", lambda chooser: None)  # Chromium hands dialogs over from here on
    page.goto(f"{site}/{PAGE}")
    found = page.locator(".pml-check")
    found.locator("input").wait_for()
    return found


def drop(field, path):
    """Drop a file on the field; what the page answers."""
    data = base64.b64encode(path.read_bytes()).decode()
    field.page.evaluate(DROP, [field.element_handle(), path.name, data])
    answer = field.locator("output p").first
    answer.wait_for()
    return answer.inner_text()


def test_every_file_of_the_table(field):
    with open(FORGERIES / "cases.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    found = {row["name"]: drop(field, FORGERIES / f"{row['name']}.json") for row in rows}
    wrong = [row for row in rows if not found[row["name"]].startswith(SAYS[row["verdict"]])]
    assert rows and not wrong


def test_file_is_chosen_without_a_mouse(field):
    with field.page.expect_file_chooser() as chooser:
        field.locator("input").press("Space")
    chooser.value.set_files(FORGERIES / "valid-coin.json")
    lines = field.locator("output p")
    lines.nth(2).wait_for()
    assert lines.nth(0).inner_text() == SAYS["holds"]
    assert "above 0.6 nats" in lines.nth(1).inner_text()
    text = (FORGERIES / "valid-coin.json").read_text(encoding="utf-8")
    assert lines.nth(2).inner_text() == f"SHA-256: {Certificate.from_json(text).digest}"
    label = field.locator("input").evaluate("input => input.labels[0].textContent")
    assert "certificate" in label


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("name", ["valid-coin", "text-bom"])
def test_answer_is_readable_in_both_themes(field, theme, name):
    field.page.evaluate("theme => { document.documentElement.dataset.theme = theme }", theme)
    drop(field, FORGERIES / f"{name}.json")
    assert field.locator("output p").first.evaluate(CONTRAST) >= 4.5
    assert field.locator("label").evaluate(CONTRAST) >= 4.5


# The ratio of WCAG 2.1 between the colour of a text and the first ground below it that is not transparent.
CONTRAST = """(element) => {
  const numbers = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const light = (colour) => numbers(colour).slice(0, 3).map((c) => c / 255)
    .map((c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const text = light(getComputedStyle(element).color);
  let below = element;
  const ground = () => numbers(getComputedStyle(below).backgroundColor);
  while (below.parentElement && ground()[3] === 0) below = below.parentElement;
  const other = light(getComputedStyle(below).backgroundColor);
  return (Math.max(text, other) + 0.05) / (Math.min(text, other) + 0.05);
}"""
