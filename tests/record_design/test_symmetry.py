"""Symmetric programmes: costs and distributions of rows by listing, what is alike, and the limits."""

import math

import numpy as np
import pandas as pd
import pytest

from pmlbook.record_design.symmetry import (
    _kinds,
    check_costs,
    check_data,
    check_table,
    components,
    matching,
    setting,
    value_masses,
)
from pmlbook.records.queries import Query, counting, modular_sum, parity


def test_costs_and_distributions_by_listing():
    draw = np.random.default_rng(21)
    first_two = Query(lambda x: x[0] + x[1], [(0, 1), (0, 1, 2), (0, 1)])
    for query, view in (
        (first_two, None),
        (first_two, first_two),
        (counting(3), None),
        (counting(3), counting(3)),
        (counting(3), parity(3)),
        (modular_sum(2, 3), None),
    ):
        datasets = math.prod(query.shape)
        for distribution in (None, draw.dirichlet(np.ones(datasets))):
            distortion = draw.uniform(0, 1, (query.n_values, 3))
            made = setting(query, distribution, distortion, view)
            share = np.full(datasets, 1 / datasets) if distribution is None else distribution
            if made.observes.n_values == datasets:
                seen = range(datasets)
            else:  # yes-or-no records that are alike are seen by their number of ones
                seen = (view or counting(3)).table.ravel()
            cost, masses = np.zeros(made.cost.shape), np.zeros(len(made.cost))
            for value, row, p in zip(query.table.ravel(), seen, share):
                cost[row] += p * distortion[value]
                masses[row] += p
            assert np.allclose(made.cost, cost, rtol=0, atol=1e-15)
            assert np.allclose(made.masses, masses, rtol=0, atol=1e-15)
            assert 0 < made.slip < 1e-13 and setting(
                query, distribution, distortion, view, reduce_symmetry=False
            ).slip in (0, made.slip)


def test_what_counts_as_alike():
    here = np.array([[0.0, 3, 1, 3], [5, 2, 2, 2]])
    there = here[:, [2, 1, 0, 3]]
    order = matching(here, there, 0.0)
    assert (there[:, order] == here).all() and sorted(order) == [0, 1, 2, 3]
    assert matching(here, there * (1 + 2.0**-52), 0.0) is not None
    assert matching(here, there * (1 + 2.0**-48), 0.0) is None
    assert (
        matching(here, there + 2.0**-48, 5.0) is not matching(here, there + 2.0**-48, 1.0) is None
    )
    assert (
        matching(here, here[:, [0, 1, 2, 2]], 0.0) is matching(here, here + [[1], [0]], 0.0) is None
    )
    joins = [(np.array([0, 3]), np.array([2, 4])), (np.array([4]), np.array([5]))]
    assert components(6, joins).tolist() == [0, 1, 0, 2, 2, 2] and components(3, []).tolist() == [
        0,
        1,
        2,
    ]


def test_kinds_of_records():
    for shape, kept, kinds in (
        ((2, 2, 3, 3), [True, False], (0, 2, 3)),
        ((2, 3), [], (0, 1)),
        ((2, 2, 2), [False, True], (0, 1)),
        ((4,), [], (0,)),
    ):
        assert _kinds(shape, kept) == kinds


def test_tables_are_checked():
    draw = np.random.default_rng(21)
    first_two = Query(lambda x: x[0] + x[1], [(0, 1), (0, 1, 2), (0, 1)])
    assert np.allclose(
        value_masses(first_two), np.bincount(first_two.table.ravel()) / 12, rtol=0, atol=1e-15
    )
    distribution = draw.dirichlet(np.ones(12))
    assert (
        check_data(first_two, distribution) == check_data(first_two, distribution.reshape(2, 3, 2))
    ).all()
    assert check_costs(first_two, np.eye(4)[:, :1]).shape == (4, 1)
    check_table(2**8, 2**8)
    for refused in (
        lambda: check_table(2**8, 2**8 + 1),
        lambda: check_data(first_two, distribution.reshape(3, 2, 2)),
        lambda: check_data(first_two, distribution[:6] / distribution[:6].sum()),
        lambda: check_costs(first_two, np.eye(3)),
        lambda: check_costs(first_two, np.zeros((4, 0))),
        lambda: check_costs(first_two, np.where(np.eye(4), np.inf, 0)),
        lambda: check_costs(first_two, np.where(np.eye(4), 1e101, 0)),
        lambda: setting(counting(3), observes=counting(4)),
        lambda: setting(counting(13), reduce_symmetry=False),  # 2^13 datasets
        lambda: setting(counting(13), observes=Query(lambda x: x[0], [(0, 1)] * 13)),
    ):
        with pytest.raises(ValueError):
            refused()


def test_the_most_that_is_listed():
    for allowed, refused in (
        (Query(lambda x: x[0] % 2, [range(4096)]), Query(lambda x: x[0] % 2, [range(4097)])),
        (counting(4095), counting(4096)),  # one row for each number of ones
    ):
        each = np.zeros((refused.n_values, 1))
        assert len(setting(allowed, distortion=each[: allowed.n_values]).cost) == 4096
        with pytest.raises(ValueError, match="4097"):
            setting(refused, distortion=each)


def test_what_is_listed_and_what_is_refused():
    first_two = Query(lambda x: x[0] + x[1], [(0, 1), (0, 1, 2), (0, 1)])
    first = Query(lambda x: x[0], [(0, 1)] * 12)
    assert len(setting(counting(12), observes=first).cost) == 2  # 2^12 datasets are listed
    with pytest.raises(ValueError, match=r"distortion\[1, 0\] = inf"):
        check_costs(first_two, [[0, 0], [np.inf, 0], [0, np.nan], [0, 0]])
    with pytest.raises(ValueError, match="shape"):
        check_data(first_two, np.full((4, 3), 1 / 12))
    assert len(setting(counting(12), reduce_symmetry=False, observes=counting(12)).cost) == 13
    assert setting(Query(lambda x: x[0], [(0, 1)] * 12)).cost.shape == (2**12, 2)
    by_value = setting(
        counting(13), observes=counting(13), reduce_symmetry=False
    )  # too many to list: by value alone
    assert (
        by_value.slip == 0
        and by_value.size == 14**2
        and np.isclose(by_value.cost.sum(), setting(counting(13)).cost.sum(), rtol=0, atol=1e-12)
    )
    by_number, listed = (
        setting(counting(3), distortion=8 * np.eye(4), reduce_symmetry=True, p0=distribution)
        for distribution in (None, np.full(8, 1 / 8))
    )
    by_number = [8 * setting(counting(3), distortion=np.eye(4)).slip, by_number.slip, listed.slip]
    assert np.allclose(
        by_number, 36 * 2.0**-50 * (1 + 1), rtol=1e-15, atol=0
    )  # 3 records of 2; column 0 costs 1


def test_an_error_that_is_barred_joins_nothing_else():
    off = np.abs(np.subtract.outer(range(4), range(4))).astype(float)
    for distribution in (
        None,
        np.full(8, 1 / 8),
    ):  # nothing else is alike beside an error that is never to be made
        barred = [
            setting(counting(3), distribution, np.where(off > 2, cost, off))
            for cost in (3, 1e6, 1e9)
        ]
        assert all((made.cells == barred[0].cells).all() and made.slip < 1e-12 for made in barred)
    below = setting(counting(3), distortion=-8 * np.eye(4)).slip
    assert np.isclose(below, 36 * 2.0**-50 * (2 * 8 - 3 + 1), rtol=1e-15, atol=0)


def test_a_frame_of_two_records_goes_by_its_symbols():
    """Rows went by the numbers 0 and 1, and columns by position."""
    shares = [[0.1, 0.2], [0.3, 0.4]]
    for alphabet in ((1, 0), ("a", "b")):
        query = Query(lambda x: 0, [alphabet] * 2)
        frame = pd.DataFrame(shares, index=alphabet, columns=alphabet)
        for given in (shares, pd.DataFrame(shares), frame, frame.iloc[::-1], frame.iloc[:, ::-1]):
            assert check_data(query, given).tolist() == [0.1, 0.2, 0.3, 0.4]
    pairs = Query(lambda x: 0, [[(0, 1), (1, 0)]])
    assert check_data(pairs, {(1, 0): 0.25, (0, 1): 0.75}).tolist() == [0.75, 0.25]
