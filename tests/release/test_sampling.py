"""Sampling: largest remainders, words of random bits, alias tables and their guides."""

from fractions import Fraction

import numpy as np
from refusals import refusal

from pmlbook.release.sampling import (
    alias_row,
    alias_tables,
    check_unseeded,
    guide,
    random_words,
    to_weights,
)


def counted(cut, alias, size):
    """Units of each outcome, recombined from the buckets."""
    totals = [0] * len(cut)
    for b in range(len(cut)):
        totals[b] += cut[b]
        totals[alias[b]] += size - cut[b]
    return totals


def all_draws(tables):
    """Outcomes of every pair of words; the second is used on a tie only."""
    return [
        int(tables.draw(np.zeros(1, np.intp), iter_words(first, second))[0])
        for first in range(16)
        for second in range(16)
    ]


def iter_words(*words):
    supply = iter(words)
    return lambda n: np.array([next(supply) for _ in range(n)], np.uint32)


def test_as_many_bits_choose_a_bucket_as_there_are_buckets():
    tables = alias_tables(to_weights(np.full((1, 4), 0.25)))
    assert (tables.k, tables.first, tables.spare) == (2, 32, 21)
    for m, k in ((1, 1), (2, 1), (3, 2), (4, 2), (5, 3), (64, 6), (65, 7)):
        assert alias_tables(to_weights(np.full((2, m), 1 / m))).k == k


def test_weights_are_the_shares_in_units():
    rng = np.random.default_rng(1)
    assert to_weights(np.array([[1 / 3, 1 / 3, 1 / 3]])).sum() == 2**53
    for row in rng.dirichlet(np.ones(7), size=40):
        share = [Fraction(p) / sum(map(Fraction, row.tolist())) * 2**53 for p in row.tolist()]
        weights = to_weights(row[None])[0].tolist()
        assert all(abs(w - s) < 1 + Fraction(1, 2) for w, s in zip(weights, share))
    quarters = np.array(
        [[2.0**-54 * 3, 2.0**-54 * 5, 1 - 2.0**-51]]
    )  # 1.5 and 2.5 units: the first is rounded up
    assert to_weights(quarters).tolist() == [[2, 2, 2**53 - 4]]
    assert to_weights(np.array([[2.0**-80, 2.0**-70, 0, 1]])).tolist() == [[1, 1, 0, 2**53 - 2]]


def test_words_of_random_bits():
    words, again = random_words(), random_words()
    drawn = words(5000)
    assert (
        drawn.shape == (5000,) and drawn.dtype == np.uint32 and (drawn != again(5000)).mean() > 0.99
    )
    assert drawn.max() > 0.99 * 2**32 and drawn.min() < 0.01 * 2**32
    seeded = random_words(0)(5000)
    assert (
        seeded == random_words(np.random.default_rng(0))(5000)
    ).all() and seeded.dtype == np.uint32
    assert seeded.max() > 0.99 * 2**32 and (seeded != random_words(1)(5000)).mean() > 0.99


def test_a_seeded_release_is_not_booked():
    check_unseeded(None)
    for seed in (0, 1, np.random.default_rng(1)):
        assert "cannot be booked" in refusal(check_unseeded, seed)


def test_a_guide_draws_as_its_tables_do():
    rng = np.random.default_rng(2)
    for m in (2, 3, 4):  # words of four bits: all of them, with all that settle a tie
        row = np.diff([0, *np.sort(rng.integers(0, 129, size=m - 1)), 128])
        small = alias_tables(row[None], bits=7, first=4)
        shortcut = guide(small)
        assert shortcut.bits == 4 and all_draws(shortcut) == all_draws(small)
        for word, outcome in enumerate(shortcut.outcomes.tolist()):
            ends = {
                int(small.draw(np.zeros(1, np.intp), iter_words(word, tie))[0]) for tie in (0, 15)
            }
            assert ends == {outcome} or outcome == 2**small.k


def test_a_guide_of_long_words_agrees_at_the_ends_of_each_entry():
    rng = np.random.default_rng(3)
    wide = alias_tables(to_weights(rng.dirichlet(np.ones(6), size=2)))
    shortcut = guide(wide)
    assert shortcut.bits == 16 and shortcut.outcomes.shape == (2 * 2**16,)
    for spread in (0, 2**16 - 1):  # the first and the last word of each beginning
        every = (np.arange(2**16, dtype=np.uint32) << np.uint32(16)) + np.uint32(spread)
        for code in (0, 1):
            found = shortcut.outcomes[code * 2**16 : (code + 1) * 2**16]
            direct = wide.settle(np.full(2**16, code), every, lambda n: np.zeros(n, np.uint32))
            assert ((found == direct) | (found == 8)).all() and (found == 8).sum() <= 8


def test_a_guide_is_bounded_and_keeps_the_order_of_words():
    many = guide(alias_tables(to_weights(np.full((300, 2), 0.5))))
    assert len(many.outcomes) <= 2**21 < 2 * len(many.outcomes)
    even = alias_tables(to_weights(np.full((1, 2), 0.5)))  # no ties, so words are drawn alike
    codes = np.zeros(2**17 + 3, np.intp)
    assert (guide(even).draw(codes, random_words(5)) == even.draw(codes, random_words(5))).all()


def test_an_alias_row_has_no_bucket_more_than_there_are():
    for weights in ([3, 5], [1, 2, 5], [8], [2, 2, 2, 2]):  # no bucket more than there are
        cut, alias = alias_row(list(weights), 4)
        assert len(cut) == len(alias) == 4 and counted(cut, alias, 2) == weights + [0] * (
            4 - len(weights)
        )
        assert all(0 <= part <= 2 for part in cut) and all(0 <= other < 4 for other in alias)
