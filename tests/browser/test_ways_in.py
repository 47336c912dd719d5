"""A newcomer gets from the front page to what she came for by links alone."""

import re

import pytest

STEPS = 3


def walk(page, site, *texts):
    """Follow links by their words, from the front page, within the text."""
    page.goto(f"{site}/index.html")
    assert len(texts) <= STEPS
    for text in texts:
        page.locator("article a", has_text=re.compile(f"^{text}$")).first.click()
        page.wait_for_load_state()
    return page


def test_to_theorem_three_of_grosse(page, site):
    walk(page, site, "Grosse et al.", "Theorem.3")
    assert page.url.endswith("extremal/05_high_privacy.html#grosse-thm-3")
    assert "Grosse, Theorem 3" in page.locator("#grosse-thm-3").inner_text()


def test_to_a_released_column(page, site):
    walk(page, site, "Releasing a file")
    assert page.url.endswith("files/01_release.html")
    assert "privatize" in page.locator("article").inner_text()


def test_to_the_erratum_of_table_three(page, site):
    walk(page, site, "Wu et al.")
    row = page.locator("tr", has=page.locator("a", has_text=re.compile("^Table.3$")))
    assert "corrected" in row.inner_text() and "ten times" in row.inner_text()
    row.locator("a").first.click()
    page.wait_for_load_state()
    assert page.url.endswith("record_design/07_experiments.html#wu-tab-3")


def test_the_picture_and_the_triangle_stand_at_the_top(page, site):
    page.goto(f"{site}/index.html")
    assert page.locator("article img").first.bounding_box()["y"] < 720
    assert page.locator("pml-simplex").count() == 1


@pytest.mark.parametrize("paper", ["grosse", "song", "kalantari", "wu"])
def test_a_referee_page_prints_on_a4(page, site, paper):
    page.set_viewport_size(
        {"width": 700, "height": 1000}
    )  # A4 less its margins, at 96 dots an inch
    page.emulate_media(media="print")
    page.goto(f"{site}/referee/{paper}.html")
    assert page.evaluate(
        "document.querySelector('article table').getBoundingClientRect().right <= innerWidth"
    )


def test_stacked_panels_have_the_words_of_the_axis_that_they_share(page, site):
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{site}/record_design/07_experiments.html")
    words = page.locator(".pml-figure text", has_text=re.compile(r"^leakage \(nats\)$"))
    page.wait_for_function("document.querySelector('.pml-figure .lent')")
    stacked = words.count()
    page.set_viewport_size({"width": 1280, "height": 720})
    page.wait_for_function("!document.querySelector('.pml-figure .lent')")
    assert stacked == words.count() + 4  # two figures of three panels
