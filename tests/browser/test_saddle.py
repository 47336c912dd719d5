"""The saddle that readers turn has the heights of the library, and turns by mouse, touch and key."""

import numpy as np
import pytest
from scipy.special import entr

from pmlbook.display.simplex import saddle
from pmlbook.foundations.classic import binary_symmetric
from pmlbook.records.framework import record_information

HEIGHTS = "cases => cases.map(c => customElements.get('pml-saddle').information(...c))"
BEST = "cases => cases.map(c => customElements.get('pml-saddle').best(...c, 12))"


def known(s, t, noise):
    """What is learnt about the first of two people from their count with noise."""
    release = binary_symmetric(noise, 3)[[0, 1, 1, 2]]
    return record_information(release, np.outer([1 - s, s], [1 - t, t]), 0)


def shown(page):
    page.set_content(f"<!doctype html><body>{saddle()._repr_html_()}</body>")
    return page.locator("pml-saddle")


def test_the_browser_knows_the_heights(page):
    shown(page)
    rng = np.random.default_rng(15)
    tried = (rng.random((200, 3)) * [1, 1, 0.6]).tolist() + [
        [s, t, 0] for s in (0, 0.5) for t in (0, 1)
    ]
    expected = [known(*case) for case in tried]
    assert page.evaluate(HEIGHTS, tried) == pytest.approx(expected, rel=0, abs=1e-12)


def test_the_browser_finds_the_best_belief(page):
    shown(page)
    axis = np.linspace(0, 1, 13)
    doubt = entr([axis, 1 - axis]).sum(axis=0)
    tried = [[0.1, 0.8], [0, 0.3], [0.3, 1.2], [0.05, 0]]
    for (noise, b), found in zip(tried, page.evaluate(BEST, tried)):
        heights = {
            (s, t): known(s, t, noise)
            for i, s in enumerate(axis)
            for j, t in enumerate(axis)
            if doubt[i] + doubt[j] >= b - 1e-9
        }
        assert found["value"] == pytest.approx(max(heights.values()), rel=0, abs=1e-12)
        assert known(found["s"], found["t"], noise) == pytest.approx(
            found["value"], rel=0, abs=1e-12
        )


def test_it_turns_by_key_and_by_mouse(page):
    element = shown(page)
    surface, value = element.locator("svg"), element.locator(".value")
    seen = [surface.inner_html()]
    for key in ("ArrowLeft", "ArrowUp"):
        surface.focus()
        page.keyboard.press(key)
        seen.append(surface.inner_html())
    box = surface.bounding_box()
    page.mouse.move(box["x"] + 100, box["y"] + 100)
    page.mouse.down()
    page.mouse.move(box["x"] + 160, box["y"] + 120)
    page.mouse.up()
    seen.append(surface.inner_html())
    assert len(set(seen)) == 4 and "degrees" in surface.get_attribute("aria-valuetext")
    before = value.inner_text()
    element.locator("input.noise").focus()
    for _ in range(20):
        page.keyboard.press("ArrowRight")
    assert value.inner_text() != before


def test_it_turns_by_touch(phone):
    element = shown(phone)
    surface = element.locator("svg")
    before, box = surface.get_attribute("aria-valuetext"), surface.bounding_box()
    start = box["x"] + 80, box["y"] + 80
    phone.drag(start, (start[0] + 60, start[1] + 30))
    turned = surface.get_attribute("aria-valuetext")
    assert turned != before and phone.evaluate("scrollY") == 0
    phone.drag((start[0] + 60, start[1] + 30), start)
    assert surface.get_attribute("aria-valuetext") == before
    assert phone.evaluate("document.documentElement.scrollWidth") <= 390
