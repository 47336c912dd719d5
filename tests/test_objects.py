"""Results are statements: they cannot be written to, copies have the same content, and equal ones are equal."""

import copy
import itertools
import math
import pickle
from dataclasses import fields, is_dataclass, replace
from fractions import Fraction
from inspect import isroutine

import numpy as np
import pandas as pd
import pytest
from public_names import PUBLIC

import pmlbook as pb
from pmlbook.foundations.probability import random_channel, random_prior
from pmlbook.foundations.utility import NAMED, SubLinear, as_utility
from pmlbook.numerics.validation import Frozen, frozen_array
from pmlbook.record_design.algorithms import alternating_leakage
from pmlbook.record_design.symmetry import everything
from pmlbook.records.queries import Query
from pmlbook.release.sampling import to_weights

FLIP, FAIR = [[0.75, 0.25], [0.25, 0.75]], [0.5, 0.5]
NAMES = ("no", "yes")
TABLE = [[3, 2, 1], [1, 3, 2], [2, 1, 3]]
SKEW = [0.6, 0.25, 0.15]


def used():
    """A mechanism whose properties have all been computed, so that all caches are filled."""
    made = pb.Mechanism(FLIP, [Fraction(7, 10), Fraction(3, 10)], NAMES, NAMES)
    made.privatize(["no"] * 10), made.epsilon, made.weights, hash(made)
    return made


def asked(query):
    """A query whose table has been listed."""
    query.table, query.log_counts(0), query.n_values
    return query


def attacked():
    return pb.per_record_leakage(pb.records.counting(3), pb.foundations.geometric(4, 0.7), 1.5)


RESULTS = {
    "mechanism": used,
    "mechanism-floats": lambda: pb.Mechanism(FLIP, FAIR),
    "design": lambda: pb.optimal_mechanism(SKEW, 0.4),
    "design-without-bound": lambda: pb.Design(used(), 1.0, math.nan, "none"),
    "least-leakage": lambda: pb.min_leakage(TABLE, SKEW, 2),
    "frontier": lambda: pb.worst_case.worst_case_frontier(TABLE, SKEW)[1].design,
    "estimate": lambda: used().estimate(["no", "yes", "no"]),
    "source-set": lambda: pb.hamming.SourceSet([[0.7, 0.2, 0.1], [0.5, 0.3, 0.2]], "abc"),
    "robust-design": lambda: pb.dp_leakage([[0.7, 0.2, 0.1], [0.2, 0.7, 0.1]], 0.3),
    "information-design": lambda: pb.mi_leakage([[0.5, 0.5]], 0.25),
    "region": lambda: pb.robust.box_region(pd.Series({"no": 30, "yes": 20})),
    "region-design": lambda: pb.robust.robust_mechanism(pb.robust.ball_region([50, 50]), 0.7),
    "adversary": attacked,
    "adversary-prior": lambda: attacked().prior,
    "curve": lambda: pb.records.leakage_curve(
        pb.records.parity(3), [[0.8, 0.2], [0.2, 0.8]], [0, 1.5]
    ),
    "record-design": lambda: pb.leakage_distortion(pb.records.counting(2), 0.3, 1.0, tol=1e-2),
    "record-design-of-all": lambda: pb.leakage_distortion(
        pb.records.SumQuery([(0, 1), (0, 2)]), 0.3, 1.0, tol=1e-2
    ),
    "printed-run": lambda: alternating_leakage(np.eye(4).reshape(2, 2, 4), [[0.25] * 2] * 2, 0.5),
    "capacity": lambda: pb.foundations.channel_capacity(FLIP),
    "gain": lambda: pb.foundations.ExpectedGain([[1, 0], [0, 2]], NAMES),
}
QUERIES = {
    "counting": lambda: pb.records.counting(3),
    "parity": lambda: pb.records.parity(3),
    "modular": lambda: pb.records.modular_sum(3, 3),
    "threshold": lambda: pb.records.threshold(3, 2),
    "pairs": lambda: pb.records.pairwise_products(3),
    "sum": lambda: pb.records.SumQuery([(0, 1), (0, 1, 5)], alphabets=["ab", "xyz"]),
    "sum-then": lambda: pb.records.SumQuery([(0, 1), (0, 1, 5)], abs),
    "any": lambda: Query(max, [(0, 1, 2), (0, 1)]),
    "everything": lambda: everything(pb.records.counting(2)),
}
UTILITIES = {
    **{name: lambda name=name: as_utility(name) for name in NAMED},
    "alpha": lambda: pb.foundations.alpha_information(0.3),
    "of-numpy": lambda: pb.foundations.FInformation(np.square, "square"),
    "sub-linear": lambda: SubLinear(np.linalg.norm),
    "gain": RESULTS["gain"],
}
COPIES = {
    "itself": lambda result: result,
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "replace": replace,
    **{
        f"pickle-{k}": lambda result, k=k: pickle.loads(pickle.dumps(result, k))
        for k in range(pickle.HIGHEST_PROTOCOL + 1)
    },
}


def arrays_in(value, seen=None):
    """Every array that can be reached from a result: fields, cached properties, tuples, lists, dicts."""
    seen = set() if seen is None else seen
    if (
        id(value) in seen or type(value).__name__ == "AdversarySet"
    ):  # a working set, not a statement
        return
    seen.add(id(value))
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, dict):
        yield from itertools.chain.from_iterable(arrays_in(v, seen) for v in value.values())
    elif isinstance(value, (tuple, list)):
        yield from itertools.chain.from_iterable(arrays_in(v, seen) for v in value)
    elif hasattr(value, "__dict__") and not isroutine(value) and not isinstance(value, type):
        yield from arrays_in(vars(value), seen)


def memory(array):
    """The arrays behind a view, and what owns the memory."""
    while isinstance(array, np.ndarray):
        yield array
        array = array.base
    assert array is None or type(array) is bytes


def assert_nobody_can_write(array):
    for one in (array, array.view(), array[...], array.reshape(-1), *memory(array)):
        with pytest.raises(ValueError, match="read-only"):
            one[...] = 0
        with pytest.raises(ValueError, match="WRITEABLE"):
            one.setflags(write=True)
        with pytest.raises(ValueError, match="WRITEABLE"):
            one.flags.writeable = True


@pytest.mark.parametrize("make", RESULTS.values(), ids=RESULTS)
def test_results_are_read_only_in_every_copy(make):
    result = make()
    for name, copied in COPIES.items():
        one = copied(result)
        found = list(arrays_in(one))
        assert found, name
        for array in found:
            if array.size:
                assert_nobody_can_write(array)
        assert one == result and hash(one) == hash(result) and not one != result, name
        assert type(one) is type(result)


@pytest.mark.parametrize("make", QUERIES.values(), ids=QUERIES)
def test_queries_are_equal_and_can_be_pickled(make):
    query = asked(make())
    for one in (copy.copy(query), copy.deepcopy(query), pickle.loads(pickle.dumps(query))):
        assert one == query == make() and hash(one) == hash(make())
        assert (asked(one).table == query.table).all() and one.alphabets == query.alphabets
        for array in (one.table, query.table):
            assert_nobody_can_write(array)
    assert query != pb.records.counting(4) and query != "counting"


@pytest.mark.parametrize("make", UTILITIES.values(), ids=UTILITIES)
def test_utilities_are_equal_and_can_be_pickled(make):
    utility, prior = make(), [0.3, 0.7]
    for one in (copy.copy(utility), copy.deepcopy(utility), pickle.loads(pickle.dumps(utility))):
        assert one == utility == make() and hash(one) == hash(utility)
        assert one(FLIP, prior) == utility(FLIP, prior) and one.name == utility.name


def test_what_says_something_else_is_not_equal():
    made = used()
    prior = pd.Series(made.exact_prior, NAMES)
    others = [
        replace(made, inputs=("yes", "no")),
        replace(made, outputs=(0, 1)),
        replace(made, channel=FLIP[::-1]),
        replace(made, channel=np.array(FLIP) + [[2**-53, -(2**-53)], [0, 0]]),
        replace(made, prior=FAIR),
        replace(made, prior=made.prior.tolist()),  # floats, where tenths are meant
        pb.optimal_mechanism(prior, 0.4),
        "mechanism",
    ]
    for other in others:
        assert made != other and not made == other
    assert len({made, used(), *others[:6]}) == 7
    design = pb.optimal_mechanism(SKEW, 0.4)
    assert design != replace(design, value=0.0) and design != replace(design, mechanism=made)


def test_zero_has_no_sign_and_nan_equals_nan():
    assert pb.Mechanism([[1.0, -0.0]], [1]) == pb.Mechanism([[1.0, 0.0]], [1])
    one, other = (
        pb.release.Estimate((), np.array([zero, np.nan]), *[np.array([np.nan])] * 4)
        for zero in (0.0, -0.0)
    )
    assert one == other and hash(one) == hash(other)


def test_a_frozen_array_is_a_copy_of_its_own():
    source = np.arange(6.0).reshape(2, 3)
    frozen = frozen_array(source[:, ::2])
    source[:] = 9
    assert frozen.tolist() == [[0, 2], [3, 5]] and frozen_array(np.empty((0, 3))).shape == (0, 3)
    assert frozen_array(frozen).tolist() == frozen.tolist()


def test_the_distribution_that_is_drawn_from_cannot_be_changed():
    """Writing the identity into the shared weights left the certificate true and published the secret."""
    made = used()
    certificate = made.certify(1.0)
    assert certificate
    for array in (made.weights, certificate.weights, *arrays_in(vars(made._guide))):
        assert_nobody_can_write(array)
    identity = to_weights(np.eye(2))
    for name in ("weights", "channel", "_guide", "prior", "exact_prior", "epsilon", "inputs"):
        with pytest.raises(AttributeError):
            setattr(made, name, identity)
        with pytest.raises(AttributeError):
            delattr(made, name)
    assert not pb.Mechanism(np.eye(2), FAIR).certify(0.5)


def test_whoever_reshapes_the_weights_reshapes_his_own():
    """A shape can be set on an array that cannot be written to."""
    made = pb.Mechanism([[0.9, 0.1], [0.1, 0.9]], FAIR)
    made.weights.shape = (4,)
    assert made.weights.shape == (2, 2) and made.certify(0.6) and not made.certify(0.5)


def test_a_state_that_was_tampered_with_is_made_anew():
    """A pickle holds arguments, not results: what is cached cannot be smuggled in."""
    made = used()
    kind, arguments = made.__reduce__()
    assert kind is pb.Mechanism and not any(a is made.weights for a in arguments)
    again = kind(np.eye(2), *arguments[1:])
    assert again.certify(1.2).holds == (again.epsilon <= 1.2) and not again.certify(0.5)
    with pytest.raises(pb.InvalidChannel):
        kind(np.eye(2) * 2, *arguments[1:])
    state = {f.name for f in fields(made)}
    assert set(vars(pickle.loads(pickle.dumps(made)))) == state


def test_copies_of_random_mechanisms_say_the_same():
    """Three hundred of them through replace, copy, pickle, JSON and a frame."""
    rng = np.random.default_rng(300)
    labels = ["x", 7, None, True, 2.5, "", "é", (1, 2), ("a",), -1, frozenset("z")]
    for k in range(300):
        n, m = rng.integers(1, 7, size=2)
        counts = rng.integers(1, 30, n)
        prior = [random_prior(n, rng), [Fraction(int(c), int(counts.sum())) for c in counts]][k % 2]
        plain = labels[:7] if k % 3 else labels
        names = [[plain[i] for i in rng.permutation(len(plain))[:size]] for size in (n, m)]
        made = pb.Mechanism(random_channel(n, m, rng), prior, *names)
        series = pd.Series(
            made.exact_prior if k % 2 else made.prior,
            pd.Index(names[0], dtype=object, tupleize_cols=False),
        )
        again = {
            "replace": replace(made, channel=made.channel),
            "shallow": copy.copy(made),
            "deep": copy.deepcopy(made),
            "pickle": pickle.loads(pickle.dumps(made)),
            "frame": pb.Mechanism(made.to_frame(), series.sample(frac=1, random_state=k)),
            "certificate": pb.Mechanism.from_certificate(made.certify(1)),
        }
        if k % 3:
            text = made.certify(made.epsilon).to_json()
            again["json"] = pb.Mechanism.from_certificate(pb.Certificate.from_json(text))
        for way, one in again.items():
            assert one == made and hash(one) == hash(made), way
            assert one.epsilon == made.epsilon and one.exact_prior == made.exact_prior, way
            assert list(map(type, one.inputs)) == list(map(type, made.inputs)), way
            assert (one.weights == made.weights).all(), way
            assert one.certify(made.epsilon) and (
                made.epsilon == 0 or not one.certify(np.nextafter(made.epsilon, 0))
            ), way


def test_every_public_result_is_frozen():
    """A new class of results is one of these, or the reason is listed here."""
    results = {v for v in PUBLIC.values() if isinstance(v, type) and is_dataclass(v)}
    no_arrays = {pb.foundations.FInformation, pb.files.Layout}
    apart = {pb.Certificate, *no_arrays}  # a certificate has copies of its own
    assert all(issubclass(kind, Frozen) for kind in results - apart)


def test_a_band_keeps_its_sample():
    sample = [0.2, 0.4]
    band = pb.additive_noise.SampleBand(sample, (0, 1))
    half, said = band.half, repr(band)
    sample.append(0.9)
    assert (band.half, repr(band)) == (half, said)
    assert band == pickle.loads(pickle.dumps(band)) and hash(band) == hash(copy.copy(band))


def test_releases_together_equal_their_copies():
    flip = pb.Mechanism([[0.75, 0.25], [0.25, 0.75]], [0.5, 0.5])
    joint = pb.budget.compose(flip, flip)
    assert joint == pickle.loads(pickle.dumps(joint)) and hash(joint) == hash(copy.copy(joint))


def test_nan_is_a_name_that_can_be_handed_on():
    first = pb.Mechanism([[0.7, 0.3], [0.2, 0.8]], [0.5, 0.5], inputs=(float("nan"), 1.0))
    second = pickle.loads(pickle.dumps(first))
    assert pb.budget.compose(first, second).releases == 2
    again = pb.Mechanism(first.to_frame(), pd.Series(first.prior, list(first.inputs)))
    assert first == second == again
    told = first.estimate(["r0", "r1"]).of({np.float64("nan"): 1, 1.0: 0})
    assert math.isfinite(told.value)
