"""The table that readers forbid pairs in has, in the browser, the least leakage and the stairs of the library."""

import math

import numpy as np
import pytest

from pmlbook.display.simplex import staircase
from pmlbook.worst_case.frontier import worst_case_frontier
from pmlbook.worst_case.least_leakage import min_leakage_of_mask

LEAST = "cases => cases.map(([a, p]) => customElements.get('pml-staircase').least(a, p))"
STAIRS = "cases => cases.map(([u, p]) => customElements.get('pml-staircase').stairs(u, p))"
CYCLIC = [[3, 2, 1], [1, 3, 2], [2, 1, 3]]


def priors(rng, n):
    """Random priors, some with equal entries."""
    weights = rng.integers(1, 5, size=n) if rng.random() < 0.4 else rng.dirichlet(np.ones(n)) + 0.01
    return weights / weights.sum()


def masks():
    """Random tables of two to five secrets and one to five outcomes in which each secret has an outcome."""
    rng = np.random.default_rng(13)
    for k in range(150):
        n, m = rng.integers(2, 6), rng.integers(1, 6)
        allowed = rng.random((n, m)) < (0.35, 0.6, 0.85)[k % 3]
        allowed[np.arange(n), rng.integers(m, size=n)] = True
        yield allowed.tolist(), priors(rng, n).tolist()


def shown(page, *given):
    page.set_content(f"<!doctype html><body>{staircase(*given)._repr_html_()}</body>")
    return page.locator("pml-staircase")


def test_the_browser_finds_the_least_leakage(page):
    shown(page, CYCLIC, [0.6, 0.25, 0.15])
    tried = list(masks())
    for (allowed, prior), found in zip(tried, page.evaluate(LEAST, tried)):
        channel = np.array(found["channel"])
        assert channel.sum(axis=1) == pytest.approx(np.ones(len(prior)), abs=1e-12)
        assert not channel[~np.array(allowed)].any()
        outcome = prior @ channel
        lifts = channel[:, outcome > 1e-9] / outcome[outcome > 1e-9]
        assert lifts.max() <= math.exp(found["leakage"]) * (1 + 1e-8), (allowed, prior)
        _, value, bound = min_leakage_of_mask(allowed, prior)
        assert bound - 1e-9 <= found["leakage"] <= value + 1e-9, (allowed, prior)


def test_the_browser_climbs_the_same_stairs(page):
    shown(page, CYCLIC, [0.6, 0.25, 0.15])
    rng, tried = np.random.default_rng(14), []
    for _ in range(40):
        n, m = rng.integers(2, 5, size=2)
        tried.append((rng.integers(-4, 5, size=(n, m)).tolist(), priors(rng, n).tolist()))
    for (utilities, prior), found in zip(tried, page.evaluate(STAIRS, tried)):
        steps = worst_case_frontier(utilities, prior)
        assert [one["worst"] for one in found] == [step.worst for step in steps]
        least = [step.design.value for step in steps]
        assert [one["leakage"] for one in found] == pytest.approx(least, rel=0, abs=1e-9)


def test_a_secret_without_outcome_is_said(page):
    element = shown(page, [[1, 2], [2, 1]], [0.5, 0.5], ["ill", "well"])
    buttons = element.locator("tr").nth(1).locator("button")
    for k in range(buttons.count()):
        if buttons.nth(k).get_attribute("aria-pressed") == "false":
            buttons.nth(k).click()
    assert element.locator(".value").inner_text() == "Impossible: everything is forbidden for ill."


def test_it_answers_keys_clicks_and_names(page):
    names = ["a & b", '<i>"c"</i>', "d"], ["x, y", "z", "e"]
    element = shown(page, CYCLIC, [0.6, 0.25, 0.15], *names)
    assert element.locator("th").all_inner_texts() == [*names[1], *names[0]]
    value, svg = element.locator(".value"), element.locator("svg")
    seen = [(value.inner_text(), svg.get_attribute("aria-label"))]
    element.locator("button[aria-pressed=false]").first.focus()
    page.keyboard.press("Space")
    seen.append((value.inner_text(), svg.get_attribute("aria-label")))
    element.locator("circle.step").last.click()
    seen.append((value.inner_text(), svg.get_attribute("aria-label")))
    element.locator("input.first").focus()
    page.keyboard.press("ArrowRight")
    seen.append((value.inner_text(), svg.get_attribute("aria-label")))
    assert len(set(seen)) == 4
    said = element.locator("button").evaluate_all("all => all.map(b => b.ariaLabel)")
    assert all(
        "worth" in words and ("probability" in words or "forbidden" in words) for words in said
    )


def test_it_answers_a_finger_and_fits_a_phone(phone):
    element = shown(phone, CYCLIC, [0.6, 0.25, 0.15])
    value, button = element.locator(".value"), element.locator("button").first
    before = value.inner_text(), button.get_attribute("aria-pressed")
    button.tap()
    assert button.get_attribute("aria-pressed") != before[1] and value.inner_text() != before[0]
    element.locator("circle.step").last.tap()
    assert "worth 3" in value.inner_text()
    assert phone.evaluate("document.documentElement.scrollWidth") <= 390
