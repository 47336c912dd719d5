"""A triangle that can be folded has three vertices of three shares."""

import numpy as np
from refusals import refusal

from pmlbook.display.simplex import foldable


def test_only_triangles_are_folded():
    assert foldable(np.eye(3)).attributes["vertices"].split(";")[0] == "1.0,0.0,0.0"
    for few in (np.eye(3)[:2], np.eye(4), [[0.5, 0.5]] * 3):
        assert "three" in refusal(foldable, few)
