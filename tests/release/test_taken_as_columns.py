"""What is taken for a column, and what for counts: of each library, in the kind that came in."""

from collections import Counter

import numpy as np
import pytest

import pmlbook as pb
from pmlbook.additive_noise import mean_mechanism, quantile_mechanism
from pmlbook.robust import ball_region, prior_from_counts

ANSWERS = ["no"] * 60 + ["flu"] * 30 + ["rare"] * 10
SHARES = {"no": 0.6, "flu": 0.3, "rare": 0.1}


def value_counts():
    pd, pl, pa = map(pytest.importorskip, ("pandas", "polars", "pyarrow"))
    return {
        "dict": {"no": 60, "flu": 30, "rare": 10},
        "Counter": Counter(ANSWERS),
        "pandas": pd.Series(ANSWERS, name="dx").value_counts(),
        "groupby": pd.DataFrame({"dx": ANSWERS}).groupby("dx").size(),
        "Polars": pl.Series("dx", ANSWERS).value_counts(),
        "Arrow": pa.array(ANSWERS).value_counts(),
    }


@pytest.mark.parametrize("kind", ["dict", "Counter", "pandas", "groupby", "Polars", "Arrow"])
def test_counts_by_name_are_a_prior_and_a_sample(kind):
    counts = value_counts()[kind]
    made = pb.optimal_mechanism(counts, 0.5).mechanism
    assert dict(zip(made.inputs, made.prior)) == pytest.approx(SHARES, abs=1e-15)
    assert sum(made.exact_prior) == 1 and made.exact_prior[0].denominator <= 10
    assert pb.estimation_mechanism(counts, 0.5).mechanism.inputs == made.inputs
    assert pb.epsilon_pml(made.channel, counts) == pytest.approx(made.epsilon)
    assert ball_region(counts).inputs == made.inputs
    assert sum(np.fromiter(dict(prior_from_counts(counts)).values(), float)) == pytest.approx(1)


def test_a_raw_column_is_no_prior_and_the_message_says_what_to_do():
    pd = pytest.importorskip("pandas")
    incomes = pd.Series([100, 200, 300], index=[3, 5, 8], name="income")
    for column in (incomes, incomes.to_list(), np.array([100, 200, 300])):
        with pytest.raises(pb.InvalidPrior, match=r"sums to 600.*value_counts\(\)"):
            pb.optimal_mechanism(column, 0.5)
    for column in (ANSWERS, pd.Series(ANSWERS), np.array(ANSWERS)):
        with pytest.raises(
            pb.InvalidPrior, match=r"a column is counted first, by its value_counts\(\)"
        ):
            pb.optimal_mechanism(column, 0.5)


class Capsule:
    """Anything that hands out Arrow data, and is of no library that is known."""

    def __init__(self, data):
        self.data = data

    def __arrow_c_stream__(self, requested_schema=None):
        return self.data.__arrow_c_stream__(requested_schema)


def test_a_table_of_one_column_and_a_capsule_are_columns():
    pd, pl, pa = map(pytest.importorskip, ("pandas", "polars", "pyarrow"))
    made = pb.Mechanism(np.eye(3), [0.6, 0.3, 0.1], list(SHARES), list("abc"))
    wanted = made.privatize(ANSWERS).tolist()
    tables = [
        pd.DataFrame({"dx": ANSWERS}),
        pl.DataFrame({"dx": ANSWERS}),
        pa.table({"dx": ANSWERS}),
        Capsule(pa.table({"dx": ANSWERS})),
        Capsule(pa.chunked_array([ANSWERS])),
    ]
    for table in tables:
        told = made.privatize(table)
        assert (told.to_pylist if hasattr(told, "to_pylist") else told.to_list)() == wanted
        assert made.estimate(told).frequencies == pytest.approx([0.6, 0.3, 0.1])
    for two in (pd.DataFrame({"a": ANSWERS, "b": ANSWERS}), pa.table({"a": [1], "b": [2]})):
        with pytest.raises(ValueError, match="values must be"):
            made.privatize(two)


@pytest.mark.parametrize("design", ["mean", "quantile"])
def test_numbers_come_back_in_their_kind_with_gaps_and_clipped(design):
    pd, pl, pa = map(pytest.importorskip, ("pandas", "polars", "pyarrow"))
    prior = ([1, 1, 1, 1], [0.0, 1.0, 2.0, 3.0, 4.0])
    made = mean_mechanism(prior, 0.5) if design == "mean" else quantile_mechanism(prior, 0.5, 0.5)
    cells = [0.5, None, 3.5, 9.0]
    columns = [
        pd.Series([0.5, np.nan, 3.5, 9.0], index=[7, 8, 9, 10], name="age"),
        pl.Series("age", cells),
        pa.array(cells),
        pa.chunked_array([cells]),
        cells,
    ]
    for column in columns:
        told = made.privatize(column, 1, missing="keep", clip=True)
        kind = "numpy" if isinstance(column, list) else type(column).__module__.split(".")[0]
        assert type(told).__module__.split(".")[0] == kind and len(told) == 4
        listed = told.to_pylist() if hasattr(told, "to_pylist") else list(told)
        assert [cell is None for cell in listed] == [False, True, False, False] or (
            pd.isna(listed).tolist() == [False, True, False, False]
        )
        with pytest.raises(ValueError, match="row 1: fill it"):
            made.privatize(column, 1, clip=True)
        with pytest.raises(ValueError, match="outside"):
            made.privatize(column, 1, missing="keep")
    assert made.privatize(columns[0], 1, "keep", True).name == "age_released"
    assert (
        made.privatize(np.array([0.5, 3.5]), 1).tolist() == made.privatize([0.5, 3.5], 1).tolist()
    )
