"""Tables with names."""

import numpy as np
import pandas as pd

from pmlbook.worst_case.problem import check_utilities, worst_rank, worst_value


def test_tables_are_read_by_name():
    allergies, dishes = ["none", "nuts", "milk", "gluten"], ["satay", "lasagne", "noodles", "rice"]
    guests = np.array([0.6, 0.15, 0.15, 0.1])
    worth = np.array([[7, 9, 6, 2], [-9, 8, 6, 1], [8, -7, 6, 2], [7, -9, -6, 3]])
    favourite = np.eye(4)[worth.argmax(axis=1)]
    named, served = (pd.DataFrame(table, allergies, dishes) for table in (worth, favourite))
    for shuffled in (
        named,
        named.iloc[::-1],
        named.iloc[:, ::-1],
        named.iloc[[2, 0, 3, 1], [1, 3, 0, 2]],
    ):
        assert worst_value(served, shuffled) == 7 and worst_rank(served, shuffled) == 4
        table = check_utilities(shuffled, pd.Series(guests, allergies))
        assert np.array_equal(table, shuffled.loc[allergies])
    assert worst_value(favourite, worth[::-1]) == -9  # without names it is the order that counts
