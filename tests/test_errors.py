"""Every public function refuses bad input, and the error names the argument, the place and the value."""

import math
import warnings

import numpy as np
import pandas as pd
import pytest
from public_names import PUBLIC

import pmlbook as pb

EYE, FAIR, SKEW = np.eye(2), [0.5, 0.5], [0.5, 0.3, 0.2]
FLIP = [[0.75, 0.25], [0.25, 0.75]]
NAMED = pb.Mechanism(FLIP, FAIR, ("no", "yes"), ("n", "y"))


def table(doors, inputs):
    """Every door with every bad input, as pytest parameters (call, argument, message)."""
    return [
        pytest.param(call, value, message, id=f"{door}-{why}")
        for door, call in doors.items()
        for why, (value, message) in inputs.items()
    ]


PRIOR_DOORS = {
    "mutual_information": lambda p: pb.foundations.mutual_information(EYE, p),
    "pointwise_maximal_leakage": lambda p: pb.pointwise_maximal_leakage(EYE, p),
    "epsilon_pml": lambda p: pb.epsilon_pml(EYE, p),
    "epsilon_max": pb.foundations.epsilon_max,
    "privacy_regions": pb.extremal.privacy_regions,
    "privacy_region": lambda p: pb.extremal.privacy_region(p, 0.1),
    "randomized_response_for_pml": lambda p: pb.extremal.randomized_response_for_pml(p, 0.1),
    "binary_mechanism": lambda p: pb.extremal.binary_mechanism(p, 0.1),
    "high_privacy_mechanism": lambda p: pb.extremal.high_privacy_mechanism(p, 0.1),
    "optimal_mechanism": lambda p: pb.optimal_mechanism(p, 0.1),
    "Mechanism": lambda p: pb.Mechanism(EYE, p),
}
BAD_PRIORS = {
    "negative": ([-0.5, 1.5], r"prior\[0\] = -0\.5 is negative"),
    "nan": ([0.5, math.nan], r"prior\[1\] = nan is not finite"),
    "inf": ([math.inf, 0.5], r"prior\[0\] = inf is not finite"),
    "sum-low": ([0.5, 0.4], r"prior sums to 0\.9, not to 1"),
    "sum-high": ([0.5, 0.500001], r"prior sums to 1\.000001, not to 1"),
    "two-dimensional": ([[0.5, 0.5]], r"prior must have 1 dimension.*\(1, 2\)"),
    "number": (0.5, r"prior must have 1 dimension.*\(\)"),
    "ragged": ([[0.5], [0.25, 0.25]], r"prior must hold real numbers.*\[\[0\.5\]"),
    "empty": ([], r"prior is empty"),
    "word": ("half", r"prior must hold real numbers.*'half'"),
    "words": (["half", "half"], r"prior must hold real numbers.*'half'"),
    "digits": (["0.5", "0.5"], r"prior must hold real numbers.*'0\.5'"),
    "none": (None, r"prior.*None"),
    "with-none": ([0.5, None], r"prior\[1\]|prior.*None"),
    "complex": ([0.5 + 0j, 0.5], r"prior must hold real numbers.*0j"),
    "dict": ({"a": 0.5, "b": "half"}, r"prior must hold real numbers.*'half'"),
    "zero": ([1.0, 0.0], r"prior\[1\] = 0: drop .* or merge"),
    "zero-named": (pd.Series({"a": 1.0, "b": 0.0}), r"prior\['b'\] = 0: drop .* or merge"),
    "counts": ([3, 5], r"prior sums to 8.*divided by their sum, see .*_from_counts"),
    "float-counts": (np.array([30.0, 50.0]), r"prior sums to 80.*divided by their sum"),
    "huge": ([1e308, 1e308], r"prior"),
}


@pytest.mark.parametrize("call, value, message", table(PRIOR_DOORS, BAD_PRIORS))
def test_bad_prior(call, value, message):
    with pytest.raises(pb.InvalidPrior, match=message):
        call(value)


ENTROPY = {k: (v, m.replace("prior", "p")) for k, (v, m) in BAD_PRIORS.items() if "zero" not in k}


@pytest.mark.parametrize(
    "call, value, message", table({"entropy": pb.foundations.entropy}, ENTROPY)
)
def test_bad_distribution(call, value, message):
    with pytest.raises(pb.InvalidPrior, match=message):
        call(value)


CHANNEL_DOORS = {
    "mutual_information": lambda c: pb.foundations.mutual_information(c, FAIR),
    "pointwise_maximal_leakage": lambda c: pb.pointwise_maximal_leakage(c, FAIR),
    "epsilon_pml": lambda c: pb.epsilon_pml(c, FAIR),
    "maximal_leakage": pb.maximal_leakage,
    "local_dp": pb.local_dp,
    "Mechanism": lambda c: pb.Mechanism(c, FAIR),
}
BAD_CHANNELS = {
    "negative": ([[1, 0], [1.5, -0.5]], r"channel\[1, 1\] = -0\.5 is negative"),
    "nan": ([[1, 0], [math.nan, 1]], r"channel\[1, 0\] = nan is not finite"),
    "inf": ([[math.inf, 0], [0, 1]], r"channel\[0, 0\] = inf is not finite"),
    "sum": ([[1, 0], [0.5, 0.4]], r"row 1 of channel sums to 0\.9, not to 1"),
    "one-dimensional": ([0.5, 0.5], r"channel must have 2 dimension.*\(2,\)"),
    "three-dimensional": ([[[1.0]], [[1.0]]], r"channel must have 2 dimension.*\(2, 1, 1\)"),
    "ragged": ([[1, 0], [1]], r"channel must hold real numbers.*\[1\]"),
    "empty": ([], r"channel.*\(0,\)"),
    "no-columns": ([[], []], r"channel is empty: shape \(2, 0\)"),
    "word": ("noise", r"channel must hold real numbers.*'noise'"),
    "digits": ([["1", "0"], ["0", "1"]], r"channel must hold real numbers.*'1'"),
    "none": (None, r"channel.*None"),
    "complex": ([[1 + 0j, 0], [0, 1]], r"channel must hold real numbers.*0j"),
    "counts": ([[3, 5], [4, 4]], r"row 0 of channel sums to 8.*divided by their sum"),
    "huge": ([[1e308, 1e308], [0, 1]], r"channel"),
}


@pytest.mark.parametrize("call, value, message", table(CHANNEL_DOORS, BAD_CHANNELS))
def test_bad_channel(call, value, message):
    with pytest.raises(pb.InvalidChannel, match=message):
        call(value)


@pytest.mark.parametrize("door", ["mutual_information", "epsilon_pml", "Mechanism"])
def test_mismatched_shapes(door):
    with pytest.raises(pb.InvalidChannel, match="channel has 2 rows, but there are 3 symbols"):
        PUBLIC[door](FLIP, SKEW)
    with pytest.raises(pb.InvalidPrior, match=r"prior must have 1 dimension.*\(2, 2\)"):
        PUBLIC[door](FAIR, FLIP)


EPSILON_DOORS = {
    "privacy_region": lambda e: pb.extremal.privacy_region(SKEW, e),
    "randomized_response": lambda e: pb.foundations.randomized_response(3, e),
    "randomized_response_for_pml": lambda e: pb.extremal.randomized_response_for_pml(SKEW, e),
    "geometric": lambda e: pb.foundations.geometric(3, e),
    "exponential": lambda e: pb.foundations.exponential(EYE, e, 1),
    "laplace_threshold": pb.foundations.laplace_threshold,
    "binary_mechanism": lambda e: pb.extremal.binary_mechanism(FAIR, e),
    "high_privacy_mechanism": lambda e: pb.extremal.high_privacy_mechanism(SKEW, e),
    "uniform_mechanism": lambda e: pb.extremal.uniform_mechanism(3, e),
    "optimal_mechanism": lambda e: pb.optimal_mechanism(SKEW, e),
    "certify": NAMED.certify,
    "within": NAMED.within,
}
BAD_EPSILONS = {
    "negative": (-0.1, r"epsilon = -0\.1 must be finite and at least 0"),
    "nan": (math.nan, r"epsilon = nan must be finite"),
    "inf": (math.inf, r"epsilon = inf must be finite"),
    "none": (None, r"epsilon must be a number of nats, got None"),
    "word": ("low", r"epsilon must be a number of nats, got 'low'"),
    "digits": ("0.5", r"epsilon must be a number of nats, got '0\.5'"),
    "complex": (1j, r"epsilon must be a number of nats, got 1j"),
    "list": ([0.1, 0.2], r"epsilon must be a number of nats, got \[0\.1"),
    "googol": (10**400, r"epsilon"),
}


@pytest.mark.parametrize("call, value, message", table(EPSILON_DOORS, BAD_EPSILONS))
def test_bad_epsilon(call, value, message):
    with pytest.raises(ValueError, match=message):
        call(value)


COUNT_DOORS = {
    "randomized_response": lambda n: pb.foundations.randomized_response(n, 1),
    "geometric": lambda n: pb.foundations.geometric(n, 1),
    "uniform_mechanism": lambda n: pb.extremal.uniform_mechanism(n, 1),
    "binary_symmetric": lambda m: pb.foundations.binary_symmetric(0.1, m),
}
BAD_COUNTS = {
    "zero": (0, r"\b[nm] = 0 must be"),
    "negative": (-2, r"\b[nm] = -2 must be"),
    "half": (1.5, r"\b[nm]\b.*must be.*whole|whole.*1\.5"),
    "float": (3.0, r"\b[nm] must be a whole number, got 3\.0"),
    "nan": (math.nan, r"\b[nm] must be a whole number, got nan"),
    "inf": (math.inf, r"\b[nm] must be a whole number, got inf"),
    "none": (None, r"\b[nm] must be a whole number, got None"),
    "digits": ("3", r"\b[nm]\b.*'3'"),
    "one-more": (16385, r"\b[nm] = 16385 must be at most 16384"),
    "table-beyond-memory": (10**6, r"\b[nm] = 1000000 must be at most 16384"),
    "beyond-arrays": (10**29, r"\b[nm] = 1000.* must be at most 16384"),
}


@pytest.mark.parametrize("call, value, message", table(COUNT_DOORS, BAD_COUNTS))
def test_bad_count(call, value, message):
    with pytest.raises(ValueError, match=message):
        call(value)


def optimal(utility="chi_square", method="auto", prior=SKEW, **options):
    return pb.optimal_mechanism(prior, 0.4, utility, method, **options)


WRONG_GAIN, WRONG_LAW = pb.foundations.ExpectedGain(EYE), [0.2, 0.8]
OTHERS = {
    "binary-of-3": (
        lambda: pb.extremal.binary_mechanism(SKEW, 0.1),
        "prior has 3 symbols.*needs 2",
    ),
    "high-beyond": (
        lambda: pb.extremal.high_privacy_mechanism(SKEW, 0.3),
        r"epsilon = 0\.3 is beyond.*0\.22",
    ),
    "too-many": (
        lambda: optimal(np.linalg.norm, prior=np.arange(1, 20) / 190),
        "prior has 19 symbols.*limit is 18",
    ),
    "no-gain": (
        lambda: optimal(method="gain_programme"),
        "method 'gain_programme' needs an ExpectedGain, got 'chi_square'",
    ),
    "no-sum": (
        lambda: optimal(np.linalg.norm, method="column_generation"),
        "utility SubLinear is no FInformation",
    ),
    "negative-time": (
        lambda: optimal(method="column_generation", max_time=-1),
        "max_time = -1 must be a number of seconds",
    ),
    "utility-name": (lambda: optimal("mi"), "utility = 'mi' is none of mutual_information"),
    "utility-none": (lambda: optimal(None), "utility = None is none of"),
    "utility-list": (lambda: optimal([1]), r"utility = \[1\] is none of"),
    "utility-of-mechanism": (lambda: NAMED.utility("x"), "utility = 'x' is none of"),
    "utility-nan": (lambda: optimal(lambda column: math.nan), "utility is nan.*must be finite"),
    "utility-word": (lambda: optimal(lambda column: "x"), "utility.*'x'"),
    "utility-column": (lambda: optimal(lambda column: column), "utility"),
    "gain-rows": (lambda: optimal(WRONG_GAIN), "gain has 2 rows, but there are 3 symbols"),
    "method-name": (lambda: optimal(method="simplex"), "method = 'simplex' is none of auto"),
    "method-none": (lambda: optimal(method=None), "method = None is none of auto"),
    "no-formula": (lambda: optimal(method="closed_form"), "no closed form.*region 2"),
    "gain-nan": (
        lambda: pb.foundations.ExpectedGain([[math.nan]]),
        r"gain\[0, 0\] = nan is not finite",
    ),
    "gain-vector": (lambda: pb.foundations.ExpectedGain([1, 2]), r"gain must have 2 dim.*\(2,\)"),
    "gain-ragged": (lambda: pb.foundations.ExpectedGain([[1], [1, 2]]), "gain"),
    "gain-word": (lambda: pb.foundations.ExpectedGain("x"), "gain.*'x'"),
    "gain-complex": (lambda: pb.foundations.ExpectedGain([[1j]]), "gain.*1j"),
    "alpha-one": (
        lambda: pb.foundations.alpha_information(1),
        "alpha = 1 must be positive and not 1",
    ),
    "alpha-negative": (lambda: pb.foundations.alpha_information(-1), "alpha = -1 must be positive"),
    "alpha-nan": (
        lambda: pb.foundations.alpha_information(math.nan),
        "alpha = nan must be positive",
    ),
    "alpha-inf": (lambda: pb.foundations.alpha_information(math.inf), "alpha = inf must be"),
    "alpha-none": (lambda: pb.foundations.alpha_information(None), "alpha = None must be"),
    "f-word": (lambda: pb.foundations.FInformation("chi_square"), "f .*'chi_square'"),
    "p-high": (
        lambda: pb.foundations.binary_symmetric(1.5),
        r"p = 1.5 must be a number between 0 and 1",
    ),
    "p-nan": (
        lambda: pb.foundations.binary_symmetric(math.nan),
        "p = nan must be a number between 0 and 1",
    ),
    "p-none": (
        lambda: pb.foundations.binary_symmetric(None),
        "p = None must be a number between 0 and 1",
    ),
    "p-text": (
        lambda: pb.foundations.binary_symmetric("0.1"),
        "p = '0.1' must be a number between 0 and 1",
    ),
    "sensitivity": (
        lambda: pb.foundations.exponential(EYE, 1, 0),
        "sensitivity = 0 must be positive",
    ),
    "sensitivity-nan": (
        lambda: pb.foundations.exponential(EYE, 1, math.nan),
        "sensitivity = nan must be finite",
    ),
    "sensitivity-text": (
        lambda: pb.foundations.exponential(EYE, 1, "2"),
        "sensitivity must be a number, got '2'",
    ),
    "utilities-nan": (
        lambda: pb.foundations.exponential([[1, math.nan]], 1, 1),
        r"utilities\[0, 1\] = nan",
    ),
    "utilities-ragged": (
        lambda: pb.foundations.exponential([[1], [1, 2]], 1, 1),
        "utilities must hold real numbers",
    ),
    "utilities-empty": (
        lambda: pb.foundations.exponential([], 1, 1),
        r"utilities must have 2 dim.*\(0,\)",
    ),
    "names-few": (lambda: pb.Mechanism(EYE, FAIR, ("a",)), r"inputs must be 2 .*\('a',\)"),
    "names-many": (lambda: pb.Mechanism(EYE, FAIR, outputs="abc"), "outputs must be 2 .*'c'"),
    "names-twice": (lambda: pb.Mechanism(EYE, FAIR, ("a", "a")), "inputs must be 2 different"),
    "names-index": (
        lambda: pb.Mechanism(EYE, pd.Series(FAIR, ["a", "a"])),
        "names of prior must be 2 diff",
    ),
    "names-lists": (lambda: pb.Mechanism(EYE, FAIR, ([1], [2])), "inputs.*hashable|inputs.*names"),
    "values-unknown": (
        lambda: NAMED.privatize(["no", "?"]),
        r"values holds a value \(str\) in row 1.*\['no', 'yes'\]",
    ),
    "values-case": (
        lambda: NAMED.privatize(pd.Series(["No"])),
        r"values holds a value \(str\) in row 0",
    ),
    "values-many": (
        lambda: NAMED.privatize(list("abcde")),
        r"\(str\) in row 0, 1, 2 and 2 more, not among",
    ),
    "values-missing": (
        lambda: NAMED.privatize(pd.Series(["no", None])),
        "values is missing in row 1: fill it, or pass missing=.keep.",
    ),
    "values-empty": (lambda: NAMED.privatize([]), "values is empty"),
    "values-none": (lambda: NAMED.privatize(None), "values.*None"),
    "values-table": (lambda: NAMED.privatize([["no"]]), "values.*row 0 holds a list"),
    "outputs-unknown": (
        lambda: NAMED.estimate(["no"]),
        r"outputs holds a value \(str\) in row 0.*\['n', 'y'\]",
    ),
    "outputs-empty": (lambda: NAMED.estimate(np.array([])), "outputs is empty"),
    "outputs-none": (lambda: NAMED.estimate(None), "outputs.*None"),
    "start-text": (
        lambda: pb.leakage_distortion(pb.records.parity(3), 0.05, 1.5, start="x"),
        "start must be a RecordDesign, got a str",
    ),
    "start-other-design": (
        lambda: pb.distortion_leakage(pb.records.parity(3), 0.4, 1.5, start=optimal()),
        "start must be a RecordDesign, got a Design",
    ),
    "progress-text": (
        lambda: optimal(progress="a"),
        "progress = 'a' must be a function, True or False",
    ),
    "progress-list": (lambda: optimal(progress=[1]), r"progress = \[1\] must be a function"),
    "progress-nan": (lambda: optimal(progress=math.nan), "progress = nan must be a function"),
    "progress-number": (
        lambda: pb.estimation_mechanism(SKEW, 0.4, progress=1),
        "progress = 1 must be a function",
    ),
    "target-word": (
        lambda: pb.estimation_mechanism(SKEW, 0.3, "a"),
        "target 'a' is neither 'frequencies', 'mean' nor an array",
    ),
    "mean-huge": (
        lambda: pb.additive_noise.mean_mechanism({0: 0.5, 1e155: 0.5}, 0.3),
        r"prior is 0 to 1e\+155: ends must be within 1e\+100",
    ),
    "outputs-useless": (
        lambda: pb.Mechanism([[1], [1]], FAIR).estimate(["r0"]),
        "linearly dependent",
    ),
}


@pytest.mark.parametrize("call, message", OTHERS.values(), ids=OTHERS)
def test_other_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("rng", [0, 42])
def test_a_seed_is_no_generator(rng):
    """A seed where a generator belongs is refused or obeyed; it never falls back to fresh entropy."""
    try:
        releases = [NAMED.privatize(["no", "yes"] * 50, rng) for _ in range(2)]
    except (TypeError, ValueError) as error:
        assert "rng" in str(error)
    else:
        assert (releases[0] == releases[1]).all()


def test_infinite_at_zero_is_refused():
    """f(t) = -ln t is infinite at 0: fine while no outcome rules anything out, refused afterwards."""

    def reverse(t):
        with np.errstate(divide="ignore"):
            return -np.log(t)

    utility = pb.foundations.FInformation(reverse, "reverse")
    assert pb.optimal_mechanism(SKEW, 0.1, utility).value > 0
    for prior in (SKEW, FAIR):
        with warnings.catch_warnings(), pytest.raises(ValueError, match="utility.*must be finite"):
            warnings.simplefilter("error")
            pb.optimal_mechanism(prior, 0.8, utility)
