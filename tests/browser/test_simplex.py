"""The triangle that readers drag computes in the browser what the library computes, and moves by key and by mouse."""

import numpy as np
import pytest

from pmlbook import optimal_mechanism
from pmlbook.workshop.simplex import UTILITIES

PAGE = "workshop/07_simplex.html"
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


def test_it_moves_by_touch(chromium, site):
    with chromium.new_context(has_touch=True, viewport={"width": 390, "height": 800}) as context:
        page = context.new_page()
        page.goto(f"{site}/{PAGE}")
        element = page.locator("pml-simplex").first
        before = element.locator(".value").inner_text()
        element.scroll_into_view_if_needed()
        box = element.locator("svg").bounding_box()
        page.touchscreen.tap(box["x"] + box["width"] / 2, box["y"] + box["height"] / 3)
        assert element.locator(".value").inner_text() != before
        assert element.evaluate("e => e.getBoundingClientRect().right <= innerWidth")
