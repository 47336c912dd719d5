"""Unusual but good input works: every kind of prior, one secret, the ends of epsilon, every boundary."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from public_names import PUBLIC

import pmlbook as pb
from pmlbook.audit.choosing_epsilon import largest_odds
from pmlbook.budget.composition import worst_joint_level
from pmlbook.numerics.validation import check_epsilon
from pmlbook.records.framework import record_information
from pmlbook.worst_case.leakage_rules import ldp_to_pml

FAIR, SKEW, FLIP = [0.5, 0.5], [0.5, 0.3, 0.2], [[0.75, 0.25], [0.25, 0.75]]
NAMED = pb.Mechanism(FLIP, FAIR, ("no", "yes"), ("n", "y"))


GOOD_PRIORS = {
    "list": [0.5, 0.25, 0.25],
    "tuple": (0.5, 0.25, 0.25),
    "array": np.array([0.5, 0.25, 0.25]),
    "float32": np.array([0.5, 0.25, 0.25], np.float32),
    "object": np.array([0.5, 0.25, 0.25], object),
    "series": pd.Series({"a": 0.5, "b": 0.25, "c": 0.25}),
    "strided": np.array([0.5, 9, 0.25, 9, 0.25])[::2],
}


@pytest.mark.parametrize("prior", GOOD_PRIORS.values(), ids=GOOD_PRIORS)
@pytest.mark.parametrize("epsilon", [0, 0.1, np.float32(0.5), 1])
def test_all_kinds_of_priors_agree(prior, epsilon):
    design = pb.optimal_mechanism(prior, epsilon)
    assert design.value == pb.optimal_mechanism([0.5, 0.25, 0.25], epsilon).value
    named = isinstance(prior, pd.Series)
    assert design.mechanism.inputs == (("a", "b", "c") if named else (0, 1, 2))


def test_single_precision_prior_that_does_not_sum_exactly():
    design = pb.optimal_mechanism(np.array([0.7, 0.2, 0.1], np.float32), 0.5)
    assert design.value == pytest.approx(pb.optimal_mechanism([0.7, 0.2, 0.1], 0.5).value, abs=1e-6)


def test_series_names_run_through():
    prior = pd.Series({"low": 0.5, "mid": 0.3, "high": 0.2})
    for mechanism in (
        pb.optimal_mechanism(prior, 0.4).mechanism,
        pb.extremal.high_privacy_mechanism(prior, 0.1),
        pb.Mechanism(np.eye(3), prior),
    ):
        assert mechanism.inputs == ("low", "mid", "high") == tuple(mechanism.to_frame().index)
        released = mechanism.privatize(pd.Series(["high", "low"]), np.random.default_rng(0))
        assert set(released) <= set(mechanism.outputs)


def test_one_secret():
    for epsilon in (0, 0.5, 10):
        for design in (pb.optimal_mechanism([1], epsilon), pb.optimal_mechanism([1.0], epsilon)):
            assert design.value == design.bound == design.mechanism.epsilon == 0
            assert design.mechanism.certify(0)
        assert pb.extremal.uniform_mechanism(1, epsilon).epsilon == 0
        assert pb.extremal.high_privacy_mechanism([1], epsilon).epsilon == 0
    assert pb.foundations.epsilon_max([1]) == 0 and pb.extremal.privacy_regions([1]).tolist() == [0]
    assert pb.foundations.mutual_information([[0.5, 0.5]], [1]) == pb.local_dp([[0.5, 0.5]]) == 0
    assert pb.optimal_mechanism(pd.Series({"only": 1.0}), 1).mechanism.inputs == ("only",)


PRIORS = [FAIR, [0.9, 0.1], SKEW, [0.25] * 4, [0.4, 0.2, 0.2, 0.2], [0.6, 0.25, 0.1, 0.04, 0.01]]


@pytest.mark.parametrize("prior", PRIORS, ids=str)
@pytest.mark.parametrize("method", ["auto", "enumeration"])
def test_epsilon_zero(prior, method):
    """At a level of 0 the reader learns nothing."""
    for epsilon in (0, -0.0):
        design = pb.optimal_mechanism(prior, epsilon, method=method)
        assert design.mechanism.certify(epsilon) and abs(design.value) < 1e-14
        assert np.ptp(design.mechanism.channel, axis=0).max() < 1e-14


@pytest.mark.parametrize("epsilon", [1e-40, 1e-300, 5e-324])
def test_tiny_epsilon_comes_to_an_end(epsilon):
    """A perfectly private mechanism keeps every level; otherwise `within` would search for ever."""
    assert pb.Mechanism([[1.0], [1.0]], FAIR).certify(epsilon)
    assert pb.optimal_mechanism(SKEW, epsilon).mechanism.certify(epsilon)


@pytest.mark.parametrize("prior", PRIORS, ids=str)
@pytest.mark.parametrize("method", ["auto", "enumeration"])
@pytest.mark.parametrize("more", [0, 1, 50, 1000, 1e6])
def test_epsilon_above_the_maximum_publishes_the_secret(prior, method, more):
    design = pb.optimal_mechanism(prior, pb.foundations.epsilon_max(prior) + more, method=method)
    assert design.value == pytest.approx(pb.foundations.entropy(prior), abs=1e-9)
    assert (design.mechanism.channel.max(axis=1) > 1 - 1e-9).all()


def test_any_finite_epsilon_can_be_certified():
    for epsilon in (1e3, 1e7, 1e308):
        assert pb.Mechanism(np.eye(2), FAIR).certify(epsilon)
        assert pb.extremal.uniform_mechanism(3, epsilon).certify(epsilon)


HAND_TYPED = [
    ([0.25] * 4, [0, np.log(4 / 3), np.log(2), np.log(4)]),
    ([0.4, 0.2, 0.2, 0.2], [0, -np.log(0.8), np.log(5 / 3), -np.log(0.4)]),
    (SKEW, [0, np.log(1.25), np.log(2)]),
    ([0.1, 0.9], [0, -np.log1p(-0.1)]),
    ([1 / 3] * 3, [0, np.log(3 / 2), np.log(3)]),
    ([0.7, 0.2, 0.1], [0, -np.log(0.9), np.log(10 / 7)]),
]


@pytest.mark.parametrize("prior, boundaries", HAND_TYPED, ids=lambda v: str(np.round(v, 3)))
def test_every_boundary(prior, boundaries):
    """A computed boundary belongs to the region that it opens; typed by hand it is decided exactly."""
    computed = pb.extremal.privacy_regions(prior)
    assert computed == pytest.approx(boundaries, abs=1e-15)
    for k, pair in enumerate(zip(computed, boundaries), start=1):
        for epsilon in pair:
            assert pb.extremal.privacy_region(prior, epsilon) == (
                k if epsilon >= computed[k - 1] else k - 1
            )
            assert k == 1 or pb.extremal.privacy_region(prior, epsilon - 1e-9) == k - 1
            for method in ("auto", "enumeration"):
                design = pb.optimal_mechanism(prior, epsilon, method=method)
                assert design.mechanism.certify(epsilon) and design.gap < 1e-9
    assert pb.extremal.high_privacy_mechanism(prior, boundaries[1]).epsilon == pytest.approx(
        boundaries[1]
    )


def test_whole_number_channels_and_empty_columns():
    identity = np.eye(2, dtype=int)
    assert pb.foundations.mutual_information(identity, FAIR) == pytest.approx(math.log(2))
    assert pb.epsilon_pml(identity.astype(bool), FAIR) == pytest.approx(math.log(2))
    assert pb.local_dp(identity) == math.inf
    gap = pb.Mechanism([[0.75, 0, 0.25], [0.25, 0, 0.75]], FAIR)
    assert np.isnan(gap.leakage).tolist() == [False, True, False]
    assert gap.epsilon == pb.epsilon_pml(FLIP, FAIR) and gap.certify(0.41) and not gap.certify(0.40)
    assert pb.local_dp(gap.channel) == pb.local_dp(FLIP)
    for name in ("mutual_information", "chi_square", "hellinger"):
        assert gap.utility(name) == pb.Mechanism(FLIP, FAIR).utility(name)
    assert set(gap.privatize([0, 1] * 20, np.random.default_rng(1)).tolist()) == {"r0", "r2"}


CALLS = {
    "prior": (lambda p: pb.foundations.mutual_information(FLIP, p), np.array(FAIR)),
    "channel": (lambda c: pb.foundations.mutual_information(c, FAIR), np.array(FLIP)),
    **{
        door: (PUBLIC[door], np.array(FAIR))
        for door in ("entropy", "epsilon_max", "privacy_regions")
    },
    "local_dp": (pb.local_dp, np.array(FLIP)),
    "maximal_leakage": (pb.maximal_leakage, np.array(FLIP)),
    "lift": (lambda c: pb.pointwise_maximal_leakage(c, FAIR), np.array(FLIP)),
    "randomized_response_for_pml": (
        lambda p: pb.extremal.randomized_response_for_pml(p, 0.1),
        np.array(SKEW),
    ),
    "binary": (lambda p: pb.extremal.binary_mechanism(p, 0.1), np.array(FAIR)),
    "high_privacy": (lambda p: pb.extremal.high_privacy_mechanism(p, 0.1), np.array(SKEW)),
    "optimal": (lambda p: pb.optimal_mechanism(p, 0.1), np.array(SKEW)),
    "enumeration": (lambda p: pb.optimal_mechanism(p, 0.4), np.array(SKEW)),
    "exponential": (lambda u: pb.foundations.exponential(u, 1, 1), np.array(FLIP)),
    "gain": (
        lambda g: pb.Mechanism(FLIP, FAIR).utility(pb.foundations.ExpectedGain(g)),
        np.array(FLIP),
    ),
    "privatize": (NAMED.privatize, np.array(["no", "yes"])),
    "estimate": (NAMED.estimate, np.array(["n", "y"])),
}


@pytest.mark.parametrize("call, array", CALLS.values(), ids=CALLS)
@pytest.mark.parametrize("writeable", [True, False])
def test_inputs_are_never_modified(call, array, writeable):
    given = array.copy()
    given.flags.writeable = writeable
    call(given)
    assert (given == array).all() and given.flags.writeable == writeable


def test_a_mechanism_keeps_its_own_copy():
    channel, prior = np.array(FLIP), np.array(FAIR)
    mechanism = pb.Mechanism(channel, prior)
    channel[0], prior[0] = 0, 0
    assert mechanism.channel.tolist() == FLIP and mechanism.prior.tolist() == FAIR
    with pytest.raises(ValueError, match="read-only"):
        mechanism.channel[0, 0] = 1


def test_what_lies_elsewhere_in_memory_has_the_same_worst_leakage():
    rng = np.random.default_rng(5)
    channel, region = rng.dirichlet(np.ones(9), 70), pb.robust.box_region(rng.integers(50, 400, 70))
    backwards = np.ascontiguousarray(channel[::-1])[::-1]
    for same in (np.asfortranarray(channel), backwards):
        assert np.array_equal(
            pb.robust.worst_leakage(same, region), pb.robust.worst_leakage(channel, region)
        )


@pytest.mark.parametrize("truth", [True, False, np.True_])
@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: pb.records.counting(x), "n must be a whole number, got"),
        (
            lambda x: record_information(np.eye(4), np.full((2, 2), 0.25), x),
            "record must be a whole",
        ),
        (lambda x: pb.optimal_mechanism(FAIR, x), "epsilon must be a number of nats, got"),
        (lambda x: pb.robust.prior_from_counts([x, True]), "counts are truth values, not counts"),
    ],
)
def test_a_truth_value_is_no_number(call, message, truth):
    with pytest.raises(ValueError, match=message):
        call(truth)


# what lies between two floats, and what is hidden


@pytest.mark.parametrize("kind", [Fraction, Decimal, np.longdouble])
@pytest.mark.parametrize("text", ["0.1", "0.3", "0.7", "1e-400"])
def test_a_level_between_floats_is_kept_and_a_promise_is_not_exceeded(kind, text):
    given = kind(text)
    exact = Fraction(*given.as_integer_ratio())
    assert Fraction(check_epsilon(given)) <= exact <= Fraction(check_epsilon(given, up=True))
    assert check_epsilon(float(given)) == check_epsilon(float(given), up=True) == float(given)


def test_no_design_exceeds_a_level_in_fractions():
    for k in range(1, 400, 6):
        level = Fraction(k, 997)
        made = pb.optimal_mechanism([0.7, 0.3], level).mechanism
        assert Fraction(check_epsilon(level)) <= level and made.certify(level)


HIDDEN = np.ma.array([0.5, 0.2, 0.3], mask=[False, False, True])
HIDDEN_ROWS = np.ma.array(np.eye(2), mask=[[False, False], [False, True]])
MASKED = {
    "prior": lambda: pb.optimal_mechanism(HIDDEN, 0.4),
    "channel": lambda: pb.epsilon_pml(HIDDEN_ROWS, [0.5, 0.5]),
    "counts": lambda: pb.robust.box_region(np.ma.array([5, 9], mask=[0, 1])),
    "target": lambda: pb.estimation_mechanism([0.2, 0.3, 0.5], 0.4, HIDDEN),
}


@pytest.mark.parametrize("name, call", MASKED.items(), ids=MASKED)
def test_a_masked_number_is_missing(name, call):
    with pytest.raises(ValueError, match=rf"^{name}\[.*\] = nan is not finite"):
        call()


def test_a_masked_value_is_in_the_group_none():
    flip = pb.Mechanism([[0.7, 0.3], [0.2, 0.8]], [0.5, 0.5])
    hidden = np.ma.array(["a", "b"] * 20, mask=[True] + [False] * 39)
    first, second = (
        pb.estimation.two_way(flip, ["r0", "r1"] * 20, column)
        for column in (hidden, [None, *hidden.tolist()[1:]])
    )
    assert first == second


@pytest.mark.parametrize("options", [{"tol": "x"}, {"tol": math.nan}, {"tol": -1.0},
                                     {"max_time": "1"}, {"max_time": True}])  # fmt: skip
@pytest.mark.parametrize("call", [pb.optimal_mechanism, pb.estimation_mechanism])
def test_a_tolerance_and_a_limit_are_numbers(call, options):
    with pytest.raises(ValueError, match=f"^{next(iter(options))} "):
        call([0.5, 0.5], 0.3, **options)


def between():
    """A fraction just below a float, above the one before it."""
    above = math.nextafter(0.3, 1)
    return Fraction(above) - Fraction(1, 10**30), above


def test_what_others_promise_is_never_rounded_down():
    given, above = between()
    assert pb.budget.composed_level(given) == above
    assert worst_joint_level([0.5, 0.5], given, 0) >= above
    assert largest_odds(given, 0) >= above
    assert ldp_to_pml([0.5, 0.5], given) == ldp_to_pml([0.5, 0.5], above)


@pytest.mark.parametrize("given", [
    Fraction(-1, 10**400), Decimal("-1e-400"), Fraction(10**400), Decimal("inf"), np.array(math.nan)
])  # fmt: skip
@pytest.mark.parametrize("up", [False, True])
def test_levels_below_zero_and_beyond_floats_are_refused(given, up):
    with pytest.raises(ValueError, match="^epsilon"):
        check_epsilon(given, up=up)


def test_ends_of_what_floats_hold():
    largest = np.finfo(float).max
    assert check_epsilon(Fraction(largest) + 1) == largest
    with pytest.raises(ValueError, match="^epsilon = inf must be finite"):
        check_epsilon(Fraction(largest) + 1, up=True)
    assert check_epsilon(Decimal("1e-20000000")) == 0
    assert check_epsilon(np.int64(2**53 + 3)) == 2**53 + 2


ROW = [HIDDEN_ROWS[0], HIDDEN_ROWS[1]]


@pytest.mark.parametrize("call", [
    lambda: pb.epsilon_pml(ROW, [0.5, 0.5]),
    lambda: pb.Mechanism(ROW, [0.5, 0.5]),
    lambda: pb.foundations.ExpectedGain(ROW),
    lambda: pb.optimal_mechanism([0.5, np.ma.masked, 0.5], 1.0),
])  # fmt: skip
def test_masked_rows_in_a_list_are_missing(call):
    with pytest.raises(ValueError, match="= nan is not finite"):
        call()


@pytest.mark.parametrize("size", [np.int64(5), np.uint8(5)])
def test_counts_of_numpy_are_counts(size):
    assert pb.records.counting(size).n_values == 6


@pytest.mark.parametrize("limit", [np.True_, bytearray(b"3"), "1", [1]])
def test_a_limit_that_is_no_number_is_refused(limit):
    with pytest.raises(ValueError, match="^max_time = "):
        pb.optimal_mechanism([0.5, 0.5], 0.3, max_time=limit)
