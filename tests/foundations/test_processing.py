"""Contraction at its ends."""

from fractions import Fraction

import numpy as np

from pmlbook.foundations.processing import contraction


def test_contraction_of_nothing_and_everything():
    assert contraction([[0.5, 0.5]]) == 0 and contraction(np.eye(3)) == 1
    assert contraction([[0.3, 0.7], [0.3, 0.7]]) == 0


def test_the_largest_at_an_end():
    for half in (Fraction(1, 2), Fraction(1, 8), Fraction(7, 8)):  # largest where s goes to 0 or 1
        rows = [[float(half), float(1 - half)], [1, 0]]
        for pair in (rows, rows[::-1]):
            assert 1 - half <= Fraction(contraction(pair)) <= 1 - half + Fraction(1, 10**5)


def test_many_pairs_and_tiny_overlaps():
    rng = np.random.default_rng(4)
    tiny = contraction([[1e-310, 1 - 1e-8, 1e-8], [1 - 1e-8, 1e-320, 1e-8]])
    assert 1 - 1.1e-8 < tiny <= 1
    many = np.concatenate([rng.dirichlet(np.full(20, 30.0), size=250), np.full((1, 20), 0.05)])
    roots = np.sqrt(many)
    most = 1 - (roots @ roots.T).min() ** 2
    assert 0.5 * most < contraction(many) <= most + 1e-12  # more pairs than are compared
