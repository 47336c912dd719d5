"""The source set that readers drag is cut and folded in the browser as in the library."""

import numpy as np
import pytest

from pmlbook.display.simplex import foldable
from pmlbook.hamming.folding import fold
from pmlbook.hamming.source_sets import SourceSet

FOLD = "cases => cases.map(v => customElements.get('pml-source-set').fold(v))"


def area(source_set):
    """Area of a source set on three symbols, in the plane of the first two probabilities."""
    if source_set is None or len(source_set.hull().vertices) < 3:
        return 0.0
    vertices = source_set.hull().vertices[:, :2]
    around = np.arctan2(*(vertices - vertices.mean(axis=0)).T)
    x, y = vertices[np.argsort(around)].T
    return abs(x @ np.roll(y, -1) - y @ np.roll(x, -1)) / 2


def cases():
    """Random sets, many of them small, so that every class occurs."""
    rng = np.random.default_rng(12)
    for k in range(100):
        middle, spread = rng.dirichlet(np.ones(3)), rng.choice([0.1, 0.4, 1.0])
        rows = (1 - spread) * middle + spread * rng.dirichlet(np.ones(3), 3 + k % 3)
        yield rows.tolist()


def shown(page, vertices):
    page.set_content(f"<!doctype html><body>{foldable(vertices)._repr_html_()}</body>")
    return page.locator("pml-source-set")


def test_the_browser_folds_like_the_library(page):
    tried = list(cases())
    shown(page, tried[0])
    kinds = set()
    for vertices, found in zip(tried, page.evaluate(FOLD, tried)):
        source = SourceSet(vertices)
        folding = fold(source, walls=False)
        kinds.add(source.kind)
        assert found["kind"] == source.kind
        orders = {"".join(str(i + 1) for i in order): one for order, one in folding.folded.items()}
        assert {one["order"] for one in found["pieces"]} == set(orders)
        for one in found["pieces"]:
            drawn = area(SourceSet(np.clip(one["folded"], 0, None)))
            assert drawn == pytest.approx(area(orders[one["order"]]), abs=1e-9)
        assert found["area"] == pytest.approx(area(folding.intersection), abs=1e-9)
    assert kinds == {"I", "II", "III"}


def test_it_moves_by_key_and_by_mouse(page):
    element = shown(page, [[0.7, 0.2, 0.1], [0.2, 0.7, 0.1], [0.3, 0.3, 0.4]])
    vertex, folded = element.locator(".vertex").first, element.locator(".folded")
    seen = [folded.inner_html()]
    vertex.focus()
    page.keyboard.press("ArrowUp")
    seen.append(folded.inner_html())
    box = element.locator(".set").bounding_box()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    seen.append(folded.inner_html())
    assert len(set(seen)) == 3 and "Class" in element.locator("p").inner_text()


def test_a_finger_drags_a_vertex(phone):
    element = shown(phone, [[0.7, 0.2, 0.1], [0.2, 0.7, 0.1], [0.3, 0.3, 0.4]])
    vertex, folded = element.locator(".vertex").nth(2), element.locator(".folded")
    before = folded.inner_html()
    others = element.locator(".vertex").first.get_attribute("transform")
    box = vertex.bounding_box()
    start = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    phone.drag(start, (start[0] + 40, start[1] - 20))
    assert folded.inner_html() != before and phone.evaluate("scrollY") == 0
    assert element.locator(".vertex").first.get_attribute("transform") == others
