"""Hostile arguments: every public call answers, or refuses with one ValueError that names the argument."""

import os
import random
import warnings
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from public_names import PUBLIC

import pmlbook as pb

SIZES = {None: 1500, "full": 200_000}
COUNT = SIZES.get(os.environ.get("PMLBOOK_FUZZ"), 1500)

PRIOR, CHANNEL = [0.5, 0.3, 0.2], [[0.6, 0.4], [0.5, 0.5], [0.4, 0.6]]
UTILITIES = [[3.0, 1.0], [1.0, 3.0], [2.0, 2.5]]
SOURCES = [[0.6, 0.3, 0.1], [0.2, 0.5, 0.3]]
FLIP = pb.Mechanism([[0.75, 0.25], [0.25, 0.75]], [0.5, 0.5], outputs=(0, 1))
REGION = pb.robust.box_region([60, 30, 10])
COUNTING = pb.records.counting(2)
NOISY = pb.foundations.geometric(3, 1.0)

DESIGN = dict(
    query=COUNTING, b=0.5, p0=None, distortion=None, observes=None, tol=1e-2, max_time=1.0
)
# Arguments with which each call works; one after the other is replaced by something hostile.
CALLS = {
    "entropy": dict(p=PRIOR),
    "mutual_information": dict(channel=CHANNEL, prior=PRIOR),
    "epsilon_max": dict(prior=PRIOR),
    "epsilon_pml": dict(channel=CHANNEL, prior=PRIOR),
    "local_dp": dict(channel=CHANNEL),
    "maximal_leakage": dict(channel=CHANNEL),
    "channel_capacity": dict(channel=CHANNEL, tol=1e-12),
    "pointwise_maximal_leakage": dict(channel=CHANNEL, prior=PRIOR),
    "privacy_region": dict(prior=PRIOR, epsilon=0.3),
    "privacy_regions": dict(prior=PRIOR),
    "binary_symmetric": dict(p=0.2, m=2),
    "exponential": dict(utilities=UTILITIES, epsilon=0.3, sensitivity=1.0),
    "geometric": dict(n=3, epsilon=0.3),
    "laplace_threshold": dict(epsilon=0.3),
    "randomized_response": dict(n=3, epsilon=0.3),
    "randomized_response_for_pml": dict(prior=PRIOR, epsilon=0.3),
    "ExpectedGain": dict(gain=UTILITIES),
    "FInformation": dict(f=abs, name="f"),
    "alpha_information": dict(alpha=2.0),
    "Certificate": dict(
        epsilon=0.3, weights=FLIP.weights, prior=FLIP.prior, inputs=(0, 1), outputs=(0, 1)
    ),
    "Mechanism": dict(channel=CHANNEL, prior=PRIOR, inputs=("a", "b", "c"), outputs=("x", "y")),
    "binary_mechanism": dict(prior=[0.7, 0.3], epsilon=0.3),
    "high_privacy_mechanism": dict(prior=PRIOR, epsilon=0.1),
    "optimal_mechanism": dict(
        prior=PRIOR, epsilon=0.5, utility="chi_square", method="auto", tol=1e-9, max_time=5.0
    ),
    "DensityRange": dict(support=(0.0, 1.0), least=0.5, most=2.0),
    "SampleBand": dict(sample=[0.2, 0.4, 0.7], support=(0.0, 1.0), confidence=0.9),
    "additive_noise_leakage": dict(
        noise="laplace", prior={0: 0.5, 1: 0.5}, scale=1.0, clip=(0.0, 1.0), cut=None, tol=1e-3
    ),
    "noise_scale": dict(
        level=0.5, noise="laplace", prior={0: 0.5, 1: 0.5}, clip=None, cut=None, delta=0.1
    ),
    "mean_mechanism": dict(prior={0: 0.5, 1: 0.5}, epsilon=0.5, bins=2, max_time=5.0),
    "quantile_mechanism": dict(
        prior=([1.0, 1.0], [0.0, 1.0, 2.0]), epsilon=0.5, quantile=0.4, bins=2, max_time=5.0
    ),
    "record_leakage_of_histogram": dict(prior=PRIOR, scale=1.0),
    "histogram_scale": dict(prior=PRIOR, epsilon=0.5),
    "record_leakage_of_count": dict(share=0.3, scale=1.0),
    "count_scale": dict(share=0.3, epsilon=0.5),
    "level_for_error": dict(prior=PRIOR, standard_error=0.1, rows=500),
    "geometric_noise": dict(scale=1.5, size=3),
    "repeated_leakage": dict(channel=CHANNEL, prior=PRIOR, releases=3),
    "delta_mechanism": dict(
        prior=PRIOR, epsilon=0.5, delta=0.1, utility="chi_square", each=True, max_time=5.0
    ),
    "pram_mechanism": dict(
        prior=PRIOR,
        epsilon=0.5,
        invariant=True,
        gain=np.eye(len(PRIOR)),
        certainty=0.9,
        max_time=5.0,
    ),
    "two_stage_pram": dict(prior=PRIOR, keep=0.8),
    "leakage_distribution": dict(release=FLIP),
    "LeakageDistribution": dict(
        prior=[Fraction(1, 2)] * 2, probabilities=[Fraction(1)], lifts=[[Fraction(1)] * 2]
    ),
    "reduce_outputs": dict(mechanism=FLIP, utility="chi_square"),
    "uniform_mechanism": dict(n=3, epsilon=0.3),
    "expected_utility_mechanism": dict(utilities=UTILITIES, prior=PRIOR, epsilon=0.5, floor=1.0),
    "worst_case_frontier": dict(utilities=UTILITIES, prior=PRIOR),
    "min_leakage": dict(utilities=UTILITIES, prior=PRIOR, threshold=2.0, by="value"),
    "utility_safe_mechanism": dict(utilities=UTILITIES, prior=PRIOR, rank=1),
    "worst_case_mechanism": dict(utilities=UTILITIES, prior=PRIOR, epsilon=0.5),
    "SourceSet": dict(vertices=SOURCES),
    "dp_leakage": dict(source_set=SOURCES, distortion=0.2),
    "min_distortion": dict(source_set=SOURCES, epsilon=0.5),
    "mi_leakage": dict(source_set=SOURCES, distortion=0.2),
    "Query": dict(function=sum, alphabets=[(0, 1), (0, 1)]),
    "SumQuery": dict(contributions=[(0, 1), (0, 1)], then=lambda s: s % 2, alphabets=[(0, 1)] * 2),
    "counting": dict(n=2),
    "modular_sum": dict(n=2, m=2),
    "pairwise_products": dict(n=2),
    "parity": dict(n=2),
    "threshold": dict(n=2, at_least=1),
    "parity_leakage": dict(n=2, p=0.2, b=0.5),
    "per_record_leakage": dict(query=COUNTING, channel=NOISY, b=0.5, tol=1e-3, max_time=1.0),
    "leakage_curve": dict(query=COUNTING, channel=NOISY, levels=[0.5], tol=1e-3, max_time=1.0),
    "dp_leakage_bound": dict(query=COUNTING, epsilon=0.5, b=0.5),
    "leakage_distortion": dict(D=0.5, **DESIGN),
    "distortion_leakage": dict(L=0.1, **DESIGN),
    "estimation_mechanism": dict(prior=PRIOR, epsilon=0.5, target=[1.0, 2.0, 3.0], max_time=5.0),
    "estimation_variance": dict(mechanism=FLIP, target=[0.0, 1.0]),
    "box_region": dict(counts=[60, 30, 10], confidence=0.9, zeros="refuse"),
    "ball_region": dict(counts=[60, 30, 10], confidence=0.9, zeros="refuse"),
    "prior_from_counts": dict(counts=[60, 30, 10], zeros="refuse"),
    "robust_mechanism": dict(region=REGION, epsilon=0.5, utility="chi_square"),
    "worst_leakage": dict(channel=CHANNEL, region=REGION),
    "audit_leakage": dict(
        mechanism={0: [0, 1], 1: [1], 2: [0]}, prior=PRIOR, outcomes=[0, 1], confidence=0.9
    ),
    "leakage_bracket": dict(counts=[[3, 1], [2, 2], [1, 3]], prior=PRIOR, confidence=0.9),
    "sentence_level": dict(sentence="no odds more than double", prior=PRIOR),
    "explain": dict(prior=PRIOR, epsilon=0.3),
    "compose": dict(first=FLIP, second=FLIP),
    "regress": dict(
        mechanism=FLIP,
        released=[0, 1, 1],
        response=[0.0, 1.0, 0.5],
        features=[1.0, 2.0],
        covariates=None,
        link="linear",
        reference=None,
    ),
    "two_way": dict(mechanism=FLIP, released=[0, 1, 1], covariate=["a", "b", "a"], other=None),
}
TARGETS = {name: PUBLIC[name] for name in CALLS}
TARGETS["compose"] = lambda first, second: pb.budget.compose(first, second)
METHODS = {
    "certify": dict(epsilon=0.5),
    "within": dict(epsilon=0.5),
    "privatize": dict(values=[0, 1, 1], rng=1, missing="refuse"),
    "estimate": dict(outputs=[0, 1, 1], method="inversion"),
    "utility": dict(utility="chi_square"),
}


class Odd:
    """An object that is nothing in particular."""

    def __repr__(self):
        return "Odd()"


def hostile(rng):
    """An argument that a caller might pass by mistake or on purpose; made anew each time."""
    numbers = [
        0,
        -1,
        1,
        2,
        0.5,
        1e-300,
        5e-324,
        1e308,
        1e16,
        np.nan,
        np.inf,
        -np.inf,
        10**400,
        -0.0,
    ]
    numbers += [
        2**63,
        True,
        False,
        1j,
        Decimal("0.3"),
        Decimal("nan"),
        Fraction(1, 3),
        np.float32(0.3),
    ]
    others = [
        None,
        "",
        "x",
        "0.5",
        b"ab",
        Odd(),
        abs,
        int,
        {},
        set(),
        {1, 2},
        {"a": 0.5, "b": 0.5},
        ...,
    ]
    shapes = [(), (0,), (1,), (2,), (3,), (2, 2), (3, 2), (3, 0), (0, 3), (2, 2, 2)]

    def entry():
        return rng.choice(numbers + [None, "x", Odd()] if rng.random() < 0.2 else numbers)

    def table():
        shape = rng.choice(shapes)
        array = np.empty(shape, dtype=object)
        for place in np.ndindex(shape):
            array[place] = entry()
        kind = rng.choice(
            ["list", "object", "float", "str", "complex", "frame", "int", "bool", "masked"]
        )
        if kind == "list":
            return array.tolist()
        if kind == "object":
            return array
        if kind == "frame":
            return pd.DataFrame(array) if len(shape) == 2 else pd.Series(array.ravel())
        if kind == "masked":
            return np.ma.masked_less(np.full(shape, 0.5), 0.7)
        values = np.array(
            [rng.choice([0.0, 0.3, 1.0, -1.0, np.nan, 1e300]) for _ in range(array.size)]
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return values.reshape(shape).astype(
                {"int": int, "bool": bool, "str": str}.get(kind, kind)
            )

    pick = rng.random()
    if pick < 0.35:
        return rng.choice(numbers)
    if pick < 0.6:
        return rng.choice(others)
    if pick < 0.65:
        return [[0.5, 0.5], [1.0]]
    if pick < 0.68:
        return (x for x in [0.5, 0.5])
    if pick < 0.71:
        return rng.choice([FLIP, REGION, COUNTING, pd.Series([0.5, np.nan]), np.datetime64("2020")])
    return table()


def attempt(call, arguments, replaced):
    """None if the call answers or refuses well, else what went wrong."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            call(**arguments)
    except (ValueError, pb.SolverFailed, pb.Infeasible) as error:
        if type(error).__module__.startswith("pmlbook") or type(error) is ValueError:
            return None if str(error) else "an empty message"
        return f"{type(error).__name__}: {error}"
    except Exception as error:  # noqa: BLE001 - this is what is looked for
        return f"{type(error).__name__}: {error}"
    return None


def cases(count):
    """Which call, which argument, and the hostile thing, the same ones every time."""
    rng = random.Random(7)
    targets = [(name, TARGETS[name], given) for name, given in CALLS.items()]
    targets += [
        (f"Mechanism.{name}", getattr(FLIP, name), given) for name, given in METHODS.items()
    ]
    for _ in range(count):
        name, call, given = rng.choice(targets)
        replaced = rng.choice(sorted(given))
        yield name, call, {**given, replaced: hostile(rng)}, replaced


def test_the_arguments_are_good_before_they_are_made_hostile():
    for name, given in CALLS.items():
        TARGETS[name](**given)
    for name, given in METHODS.items():
        getattr(FLIP, name)(**given)


def test_every_public_call_answers_or_refuses():
    wrong = []
    for name, call, arguments, replaced in cases(COUNT):
        said = attempt(call, arguments, replaced)
        if said:
            wrong.append(f"{name}({replaced}={arguments[replaced]!r:.80}): {said:.120}")
    assert not wrong, f"{len(wrong)} of {COUNT}:\n" + "\n".join(wrong[:40])


def test_no_public_call_is_left_out():
    classes = {"Infeasible", "InvalidChannel", "InvalidPrior", "SolverFailed", "LooseBound"}
    results = {"Design", "Estimate", "Adversary", "ReleaseLog", "AlreadyReleased", "composed_level"}
    results |= {"JointRelease", "TwoWay", "Regression"}
    results |= {
        "DeltaDesign",
        "PramDesign",
        "Accuracy",
        "NoiseLeakage",
        "LineDesign",
        "RepeatedLeakage",
    }
    results |= {"QuantileDesign", "QuantileEstimate"}
    results |= {"BudgetExceeded", "DesignWarning"}  # files: tests/budget/test_log.py
    results |= {"Layout", "release_file", "release_frame"}  # tests/files
    assert set(PUBLIC) - classes - results - set(CALLS) == set()


@pytest.mark.parametrize("name", ["prior", "channel"])
def test_inputs_are_not_modified(name):
    given = {"prior": np.array(PRIOR), "channel": np.array(CHANNEL)}
    before = given[name].copy()
    pb.Mechanism(**given).privatize(np.array([0, 1, 2]))
    assert (given[name] == before).all() and given[name].flags.writeable
