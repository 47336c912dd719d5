"""Releases in partitions and sweeps in parallel: the same law, types and errors as without them."""

import numpy as np
import pandas as pd
import pytest

from pmlbook import Mechanism, optimal_mechanism
from pmlbook.desk.scale import release_dask, release_frame, sweep

NAMES = ("healthy", "flu", "rare")
SWAP = Mechanism(np.eye(3)[[1, 0, 2]], [0.6, 0.3, 0.1], NAMES, NAMES)  # no dice: flu for healthy
COIN = Mechanism(np.full((3, 2), 0.5), [0.6, 0.3, 0.1], NAMES, ("heads", "tails"))


@pytest.fixture
def dd():
    """dask.dataframe, where it is installed."""
    return pytest.importorskip("dask.dataframe")


def patients(rows):
    """A frame of which every second person is healthy and the others have the flu."""
    return pd.DataFrame({"id": range(rows), "diagnosis": ["healthy", "flu"] * (rows // 2)})


def test_partitions_release_the_column_and_nothing_else(dd):
    frame = patients(100)
    lazy = dd.from_pandas(frame, npartitions=4)
    done = release_dask(lazy[lazy["id"] >= 50], "diagnosis", SWAP)  # the first partitions are empty
    assert done.npartitions == 4 and list(done.columns) == ["id", "diagnosis_released"]
    answer = done.compute(scheduler="synchronous")
    assert answer["id"].tolist() == list(range(50, 100))
    assert answer["diagnosis_released"].tolist() == ["flu", "healthy"] * 25
    assert answer.dtypes.equals(done.dtypes) and frame.equals(patients(100))


@pytest.mark.parametrize("kind", ["object", "category"])
def test_no_rows_have_the_same_type_as_some(kind):
    frame = patients(4).astype(
        {"diagnosis": pd.CategoricalDtype(NAMES) if kind != "object" else kind}
    )
    some, none = (release_frame(part, "diagnosis", SWAP) for part in (frame, frame.iloc[:0]))
    assert len(none) == 0 and list(none.columns) == list(some.columns)
    assert none["diagnosis_released"].dtype == some["diagnosis_released"].dtype


def test_every_partition_and_every_computation_draws_anew(dd):
    twins = pd.DataFrame({"diagnosis": ["flu"] * 400})
    lazy = release_dask(dd.from_pandas(twins, npartitions=2), "diagnosis", COIN)
    first, second = (lazy.compute(scheduler="synchronous")["diagnosis_released"] for _ in range(2))
    assert (first != second).any()
    assert (first[:200].to_numpy() != first[200:].to_numpy()).any()


def test_bad_values_are_refused_when_they_are_computed(dd):
    frame = patients(10)
    frame.loc[7, "diagnosis"] = None
    lazy = dd.from_pandas(frame, npartitions=2)
    with pytest.raises(ValueError, match="missing"):
        release_dask(lazy, "diagnosis", SWAP).compute(scheduler="synchronous")
    kept = release_dask(lazy, "diagnosis", SWAP, missing="keep").compute(scheduler="synchronous")
    assert kept["diagnosis_released"].isna().tolist() == [row == 7 for row in range(10)]
    frame.loc[7, "diagnosis"] = "cold"
    with pytest.raises(ValueError, match=r"\(str\) in row"):
        release_frame(frame, "diagnosis", SWAP)
    with pytest.raises(KeyError, match="diagnoses"):
        release_dask(lazy, "diagnoses", SWAP)


def test_a_sweep_is_the_designs_one_by_one():
    joblib = pytest.importorskip("joblib")
    prior, levels = [0.5, 0.3, 0.2], [0.9, 0.1, 0.5]  # in no order
    with joblib.parallel_config(backend="threading"):
        found = sweep(prior, levels, jobs=2, utility="total_variation")
    alone = [optimal_mechanism(prior, level, utility="total_variation") for level in levels]
    assert [design.value for design in found] == [design.value for design in alone]
    assert sweep(prior, [], jobs=1) == []
    with pytest.raises(ValueError, match="epsilon"):
        sweep(prior, [0.1, -1.0], jobs=1)
