"""The prior that was meant: checking twice is checking once, fractions stay fractions, and a level is the smallest float that holds."""

import json
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pmlbook as pb
from pmlbook.cli.command_line import main
from pmlbook.foundations.probability import exact_prior, random_channel, random_prior
from pmlbook.numerics.validation import check_channel, check_prior
from pmlbook.release.certificate import exp_below
from pmlbook.release.levels import certified_level

RNG = np.random.default_rng(512)
COUNTS = st.lists(st.integers(1, 10**6), min_size=1, max_size=40)


def shares(counts):
    """Counts over their sum, in fractions."""
    return [Fraction(int(count), int(sum(counts))) for count in counts]


def fractions(floats):
    """The exact values of floats, divided by their exact sum."""
    exact = [Fraction(value) for value in floats]
    return tuple(value / sum(exact) for value in exact)


def largest_lift(mechanism, prior):
    """Straight from the definition, in fractions."""
    rows = [[Fraction(v) for v in row] for row in mechanism.channel.tolist()]
    means = [sum(p * v for p, v in zip(prior, column)) for column in zip(*rows)]
    return max(max(column) / mean for column, mean in zip(zip(*rows), means) if mean)


@given(COUNTS, st.sampled_from([0.0, 1e-10, -1e-10, 3e-16]))
def test_checking_twice_is_checking_once(counts, off):
    raw = np.array(counts) / sum(counts)
    for values in (raw, raw * (1 + off), raw.astype(np.float32), raw.tolist()):
        once = check_prior(values)
        assert check_prior(once).tobytes() == once.tobytes()
        rows = check_channel([once, once[::-1]])
        assert check_channel(rows).tobytes() == rows.tobytes() and (rows[0] == once).all()


@pytest.mark.parametrize("n", [3, 1000, 20_000])
@pytest.mark.parametrize("spread", [0.01, 1.0])
def test_long_and_uneven_priors_are_left_alone(n, spread):
    raw = np.maximum(RNG.dirichlet(np.full(n, spread)), 5e-324)
    once = check_prior(raw)
    assert check_prior(once).tobytes() == once.tobytes() and abs(math.fsum(once) - 1) <= 2**-46


@pytest.mark.parametrize("prior", [[0.1] * 10, [0.6, 0.3, 0.1], [1 - 2**-53, 2**-53], [1.0]])
def test_a_sum_of_one_is_not_divided(prior):
    assert check_prior(prior).tolist() == prior


@given(COUNTS)
def test_fractions_are_kept(counts):
    meant, n = shares(counts), len(counts)
    assert exact_prior(meant) == tuple(meant) == exact_prior(np.array(meant, dtype=object))
    stored = np.array(counts) / sum(counts)
    assert exact_prior(stored) == fractions(check_prior(stored).tolist())
    made = pb.Mechanism(np.full((n, 1), 1.0), meant)
    assert made.exact_prior == tuple(meant) and made.prior.tolist() == [float(p) for p in meant]


def test_numbers_that_are_whole_or_too_large_or_too_small():
    assert pb.Mechanism([[1.0]], [1]).exact_prior == (1,)
    assert pb.Mechanism([[1.0]], np.array([1])).exact_prior == (1,)
    tiny = Fraction(1, 10**400)
    with pytest.raises(pb.InvalidPrior, match=r"prior\[1\] = 0"):
        pb.Mechanism(np.eye(2), [1 - tiny, tiny])
    with pytest.raises(pb.InvalidPrior, match="prior holds a number too large for a float"):
        pb.Mechanism(np.eye(2), [Fraction(10**400), tiny])
    with pytest.raises(pb.InvalidPrior, match="counts must be divided"):
        exact_prior([Fraction(3), Fraction(5)])


def test_numpy_integers_do_not_overflow_inside_fractions():
    counts = np.array([3, 2**40 + 1, 2**61])
    meant = [Fraction(count, counts.sum()) for count in counts]
    found = exact_prior(meant)
    assert found == tuple(shares(counts.tolist())) == exact_prior(dict(enumerate(meant)))
    assert {type(n) for share in found for n in share.as_integer_ratio()} == {int}
    assert exact_prior([np.int64(1)]) == (1,)


def designs(prior, epsilon):
    """Every public way to a mechanism that takes a prior."""
    n = len(prior)
    table = np.subtract.outer(np.arange(n), np.arange(n + 1)) % (n + 1)
    first = 0.9 * pb.extremal.privacy_regions(prior)[1]
    yield pb.Mechanism(np.eye(n), prior)
    yield pb.Mechanism(np.eye(n), prior).within(epsilon)
    yield pb.extremal.high_privacy_mechanism(prior, first)
    for method in ("auto", "enumeration", "column_generation"):
        yield pb.optimal_mechanism(prior, epsilon, method=method).mechanism
    yield pb.optimal_mechanism(prior, epsilon, pb.foundations.ExpectedGain(np.eye(n))).mechanism
    yield pb.optimal_mechanism(prior, first).mechanism
    yield pb.worst_case.utility_safe_mechanism(table, prior, 2)
    yield pb.min_leakage(table, prior, 2).mechanism
    yield pb.worst_case_mechanism(table, prior, epsilon).mechanism
    yield pb.worst_case.expected_utility_mechanism(
        table, prior, pb.foundations.epsilon_max(prior), 1
    ).mechanism


@pytest.mark.parametrize("counts", [(1, 2, 3), (22, 3, 3, 12, 3, 5), (7, 7, 7)])
def test_fractions_travel_through_every_design(counts):
    meant = shares(counts)
    for made in designs(meant, 0.3):
        assert made.exact_prior == tuple(meant)
        assert made.certify(0).largest_lift == largest_lift(made, meant)
    assert pb.extremal.binary_mechanism([Fraction(1, 3), Fraction(2, 3)], 0.2).exact_prior[
        0
    ] == Fraction(1, 3)


@pytest.mark.parametrize("block", range(5))
def test_a_certificate_is_about_one_prior_wherever_it_goes(block):
    """Written, read, and asked again at its own level and one float below: the answer stays."""
    rng = np.random.default_rng(block)
    for _ in range(60):
        n, m = rng.integers(2, 7, size=2)
        counts = rng.integers(1, 40, n)
        prior = [counts / counts.sum(), shares(counts), random_prior(n, rng)][rng.integers(3)]
        made = pb.Mechanism(random_channel(n, m, rng), prior)
        for level in (made.epsilon, np.nextafter(made.epsilon, 0)):
            certificate = made.certify(level)
            again = pb.Certificate.from_json(certificate.to_json())
            for one in (certificate, again):
                back = pb.Mechanism.from_certificate(one)
                assert back.certify(level).holds == certificate.holds
                assert back == made and back.epsilon == made.epsilon
                twice = pb.Mechanism.from_certificate(back.certify(level))
                assert twice.certify(level).holds == certificate.holds


def test_designs_for_counts_keep_their_level_through_the_file(tmp_path):
    """The prior of the first one drifted when it was normalised again, and the certificate failed."""
    for k, counts in enumerate([(22, 3, 3, 12, 3, 5), *RNG.integers(1, 30, (30, 6)).tolist()]):
        file = tmp_path / f"{k}.json"
        words = [f"{name}={count}" for name, count in zip("abcdef", counts)]
        assert main(["design", *words, "--epsilon", "0.2", "-o", str(file)]) == 0
        content = json.loads(file.read_text())
        certificate = pb.Certificate.from_json(file.read_text())
        assert content["holds"] is True and certificate.holds
        assert pb.Mechanism.from_certificate(certificate).certify(0.2)


def test_replace_hands_on_the_fractions_of_the_same_prior_only():
    thirds = [Fraction(1, 3)] * 3
    made = pb.Mechanism(np.eye(3), thirds)
    for same in (
        replace(made, channel=np.full((3, 3), 1 / 3)),
        replace(made, inputs="abc"),
        replace(made, prior=made.prior),
        made.within(0.5),
    ):
        assert same.exact_prior == tuple(thirds)
    floats = [1 / 3] * 3  # the same floats, but without the information that thirds are meant
    other = [0.5, 0.25, 0.25]
    for prior in (floats, other, [Fraction(1, 2), Fraction(1, 4), Fraction(1, 4)]):
        assert replace(made, prior=prior).exact_prior == pb.Mechanism(np.eye(3), prior).exact_prior
        twice = replace(replace(made, prior=prior), channel=np.eye(3)[::-1])
        assert twice.exact_prior == pb.Mechanism(np.eye(3), prior).exact_prior


def test_the_prior_that_is_shown_is_the_one_that_is_proved():
    """A mechanism cannot show one prior and be certified for another."""
    made = pb.Mechanism(np.eye(2), [0.5, 0.5])
    skewed = (Fraction(1, 10), Fraction(9, 10))
    for forged in ((made.prior, skewed), (np.array([0.5, 0.5]), skewed)):
        mechanism = replace(made, prior=forged[0], _meant=forged)
        shown = [float(share) for share in mechanism.exact_prior]
        assert mechanism.prior.tolist() == pytest.approx(shown, rel=1e-15)


def floats_below(level):
    return np.nextafter(level, 0)


@pytest.mark.parametrize("block", range(4))
def test_epsilon_is_the_smallest_float_that_certifies(block):
    rng = np.random.default_rng(100 + block)
    for _ in range(25):
        n, m = rng.integers(1, 7, size=2)
        made = pb.Mechanism(random_channel(n, m, rng), random_prior(n, rng))
        for mechanism in (made, made.within(10.0 ** rng.uniform(-16, 0))):
            level = mechanism.epsilon
            assert mechanism.certify(level)
            assert level == 0 or not mechanism.certify(floats_below(level))
            assert mechanism.certify(0).largest_lift == largest_lift(
                mechanism, mechanism.exact_prior
            )


@pytest.mark.parametrize(
    "lift",
    [
        Fraction(1),
        Fraction(3, 2),
        1 + Fraction(1, 10**39),
        1 + Fraction(1, 10**45),
        1 + Fraction(1, 10**20),
        1 + Fraction(1, 2**1074),
        Fraction(2**1022),
        Fraction(10**323),
        Fraction(exp_below(1.0)),
        Fraction(exp_below(1.0)) + Fraction(1, 10**60),
    ],
    ids=lambda lift: f"{math.log10(lift.numerator) - math.log10(lift.denominator):.3g}",
)
def test_levels_at_the_ends(lift):
    level = certified_level(lift)
    assert exp_below(level) >= lift and (level == 0 or exp_below(floats_below(level)) < lift)


def test_no_certificate_holds_above_the_largest_level():
    """`exp_below` stays at e^1000, so a larger lift has no level."""
    most = exp_below(1000.0)
    assert certified_level(most) == 1000.0 and certified_level(most + 1) == math.inf
    assert certified_level(Fraction(10) ** 500) == math.inf


def test_rarest_secret_of_all():
    made = pb.Mechanism(np.eye(2), [1.0, 5e-324])
    assert made.certify(made.epsilon) and not made.certify(floats_below(made.epsilon))


def test_a_series_of_fractions():
    prior = pd.Series({"b": Fraction(2, 3), "a": Fraction(1, 3)})
    made = pb.Mechanism(pd.DataFrame(np.eye(2), ["a", "b"], ["a", "b"]), prior)
    assert made.exact_prior == (Fraction(1, 3), Fraction(2, 3)) and made.inputs == ("a", "b")
    assert pb.Mechanism(np.eye(2), prior.to_dict()).exact_prior == (Fraction(2, 3), Fraction(1, 3))
