"""Counting datasets by query value, against listing all of them."""

import itertools
import math
from collections import Counter
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest

from pmlbook.records import totals as module
from pmlbook.records.queries import (
    Query,
    SumQuery,
    _shown,
    check_records,
    check_value,
    counting,
    difference,
    in_query_order,
    modular_sum,
    pairwise_products,
    parity,
    threshold,
)
from pmlbook.records.totals import _one_by_one, _parts, _side_by_side, count_totals


def by_listing(contributions):
    """Ways to reach each total, dataset by dataset."""
    return dict(Counter(map(sum, itertools.product(*contributions))))


def one_off(query):
    """The query, with another answer for the last dataset."""
    last = tuple(symbols[-1] for symbols in query.alphabets)
    return lambda x: query.function(x) + (x == last)


def test_totals_are_those_of_a_list():
    draw = np.random.default_rng(24)
    for kind in ((0, 1), (3, -2), (1, 1), (0, 1, 5), (-3, 0, 0, 2), (0, 10**6, 10**7)):
        for n in (1, 2, 5):
            other = tuple(draw.integers(-4, 5, 2).tolist())
            for contributions in ([kind] * n, [kind] * n + [other, (7,)]):
                totals = by_listing(contributions)
                assert count_totals(contributions) == totals
                assert _one_by_one(_parts(contributions), 20.0) == totals
                if max(totals) < 1000:
                    assert _side_by_side(_parts(contributions)) == totals


def test_totals_of_many_records_and_the_limit():
    many = count_totals([(0, 1, 2)] * 60)  # numbers of more than one byte
    assert sum(many.values()) == 3**60 and many == {120 - k: ways for k, ways in many.items()}
    assert many[2] == math.comb(60, 2) + 60 and len(many) == 121
    assert len(count_totals([(0, 10**k) for k in range(18)])) == 2**18
    with pytest.raises(ValueError):
        count_totals([(0, 10**k) for k in range(19)])


def test_counts_of_every_query_by_listing():
    for query in (
        counting(4),
        modular_sum(4, 3),
        parity(3),
        threshold(4, 0),
        threshold(4, 3),
        pairwise_products(4),
        SumQuery([(0, 2, 1), (1, 0, 0), (0, 1, 2)]),
    ):
        plain = Query(query.function, query.alphabets)
        assert (
            query.table == plain.table
        ).all() and query.n_values == plain.n_values == query.table.max() + 1
        assert difference(query, plain) == difference(plain, query) == ""
        for i in range(len(query.shape)):
            ways = np.array(
                [
                    np.bincount(part.ravel(), minlength=query.n_values)
                    for part in np.moveaxis(query.table, i, 0)
                ]
            )
            for counted in (query.log_counts(i), plain.log_counts(i)):
                assert np.allclose(np.exp(counted), ways, rtol=0, atol=1e-9)
        off = Query(one_off(query), query.alphabets)
        assert difference(query, off) and difference(off, query)


def test_kinds_of_records_and_differences_of_queries():
    assert SumQuery([(0, 2, 1), (1, 0, 0), (0, 2, 1)]).kinds == (0, 1) and counting(5).kinds == (0,)
    assert [threshold(3, k).n_values for k in (0, 1, 3, 4)] == [2, 2, 2, 1]
    assert difference(counting(3), SumQuery([(0, 1), (0, 1), (0, 2)])) and difference(
        counting(3), counting(4)
    )
    assert difference(counting(2), SumQuery([(1, 0), (1, 0)], alphabets=[(0, 1)] * 2))
    assert difference(counting(2), SumQuery([(0, 1)] * 2, alphabets=["no"] * 2))
    assert "..." in _shown(range(7)) and "..." not in _shown(range(6))


def test_limits_from_both_sides():
    limits = (
        (check_records, 2**15),
        (lambda size: check_value(size, "here"), 2**20 - 1),
        (lambda n: len(counting(n).contributions), 2**15),
        (lambda size: Query(lambda x: 0, [range(size)]).table.size, 2**18),
        (lambda size: _one_by_one([{0: 1}], float(size)) and size, 2**31),
    )
    for allowed, last in limits:
        assert allowed(last) == last
        with pytest.raises(ValueError):
            allowed(last + 1)


def test_sums_far_apart_are_kept_one_by_one():
    thousand = {k: 1 for k in range(1000)}
    with pytest.raises(ValueError):  # 10 * (1000 + 1000 * 1000) steps are just too many
        _one_by_one([thousand, thousand], 1.0)
    ways = {"_side_by_side": lambda parts: "near", "_one_by_one": lambda parts, bits: "far"}
    with patch.dict(vars(module), ways):  # 10^7 additions are done side by side, more are not
        assert [count_totals([(0, 5 * 10**6 - k)]) for k in (1, 0)] == ["near", "far"]
        assert [count_totals([(0, 9), (0, w)]) for w in (4 * 10**6, 5 * 10**6)] == ["near", "far"]


def test_what_is_no_query():
    for wrong in (-1, 0.5, "1", None):
        with pytest.raises(ValueError):
            check_value(wrong, "here")
    for wrong in (
        ([],),
        ({(0, 1)},),
        ([{0, 1}],),
        (3,),
        (np.array(3),),
        ([()],),
        ([(0, 1), (0, 0)],),
        ([(0, 1), 2],),
    ):
        with pytest.raises(ValueError):
            Query(sum, *wrong)
    for wrong in (
        ([{0, 1}], None, None),
        ([(0, 1)], None, [(0, 1, 2)]),
        ([(0, 1)], None, [(0, 1)] * 2),
        ([(0, 1)], None, [(0, 0)]),
    ):
        with pytest.raises(ValueError):
            SumQuery(*wrong)
    assert SumQuery([(1, 1)]).alphabets == ((0, 1),) and SumQuery([(3, 4)]).alphabets == ((3, 4),)


def test_queries_are_what_they_say():
    for query, asked in (
        (pairwise_products(4), lambda x: sum(a * b for a, b in itertools.combinations(x, 2))),
        (counting(4), sum),
        (modular_sum(4, 3), lambda x: sum(x) % 3),
        (parity(4), lambda x: sum(x) % 2),
        (threshold(4, 2), lambda x: int(sum(x) > 1)),
    ):
        assert all(query.function(x) == asked(x) for x in itertools.product((0, 1), repeat=4))


def test_rows_come_by_name():
    listed = list(itertools.product((0, 1), repeat=2))[::-1]
    frame = pd.DataFrame(np.arange(8).reshape(4, 2), index=pd.MultiIndex.from_tuples(listed))
    for query, given, rows, named in (
        (parity(2), frame, frame.to_numpy()[::-1], True),
        (counting(2), pd.DataFrame([[2], [0]], index=[1, 0]), [[0], [2]], False),
        (Query(len, ["ba"]), pd.DataFrame([[2], [0]], index=["a", "b"]), [[0], [2]], True),
        (Query(len, ["ba"]), pd.DataFrame([[2], [0]]), [[2], [0]], False),
    ):
        ordered, by_dataset = in_query_order(query, given, "channel")
        assert np.array_equal(ordered, rows) and by_dataset == named
    ordered, _ = in_query_order(Query(len, [(2, 1, 0)]), {0: 5, 1: 6, 2: 7}, "p0", by_value=False)
    assert list(ordered.values()) == [7, 6, 5]
