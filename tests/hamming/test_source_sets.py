"""Names of symbols in source sets."""

import pandas as pd

from pmlbook.hamming.source_sets import SourceSet


def test_names_do_not_change_a_set():
    drinks = ["tea", "coffee", "milk"]
    menu = pd.DataFrame([[0.5, 0.3, 0.2], [0.7, 0.2, 0.1], [0.5, 0.3, 0.2]], columns=drinks)
    turned = SourceSet(menu, inputs=["milk", "tea", "coffee"])
    assert turned.vertices.tolist() == [
        [0.2, 0.5, 0.3],
        [0.1, 0.7, 0.2],
    ]  # a repeated row counts once
    for one in (SourceSet(menu), turned, turned.hull(), turned.ordered()):
        assert sorted(one.inputs) == sorted(drinks) and one.ordered().inputs == tuple(drinks)
        assert one.contains(pd.Series([0.15, 0.6, 0.25], ["milk", "tea", "coffee"]))
        assert not one.contains(pd.Series([0.15, 0.6, 0.25], drinks))
    assert turned.contains([0.15, 0.6, 0.25]) and SourceSet(menu.to_numpy()).inputs == ()
    for names in (drinks[:2], ["tea", "tea", "milk"]):
        try:
            SourceSet(menu.to_numpy(), names)
            raise AssertionError(f"{names} do for three symbols")
        except ValueError:
            pass
