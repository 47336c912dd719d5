"""Vertices by double description: the walls of a ray are bits, of a machine word or of a longer integer."""

from fractions import Fraction

import numpy as np
import pytest

from pmlbook.extremal.polytope import constraints, exact_vertices


@pytest.mark.parametrize("repeats", [0, 34, 35, 36, 37, 60])
def test_walls_beyond_a_machine_word_change_nothing(repeats):
    inequalities, equalities = constraints([Fraction(1, 3)] * 3, Fraction(2), 3)
    more = np.vstack([inequalities[-1:]] * repeats + [inequalities])
    found = sorted(map(tuple, exact_vertices(more, equalities)))
    assert found == sorted(map(tuple, exact_vertices(inequalities, equalities)))
    assert len(found) == 33
