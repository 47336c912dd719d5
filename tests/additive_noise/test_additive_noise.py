"""Limits of additive noise hold at the edges: tiny scales, far supports, heavy tails, gaps, clips beyond all reach."""

import math
import pickle
import warnings
from fractions import Fraction

import mpmath as mp
import numpy as np
import pandas as pd
import pytest
from scipy.stats import (
    beta,
    binom,
    cauchy,
    dlaplace,
    expon,
    gamma,
    geom,
    laplace,
    norm,
    poisson,
    rv_continuous,
    rv_discrete,
    rv_histogram,
    t,
    truncnorm,
    uniform,
)

from pmlbook import Infeasible, InvalidPrior
from pmlbook.additive_noise import (
    DensityRange,
    SampleBand,
    additive_noise_leakage,
    mean_mechanism,
    noise_scale,
)
from pmlbook.audit import audit_leakage

GAPS = {-2: 0.25, 0: 0.5, 2: 0.25}


def uniform_level(width, scale):
    """Closed form for Laplace noise on a uniform secret."""
    return math.log(width / scale / -math.expm1(-width / scale))


@pytest.mark.parametrize("scale", [1e-8, 1e-3, 0.1, 1.0, 30.0, 1e8])
@pytest.mark.parametrize("start", [0.0, -7.5, 1e9])
def test_tiny_and_huge_scales_and_supports_far_from_zero(scale, start):
    found = additive_noise_leakage("laplace", uniform(start, 1), scale)
    exact = uniform_level(1, scale)
    assert found.value - 1e-14 <= exact <= found.bound + 1e-14
    if start < 1e9 or scale > 0.01:  # floats are 1e-7 apart there
        assert found.bound - found.value <= 2e-6


@pytest.mark.parametrize("secret", [norm(), cauchy(), t(1.5), expon(), geom(0.3), poisson(4)])
@pytest.mark.parametrize("noise", ["laplace", "gaussian", "uniform"])
def test_an_unbounded_secret_has_no_level_unless_it_is_clipped(secret, noise):
    found = additive_noise_leakage(noise, secret, 1.0)
    assert found.value == found.bound == math.inf and found.reason
    clipped = additive_noise_leakage(noise, secret, 4.0, clip=(-1, 6))
    assert 0 < clipped.value <= clipped.bound < clipped.value + 1e-5
    assert pickle.loads(pickle.dumps(clipped)) == clipped


def brute(noise, secret, clip, count=20_001):
    """Largest leakage of a clipped release over a grid of secrets, for the ends and for a few outcomes between."""
    q = (np.arange(count) + 0.5) / count
    x = np.concatenate([secret.ppf(q), secret.support()])
    tails = noise.cdf(clip[0] - x), noise.sf(clip[1] - x)
    inner = [noise.pdf(y - x) for y in np.linspace(*clip, 61)[1:-1]]
    with np.errstate(invalid="ignore"):
        return np.nanmax([np.log(f.max() / f[:-2].mean()) for f in (*tails, *inner)])


@pytest.mark.parametrize("secret", [uniform(0, 1), truncnorm(-2, 3, 0.4, 0.2), beta(2, 5)])
@pytest.mark.parametrize("clip", [(0, 1), (-1, 2), (0.2, 0.7), (0.5, 4), (2, 3)])
@pytest.mark.parametrize("noise", [norm(0, 0.6), laplace(0, 0.4), norm(0.3, 0.6), uniform(-3, 6)])
def test_a_clipped_release_against_a_grid(secret, clip, noise):
    found = additive_noise_leakage(noise, secret, clip=clip)
    if (
        noise.dist.name == "uniform" and clip[1] == 4
    ):  # all that the noise reaches, and the end proves the secret
        assert found.value == math.inf
        return
    assert found.bound - found.value <= 2e-6
    assert abs(found.value - brute(noise, secret, clip)) < 2e-3


def test_a_clip_that_bounded_noise_never_reaches_hides_nothing():
    for cut in (0.5, 0.2):
        far = additive_noise_leakage("laplace", uniform(), 1.0, clip=(-2, 3), cut=cut)
        assert far.value == math.inf and far.reason
    above = additive_noise_leakage("laplace", uniform(), 1.0, clip=(5, 6), cut=0.5)
    assert above.value == 0 and above.bound < 1e-11  # everything is reported as 5


@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
def test_a_cut_far_out_changes_nothing_and_near_it_is_uniform_noise(noise):
    secret, clip = beta(2, 5), (0, 1)
    free = additive_noise_leakage(noise, secret, 0.5, clip)
    cut = additive_noise_leakage(noise, secret, 0.5, clip, cut=30.0)
    assert cut.value <= free.bound and free.value <= cut.bound
    near = additive_noise_leakage("laplace", secret, 1e4, clip, cut=1.5)
    flat = additive_noise_leakage("uniform", secret, 1.5, clip)
    assert abs(near.value - flat.value) < 1e-3


def test_discrete_noise_with_gaps_is_a_finite_table():
    votes = binom(5, 0.3)
    found = additive_noise_leakage(GAPS, votes)
    table = audit_leakage(
        lambda k: {k + z: p for z, p in GAPS.items()}, dict(enumerate(votes.pmf(range(6))))
    )
    assert found.value <= table.level[1] and table.level[0] - 1e-12 <= found.bound
    same = additive_noise_leakage(rv_discrete(values=([-2, 0, 2], [0.25, 0.5, 0.25])), votes)
    assert same == found
    odd = additive_noise_leakage("discrete_laplace", {0: 0.5, 0.5: 0.25, 1: 0.25}, 1.0)
    assert odd.value == pytest.approx(math.log(4), abs=1e-9)  # a half is stated as a fraction
    assert additive_noise_leakage(dlaplace(0.5), votes) == additive_noise_leakage(
        "discrete_laplace", votes, 2.0
    )
    assert additive_noise_leakage(GAPS, uniform()).value == math.inf
    assert additive_noise_leakage(GAPS, geom(0.5)).value == math.inf


def test_what_underflows_is_still_enclosed():
    """Noise so fine that it publishes: no more leaks than the secret, and a density of 0 gives no logarithm of 0."""
    for points in ({0: 0.5, 1: 0.5}, {0: 0.4, 1e9: 0.2, 2e9: 0.4}):
        most = -math.log(min(points.values()))
        for noise in ("gaussian", "laplace"):
            found = additive_noise_leakage(noise, points, 1e-8)
            assert most - 1e-9 <= found.value <= found.bound <= most + 1e-9
    found = additive_noise_leakage("gaussian", ([1, 0, 1], [0, 1, 2, 3]), 1e-3, clip=(1, 2))
    assert found.value < found.bound


def test_names_and_frozen_noise_agree():
    for secret in (
        uniform(2, 3),
        binom(4, 0.5),
        {0.0: 0.25, 0.3: 0.75},
        pd.Series([0.5, 0.5], [1, 4]),
    ):
        assert additive_noise_leakage(laplace(0, 2), secret) == additive_noise_leakage(
            "laplace", secret, 2.0
        )
    moved = additive_noise_leakage(norm(7, 1), uniform(), clip=(7, 8))
    still = additive_noise_leakage("gaussian", uniform(), 1.0, clip=(0, 1))
    assert moved.value == still.value and moved.outcome == still.outcome + 7
    cut = additive_noise_leakage(truncnorm(-2, 2, 0, 0.5), uniform(), clip=(0, 1))
    assert cut == additive_noise_leakage("gaussian", uniform(), 0.5, clip=(0, 1), cut=1.0)


def test_a_histogram_and_its_distribution_agree():
    counts, edges = np.array([1.0, 5, 0, 2]), np.array([0.0, 1, 2, 3, 4])
    for noise, clip in (("laplace", None), ("gaussian", (0, 4))):
        exact = additive_noise_leakage(noise, (counts, edges), 0.7, clip)
        rough = additive_noise_leakage(
            noise, rv_histogram((counts, edges), density=False), 0.7, clip
        )
        assert rough.value <= exact.bound and exact.value <= rough.bound
        assert exact.bound - exact.value < 2e-6 and rough.bound - rough.value < 0.02
    gap = np.linspace(0, 4, 401)
    mean = (np.diff(laplace.cdf(gap[:, None] - edges, scale=0.7), axis=1) * -counts).sum(axis=1) / 8
    near = np.maximum(np.minimum(gap - 2, 3 - gap), 0)
    seen = np.log(laplace.pdf(near, scale=0.7) / mean)
    found = additive_noise_leakage("laplace", (counts, edges), 0.7)
    assert seen.max() <= found.bound and found.value <= seen.max() + 0.02


def test_sets_hold_each_of_their_priors():
    rng = np.random.default_rng(2)
    known = DensityRange((0, 1), 0.5, 2.0)
    drawn = rng.beta(2, 2, 60)
    band = SampleBand(drawn, (0, 1), 0.9)
    for noise, clip in (
        ("laplace", None),
        ("gaussian", (0, 1)),
        ("uniform", (-0.1, 1.1)),
        ("laplace", (0.2, 0.9)),
    ):
        worst = additive_noise_leakage(noise, known, 0.4, clip)
        wide = additive_noise_leakage(noise, band, 0.4, clip)
        assert worst.bound - worst.value < 1e-5 and wide.bound - wide.value < 1e-5
        for _ in range(5):
            heights = 0.5 + rng.dirichlet(np.ones(8)).clip(0, 0.375) * 4
            heights += (1 - heights.mean()) * (heights < 1.99)
            if 0.5 <= heights.min() and heights.max() <= 2 and abs(heights.mean() - 1) < 1e-9:
                one = additive_noise_leakage(
                    noise, (heights, np.linspace(0, 1, 9)), 0.4, clip, tol=1e-4
                )
                assert one.value <= worst.bound
        shares = np.full(60, 1 / 60)
        one = additive_noise_leakage(
            noise, dict(zip(drawn.tolist(), shares)), 0.4, (0, 1) if clip is None else clip
        )
        if noise == "laplace" and clip is None:
            assert one.value <= wide.bound
    assert additive_noise_leakage("laplace", DensityRange((0, 1)), 0.5).value == pytest.approx(
        2, abs=1e-6
    )
    narrow = additive_noise_leakage("laplace", DensityRange((0, 1), 1, 1), 0.5)
    assert narrow.value - 1e-9 <= uniform_level(1, 0.5) <= narrow.bound + 1e-9


def test_a_larger_sample_and_a_narrower_set_promise_more():
    drawn = np.random.default_rng(3).beta(2, 2, 4000)
    levels = [
        additive_noise_leakage("laplace", SampleBand(drawn[:n], (0, 1)), 0.3).bound
        for n in (40, 400, 4000)
    ]
    assert sorted(levels, reverse=True) == levels
    levels = [
        additive_noise_leakage("laplace", DensityRange((0, 1), c, 4), 0.3).bound
        for c in (0, 0.2, 0.8)
    ]
    assert sorted(levels, reverse=True) == levels


@pytest.mark.parametrize(
    "noise, prior, clip",
    [
        ("laplace", uniform(1e6, 5), None),
        ("laplace", DensityRange((0, 1), 0.3, 3), None),
        ("gaussian", beta(2, 2), (0, 1)),
        ("uniform", uniform(), (0, 1)),
        ("laplace", {0: 0.9, 3: 0.1}, None),
        ("discrete_laplace", binom(4, 0.5), None),
    ],
)
@pytest.mark.parametrize("level", [0.05, 0.7, 2.0])
def test_the_scale_keeps_the_level_and_a_smaller_one_does_not(noise, prior, clip, level):
    found = noise_scale(level, noise, prior, clip)
    assert additive_noise_leakage(noise, prior, found.value, clip).bound <= level
    if found.bound:
        assert additive_noise_leakage(noise, prior, found.bound, clip, tol=1e-9).value > level
        assert found.value - found.bound < 1e-4 * found.value
    assert pickle.loads(pickle.dumps(found)) == found


def test_a_level_beyond_publishing_needs_no_noise():
    found = noise_scale(50.0, "laplace", {0: 0.5, 1: 0.5})
    assert found.bound == 0 and "none is too little" in repr(found)


def test_a_search_for_a_scale_asks_for_no_scale_that_the_cut_forbids():
    """The message was about a scale that the search had tried."""
    assert noise_scale(0.7, "gaussian", {0: 0.5, 1: 0.5}, cut=0.1).bound == 0
    with pytest.raises(Infeasible, match="no scale of gaussian noise from .* to 8 has"):
        noise_scale(0.5, "gaussian", uniform(), (0, 1), cut=1)
    with pytest.raises(Infeasible, match="no scale of laplace noise"):
        noise_scale(0.3, "laplace", uniform(), (0.25, 0.75), 0.1)
    with pytest.raises(ValueError, match="is none of laplace"):
        noise_scale(0.7, np.array(["laplace", "gaussian"]), uniform())


@pytest.mark.parametrize(
    "level, prior, said",
    [
        (1e-300, uniform(), "too small to search for: ask for 0"),
        (1e200, uniform(), r"level = 1e\+200 where ends are 1 apart"),
        (0.5, uniform(0, 1e-300), "level = 0.5 where ends are 1e-300 apart"),
        (0.5, uniform(0, 1e200), r"prior: 1e\+200 is beyond 1e\+100"),
        (0.5, {0: 0.5, 1e308: 0.5}, r"prior: 1e\+308 is beyond 1e\+100"),
    ],
)
@pytest.mark.parametrize("noise", ["laplace", "uniform", "discrete_laplace"])
def test_a_scale_beyond_the_floats_is_told_by_what_asks_for_it(noise, level, prior, said):
    """The message was about a scale, perhaps inf, that the caller had not given."""
    with pytest.raises(ValueError, match=said):
        noise_scale(level, noise, prior)


BAD = [
    (dict(noise="laplace", prior=uniform(), scale=1e-300), "scale = 1e-300 is beyond"),
    (dict(noise="gaussian", prior=uniform(), scale=1e200), r"scale = 1e\+200 is beyond"),
    (dict(noise="discrete_laplace", prior={0: 0.5, 1: 0.5}, scale=1e-300), "scale = 1e-300 is"),
    (dict(noise=norm(0, 1e-300), prior=uniform()), "scale of noise = 1e-300 is beyond"),
    (dict(noise=norm(1e200), prior=uniform()), r"loc of noise: 1e\+200 is beyond"),
    (dict(noise="laplace", prior=uniform(0, 1e200), scale=1), r"prior: 1e\+200 is beyond"),
    (dict(noise="laplace", prior=uniform(), scale=1, clip=(-1e200, 1)), r"clip: -1e\+200 is"),
    (dict(noise="laplace", prior=uniform(), scale=5e-324), "rescale"),
    (dict(noise="laplace", prior=uniform(0, 1e300), scale=1e300), "rescale"),
    (dict(noise={math.nan: 1.0}, prior=binom(3, 0.5)), "the numbers of noise"),
    (dict(noise="cauchy", prior=uniform(), scale=1), "noise = 'cauchy' is none of"),
    (dict(noise="laplace", prior=uniform()), "scale is missing"),
    (dict(noise="laplace", prior=uniform(), scale=0), "scale = 0 must be positive"),
    (dict(noise="laplace", prior=uniform(), scale=math.nan), "scale = nan"),
    (dict(noise="laplace", prior=uniform(), scale="1"), "scale must be a number"),
    (dict(noise=laplace(), prior=uniform(), scale=1), "given by name"),
    (dict(noise=laplace(scale=-1), prior=uniform()), "scale of noise = -1"),
    (dict(noise=laplace(scale=0), prior=uniform()), "scale of noise = 0"),
    (dict(noise=laplace(math.nan), prior=uniform()), "loc = nan"),
    (dict(noise=laplace([0, 1]), prior=uniform()), "noise must have one number for each"),
    (dict(noise=binom(3, 1.5), prior=binom(3, 0.5)), "noise has parameters that are out of range"),
    (dict(noise=cauchy(), prior=uniform()), "noise must be a name.*not cauchy"),
    (dict(noise=3, prior=uniform()), "noise must be a name.*not int"),
    (dict(noise=truncnorm(-1, 2), prior=uniform()), "not truncnorm"),
    (dict(noise=poisson(2), prior=binom(3, 0.5)), "infinitely many values"),
    (dict(noise="laplace", prior=[0.5, 0.5], scale=1), "prior must be a frozen"),
    (dict(noise="laplace", prior=uniform(0, -1), scale=1), "out of range"),
    (dict(noise="laplace", prior=beta(-1, 2), scale=1), "out of range"),
    (dict(noise="laplace", prior=beta, scale=1), "prior must be a frozen"),
    (dict(noise="laplace", prior=({1, 2}, 3), scale=1), "prior must be a frozen"),
    (dict(noise="laplace", prior=([1.0, 2], [0.0, 1]), scale=1), "one more edge"),
    (dict(noise="laplace", prior=([1.0, -2], [0.0, 1, 2]), scale=1), r"prior\[0\]\[1\] = -2"),
    (dict(noise="laplace", prior=([0.0, 0], [0.0, 1, 2]), scale=1), r"prior\[0\] has no count"),
    (
        dict(noise="laplace", prior=([1.0, 2], [0.0, 2, 1]), scale=1),
        r"prior\[1\] must rise by 1e-300: 2",
    ),
    (dict(noise="laplace", prior=pd.Series([0.5, 0.5], [0, 0]), scale=1), "0.0 more than once"),
    (dict(noise="laplace", prior={2**53: 0.5, 2**53 + 1: 0.5}, scale=1), "no float holds"),
    (dict(noise={2**53: 0.5, 2**53 + 1: 0.5}, prior=binom(3, 0.5)), "no float holds"),
    (dict(noise="laplace", prior=uniform(), scale=1, clip="01"), "clip must be two numbers"),
    (dict(noise="laplace", prior=uniform(), scale=1, clip=(False, True)), "clip must be two"),
    (dict(noise="laplace", prior={"a": 1.0}, scale=1), "the secrets of prior must hold real"),
    (dict(noise="laplace", prior=uniform(), scale=1, clip=(1, 0)), r"clip = \(1, 0\)"),
    (dict(noise="laplace", prior=uniform(), scale=1, clip=3), "clip must be two numbers"),
    (dict(noise="laplace", prior=uniform(), scale=1, clip=(0, math.nan)), "clip"),
    (dict(noise="laplace", prior=uniform(), scale=1, tol=0), "tol = 0"),
    (dict(noise="uniform", prior=uniform(), scale=1, cut=1), "cut is for Laplace and Gaussian"),
    (dict(noise="gaussian", prior=uniform(), scale=1, cut=0.01), "use uniform noise"),
    (
        dict(noise="discrete_laplace", prior=binom(3, 0.5), scale=1, clip=(0, 3)),
        "clip is for noise with a density",
    ),
    (dict(noise="uniform", prior=uniform(), scale=0.5, clip=(-0.4999, 1)), "floats are too coarse"),
]


@pytest.mark.parametrize("given, said", BAD)
def test_bad_input_gets_one_message(given, said):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ValueError, match=said):
            additive_noise_leakage(**given)


def test_probabilities_that_do_not_sum_to_one_are_refused():
    for bad in ({0: 0.5, 1: 0.6}, {0: 2, 1: 3}, {0: math.nan, 1: 0.5}):
        with pytest.raises(InvalidPrior, match="prior"):
            additive_noise_leakage("laplace", bad, 1.0)
        with pytest.raises(ValueError, match="noise"):
            additive_noise_leakage(bad, binom(3, 0.5))


def test_sets_refuse_what_is_none():
    for support, least, most in (
        ((0, 1), 1.5, 2),
        ((0, 1), 0, 0.5),
        ((0, 1), -1, 2),
        ((1, 1), 0, 2),
        ((0, math.inf), 0, 2),
        ("01", 0, 2),
        ((0, 1), 0, np.array([2, 3])),
    ):
        with pytest.raises(ValueError, match="density|least|most must be a number|support"):
            DensityRange(support, least, most)
    for sample, support, confidence in (
        ([0.5, 1.5], (0, 1), 0.9),
        ([], (0, 1), 0.9),
        ([math.nan], (0, 1), 0.9),
        ([0.5], (0, 1), 1.0),
        ([0.5], (1, 0), 0.9),
    ):
        with pytest.raises(ValueError, match="sample|support|confidence"):
            SampleBand(sample, support, confidence)
    band = SampleBand([0.5, 0.2], (0, 1))
    assert pickle.loads(pickle.dumps(band)) == band and "2 draws" in repr(band)


def test_what_no_scale_keeps_is_infeasible():
    with pytest.raises(Infeasible, match="no scale of gaussian noise"):
        noise_scale(1.0, "gaussian", uniform())
    with pytest.raises(Infeasible, match="unbounded"):
        noise_scale(1.0, "laplace", norm())
    with pytest.raises(Infeasible, match="level = 0"):
        noise_scale(0.0, "laplace", uniform())
    with pytest.raises(ValueError, match="is none of laplace"):
        noise_scale(1.0, laplace(), uniform())
    with pytest.raises(ValueError, match="level = -1"):
        noise_scale(-1.0, "laplace", uniform())
    for clip in (3, (0, "a"), (1, 0)):
        with pytest.raises(ValueError, match="clip"):
            noise_scale(1.0, "laplace", uniform(), clip=clip)


@pytest.mark.parametrize("move", [2, 0.3, -7.1])
def test_a_discrete_distribution_that_is_moved_keeps_all_its_values(move):
    values, shares = [0.1, 0.4, 2.0], [0.25, 0.5, 0.25]
    given = rv_discrete(values=(values, shares))(loc=move)
    listed = {x + move: p for x, p in zip(values, shares)}
    for noise in ("laplace", "uniform"):
        one, two = (additive_noise_leakage(noise, law, 1.0, (0, 3)) for law in (given, listed))
        assert one.value == pytest.approx(two.value, abs=1e-11) and one.bound < one.value + 1e-11
    votes = {k + move: p for k, p in enumerate(binom(4, 0.3).pmf(range(5)).tolist())}
    moved = additive_noise_leakage("laplace", binom(4, 0.3, loc=move), 2.0)
    exact = additive_noise_leakage("laplace", votes, 2.0)
    assert moved.value <= exact.bound and exact.value <= moved.bound
    assert moved.bound - moved.value < 1e-9
    far = additive_noise_leakage("laplace", poisson(4, loc=move), 4.0, (move - 1, move + 6))
    still = additive_noise_leakage("laplace", poisson(4), 4.0, (-1, 6))
    assert far.value == pytest.approx(still.value, abs=1e-9)


def test_discrete_noise_that_is_moved_leaks_the_same():
    votes = binom(5, 0.3)
    still = additive_noise_leakage(GAPS, votes)
    moved = additive_noise_leakage(
        rv_discrete(values=(list(GAPS), list(GAPS.values())))(loc=3), votes
    )
    assert moved.bound == still.bound and moved.outcome == still.outcome + 3
    plain, loc = (additive_noise_leakage(dlaplace(0.5, loc=loc), votes) for loc in (0, 3))
    assert loc.bound == plain.bound and loc.outcome == plain.outcome + 3


class TwoHumps(rv_continuous):
    """A density that is not normal, under any name."""

    def _cdf(self, x):
        return (norm.cdf((x + 3) * 40) + norm.cdf((x - 3) * 40)) / 2

    def _pdf(self, x):
        return 20 * (norm.pdf((x + 3) * 40) + norm.pdf((x - 3) * 40))


def test_a_distribution_that_borrows_a_name_is_not_trusted_to_be_unimodal():
    humps = TwoHumps(a=-4, b=4, name="truncnorm")()
    found = additive_noise_leakage("laplace", humps, 0.5)
    middle = -math.log(humps.expect(lambda x: laplace.pdf(x, 0, 0.5), points=(-3, 3)))
    assert found.bound >= middle  # between the humps, not at an end
    with pytest.raises(ValueError, match="noise must be a name"):
        additive_noise_leakage(TwoHumps(a=-4, b=4, name="norm")(), uniform())


@pytest.mark.parametrize("noise, width", [("laplace", 2e-6), ("gaussian", 1e-3)])
def test_a_clip_between_two_values_is_narrow(noise, width):
    """No value lies where it leaks most, so the likeliest one is a little away."""
    values, clip = {0.0: 0.17, 0.01: 0.001, 0.11: 0.829}, (0.03, 0.09)
    found = additive_noise_leakage(noise, values, 0.02, clip)
    family = {"laplace": laplace, "gaussian": norm}[noise]
    x, p = np.array(list(values)), np.array(list(values.values()))
    inner = family.pdf(np.linspace(*clip, 2001)[:, None], x, 0.02)
    tails = np.array([family.cdf(clip[0], x, 0.02), family.sf(clip[1], x, 0.02)])
    seen = max(float(np.log(f.max(axis=1) / (f @ p)).max()) for f in (inner, tails))
    assert seen <= found.bound + 1e-12 and found.bound - found.value < width


def test_counts_are_counts_however_large():
    counts, edges = np.array([1.0, 3.0]), [0, 1, 2]
    assert additive_noise_leakage("laplace", (counts * 2.0**1021, edges), 1.0) == (
        additive_noise_leakage("laplace", (counts, edges), 1.0)
    )


def test_a_density_that_overflows_is_enclosed_without_a_warning():
    a = 1e-3
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = additive_noise_leakage("laplace", gamma(a), 1.0, clip=(0, 3))
    below = math.exp(-3) * 3**a / math.gamma(a + 1) / 2
    beyond = gamma(a).sf(3) - math.exp(3) * 2**-a * gamma(a).sf(6) / 2
    assert found.outcome == 3 and found.bound - found.value < 5e-7
    assert found.value - 1e-12 <= -math.log(below + beyond) <= found.bound + 1e-12


def test_objects_of_another_kind_are_refused():
    class Normal:
        def support(self):
            return -1.0, 1.0

    with pytest.raises(ValueError, match="prior must be a frozen.*not Normal"):
        additive_noise_leakage("laplace", Normal(), 1.0)
    with pytest.raises(ValueError, match="noise must be a name.*not Normal"):
        additive_noise_leakage(Normal(), uniform())


@pytest.mark.parametrize("points", [(-1e-20, -2e-20), (-0.3, 0.7), (0.1, 1.1)])
def test_secrets_that_are_nearly_whole_steps_apart_share_no_outcome(points):
    found = additive_noise_leakage("discrete_laplace", dict.fromkeys(points, 0.5), scale=1.0)
    assert found.value - 1e-12 <= math.log(2) <= found.bound


def leak_of_the_ends(noise, secret, scale, clip, cut):
    """The larger leakage of the two clipped outcomes, in sixty digits."""
    with mp.workdps(60):
        size = mp.mpf(scale)

        def beyond(t):
            """Probability of noise of at least t, before the cut."""
            if noise == "gaussian":
                return mp.erfc(t / size / mp.sqrt(2)) / 2
            return mp.exp(-t / size) / 2 if t >= 0 else 1 - mp.exp(t / size) / 2

        def tail(t):
            last = beyond(mp.mpf(cut)) if math.isfinite(cut) else mp.mpf(0)
            return max(beyond(max(t, -mp.mpf(cut))) - last, 0) / (1 - 2 * last)

        found = []
        for side, edge in zip((-1, 1), clip):
            terms = [(side * (mp.mpf(edge) - mp.mpf(x)), mp.mpf(p)) for x, p in secret.items()]
            seen = [(tail(t), p) for t, p in terms]
            mean = sum(q * p for q, p in seen)
            found += [mp.log(max(q for q, _ in seen) / mean)] if mean else []
        return max(found, default=mp.mpf(0))


@pytest.mark.parametrize(
    ("noise", "secret", "scale", "clip", "cut"),
    [
        ("gaussian", {0.0: 0.5, 1e-10: 0.5}, 1.0, (-1e10, 1e10), math.inf),
        ("gaussian", {0.0: 0.5, 1e-6: 0.5}, 1.0, (-1e6 / 3, 1e6 / 7), math.inf),
        ("gaussian", {0.0: 0.5, 0.5: 0.5}, 0.011, (-5.0, 4.4), math.inf),
        ("laplace", {0.3: 0.5, 1.3: 0.25, 0.1: 0.25}, 1.0, (-1e12, 1e12 + 0.1), math.inf),
        ("laplace", {0.0: 0.5, 0.5: 0.25, 1.0: 0.25}, 1e15, (0.25, 0.6), 0.8),
        ("laplace", {0.0: 0.5, 0.5: 0.25, 1.0: 0.25}, 1e6, (0.25, 0.6), 0.8),
        ("laplace", {0.0: 0.5, 1.0: 0.5}, 100.0, (0.25, 0.6), 0.8),
        ("gaussian", {0.0: 0.5, 1.0: 0.5}, 1.0, (-1.0, 2.0), 5.0),
    ],
)
def test_a_clip_many_scales_away_in_sixty_digits(noise, secret, scale, clip, cut):
    """Both logarithms of a ratio of tails are large there, and one of Laplace noise with a small cut is minus infinity."""
    given = None if math.isinf(cut) else cut
    found = additive_noise_leakage(noise, secret, scale, clip, given)
    truth = leak_of_the_ends(noise, secret, scale, clip, cut)
    assert truth <= found.bound <= found.value + 1e-6
    if clip[0] < min(secret) and max(secret) < clip[1]:  # else an outcome between may leak more
        assert found.value <= truth


@pytest.mark.parametrize("tol", [5e-7, 1e-3, 0.1])
def test_a_cut_makes_ratios_larger_than_those_of_the_noise(tol):
    """e^(width / scale) bounds the ratio of two densities only where neither is cut off."""
    assert additive_noise_leakage(
        "laplace", {0: 0.25, 1: 0.75}, 1.0, cut=0.5, tol=tol
    ).bound >= math.log(4)
    peaks, cut = beta(0.01, 0.01), 0.003
    leak = -math.log(peaks.cdf(0.5 + cut) - peaks.cdf(0.5 - cut))
    assert additive_noise_leakage("laplace", peaks, 50.0, (0.2, 0.8), cut, tol).bound >= leak


@pytest.mark.parametrize(
    ("support", "least", "most", "scale"),
    [
        ((0.0, 1.0), 0.5, 3e15, 0.5),
        ((2000.0, 2001.0), 0.0, 1e6, 0.5),
        ((1.6e9, 1.6e9 + 3600), 0.0, 10.0, 1800.0),
        ((0.0, 1.0), 0.0, 1e17, 0.5),
        ((0.0, 1.0), 0.0, 1e7, 0.5),
        ((0.0, 1.0), 0.5, 2.0, 0.5),
    ],
)
def test_a_short_dense_stretch_far_from_zero_keeps_its_probability(support, least, most, scale):
    """Laplace noise leaks most at an end: the rest of the probability is dense at the other end."""
    found = additive_noise_leakage("laplace", DensityRange(support, least, most), scale)
    with mp.workdps(50):
        width, size = mp.mpf(support[1]) - mp.mpf(support[0]), mp.mpf(scale)
        spare = 1 - mp.mpf(least) * width
        far = spare / (mp.mpf(most) - mp.mpf(least))
        dense = spare / far * size * (mp.exp(-(width - far) / size) - mp.exp(-width / size))
        truth = -mp.log(mp.mpf(least) * size * (1 - mp.exp(-width / size)) + dense)
    assert found.value <= truth <= found.bound <= found.value + 1e-6


@pytest.mark.parametrize("noise", ["uniform", "laplace", "gaussian"])
@pytest.mark.parametrize("side", [-1, 1])
def test_a_clip_beyond_all_reach_leaves_one_outcome(noise, side):
    clip = (3, math.inf) if side > 0 else (-math.inf, -3)
    cut = {} if noise == "uniform" else {"cut": 1.0}
    found = additive_noise_leakage(noise, {0.2: 0.4, 0.7: 0.6}, 1.0, clip, **cut)
    assert found.value == 0 and found.bound < 1e-12 and found.outcome == 3 * side


def test_tails_just_before_a_cut_have_all_their_digits():
    """They had a tenth of them, and the bound was short by 2e-4."""
    near = {0.48 + 1e-12: 1 - 1e-12, 0.5: 1e-12}
    found = additive_noise_leakage("gaussian", near, 1.0, clip=(-9, 1.48), cut=1.0)
    truth = leak_of_the_ends("gaussian", near, 1.0, (-9, 1.48), 1.0)
    assert found.value <= truth <= found.bound <= found.value + 1e-9
    with pytest.raises(ValueError, match="cut = 1e-300 is far below scale"):
        additive_noise_leakage("laplace", {0: 0.5, 1: 0.5}, 1e100, cut=1e-300, clip=(0, 1))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert additive_noise_leakage("gaussian", uniform(0, 1e90), 1e-90, (-1, 1.5e90)).reason


def test_the_only_density_with_equal_limits_is_uniform():
    assert DensityRange((0, 49), 1 / 49, 1 / 49).least == 1 / 49


@pytest.mark.parametrize("noise, cut", [("uniform", None), ("laplace", 0.7), ("gaussian", 0.7)])
def test_outcomes_between_two_neighbouring_floats_count(noise, cut):
    """0.1 + 0.7 is below 1.5 - 0.7 by less than a float: between them only 0.6 is possible."""
    prior = {0.0: 0.058, 0.1: 0.234, 0.6: 0.007, 1.5: 0.701}
    assert 0 < Fraction(1.5) - Fraction(0.7) - (Fraction(0.1) + Fraction(0.7)) < Fraction(1, 2**52)
    bound = additive_noise_leakage(noise, prior, 0.7, cut=cut).bound
    assert -math.log(0.007) <= bound <= -math.log(0.007) + 1e-9


def leak_at(noise, secret, scale, cut, y):
    """Leakage of an outcome between the edges, in the digits that are set."""
    size, found = mp.mpf(scale), []
    for x, p in secret.items():
        far = abs(y - mp.mpf(x))
        if far <= cut:
            exponent = {"uniform": 0, "laplace": far / size, "gaussian": (far / size) ** 2 / 2}
            found.append((-exponent[noise], mp.mpf(p)))
    most = max((e for e, _ in found), default=0)
    whole = sum(map(mp.mpf, secret.values()))
    return mp.log(whole / sum(p * mp.exp(e - most) for e, p in found)) if found else mp.mpf(0)


def largest_leak(noise, secret, scale, clip=None, cut=math.inf):
    """The largest leakage next to each place where the noise of a number ends, at the numbers, and at the edges."""
    with mp.workdps(60):
        reach = mp.mpf(scale if noise == "uniform" else cut)
        numbers = [mp.mpf(x) for x in secret]
        places = {*numbers}
        if mp.isfinite(reach):
            places |= {x + way * reach for x in numbers for way in (-1, 1)}
        ends = (min(numbers) - 9 * scale, max(numbers) + 9 * scale)
        low, high = ends if clip is None else map(mp.mpf, clip)
        tiny = mp.mpf(10) ** -30
        spots = [y + way * tiny for y in (*places, low, high) for way in (-1, 1)]
        leaks = [leak_at(noise, secret, scale, reach, y) for y in spots if low < y < high]
        if clip is not None and noise != "uniform":
            leaks.append(leak_of_the_ends(noise, secret, scale, clip, cut))
        return max(leaks, default=mp.mpf(0))


T = 1.7e12  # milliseconds from 1970 to 2023
ENDS_OF_NOISE = [
    (
        "gaussian",
        {T: 1 - 1e-3 - 1e-6 - 1e-10, T + 1.5522: 1e-10, T + 3: 1e-6, T + 5: 1e-3},
        1.0,
        2.0,
    ),
    ("laplace", {1.7e9: 0.5, 1.7e9 + 0.3: 0.01, 1.7e9 + 1.1: 0.49}, 1.0, 1.0),
    ("laplace", {1e15: 0.5, 1e15 + 200: 0.01, 1e15 + 601: 0.49}, 530.0, 530.0),
    ("uniform", {0.9: 3 / 19, 2.3: 9 / 19, 2.4: 2 / 19, 2.8: 1 / 19, 2.9: 4 / 19}, 0.4, None),
    ("uniform", {0.0: 0.058, 0.1: 0.234, 0.6: 0.007, 1.5: 0.701}, 0.7, None),
]


@pytest.mark.parametrize(("noise", "secret", "scale", "cut"), ENDS_OF_NOISE)
def test_the_place_where_noise_ends_is_exact_however_far_from_zero(noise, secret, scale, cut):
    """x + cut was rounded to a float before the level was taken there: at 1.7e12 the bound was short by 3.5e-4."""
    found = additive_noise_leakage(noise, secret, scale, cut=cut)
    truth = largest_leak(noise, secret, scale, cut=math.inf if cut is None else cut)
    assert truth <= found.bound <= found.value + 1e-11
    assert noise == "gaussian" or found.value <= truth + mp.mpf(10) ** -25


def test_a_scale_for_cut_noise_far_from_zero_keeps_the_level():
    """It was 1.4708881, and leaked 14.000163."""
    _, secret, _, cut = ENDS_OF_NOISE[0]
    scale = noise_scale(14.0, "gaussian", secret, cut=cut).value
    assert largest_leak("gaussian", secret, scale, cut=cut) <= 14.0


@pytest.mark.parametrize("seed", range(24))
def test_no_outcome_leaks_more_than_the_bound_in_sixty_digits(seed):
    """Random numbers, some on a lattice of which floats have no exact steps, far from zero, cut off and clipped."""
    rng = np.random.default_rng(seed)
    noise = ("gaussian", "laplace", "uniform")[seed % 3]
    for _ in range(8):
        start, scale = (
            rng.choice([0, -7.3, 1e3, 1.7e9, 1.7e12, 1e15]),
            rng.choice([0.3, 0.7, 1, 530]),
        )
        numbers = rng.uniform(0, 6 * scale, rng.integers(2, 8))
        numbers = np.unique(start + (np.round(numbers / scale, 1) * scale if seed % 2 else numbers))
        shares = np.maximum(rng.dirichlet(np.full(len(numbers), 0.5)), 1e-11)
        secret = dict(zip(numbers.tolist(), (shares / shares.sum()).tolist()))
        cut = (
            None
            if noise == "uniform"
            else float(scale * rng.choice([0.5, 1, 2, rng.uniform(0.2, 5)]))
        )
        clip = None
        if noise != "uniform" and rng.random() < 0.5:
            clip = np.sort(rng.uniform(numbers[0] - scale, numbers[-1] + scale, 2)).tolist()
        found = additive_noise_leakage(noise, secret, float(scale), clip, cut)
        truth = largest_leak(noise, secret, float(scale), clip, math.inf if cut is None else cut)
        assert truth <= found.bound
        assert math.isinf(found.bound) or found.bound <= found.value + 1e-10
        assert noise == "gaussian" or clip is None or found.value <= truth + mp.mpf(10) ** -25


RARE = {0.0: 0.5, 1.0: 0.5 - 2e-13, 2.0: 2e-13}


@pytest.mark.parametrize("prior", [RARE, ([0.5, 0.5, 2e-13], [0, 1, 2, 3])])
def test_a_prior_with_a_share_below_the_domain_is_refused(prior):
    """A mean of 1e-300 has lost digits: with such a share a bound was short by 7.5e-6."""
    asked = [
        lambda: additive_noise_leakage("laplace", prior, 1.0),
        lambda: noise_scale(1.0, "laplace", prior),
        lambda: mean_mechanism(prior, 1.0, bins=2),
    ]
    for ask in asked:
        with pytest.raises(InvalidPrior, match="merge answers that are rarer"):
            ask()


@pytest.mark.parametrize("far", [1.7e12, -1e17])
def test_a_density_of_which_floats_hold_no_differences_is_refused(far):
    wide = 1024.0 if far < 0 else 10.0
    counts = (np.array([1.0, 2]), np.array([far, far + wide / 2, far + wide]))
    for given in (counts, uniform(far, wide)):
        with pytest.raises(ValueError, match="subtract an origin first"):
            mean_mechanism(given, 1.0)
    for given in (
        lambda: DensityRange((far, far + wide)),
        lambda: SampleBand([far], (far, far + wide)),
    ):
        with pytest.raises(ValueError, match="subtract an origin first"):
            given()
    near, moved = uniform(0, wide), uniform(far, wide)  # measured from its location
    clip = (far + wide / 4, far + wide)
    one = additive_noise_leakage("gaussian", moved, wide, clip)
    two = additive_noise_leakage("gaussian", near, wide, (wide / 4, wide))
    assert (one.value, one.bound) == (two.value, two.bound) and one.outcome == two.outcome + far
