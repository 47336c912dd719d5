"""Two-way tables: what is estimated agrees with the tables themselves, and intervals cover."""

import pickle
from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

import pmlbook as pb
from pmlbook.estimation.two_way_table import MAX_TABLE_CELLS, GroupDifference, TwoWay, subtracted
from pmlbook.release.estimation import invert

FLIP = pb.Mechanism(pb.foundations.randomized_response(2, 1.0), [0.5, 0.5], ("no", "yes"), (0, 1))
WIDE = pb.Mechanism(
    [[0.6, 0.2, 0.1, 0.1], [0.1, 0.2, 0.5, 0.2]], [0.7, 0.3], ("no", "yes"), range(4)
)
MARKS = pb.Mechanism(pb.foundations.randomized_response(2, 2.0), [0.4, 0.6], ("a", "b"), ("a", "b"))
YES = {"no": 0, "yes": 1}


def test_without_noise_it_is_the_table():
    """Against pandas.crosstab."""
    rng = np.random.default_rng(1)
    plain = pb.Mechanism(np.eye(3), [0.2, 0.3, 0.5], ("x", "y", "z"), ("x", "y", "z"))
    values, groups = rng.choice(list("xyz"), 400), rng.choice(list("gh"), 400)
    table = pb.estimation.two_way(plain, values, groups)
    expected = pd.crosstab(values, groups, normalize=True)[list(table.groups)]
    assert np.allclose(table.frequencies, expected, rtol=0, atol=1e-12)
    shares = pd.crosstab(values, groups, normalize="columns")
    for group in "gh":
        assert abs(table.mean([0, 0, 1], group).value - shares.loc["z", group]) < 1e-12
        spread = (
            shares.loc["z", group] * (1 - shares.loc["z", group]) / (groups == group).sum()
        ) ** 0.5
        assert abs(table.mean([0, 0, 1], group).standard_error - spread) < 1e-12
    gap = table.difference([0, 0, 1], "g", "h")
    assert abs(gap.value - (shares.loc["z", "g"] - shares.loc["z", "h"])) < 1e-12


def test_a_public_column_is_one_released_as_it_is():
    rng = np.random.default_rng(2)
    groups = rng.choice(["a", "b"], 300)
    released = WIDE.privatize(rng.choice(["no", "yes"], 300), rng)
    open_book = pb.Mechanism(np.eye(2), [0.5, 0.5], ("a", "b"), ("a", "b"))
    public = pb.estimation.two_way(WIDE, released, groups)
    private = pb.estimation.two_way(WIDE, released, groups, open_book)
    order = [public.groups.index(g) for g in ("a", "b")]
    assert np.allclose(public.frequencies[:, order], private.frequencies, rtol=0, atol=1e-12)
    for group in "ab":
        one, two = public.mean(YES, group), private.mean(YES, group)
        assert abs(one.value - two.value) < 1e-12
        assert abs(one.standard_error - two.standard_error) < 1e-12
        (a, b), (c, d) = one.interval(), two.interval()
        assert c <= one.value <= d and a <= one.value <= b and b - a < d - c


def test_the_group_of_a_public_table_is_an_estimate_of_its_own():
    rng = np.random.default_rng(3)
    released, groups = rng.choice(WIDE.outputs, 300), rng.choice(["a", "b"], 300)
    table = pb.estimation.two_way(WIDE, released, groups)
    alone = WIDE.estimate(released[groups == "a"])
    assert np.array_equal(table.within("a").frequencies, alone.frequencies)
    assert table.mean(YES, "a").interval() == alone.of(YES).interval()
    assert abs(table.mean(YES, "a").value - alone.of(YES).value) < 1e-12
    assert abs(table.mean(YES, "a").standard_error - alone.of(YES).standard_error) < 1e-12


GRID = (0.0, 0.02, 0.2, 0.5, 0.9, 1.0)


def ends_of(mechanism, size, method, counts=None):
    """Ends of the mean of one group for every count of two outcomes, or for some."""
    hand = pb.Mechanism([[1.0]], [1.0], ("a",))
    found = []
    for k in range(size + 1) if counts is None else counts:
        mean = TwoWay.from_counts(mechanism, hand, np.array([[size - k], [k]]), True).mean(YES, "a")
        found.append(
            mean.at_splits(0.95) if method == "score" else np.array([mean.interval(0.975)])
        )
    return found


@pytest.mark.parametrize(
    ("epsilon", "sizes", "method", "least"),
    [(1.0, (9, 6), "exact", 0.95), (6.0, (9, 6), "exact", 0.95), (1.0, (6, 4), "score", 0.93),
     (6.0, (6, 4), "score", 0.93)],
)  # fmt: skip
def test_differences_cover_by_enumeration(epsilon, sizes, method, least):
    """Distances added in squares covered .75 where one share is 1 and the other 0."""
    mechanism = pb.Mechanism(
        pb.foundations.randomized_response(2, epsilon), [0.5, 0.5], ("no", "yes"), (0, 1)
    )
    one, two = (ends_of(mechanism, size, method) for size in sizes)
    ends = np.array([[subtracted(a, b) for b in two] for a in one])
    for p, q in product(GRID, repeat=2):
        first, second = (
            binom.pmf(np.arange(size + 1), size, mechanism.channel[:, 1] @ [1 - share, share])
            for size, share in zip(sizes, (p, q))
        )
        holds = (ends[..., 0] <= p - q) & (p - q <= ends[..., 1])
        assert first @ holds @ second >= least


def test_the_interval_of_a_difference_is_made_of_those_ends():
    counts = np.array([[5, 4], [4, 2]])
    hand = pb.Mechanism(np.eye(2), [0.5, 0.5], ("a", "b"))
    table = TwoWay.from_counts(FLIP, hand, counts, True)
    for method in ("exact", "score"):
        one, two = ends_of(FLIP, 9, method, [4])[0], ends_of(FLIP, 6, method, [2])[0]
        assert table.difference(YES, "a", "b").interval(method=method) == subtracted(one, two)


def test_released_groups_cover_in_seeded_repetitions():
    """Cells, a group's mean and the difference of two, sixteen samples of 150 people."""
    rng, pairs = np.random.default_rng(4), np.array([[0.35, 0.15], [0.05, 0.45]])
    draws = rng.multinomial(150, pairs.ravel() @ np.kron(FLIP.channel, MARKS.channel), size=16)
    truth = pairs[1] / pairs.sum(axis=0)
    missed = np.zeros(4)
    for draw in draws.reshape(-1, 2, 2):
        table = TwoWay.from_counts(FLIP, MARKS, draw, False)
        asked = [
            (table.joint.of([0, 0, 0, 1]).interval(), pairs[1, 1]),
            (table.mean(YES, "a").interval(), truth[0]),
            (table.difference(YES, "a", "b").interval(), truth[0] - truth[1]),
            (table.mean(YES, "a").interval(method="score"), truth[0]),
        ]
        missed += [not low <= right <= high for (low, high), right in asked]
    assert (missed[:3] <= 1).all() and missed[3] <= 2


def test_the_exact_mean_of_a_group_is_no_wider_than_its_programme():
    """Against a linear-fractional programme, by Charnes and Cooper's substitution."""
    from scipy.optimize import linprog

    from pmlbook.release.intervals import clopper_pearson, nested_sets

    table = TwoWay.from_counts(FLIP, MARKS, np.array([[60, 20], [30, 90]]), False)
    joint, (above, below) = table.joint, table.mean(YES, "a")._parts
    sets = nested_sets(joint.undo @ (above - 0.5 * below))
    low, high = clopper_pearson(sets @ joint.counts, 200, 0.025 / len(sets))
    inside = sets @ joint.channel.T
    rows = np.vstack([inside - high[:, None], low[:, None] - inside])
    for sign, end in zip((1, -1), table.mean(YES, "a").interval()):
        found = linprog(sign * above, rows, np.zeros(len(rows)), below[None], [1.0])
        assert sign * end <= sign * (sign * found.fun) + 1e-9
        assert abs(sign * found.fun - end) < 1e-6


def test_more_outcomes_than_inputs_are_weighted():
    """The unweighted pseudo-inverse had a larger variance; the default was that."""
    channel = np.array([[0.9, 0.05, 0.05, 0], [0.6, 0.0, 0.05, 0.35]])
    distribution = np.array([0.5, 0.5]) @ channel
    _, weighted = invert(channel, 1000 * distribution)
    undo = np.linalg.pinv(channel)
    plain = undo.T @ (np.diag(distribution) - np.outer(distribution, distribution)) @ undo / 1000
    bound = np.linalg.inv((channel / distribution) @ channel.T) / 1000 - 0.25 / 1000
    assert np.allclose(weighted, bound, rtol=0, atol=1e-12)
    assert np.trace(weighted) < 0.99 * np.trace(plain)


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ((FLIP, [0, 1], ["a"]), "covariate 1"),
        ((FLIP, [0, 2], ["a", "b"]), "released"),
        ((FLIP, [], []), "released"),
        ((FLIP, [0, 1], [["a"], ["b"]]), "covariate"),
        ((FLIP, [0, 1], 7), "covariate"),
        ((FLIP, [0, 1], ["a", "c"], MARKS), "covariate"),
        ((FLIP, [0, 1], ["a", "b"], "MARKS"), "other"),
        (("FLIP", [0, 1], ["a", "b"]), "mechanism"),
        ((FLIP, [0, 1] * MAX_TABLE_CELLS, range(2 * MAX_TABLE_CELLS)), "cells"),
        (
            (
                pb.Mechanism([[0.5, 0.5], [0.5, 0.5]], [0.5, 0.5], outputs=(0, 1)),
                [0, 1],
                ["a", "b"],
            ),
            "dependent",
        ),
    ],
)
def test_what_is_no_table_is_refused(arguments, word):
    with pytest.raises(ValueError, match=word):
        pb.estimation.two_way(*arguments)


def test_questions_that_have_no_answer_are_refused():
    public = pb.estimation.two_way(FLIP, [0, 1, 1], ["a", "b", "b"])
    released = pb.estimation.two_way(FLIP, [0, 1, 1], ["a", "b", "b"], MARKS)
    for ask in (
        lambda: public.mean(YES, "c"),
        lambda: public.difference(YES, "a", "c"),
        lambda: released.within("a"),
        lambda: public.mean([1, 2, 3], "a"),
        lambda: public.mean(YES, "a").interval(1.5),
        lambda: released.difference(YES, "a", "b").interval(0.95, "wald"),
        lambda: released.mean(YES, "a").interval(0.5, "score"),
    ):
        with pytest.raises(ValueError):
            ask()


@pytest.mark.parametrize("kind", [list, np.array, pd.Series, pd.Categorical])
def test_columns_of_every_kind_and_gaps(kind):
    column = kind(["a", "b", "a", "c"])
    table = pb.estimation.two_way(FLIP, [0, 1, 1, 0], column)
    assert table.groups == ("a", "b", "c") and table.public
    gaps = pb.estimation.two_way(
        FLIP, [0, 1, 1, 0], pd.Series(["a", None, "a", np.nan], dtype=object)
    )
    assert gaps.groups == ("a", None) and gaps.within(None).size == 2
    numbers = pb.estimation.two_way(FLIP, [0, 1, 1, 0], pd.Series([1, 2, 2, 1]))
    assert numbers.mean(YES, 1).table.within(1).size == 2


def test_one_group_one_person_and_no_person():
    alone = pb.estimation.two_way(FLIP, [0], ["a"])
    assert alone.mean(YES, "a").interval() == (0.0, 1.0) or alone.mean(YES, "a").interval()[1] > 0.9
    few = TwoWay.from_counts(FLIP, MARKS, np.array([[0, 30], [0, 30]]), False)
    mean = few.mean(YES, "a")
    assert np.isnan(mean.value) and np.isnan(mean.standard_error)
    assert mean.interval() == (0.0, 1.0)
    low, high = few.difference(YES, "a", "b").interval()
    assert -1 <= low < high <= 1
    assert few.difference(YES, "a", "a").interval() == (0.0, 0.0)


def test_tables_compare_and_pickle():
    table = pb.estimation.two_way(FLIP, [0, 1, 1], ["a", "b", "b"])
    again = pickle.loads(pickle.dumps(table))
    assert again == table and np.array_equal(again.frequencies, table.frequencies)
    gap = pickle.loads(pickle.dumps(table.difference(YES, "a", "b")))
    assert isinstance(gap, GroupDifference) and gap.value == table.difference(YES, "a", "b").value
    assert "public" in repr(table) and "standard error" in repr(gap)


@pytest.mark.parametrize(
    "counts, said",
    [
        ([1, 2], "counts"),
        ([[1, 2, 3], [4, 5, 6]], r"shape \(2, 3\), not \(2, 2\)"),
        ([[-1, 2], [3, 4]], "at least 0, got -1"),
        ([[0, 0], [0, 0]], "all 0"),
        ([[1, np.nan], [3, 4]], "not finite"),
    ],
)
def test_counts_are_checked(counts, said):
    with pytest.raises(ValueError, match=said):
        TwoWay.from_counts(FLIP, MARKS, counts, False)


def test_a_level_next_to_one_is_refused_as_it_was_given():
    table = pb.estimation.two_way(FLIP, [0, 1] * 10, ["u"] * 10 + ["v"] * 10)
    with pytest.raises(ValueError, match="confidence = 0.9999999999999999 is too close to 1"):
        table.difference([0, 1], "u", "v").interval(1 - 2.0**-53)
    wide, narrow = (table.difference([0, 1], "u", "v").interval(x) for x in (1 - 2.0**-50, 0.9))
    assert wide[0] <= narrow[0] <= narrow[1] <= wide[1]
