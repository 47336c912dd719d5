"""Costs, gains, covariates and noise carry a unit; no answer depends on it."""

import re
import warnings
from fractions import Fraction

import numpy as np
import pytest

import pmlbook as pb
from pmlbook.numerics.linear_programmes import Infeasible
from pmlbook.record_design import cutting_planes
from pmlbook.record_design.classical import rate_distortion
from pmlbook.record_design.game import blurred

RNG = np.random.default_rng(7)
PRIOR, GAIN = np.array([0.4, 0.3, 0.2, 0.1]), RNG.normal(size=(4, 5))
VERTICES = [[0.6, 0.3, 0.1], [0.3, 0.6, 0.1], [0.2, 0.2, 0.6]]
VALUES = np.array([1.0, 2.0, 5.0, 9.0])
REGION = pb.robust.box_region([40, 30, 20, 10])
NOISY = pb.Mechanism(pb.foundations.randomized_response(4, 1.5), PRIOR, outputs=range(4))
SECRET = RNG.integers(0, 4, 300)
RELEASED = NOISY.privatize(SECRET, RNG)
RESPONSE, AGE = SECRET + RNG.normal(size=300), RNG.normal(size=300)
TOLD = NOISY.estimate(RELEASED)
GROUPS = pb.estimation.two_way(NOISY, RELEASED, np.where(AGE > 0, "a", "b"))
TABLE = 1.0 - np.eye(2)


def bracket(design):
    """Value and bound, in the unit, and the mechanism."""
    return (design.value, design.bound), (design.mechanism.weights,)


def steps(found):
    """The steps of a frontier."""
    return [step.worst for step in found], [step.design.value for step in found]


def interval(found):
    """The numbers of an estimate, all in the unit."""
    return (found.value, found.standard_error, *found.interval(method="score")), ()


def slopes(fit, units):
    """Coefficients and covariance, times units."""
    return (), (fit.coefficients * units, fit.covariance * np.outer(units, units))


def plainly(unit):
    """A utility without a second form."""
    return pb.foundations.FInformation(lambda t: unit * (t - 1) ** 2)


def told_best(unit):
    """A variance is in the square of the unit."""
    design = pb.estimation_mechanism(PRIOR, 1.0, VALUES * unit)
    return (design.value / unit, design.bound / unit), (design.mechanism.weights,)


def quiet(unit):
    """A leakage at a distortion."""
    found = pb.leakage_distortion(
        pb.records.parity(3), 0.05 * unit, 1.5, distortion=TABLE * unit, tol=1e-3
    )
    return (found.distortion,), (found.value, found.bound, found.mechanism.weights)


def true(unit):
    """A distortion at a leakage."""
    limits = dict(distortion=TABLE * unit, tol=1e-3 * unit)
    found = pb.distortion_leakage(pb.records.parity(3), 0.4, 1.5, **limits)
    return (found.value, found.bound, found.distortion), (found.leakage, found.mechanism.weights)


def with_age(unit):
    """A constant, and an age in another unit."""
    return np.column_stack([np.ones(300), AGE * unit])


CASES = {
    "exponential": lambda u: ((), (pb.foundations.exponential(GAIN * u, 1.0, 2.0 * u),)),
    "gain": lambda u: bracket(
        pb.optimal_mechanism(PRIOR, 0.4, pb.foundations.ExpectedGain(GAIN * u))
    ),
    "function": lambda u: bracket(
        pb.optimal_mechanism(PRIOR, 0.4, lambda c: u * np.linalg.norm(c))
    ),
    "f-information": lambda u: bracket(pb.optimal_mechanism(PRIOR, 0.4, plainly(u))),
    "robust_mechanism": lambda u: bracket(
        pb.robust.robust_mechanism(REGION, 0.6, pb.foundations.ExpectedGain(GAIN * u))
    ),
    "expected_utility_mechanism": lambda u: bracket(
        pb.worst_case.expected_utility_mechanism(GAIN * u, PRIOR, 1.2, -0.9 * u)
    ),
    "min_leakage": lambda u: ((), sum(bracket(pb.min_leakage(GAIN * u, PRIOR, -0.9 * u)), ())),
    "frontier": lambda u: steps(pb.worst_case.worst_case_frontier(GAIN * u, PRIOR)),
    "estimation_mechanism": told_best,
    "estimation_variance": lambda u: (
        (pb.estimation.estimation_variance(NOISY, VALUES * u) / u,),
        (),
    ),
    "estimate": lambda u: interval(TOLD.of(VALUES * u)),
    "mean": lambda u: interval(GROUPS.mean(VALUES * u, "a")),
    "difference": lambda u: interval(GROUPS.difference(VALUES * u, "a", "b")),
    "response": lambda u: slopes(
        pb.estimation.regress(NOISY, RELEASED, RESPONSE * u), np.full(4, 1 / u)
    ),
    "feature": lambda u: slopes(
        pb.estimation.regress(NOISY, RELEASED, RESPONSE, VALUES * u, with_age(1)),
        [u, 1, 1],
    ),
    "covariate": lambda u: slopes(
        pb.estimation.regress(NOISY, RELEASED, RESPONSE, None, AGE[:, None] * u),
        [1, 1, 1, 1, u],
    ),
    "log odds": lambda u: slopes(
        pb.estimation.regress(NOISY, RELEASED, AGE > 0, VALUES * u, with_age(u)[:, :1], "logistic"),
        [u, 1],
    ),
    "of release": lambda u: slopes(
        pb.estimation.regress(NOISY, RELEASED, covariates=with_age(u)), [1, u] * 3
    ),
    "leakage_distortion": quiet,
    "distortion_leakage": true,
    "rate_distortion": lambda u: ((), rate_distortion(PRIOR, abs(GAIN) * u, 0.5 * u)),
}


def flat(parts):
    """All numbers of a nested answer."""
    return np.concatenate([np.ravel(np.asarray(x, dtype=float)) for x in parts] or [np.zeros(0)])


def said(case, unit):
    """What scales, in the unit; what does not; and the warnings."""
    with warnings.catch_warnings(record=True) as heard_:
        warnings.simplefilter("always")
        scaled, fixed = CASES[case](unit)
    return flat(scaled) / unit, flat(fixed), [warning.category for warning in heard_]


@pytest.mark.parametrize("case", CASES)
def test_a_unit_changes_nothing(case):
    first = said(case, 1.0)
    for unit in (2.0**-40, 2.0**-20, 2.0**40):
        found = said(case, unit)
        assert found[2] == first[2]
        for here, there in zip(found[:2], first):
            assert np.allclose(here, there, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("case", ["leakage_distortion", "distortion_leakage"])
def test_many_variables_in_another_unit(case, monkeypatch):
    monkeypatch.setattr(cutting_planes, "MAX_VARIABLES", 0)
    monkeypatch.setattr(cutting_planes, "MAX_ROUNDS", 3)
    first, found = said(case, 1.0), said(case, 2.0**-20)
    for here, there in zip(found, first):
        assert np.array_equal(here, there)


@pytest.mark.parametrize("unit", [2.0**-300, 2.0**-40, 2.0**300])
def test_bounds_in_any_unit(unit):
    whole = pb.distortion_leakage(pb.records.parity(3), 0.4, 1.5, distortion=TABLE, tol=1e-3)
    found = pb.distortion_leakage(
        pb.records.parity(3), 0.4, 1.5, distortion=TABLE * unit, tol=1e-3 * unit
    )
    assert Fraction(found.bound) <= Fraction(whole.bound) * Fraction(unit)
    assert Fraction(found.value) >= Fraction(whole.value) * Fraction(unit)
    assert Fraction(found.value) - Fraction(found.bound) <= Fraction(unit) * Fraction(1, 50)


@pytest.mark.parametrize("unit", [2.0**-60, 1.0, 2.0**60])
def test_what_no_mechanism_reaches(unit):
    costs = (TABLE + 1) * unit
    for D, reached in ((1 - 1e-9, False), (1 - 1e-14, True)):
        if reached:
            pb.leakage_distortion(pb.records.parity(1), D * unit, 0.0, distortion=costs, tol=1e-2)
            blurred(costs / 2, D * unit)
            continue
        with pytest.raises(Infeasible) as caught:
            pb.leakage_distortion(pb.records.parity(1), D * unit, 0.0, distortion=costs)
        said = re.fullmatch(
            r"D = (\S+) is below (\S+), the least distortion of all", str(caught.value)
        )
        asked, least = map(float, said.groups())
        assert asked == D * unit < least
        assert least == pytest.approx(unit, rel=1e-12, abs=0)  # the least entry of TABLE + 1 is 1
        with pytest.raises(Infeasible):
            blurred(costs / 2, D * unit)


def test_progress_is_reported_in_the_unit():
    told = []
    for unit in (1.0, 2.0**20):
        heard_ = []
        pb.distortion_leakage(
            pb.records.parity(3),
            0.4,
            1.5,
            distortion=TABLE * unit,
            tol=1e-3 * unit,
            progress=lambda value, bound, _: heard_.append((value / unit, bound / unit)),  # noqa: B023
        )
        told.append(heard_)
    assert told[0] == told[1]


OFF = np.abs(np.subtract.outer(range(4), range(4))).astype(float)


@pytest.mark.parametrize(
    ("barred", "views"),
    [
        (np.eye(4, k=3) > 0, {}),
        (OFF > 2, {"p0": np.full(8, 1 / 8)}),
        (np.eye(4, k=1) > 0, {"observes": pb.records.counting(3)}),
    ],
)
def test_one_cost_beyond_all_others(barred, views):
    """The largest cost does not change what the others are worth."""
    brackets, masses = [], np.array([1, 3, 3, 1]) / 8
    for never in (1e3, 1e8):
        table = np.where(barred, never, OFF)
        query, options = pb.records.counting(3), dict(b=1.5, distortion=table, **views)
        quiet = pb.leakage_distortion(query, D=0.2, tol=1e-5, **options)
        true = pb.distortion_leakage(query, L=quiet.value, tol=1e-5, **options)
        assert quiet.gap <= 1e-5 and true.gap <= 1e-5 and quiet.distortion <= 0.2
        assert true.bound <= 0.2 <= true.value + 1e-4
        told = quiet.mechanism.channel
        if len(told) == 8:
            told = np.stack(
                [told[pb.records.counting(3).table.ravel() == v].mean(axis=0) for v in range(4)]
            )
        spent = (masses[:, None] * told * table).sum()
        assert np.isclose(spent, quiet.distortion, rtol=1e-12, atol=0)
        brackets.append((quiet.bound, quiet.value))
    low, high = map(np.array, zip(*brackets))
    assert low.max() <= high.min()


@pytest.mark.parametrize("never", [1e3, 1e8])
def test_never_off_by_more_than_one(never):
    """The constant mechanism costs as much as what must never happen."""
    found = pb.leakage_distortion(
        pb.records.counting(3), 0.3, 1.0, distortion=np.where(OFF > 1, never, OFF)
    )
    assert found.gap <= 1e-6 and found.distortion <= 0.3
    costs = np.where(OFF > 1, never, OFF)[[0, 1, 1, 2, 1, 2, 2, 3]].reshape(2, 2, 2, 4) / 8
    assert (costs * blurred(costs, 0.3)).sum() <= 0.3 + 1e-12
    with pytest.raises(Infeasible):
        blurred(costs + 0.1, 0.3)


@pytest.fixture(scope="module")
def unpaid():
    """The two designs whose only cost is the distortion."""
    return pb.leakage_distortion(pb.records.counting(3), 0.3, 1.0), pb.distortion_leakage(
        pb.records.counting(3), 0.3, 1.0
    )


@pytest.mark.parametrize("base", [1.0, 1e3, 1e6])
def test_what_every_mechanism_costs(base, unpaid):
    first, again = unpaid
    found = pb.leakage_distortion(pb.records.counting(3), base + 0.3, 1.0, distortion=base + OFF)
    assert found.distortion <= base + 0.3 and found.gap <= 1e-6
    assert found.bound <= first.value and first.bound <= found.value
    told = pb.distortion_leakage(pb.records.counting(3), 0.3, 1.0, distortion=base + OFF)
    assert told.bound - base <= again.value and again.bound <= told.value - base


@pytest.mark.parametrize("D", [0.0, 1e-9, 1e-6, 0.3, 0.75 - 1e-9, 0.75])
def test_no_more_than_allowed(D):
    found = pb.leakage_distortion(pb.records.counting(3), D, 1.0)
    assert found.distortion <= D and found.gap <= 1e-6


@pytest.mark.parametrize("base", [0.0, 1.0, 0.1, 1e9])
def test_no_error_beyond_the_least(base):
    found = pb.leakage_distortion(pb.records.counting(3), base, 1.0, distortion=base + OFF)
    assert np.array_equal(found.mechanism.channel, np.eye(4)) and found.gap <= 1e-6 + 1e-12 * base
    blind = dict(
        observes=pb.records.parity(3), distortion=base + OFF
    )  # of four counts it sees two classes
    found = pb.leakage_distortion(pb.records.counting(3), base + 0.5, 1.0, **blind)
    assert np.isclose(found.distortion, base + 0.5, rtol=1e-12, atol=0)
    with pytest.raises(Infeasible, match="least distortion of all"):
        pb.leakage_distortion(pb.records.counting(3), base + 0.499, 1.0, **blind)


@pytest.mark.parametrize("never", [1e3, 1e12, 1e300])
def test_rates_beside_one_cost_beyond_all_others(never):
    costs = np.array([[0, 1, never], [1, 0, never]])
    found = rate_distortion([0.5, 0.5], costs, 0.3)
    truth = np.log(2) + 0.3 * np.log(0.3) + 0.7 * np.log(0.7)
    assert found.bound - 1e-12 <= truth <= found.value + 1e-12 and found.value - found.bound < 1e-7
    assert (found.channel * costs).sum() / 2 <= 0.3 + 1e-12
    with pytest.raises(Infeasible):
        rate_distortion([0.5, 0.5], costs + 0.4, 0.1)


@pytest.mark.parametrize("unit", [1.0, 1e3, 1e7, 1e-4])
@pytest.mark.parametrize("most", [0.0])
def test_no_unit_makes_a_contradiction_of_rounding(unit, most):
    """Where next to nothing may leak, planes are rounding, and a solver may find that they contradict each other."""
    found = pb.distortion_leakage(
        pb.records.counting(1), most, 0.0, distortion=unit * TABLE, max_time=1
    )
    assert found.leakage <= most
    assert found.bound <= found.value <= unit / 2
    assert found.value >= unit / 2 * (1 - 1e-6)
