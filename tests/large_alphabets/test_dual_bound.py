"""The dual bound of alike symbols: how many choices are too many."""

from fractions import Fraction

import pytest

from pmlbook.large_alphabets import dual_bound


def test_fourteen_different_symbols_are_allowed_and_one_more_alike_is_not(monkeypatch):
    monkeypatch.setattr(dual_bound, "exact_lift_vectors", lambda *given: given)  # lists nothing
    fourteen, zeros = [Fraction(k, 105) for k in range(1, 15)], [Fraction(0)] * 15
    assert len(dual_bound.alike_vertices(fourteen, Fraction(2), zeros[:14])[2]) == 14
    with pytest.raises(ValueError, match="more than 16384 choices"):
        dual_bound.alike_vertices([*fourteen, fourteen[0]], Fraction(2), zeros)
