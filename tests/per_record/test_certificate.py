"""Records that are alike are attacked once."""

import numpy as np

from pmlbook.per_record.certificate import kinds, search
from pmlbook.per_record.classes import check_rows, record_problem
from pmlbook.per_record.queries import Query
from pmlbook.workshop.progress import Clock


def test_records_that_are_alike_are_attacked_once():
    flips = [np.array([[0.8, 0.2], [0.2, 0.8]]), np.array([[0.9, 0.1], [0.1, 0.9]])]
    for last in (0, 1):
        each = np.kron(np.kron(flips[0], flips[0]), flips[last])
        bits = [record_problem(Query(sum, [(0, 1)] * 3), each, i) for i in range(3)]
        query = Query(sum, [(0, 1)] * 3)
        assert kinds(query, *check_rows(query, each)) == [0, 2][: 1 + last]
        assert kinds(query, *check_rows(query, each), Clock(0)) == [0, 1, 2]
        told = [search(bit, 1.7, 1e-3, Clock()) for bit in bits]
        assert abs(told[0].value - told[1].value) < 1e-3  # found anew for each
        assert (abs(told[0].value - told[2].value) < 1e-3) == (last == 0)
