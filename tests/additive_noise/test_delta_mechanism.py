"""Mechanisms that may fail: the promise is never exceeded, the ends are the known ones, and results travel."""

import copy
import pickle
import warnings
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from pmlbook import InvalidPrior, LooseBound, optimal_mechanism
from pmlbook.budget.leakage_variable import leakage_distribution
from pmlbook.extremal.delta import DeltaDesign, delta_mechanism, exposure
from pmlbook.foundations.probability import entropy
from pmlbook.foundations.utility import NAMED, ExpectedGain
from pmlbook.release.mechanism import Mechanism

PRIOR = [Fraction(6, 10), Fraction(3, 10), Fraction(1, 10)]


def spent(design):
    """The exact probability of an outcome beyond the level, counted anew from the stored whole numbers."""
    lifts = leakage_distribution(design.mechanism)
    return lifts.tail(design.epsilon)


PRIORS = {
    "one in a hundred million": [1e-8, 0.3, 0.7 - 1e-8],
    "two rare ones": [1e-8, 1e-8, 0.5, 0.5 - 2e-8],
    "equal": [0.25] * 4,
    "ties": [0.1, 0.1, 0.4, 0.4],
    "two": [0.9, 0.1],
    "one": [1.0],
    "fractions": PRIOR,
}
DELTAS = [0, Fraction(1, 10**12), 1e-8, Fraction(1, 100), 0.3, 1 - 2.0**-53, 1]


@pytest.mark.parametrize("each", [False, True])
@pytest.mark.parametrize("prior", PRIORS.values(), ids=PRIORS)
def test_the_promise_is_kept_to_the_last_digit(prior, each):
    for epsilon, delta in product((0, 1e-6, np.log(2)), DELTAS):
        design = delta_mechanism(prior, epsilon, delta, each=each)
        assert design.tail == spent(design) <= delta and design.gap < 1e-9
        assert not each or max(design.exposure) <= delta
        assert design.mechanism.channel.shape[1] <= 2 * len(prior)


@pytest.mark.parametrize("name", [*NAMED])
def test_ends_are_the_optimum_and_publishing(name):
    utility, prior = NAMED[name], np.array([0.5, 0.3, 0.15, 0.05])
    start, end = (delta_mechanism(prior, 0.4, delta, name) for delta in (0, 1))
    known = optimal_mechanism(prior, 0.4, name)
    assert start.mechanism == known.mechanism and start.bound == known.bound
    assert start.slope is None and start.tail == 0
    assert end.method == "publishing" and end.slope == 0
    assert end.value == pytest.approx(utility(np.eye(4), prior), abs=1e-12)
    assert end.value <= end.bound <= end.value + 1e-9
    near = delta_mechanism(prior, 0.4, 1e-9, name)
    assert known.value <= near.bound <= known.bound + 1e-9 * near.slope + 1e-12


@pytest.mark.parametrize("rare", [[1e-12], [2e-12, 1e-12]])
@pytest.mark.parametrize("delta", [1e-8, 0.01, 0.3])
def test_secrets_rarer_than_a_solver_sees_leave_no_gap(rare, delta):
    """The bound was .29 nats above the value: publishing that secret seemed worth 30 nats a unit."""
    design = delta_mechanism([*rare, 0.3, 0.7 - sum(rare)], 0.3, delta)
    without = delta_mechanism([0.3, 0.7], 0.3, delta)
    assert design.gap < 1e-9 and abs(design.value - without.value) < 1e-9


@pytest.mark.parametrize("rare", [1e-9, 1e-12])
@pytest.mark.parametrize("name", [*NAMED])
def test_the_bound_of_publishing_rare_secrets_is_tight(name, rare):
    """That of chi-square was 2.05 for a rare secret, where publishing is worth 2: its worth was rounded."""
    design = delta_mechanism([rare, 0.3, 0.7 - rare], 0.5, 1, name)
    assert design.method == "publishing" and design.value <= design.bound
    assert design.gap <= 1e-12 * design.value


def test_many_secrets_of_chi_square_are_worth_their_number_less_one():
    prior = np.random.default_rng(0).dirichlet(np.full(80, 0.3)) + 1e-14
    design = delta_mechanism(prior / prior.sum(), 0.5, 1, "chi_square")
    assert design.method == "publishing" and abs(design.bound - 79) < 1e-9


@pytest.mark.parametrize("utility", ["chi_square", "mutual_information", "total_variation"])
def test_a_gap_at_very_rare_secrets_is_told(utility):
    """Two secrets of 1e-12 at 20 nats: a solver's ten digits lose a publication that is most of the value."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        design = delta_mechanism([1e-12, 2e-12, 1 - 3e-12], 20, 1e-13, utility)
    assert design.value <= design.bound and design.tail <= Fraction(1, 10**13)
    assert design.gap < 1e-6 * design.bound or [w.category for w in told] == [LooseBound]


@pytest.mark.parametrize("odd", ["no", 1, None])
def test_each_is_a_flag(odd):
    with pytest.raises(ValueError, match="each must be True or False"):
        delta_mechanism(PRIOR, 0.5, 0.1, each=odd)


def test_publishing_needs_the_probability_of_the_protected_secrets():
    full = Fraction(4, 10)  # of those below e^-0.6 = 0.549
    assert delta_mechanism(PRIOR, 0.6, full).method == "publishing"
    below = delta_mechanism(PRIOR, 0.6, full - Fraction(1, 10**6))
    assert below.method == "enumeration" and below.bound < entropy([0.6, 0.3, 0.1])


def test_a_delta_below_every_float_publishes_no_secret():
    for epsilon, delta, each in product((0, 0.4), (Fraction(1, 10**400), 1e-320), (False, True)):
        design = delta_mechanism(PRIOR, epsilon, delta, each=each)
        assert spent(design) == 0 and design.gap < 1e-12 and 0 < design.slope < 3
        assert design.bound >= optimal_mechanism(PRIOR, epsilon).value


def test_at_level_zero_everybody_is_published_alike():
    for each in (False, True):
        design = delta_mechanism(PRIOR, 0, Fraction(1, 4), each=each)
        assert design.value == pytest.approx(entropy([0.6, 0.3, 0.1]) / 4, abs=1e-9)


def test_fourteen_secrets_leave_no_gap_and_nineteen_are_refused():
    prior = np.random.default_rng(14).dirichlet(np.ones(14))
    for each in (False, True):
        design = delta_mechanism(prior, 0.5, 0.01, each=each)
        assert design.gap < 1e-11 and spent(design) <= 0.01
    hurried = delta_mechanism(prior, 0.5, 0.01, max_time=0)
    assert spent(hurried) <= 0.01 and hurried.value <= design.value <= hurried.bound
    with pytest.raises(ValueError, match="19 symbols, too many to list"):
        delta_mechanism(np.full(19, 1 / 19), 0.5, 0.1)


def test_names_go_with_the_secrets():
    named = dict(zip(("healthy", "flu", "rare"), PRIOR))
    design = delta_mechanism(named, 0.4, Fraction(1, 50))
    assert design.mechanism.inputs == tuple(named) and design.mechanism.exact_prior == (*PRIOR,)
    assert design.exposure == exposure(design.mechanism, 0.4)
    assert design.exposure[2] > Fraction(1, 10)  # the rare one bears it
    with pytest.raises(ValueError, match="different names"):
        delta_mechanism(named, 0.4, 0.1, ExpectedGain(np.eye(3), inputs=("a", "b", "c")))


def test_it_travels():
    design = delta_mechanism(PRIOR, 0.4, Fraction(1, 50))
    for same in (copy.deepcopy(design), pickle.loads(pickle.dumps(design))):
        assert type(same) is DeltaDesign and same == design and same.tail == design.tail
        assert same.delta == Fraction(1, 50) and repr(same) == repr(design)
    certificate = design.mechanism.certify(3)
    back = Mechanism.from_certificate(type(certificate).from_json(certificate.to_json()))
    assert exposure(back, 0.4) == design.exposure and back == design.mechanism
    assert not design.mechanism.certify(0.4) and "up to" in repr(design)
    assert design._repr_html_()


@pytest.mark.parametrize(
    "given, said",
    [
        (dict(epsilon=-1), "epsilon = -1"),
        (dict(epsilon=np.nan), "epsilon = nan"),
        (dict(delta=-0.1), "delta = -0.1"),
        (dict(delta=1.5), "delta = 1.5 must be between 0 and 1"),
        (dict(delta="half"), "delta must be a number"),
        (dict(utility="information"), "information"),
        (dict(max_time=-1), "max_time"),
        (dict(prior=[0.5, 0.6]), "prior"),
        (dict(prior=[1.0, 0.0]), "prior"),
    ],
)
def test_bad_input_is_told(given, said):
    call = dict(prior=[0.5, 0.5], epsilon=0.5, delta=0.1) | given
    with pytest.raises(ValueError, match=said) as refused:
        delta_mechanism(**call)
    assert ("prior" in given) == isinstance(refused.value, InvalidPrior)


def test_no_bound_exceeds_what_publishing_is_worth():
    prior = [1e-12, 0.125, 0.375, 0.5]
    design = delta_mechanism(prior, np.log(2), 0.9)
    assert design.value <= design.bound <= entropy(prior) + 1e-9
    assert design.tail == spent(design) <= 0.9


@pytest.mark.parametrize("epsilon", [0.0])
@pytest.mark.parametrize("delta", [0.118, 0.119, 0.1189508346])
def test_almost_no_level_leaves_the_erasure_channel(epsilon, delta):
    """Rounding breaks equal rows at a level of 0; publishing with probability delta keeps them."""
    prior = [0.2403734312626, 0.1189508346093, 0.2655264128288, 0.2046646346019, 0.1704846866974]
    design = delta_mechanism(prior, epsilon, delta)
    assert design.tail <= Fraction(delta)
    assert 0.185 < design.bound - 1e-9 < design.value <= design.bound
