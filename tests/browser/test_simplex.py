"""The triangle that readers drag computes in the browser what the library computes, and moves by key and by mouse."""

import numpy as np
import pytest

from pmlbook import optimal_mechanism
from pmlbook.display.simplex import UTILITIES, simplex

PAGE = "internals/display/03_simplex.html"
SOLVE = "cases => cases.map(([p, e, u]) => customElements.get('pml-simplex').solve(p, e, u))"


def cases():
    """Random priors and levels, some with ties and some on the boundary of a region."""
    rng = np.random.default_rng(11)
    for k in range(300):
        prior = rng.dirichlet(np.full(3, rng.choice([0.7, 2, 20])))
        if k % 5 == 0:
            prior = np.array([1, 1, rng.integers(1, 9)]) / 1.0
        prior = (prior + 1e-3) / (prior + 1e-3).sum()
        level = -np.log1p(-prior.min()) if k % 7 == 0 else rng.uniform(0.01, 2)
        yield prior.tolist(), float(level), UTILITIES[k % 3]


def test_the_browser_agrees_with_the_library(page, site):
    page.goto(f"{site}/{PAGE}")
    tried = list(cases())
    for (prior, level, utility), found in zip(tried, page.evaluate(SOLVE, tried)):
        channel = np.array(found["channel"])
        assert channel.sum(axis=1) == pytest.approx(np.ones(3), abs=1e-9)
        assert (channel <= np.exp(level) * (prior @ channel) * (1 + 1e-9)).all()
        best = optimal_mechanism(prior, level, utility)
        assert found["value"] == pytest.approx(best.value, abs=1e-9), (prior, level, utility)


CUT = """element => {
  const root = element.shadowRoot, frame = root.querySelector('svg').getBoundingClientRect();
  const inside = (a, b) => a.left >= b.left && a.right <= b.right + 1 && a.top >= b.top && a.bottom <= b.bottom;
  const words = [...root.querySelectorAll('text')].filter(t => !inside(t.getBoundingClientRect(), frame));
  const table = root.querySelector('table').getBoundingClientRect();
  return [words.map(t => t.textContent), table.right <= element.getBoundingClientRect().right + 1];
}"""


def test_no_name_and_no_column_of_it_is_cut(page, site):
    page.set_viewport_size({"width": 1200, "height": 900})
    page.goto(f"{site}/index.html")
    assert page.locator("pml-simplex").evaluate(CUT) == [[], True]


def test_it_moves_by_key_and_by_mouse(page, site):
    page.goto(f"{site}/{PAGE}")
    element = page.locator("pml-simplex").first
    handle, value = element.locator(".prior"), element.locator(".value")
    seen = [(handle.get_attribute("aria-valuetext"), value.inner_text())]
    handle.focus()
    page.keyboard.press("ArrowRight")
    seen.append((handle.get_attribute("aria-valuetext"), value.inner_text()))
    box = element.locator("svg").bounding_box()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    seen.append((handle.get_attribute("aria-valuetext"), value.inner_text()))
    element.locator("input").focus()
    page.keyboard.press("ArrowRight")
    seen.append((handle.get_attribute("aria-valuetext"), value.inner_text()))
    assert len({text for _, text in seen}) == 4 and len({prior for prior, _ in seen}) == 3


def shown(page):
    page.set_content(f"<!doctype html><body>{simplex([0.6, 0.3, 0.1])._repr_html_()}</body>")
    element = page.locator("pml-simplex")
    box = element.locator("svg").bounding_box()
    return element, lambda x, y: (box["x"] + x * box["width"], box["y"] + y * box["height"])


def seen(element):
    """What the prior is, and what the best mechanism is worth."""
    return element.locator(".prior").get_attribute("aria-valuetext"), element.locator(
        ".value"
    ).inner_text()


def test_a_tap_sets_the_prior(phone):
    element, at = shown(phone)
    before = seen(element)
    phone.touchscreen.tap(*at(0.5, 0.4))
    assert all(one != other for one, other in zip(before, seen(element)))
    assert element.evaluate("e => e.getBoundingClientRect().right <= innerWidth")


def test_a_finger_drags_the_prior_all_the_way(phone):
    element, at = shown(phone)
    told = "e => { e.told = []; const p = e.shadowRoot.querySelector('.prior');"
    told += (
        "new MutationObserver(() => e.told.push(p.ariaValueText)).observe(p, {attributes: true}); }"
    )
    element.evaluate(told)
    phone.drag(at(0.3, 0.75), at(0.6, 0.45))
    assert (
        len(set(element.evaluate("e => e.told"))) >= 5
    )  # it follows, and does not only jump to the end
    dragged = seen(element)
    phone.drag(at(0.7, 0.8), at(0.6, 0.45))
    assert seen(element) == dragged  # the way does not matter
    assert phone.evaluate("scrollY") == 0  # and the page stays where it is


def test_a_finger_beyond_the_triangle_keeps_a_prior(phone):
    element, at = shown(phone)
    phone.drag(at(0.5, 0.6), at(0.95, 0.05))
    prior = [float(v) for v in seen(element)[0].removeprefix("prior ").split(", ")]
    assert min(prior) > 0 and abs(sum(prior) - 1) < 2e-3


def test_the_level_moves_by_touch(phone):
    element, _ = shown(phone)
    level = element.locator("input")
    before, box = seen(element)[1], level.bounding_box()
    middle = box["y"] + box["height"] / 2
    thumb = box["x"] + box["width"] * 0.2
    phone.drag((thumb, middle), (thumb + 60, middle))
    assert float(level.input_value()) > 0.5 and seen(element)[1] != before
