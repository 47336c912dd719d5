"""Audits of mechanisms that others made: known distributions, trials, and noise on the line."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pandas as pd
import pytest

import pmlbook as pb
from pmlbook.additive_noise.line_priors import atoms
from pmlbook.additive_noise.noise_means import Noise
from pmlbook.additive_noise.worst_outcomes import worst_of_atoms
from pmlbook.cli.command_line import main
from pmlbook.foundations.probability import exact_prior
from pmlbook.numerics.enclosure import level_of
from pmlbook.release.certificate import exp_below
from pmlbook.release.levels import keeps_as_it_is

PRIOR = pd.Series([0.6, 0.3, 0.1], ["healthy", "flu", "rare"])


def test_known_distributions_are_audited_exactly():
    """A channel, a mechanism and a function give the same level, to the last digits."""
    channel = pb.foundations.geometric(3, 0.7)
    frame = pd.DataFrame(channel, PRIOR.index, list("xyz"))
    mechanism = pb.Mechanism(frame, PRIOR)
    told = [
        pb.audit.audit_leakage(frame, PRIOR),
        pb.audit.audit_leakage(mechanism, PRIOR),
        pb.audit.audit_leakage(frame.loc[["rare", "flu", "healthy"]], PRIOR),
        pb.audit.audit_leakage(lambda x: frame.loc[x].to_dict(), PRIOR),
    ]
    for each in told:
        assert np.allclose(each.low, mechanism.leakage, rtol=0, atol=1e-15)
        assert (each.high == each.low).all()
        assert each.level[0] == pytest.approx(mechanism.epsilon, abs=1e-15)
    assert list(told[3].to_frame().index) == list("xyz")
    other = pb.audit.audit_leakage(mechanism, PRIOR[::-1] ** 0 / 3)
    assert other.level[0] == pytest.approx(pb.epsilon_pml(channel, np.full(3, 1 / 3)), abs=1e-15)
    exact = pb.audit.audit_leakage(
        lambda x: {"a": Fraction(1 + x, 3), "b": Fraction(2 - x, 3)}, [0.5, 0.5]
    )
    assert exact.level[0] == pytest.approx(math.log(4 / 3), abs=1e-15)


@pytest.mark.parametrize("trials", [1, 5, 40])
def test_brackets_hold_at_once(trials):
    """Two thousand audits at 80 %, with zeros in the channel, unequal numbers of trials and a rare secret."""
    rng = np.random.default_rng(trials)
    channel = np.array([[0.9, 0.1, 0.0], [0.2, 0.5, 0.3], [0.0, 0.02, 0.98]])
    prior = np.array([0.9, 0.099, 0.001])
    truth = pb.pointwise_maximal_leakage(channel, prior)
    sizes, most = trials * np.array([1, 2, 5]), level_of(1 / min(exact_prior(prior)))
    draws = np.stack([rng.multinomial(k, row, size=2000) for k, row in zip(sizes, channel)], 1)
    held = 0
    for counts in draws:
        low, high = pb.audit.leakage_bracket(counts, prior, 0.8)
        assert (0 <= low).all() and (low <= high).all() and (high <= most).all()
        held += ((low <= truth) & (truth <= high)).all()
    assert held >= 0.8 * 2000


def test_brackets_close():
    channel, prior = pb.foundations.randomized_response(3, 1.0), PRIOR.to_numpy()
    low, high = pb.audit.leakage_bracket(np.round(channel * 10**9), prior)
    truth = pb.pointwise_maximal_leakage(channel, prior)
    assert (low < truth).all() and (truth < high).all() and (high - low < 1e-3).all()


def test_trials_of_a_function_and_trials_of_others():
    rng = np.random.default_rng(2)
    noisy = pb.foundations.randomized_response(3, 1.0)
    place = {name: k for k, name in enumerate(PRIOR.index)}

    def theirs(secret):
        return rng.choice(list("xyz"), p=noisy[place[secret]])

    mine = pb.audit.audit_leakage(theirs, PRIOR, outcomes="xyz", trials=500)
    truth = pb.pointwise_maximal_leakage(noisy, PRIOR)
    assert (mine.low <= truth).all() and (truth <= mine.high).all() and mine.confidence == 0.95
    given = {"rare": ["x", "y"], "flu": ["x"], "healthy": ["z", "z", "x"]}
    assert pb.audit.audit_leakage(given, PRIOR, outcomes="xyz").level[1] <= level_of(
        1 / min(exact_prior(PRIOR))
    )


def ends(values, prior, scale, name):
    """The level by brute force: a fine grid far beyond the values."""
    spots = np.linspace(min(values) - 40 * scale, max(values) + 40 * scale, 400_001)
    apart = (spots - np.asarray(values, float)[:, None]) / scale
    logs = -abs(apart) if name == "laplace" else -(apart**2) / 2
    return -np.log(prior @ np.exp(logs - logs.max(axis=0)))


def level_of_noise(values, prior, scale, noise="laplace"):
    """Limits of the level of a query of the secret with noise, by the probability of each value."""
    shares = {}
    for value, share in zip(values, prior):
        shares[float(value)] = shares.get(float(value), 0.0) + float(share)
    return pb.additive_noise.additive_noise_leakage(noise, shares, scale)


@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
def test_noise_is_never_above_its_level_and_reaches_it(noise):
    rng = np.random.default_rng(5)
    for _ in range(12):
        n = int(rng.integers(2, 6))
        values, prior = rng.integers(0, 5, size=n), rng.dirichlet(np.full(n, 0.5)) * 0.99 + 0.01 / n
        scale = float(rng.choice([0.3, 1.0, 2.0]))
        level = level_of_noise(values, prior, scale, noise)
        seen = ends(values, prior, scale, noise)
        assert seen.max() <= level.bound <= level.value + 1e-10
        assert seen.max() == pytest.approx(level.value, abs=2e-3)


def test_gaussian_noise_between_rare_and_common():
    """A rare value in the middle: the number that leaks most lies far outside if the noise is wide."""
    values, prior = [0.0, 1.0, 2.0], np.array([0.999, 1e-6, 0.001 - 1e-6])
    level = level_of_noise(values, prior, 3.0, "gaussian")
    assert level.value == pytest.approx(-math.log(prior[2]), rel=1e-11)
    middle = level_of_noise(values, [0.5 - 5e-7, 1e-6, 0.5 - 5e-7], 0.1, "gaussian")
    assert middle.value == pytest.approx(-math.log(1e-6), rel=1e-3)
    wide = level_of_noise([0.0, 1.0, 2.0], [1 / 3, 1 / 3, 1 / 3], 1e8, "gaussian")
    assert wide.bound == pytest.approx(math.log(3), rel=1e-11)
    assert level_of_noise([1.0, 1.0], [0.5, 0.5], 1.0, "gaussian").value == 0
    shares = [0.49, 0.02, 0.49]
    near, far = (level_of_noise([a, a + 1, a + 2], shares, 0.5, "gaussian") for a in (0.0, 1e9))
    assert near.value == pytest.approx(far.value, rel=1e-11)


def test_gaussian_limits_between_numbers_are_narrow_and_hold():
    """Clusters of numbers, clipped or not: no outcome of a grid leaks more than the bound, by logarithms."""
    rng = np.random.default_rng(1)
    for trial in range(60):
        steps = 10.0 ** rng.uniform(-12, 3, int(rng.integers(2, 7)))
        values, scale = np.unique(np.cumsum(steps)), float(10 ** rng.uniform(-4, 4))
        prior = 10.0 ** rng.uniform(-9, 0, len(values))
        prior /= prior.sum()
        middle, reach = values.mean(), float(np.ptp(values))
        clip = (middle - 0.4 * reach, middle + 0.7 * reach) if trial % 2 else None
        found = pb.additive_noise.additive_noise_leakage(
            "gaussian", dict(zip(values.tolist(), prior.tolist())), scale, clip
        )
        low, high = clip or (values[0], values[-1])
        spots = np.linspace(max(low, values[0]), min(high, values[-1]), 2001)
        logs = -((spots[:, None] - values) ** 2) / (2 * scale**2)
        most = logs.max(axis=1, keepdims=True)
        assert (-np.log(np.exp(logs - most) @ prior)).max() <= found.bound + 1e-9
        assert found.bound - found.value < 1e-10


def test_a_bound_for_gaussian_noise_holds_to_the_last_digit():
    """Numbers up to a million deviations apart, outcomes near the middle of two: exponents lose ten digits there."""
    rng = np.random.default_rng(4)
    for _ in range(40):
        scale = float(rng.uniform(0.5, 1.5))
        apart = scale * float(10 ** rng.uniform(2, 6))
        numbers = apart * (float(rng.uniform(-3, 3)) + np.array([0.0, rng.uniform(0.2, 1), 1.3]))
        shares = rng.dirichlet(np.ones(3))
        low = float(numbers[:2].mean() + rng.uniform(-3, 3) * scale**2 / apart)
        high = float(max(np.nextafter(low, np.inf), low + rng.uniform(0, 2) * scale**2 / apart))
        noise, secret = Noise("gaussian", scale), atoms(numbers, shares)
        _, bound, _ = worst_of_atoms(noise, secret, Fraction(low), Fraction(high))
        with mpmath.workdps(50):
            for part in range(11):
                y = mpmath.mpf(low) + (mpmath.mpf(high) - low) * part / 10
                exponents = [
                    -(((y - x) / scale) ** 2) / 2 for x in map(mpmath.mpf, numbers.tolist())
                ]
                lift = sum(p * mpmath.exp(e - max(exponents)) for p, e in zip(shares, exponents))
                assert -mpmath.log(lift / sum(map(mpmath.mpf, shares.tolist()))) <= bound


def test_gaussian_noise_that_is_nothing_beside_the_numbers():
    """Squares of distances in units of the noise are no floats; every number is published."""
    for prior in ({0: 0.4, 1e100: 0.6}, {0: 0.4, 0.5e100: 0.2, 1e100: 0.4}):
        found = pb.additive_noise.additive_noise_leakage("gaussian", prior, 1e-100)
        assert found.value <= -math.log(min(prior.values())) <= found.bound <= found.value + 1e-11


def test_laplace_noise_stays_within_its_privacy():
    for epsilon in (1e-10, 0.1, 2.0):
        level = level_of_noise([0, 1], [1 - 1e-8, 1e-8], 1 / epsilon)
        assert level.value <= level.bound <= epsilon * (1 + 1e-12) + 1e-16
        assert epsilon < 0.1 or level.value == pytest.approx(epsilon, rel=1e-5)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: pb.audit.audit_leakage({0: [1], 1: [1]}, [0.5, 0.5]), "outcomes must list"),
        (lambda: pb.audit.audit_leakage({0: [1], 1: [2]}, [0.5, 0.5], [1]), "trials of 1"),
        (lambda: pb.audit.audit_leakage({0: [1]}, [0.5, 0.5], [1]), "mechanism"),
        (lambda: pb.audit.audit_leakage(lambda x: 1, [0.5, 0.5]), "or say `trials`"),
        (lambda: pb.audit.audit_leakage([[1.0]], [0.5, 0.5], [0], 3), "must be a function"),
        (lambda: pb.audit.audit_leakage(lambda x: 1, [0.5, 0.5], [1], 0), "trials = 0"),
        (
            lambda: pb.audit.audit_leakage(lambda x: 1, [0.5, 0.5], [1], 10**400),
            "trials = .* must be at most",
        ),
        (lambda: pb.audit.audit_leakage(lambda x: {"a": 0.4}, [0.5, 0.5]), "channel"),
        (lambda: pb.audit.leakage_bracket([[1, 2], [0, 0]], [0.5, 0.5]), r"counts\[1\] is all 0"),
        (lambda: pb.audit.leakage_bracket([[1, 2], [0, -1]], [0.5, 0.5]), "no whole number"),
    ],
)
def test_refusals(call, said):
    with pytest.raises(ValueError, match=said):
        call()


@pytest.mark.parametrize(
    "rare, rarer", [(1e-17, 1e-25), (1e-16, 1e-19), (3e-16, 1e-18), (1e-300, 1e-308)]
)
def test_rare_outcomes_are_audited_as_they_are(rare, rarer, tmp_path, capsys):
    """Rounded to whole 2^-53 the two were equal, and a certificate said that nothing leaks."""
    table, prior = [[rare, 0.5, 0.5], [rarer, 0.5, 0.5]], [Fraction(1, 100), Fraction(99, 100)]
    truth = math.log(Fraction(rare) / (prior[0] * Fraction(rare) + prior[1] * Fraction(rarer)))
    for distribution in (table, lambda secret: dict(zip("abc", table[secret]))):
        found = pb.audit.audit_leakage(distribution, [0.01, 0.99])
        assert abs(found.level[1] - truth) < 1e-12 and found.level[0] == found.level[1]
    assert not keeps_as_it_is(table, prior, truth - 1e-12)
    assert keeps_as_it_is(table, prior, truth + 1e-12)
    (tmp_path / "distribution.csv").write_text(
        f"input,a,b,c\nno,{rare},0.5,0.5\nyes,{rarer},0.5,0.5\n"
    )
    asked = [
        "audit",
        str(tmp_path / "distribution.csv"),
        "no=0.01",
        "yes=0.99",
        "--epsilon",
    ]
    for level, code in (("0.0", 3), ("4.7", 0)):
        with pytest.raises(SystemExit) as ended:
            raise SystemExit(main([*asked, level]))
        said = capsys.readouterr().out
        assert (ended.value.code == 0) == (code == 0) and f"epsilon: {truth:.3f}"[:10] in said
        assert ("does not hold" in said or "holds, decided" not in said) == bool(code)


def test_limits_from_trials_go_by_name():
    """A frame of counts in another order than the prior."""
    pd = pytest.importorskip("pandas")
    counts = pd.DataFrame([[900, 100], [200, 800]], ["no", "yes"], ["a", "b"])
    prior = pd.Series({"yes": 0.1, "no": 0.9})
    for low, high in (
        pb.audit.leakage_bracket(counts, prior),
        pb.audit.leakage_bracket(counts, dict(prior)),
    ):
        right = pb.audit.leakage_bracket(counts.to_numpy(), [0.9, 0.1])
        assert (low == right[0]).all() and (high == right[1]).all()
    with pytest.raises(ValueError, match="different names"):
        pb.audit.leakage_bracket(counts, pd.Series({"maybe": 0.1, "no": 0.9}))


def test_what_diffprivlib_calls_its_draws_is_tried():
    class Fair:
        def randomise(self, value):
            return value

    found = pb.audit.audit_leakage(Fair(), {"a": 0.5, "b": 0.5}, outcomes=["a", "b"], trials=200)
    assert 0.5 < found.level[0] <= math.log(2) <= found.level[1]
    with pytest.raises(ValueError, match="or say `trials`"):
        pb.audit.audit_leakage(Fair(), {"a": 0.5, "b": 0.5})


def exactly(table, prior):
    """The largest lift of each outcome in fractions, rows and prior divided by their sums."""
    rows = [[Fraction(x) / sum(map(Fraction, row)) for x in row] for row in table]
    shares = [Fraction(p) / sum(map(Fraction, prior)) for p in prior]
    means = [sum(p * x for p, x in zip(shares, column)) for column in zip(*rows)]
    return [max(c) / mean for c, mean in zip(zip(*rows), means)]


TINY = {
    "table": ([[1e-200, 1.0], [0.0, 1.0]], [1e-200, 1.0]),  # the product is no float
    "subnormal": ([[1e-320, 1.0], [1.0, 1e-300]], [0.5, 0.5]),
    "prior": ([[0.3, 0.3, 0.4], [0.1, 0.6, 0.3]], [1e-320, 1.0]),
    "both": ([[5e-324, 1.0], [0.5, 0.5]], [5e-324, 1.0]),
    "plain": ([[0.7, 0.2, 0.1], [0.2, 0.7, 0.1], [0.1, 0.2, 0.7]], [0.6, 0.3, 0.1]),
}


@pytest.mark.parametrize("case", TINY)
def test_a_known_distribution_is_audited_without_rounding(case):
    """Each level is the smallest float that a certificate finds enough; one float less is not."""
    table, prior = TINY[case]
    told = pb.audit.audit_leakage(table, prior)
    for level, lift in zip(told.high, exactly(table, prior)):
        assert exp_below(level) >= lift
        assert not level or lift > exp_below(math.nextafter(level, 0))
    if case in ("prior", "plain"):  # else a product of floats has no digits
        measured = pb.pointwise_maximal_leakage(table, prior)
        assert np.allclose(told.high, measured, rtol=1e-14, atol=1e-15)
    least = [min(map(Fraction, column)) for column in zip(*table)]
    assert (told.local_dp < math.inf) == all(least)
    if case not in ("subnormal", "both"):
        assert told.local_dp == pytest.approx(pb.local_dp(table), rel=1e-13)


def test_a_share_that_is_published_does_not_vanish():
    told = pb.audit.audit_leakage([[1e-200, 1.0], [0.0, 1.0]], [1e-200, 1.0])
    assert told.published == 5e-324 and "publishes nothing" not in repr(told)
    assert pb.audit.audit_leakage([[0.25, 0.75], [0.0, 1.0]], [1e-300, 1.0]).published == 0.25e-300


def test_fractions_are_audited_as_they_are():
    """The share 1/3 as a float is no third, and an outcome with equal probability under all secrets leaks nothing."""
    third = [[Fraction(1, 3), Fraction(2, 3)], [Fraction(1, 3), Fraction(2, 3)]]
    told = pb.audit.audit_leakage(third, {"a": Fraction(1, 10**320), "b": 1 - Fraction(1, 10**320)})
    assert told.high.tolist() == [0.0, 0.0] and told.local_dp == 0.0
    rare = {"a": Fraction(1, 7), "b": Fraction(6, 7)}
    rows = {"a": {"x": Fraction(1, 3), "y": Fraction(2, 3)}, "b": {"y": 1}}
    told = pb.audit.audit_leakage(rows.__getitem__, rare)
    assert told.published == float(Fraction(1, 21)) and told.level[1] == level_of(Fraction(7))


def test_an_audit_of_a_mechanism_agrees_with_its_certificate():
    rng = np.random.default_rng(8)
    for _ in range(100):
        made = pb.Mechanism(rng.dirichlet(np.ones(3), 3), rng.dirichlet(np.ones(3)))
        assert (
            made.leakage.max() == made.epsilon == pb.audit.audit_leakage(made, made.prior).level[1]
        )
        assert pb.audit.audit_leakage(made.channel, made.prior).level[1] == made.epsilon


@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
def test_close_values_far_from_others_stay_apart(noise):
    values, prior = [-1e9, 1e-8, 2e-8], [0.5, 0.49, 0.01]
    level = level_of_noise(values, prior, 1e-10, noise)
    assert level.value - 1e-12 <= -math.log(0.01) <= level.bound <= level.value + 1e-11
    if noise == "gaussian":
        fine = level_of_noise([-1, 1e-17, 2e-17], prior, 1.0, noise)
        assert fine.bound == pytest.approx(-math.log(0.01), rel=0, abs=1e-11)


def test_counts_whose_sum_is_no_float_are_refused():
    with pytest.raises(ValueError, match="counts add up to more than a float can hold"):
        pb.robust.prior_from_counts([1e308, 1e308])
    with pytest.raises(ValueError, match=r"counts\[0\] add up to more than a float can hold"):
        pb.audit.leakage_bracket([[1e308, 1e308], [1.0, 1.0]], [0.5, 0.5])
    with pytest.raises(ValueError, match="certificate must be a Certificate"):
        pb.Mechanism.from_certificate(None)


def test_the_leakage_under_a_rare_secret_is_exact():
    for rare in (1e-4, 1e-10, 1e-16):
        told = pb.audit.audit_leakage([[0.5, 0.5], [0.0, 1.0]], [1 - rare, rare])
        share = pb.Mechanism([[0.5, 0.5], [0.0, 1.0]], [1 - rare, rare]).exact_prior[0]
        assert told.high[0] == level_of(1 / share) == told.low[0]


def test_a_sentence_about_a_rare_secret_has_its_own_level():
    for rare in (Fraction(1, 10**30), Fraction(1, 10**300)):
        most = pb.audit.sentence_level("no answer is ruled out", {"a": 1 - rare, "b": rare})
        assert most < rare * (1 + rare) and math.nextafter(most, 1) >= rare


def test_rows_that_do_not_sum_to_one_are_divided_exactly():
    """Rows were divided in floats first: 0 nats were said to hold where the largest lift is 1 + 1.4e-17."""
    rows = [
        [0.8444218515250481, 0.15557814847495188],
        [0.8444218515292702, 0.15557814847572976],
    ]
    shares = [[Fraction(x) / sum(map(Fraction, row)) for x in row] for row in rows]
    lift = max(2 * max(column) / sum(column) for column in zip(*shares))
    assert lift > 1 and not keeps_as_it_is(rows, [0.5, 0.5], 0.0)
    level = pb.audit.audit_leakage(rows, [0.5, 0.5]).level[1]
    assert level > 0 and keeps_as_it_is(rows, [0.5, 0.5], level)
    assert exp_below(level) >= lift > exp_below(math.nextafter(level, 0))
    table = [[Fraction(1, 3), Fraction(2, 3)], [Fraction(1, 3), Fraction(2, 3)]]
    assert keeps_as_it_is(table, [0.5, 0.5], 0.0)


def test_outcomes_are_compared_with_those_of_a_known_distribution():
    """They were ignored, and so was the confidence."""
    coin = [[0.6, 0.4], [0.4, 0.6]]
    even = lambda secret: {"u": 0.5, "v": 0.5}  # noqa: E731
    audit = pb.audit.audit_leakage
    assert audit(coin, [0.5, 0.5], outcomes=["a", "b"]).outcomes == ("a", "b")
    assert audit(even, [0.5, 0.5], outcomes=["u", "w", "v"]).outcomes == ("u", "v")
    named = pd.DataFrame(coin, columns=["a", "b"])
    assert audit(named, [0.5, 0.5], outcomes=["b", "a"]).outcomes == ("a", "b")
    made = pb.Mechanism(coin, [0.5, 0.5], outputs=("a", "b"))
    for mechanism, outcomes, said in (
        (coin, ["a", "b", "c"], "must be 2 different names"),
        (even, ["u"], "do not list 'v'"),
        (named, ["a", "c"], "do not list 'b'"),
        (made, ["a"], "do not list 'b'"),
    ):
        with pytest.raises(ValueError, match=said):
            audit(mechanism, [0.5, 0.5], outcomes=outcomes)
    with pytest.raises(ValueError, match="confidence = 7"):
        audit(coin, [0.5, 0.5], confidence=7)
    with pytest.raises(ValueError, match=r"counts\[0\]\[1\] = 2.5 is no whole number"):
        pb.audit.leakage_bracket([[1, 2.5], [1, 1]], [0.5, 0.5])
