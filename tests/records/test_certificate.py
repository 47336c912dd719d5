"""The search for the worst adversary: its brackets, the rounding of b, and records that are attacked alike."""

import numpy as np
import pytest

from pmlbook.foundations.classic import geometric
from pmlbook.numerics.progress import Clock
from pmlbook.records.certificate import (
    check_entropy,
    kinds,
)
from pmlbook.records.classes import check_query_rows, record_problem
from pmlbook.records.data_processing import data_processing_bound
from pmlbook.records.queries import Query, pairwise_products
from pmlbook.records.record_search import search_prior
from pmlbook.records.tilted import best_adversary


class Told(Clock):
    """Records its arguments."""

    def __init__(self, limit=900.0):
        super().__init__(limit)
        self.brackets = []

    def tell(self, value, bound):
        self.brackets.append((value, bound))


@pytest.mark.parametrize("share", [0.9, 0.99])
def test_a_data_processing_bound_that_does_is_the_answer(share):
    problem, tol = record_problem(pairwise_products(4), geometric(7, 1.0), 0), 1e-4
    b = share * problem.largest_entropy
    classes, value = best_adversary(problem, b, np.random.default_rng(0), 32, accuracy=tol / 10)
    dear = data_processing_bound(problem, b, classes)
    for floor in (0.0, dear - tol / 2, dear + tol):
        clock = Told()
        found = search_prior(problem, b, tol, clock, floor)
        enough = dear <= max(value, floor) + tol
        assert (found.method == "data processing") == enough
        assert not enough or (found.value, found.bound) == (value, max(value, dear))
        assert not enough or clock.brackets[-1] == (max(value, floor), max(dear, floor))


@pytest.mark.parametrize("largest", [0.5, 40.0])
def test_the_rounding_of_b_that_is_forgiven(largest):
    assert check_entropy(largest + 0.9e-12 * (1 + largest), largest) == largest
    with pytest.raises(ValueError, match="exceeds the entropy"):
        check_entropy(largest + 1.1e-12 * (1 + largest), largest)


def test_records_that_are_alike_are_attacked_once():
    flips = [np.array([[0.8, 0.2], [0.2, 0.8]]), np.array([[0.9, 0.1], [0.1, 0.9]])]
    for last in (0, 1):
        each = np.kron(np.kron(flips[0], flips[0]), flips[last])
        bits = [record_problem(Query(sum, [(0, 1)] * 3), each, i) for i in range(3)]
        query = Query(sum, [(0, 1)] * 3)
        assert kinds(query, *check_query_rows(query, each)) == [0, 2][: 1 + last]
        assert kinds(query, *check_query_rows(query, each), Clock(0)) == [0, 1, 2]
        told = [search_prior(bit, 1.7, 1e-3, Clock()) for bit in bits]
        assert abs(told[0].value - told[1].value) < 1e-3  # found anew for each
        assert (abs(told[0].value - told[2].value) < 1e-3) == (last == 0)
