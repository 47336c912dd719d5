"""The report on a functional: its variance, for any size that a float can square."""

import numpy as np
import pytest
from refusals import refusal

from pmlbook.foundations.classic import randomized_response
from pmlbook.release.estimation import Estimate
from pmlbook.release.mechanism import Mechanism

truth = np.array([0.6, 0.3, 0.1])


noisy, names = randomized_response(3, 0.7), ("healthy", "flu", "rare")


def test_a_functional_is_estimated_with_its_variance():
    counts = np.random.default_rng(8).multinomial(1000, truth @ noisy).astype(float)
    told = Estimate.from_counts(names, noisy, counts, truth)
    for goal in ([0, 1, 1], [1, 0, -1], [1e100, 0, 0], [0, 1e-100, 0], [0, 0, 0]):
        one = told.of(goal)
        assert np.isclose(
            one.standard_error**2, np.array(goal) @ told.covariance @ goal, rtol=1e-12
        )
        assert np.isclose(one.value, told.frequencies @ goal, rtol=1e-12)
    for goal in ([1.5e100, 0, 0], [0, 0.9e-100, 0], [0, -1e-200, 1e-300]):
        assert "rescale it" in refusal(told.of, goal)
    assert told.of([0, 1, 1]).interval() == told.of([0, 1, 1]).interval(0.95, "exact")
    assert (told.interval() == told.interval(0.95)).all()
    assert not refusal(told.of([0, 1, 1]).interval, 0.5)
    assert "0.9" in refusal(told.of([0, 1, 1]).interval, 0.5, "score")


@pytest.mark.parametrize(
    "counts, said",
    [([1.0], "shape"), ([-10, 20], "at least 0"), ([0, 0], "all 0"), ([[1, 2]], "counts")],
)
def test_counts_are_checked(counts, said):
    even = np.array([0.5, 0.5])
    with pytest.raises(ValueError, match=said):
        Estimate.from_counts((0, 1), np.array([[0.8, 0.2], [0.2, 0.8]]), counts, even)


def test_an_estimate_prints_its_names_and_its_frame_holds_intervals():
    made = Mechanism([[0.75, 0.25], [0.25, 0.75]], [0.5, 0.5], ("no", "yes"))
    found = made.estimate(["r0"] * 60 + ["r1"] * 40)
    assert repr(found) == "Estimate('no' 0.7000 ± 0.0980, 'yes' 0.3000 ± 0.0980; 100 values)"
    table = found.to_frame(0.9, "score")
    assert list(table.index) == ["no", "yes"]
    assert np.array_equal(table[["low", "high"]], found.interval(0.9, "score"))
    assert np.array_equal(table["standard error"], found.standard_errors)
    many = Mechanism(np.eye(12), [1 / 12] * 12, outputs=range(12)).estimate(range(12))
    assert "... 12 in all; 12 values)" in repr(many)
