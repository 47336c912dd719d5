"""Regressions with a released column: against statsmodels, SciPy and the definitions; and how often intervals cover."""

import math
import os
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.stats import binom

import pmlbook as pb
from pmlbook.estimation import Regression, regress
from pmlbook.foundations import randomized_response

FULL = os.environ.get("PMLBOOK_FUZZ") == "full"
FLIP = pb.Mechanism(randomized_response(2, 1.0), [0.5, 0.5], ("no", "yes"), (0, 1))
QUARTER = pb.Mechanism([[0.75, 0.25], [0.25, 0.75]], [0.5, 0.5], outputs=(0, 1))
NEVER = pb.Mechanism([[1.0, 0, 0], [0, 1, 0]], [0.5, 0.5], outputs=range(3))
DEPENDENT = pb.Mechanism([[0.5, 0.5], [0.6, 0.4], [0.7, 0.3]], [0.3, 0.3, 0.4], outputs=(0, 1))


def of_release(mechanism, released, covariates, **options):
    """The regression in which the released column is explained."""
    return regress(mechanism, released, covariates=covariates, **options)


IMPOSSIBLE = "the outcome in row 2 was released, but no input can produce it"


def people(n, seed, slopes=((0.4, -0.5), (-0.3, 0.8))):
    """A public column with a constant, a secret of three that it explains, and a response that the secret explains."""
    rng = np.random.default_rng(seed)
    public = np.column_stack([np.ones(n), rng.normal(size=n)])
    odds = np.column_stack([np.zeros(n), public @ np.transpose(slopes)])
    secret = (odds + rng.gumbel(size=(n, 3))).argmax(axis=1)
    response = np.array([1.0, 3.0, 2.0])[secret] + 0.5 * public[:, 1] + rng.normal(size=n)
    return rng, public, secret, response


SURE = pb.Mechanism(np.eye(3), [0.3, 0.3, 0.4], outputs=range(3))
NOISY = pb.Mechanism(
    [[0.7, 0.1, 0.1, 0.1], [0.1, 0.6, 0.1, 0.2], [0.1, 0.1, 0.6, 0.2]],
    [0.3, 0.4, 0.3],
    outputs=range(4),
)


def test_without_noise_regressions_are_those_of_statsmodels():
    sm = pytest.importorskip("statsmodels.api")
    _, public, secret, response = people(400, 1)
    ours = regress(SURE, secret, response, None, public[:, 1:])
    theirs = sm.OLS(response, np.column_stack([np.eye(3)[secret], public[:, 1]])).fit(
        cov_type="HC0"
    )
    assert np.allclose(ours.coefficients, theirs.params, rtol=0, atol=1e-9)
    assert np.allclose(ours.covariance, theirs.cov_params(), rtol=0, atol=1e-9)
    theirs = sm.MNLogit(secret, public).fit(disp=0, tol=1e-13, method="newton", cov_type="HC0")
    ours = of_release(SURE, secret, public, reference=0)
    assert np.allclose(ours.coefficients, theirs.params.T.ravel(), rtol=0, atol=1e-8)
    assert np.allclose(ours.covariance, theirs.cov_params(), rtol=0, atol=1e-8)
    ours = regress(SURE, secret, None, [1.0, 5.0, 2.0], public)
    theirs = sm.OLS(np.array([1.0, 5.0, 2.0])[secret], public).fit(cov_type="HC0")
    assert np.allclose(ours.coefficients, theirs.params, rtol=0, atol=1e-9)
    assert np.allclose(ours.covariance, theirs.cov_params(), rtol=0, atol=1e-9)


def test_another_reference_moves_the_coefficients():
    """Those of the others are differences from its own, on either side; errors are those of the differences."""
    _, public, secret, response = people(400, 1)
    released = NOISY.privatize(secret, np.random.default_rng(2))
    each = regress(NOISY, released, response, None, public[:, 1:])
    apart = regress(NOISY, released, response, None, public, reference=1)
    assert apart.names == ("0", "2", "covariate 0", "covariate 1")
    change = np.array([[1, -1, 0, 0], [0, -1, 1, 0], [0, 1, 0, 0], [0, 0, 0, 1]])
    assert np.allclose(apart.coefficients, change @ each.coefficients, rtol=0, atol=1e-9)
    assert np.allclose(apart.covariance, change @ each.covariance @ change.T, rtol=0, atol=1e-9)
    first, commonest, last = (of_release(NOISY, released, public, reference=k) for k in range(3))
    assert commonest == of_release(NOISY, released, public)
    one, two = np.split(first.coefficients, 2)
    assert last.names[0] == "0: covariate 0"
    assert np.allclose(last.coefficients, [*-two, *(one - two)], rtol=0, atol=1e-8)
    for wrong in (dict(reference=3), dict(reference=0, features=[1, 2, 3])):
        with pytest.raises(ValueError, match="^reference "):
            of_release(NOISY, released, public, **wrong)


def test_regressions_cover_in_seeded_repetitions():
    """Forty samples of a thousand people: all coefficients of both."""
    missed = np.zeros(4 + 4)
    for seed in range(40):
        rng, public, secret, response = people(1000, seed)
        released = NOISY.privatize(secret, rng)
        on = regress(NOISY, released, response, None, public[:, 1:])
        of = of_release(NOISY, released, public, reference=0)
        ends = np.vstack([on.intervals(), of.intervals()])
        truth = np.array([1, 3, 2, 0.5, 0.4, -0.5, -0.3, 0.8])
        missed += (truth < ends[:, 0]) | (truth > ends[:, 1])
    assert (missed <= 7).all() and missed.sum() <= 0.08 * 40 * 8


def test_the_corrected_logistic_slope_is_not_too_small():
    rng = np.random.default_rng(9)
    secret = rng.choice(3, 20_000)
    response = (rng.random(20_000) < np.array([0.2, 0.5, 0.8])[secret]).astype(float)
    fit = regress(NOISY, NOISY.privatize(secret, rng), response, None, None, "logistic")
    expected = np.log([0.25, 1.0, 4.0])
    assert (abs(fit.coefficients - expected) < 4 * fit.standard_errors).all()
    assert fit.standard_errors.max() < 0.1 and fit == pickle.loads(pickle.dumps(fit))


@pytest.mark.parametrize(
    ("call", "arguments", "word"),
    [
        ("on", (FLIP, [0, 1], [1.0]), "response"),
        ("on", (FLIP, [0, 1], [1.0, np.nan]), "response"),
        ("on", (FLIP, [0, 1], [1.0, 2.0], None, [[1.0]]), "covariates"),
        ("on", (FLIP, [0, 1], [1.0, 2.0], None, [[1.0], [1.0]]), "root"),
        ("on", (FLIP, [0, 1], [1.0, 2.0], None, None, "probit"), "link"),
        ("on", (FLIP, [0, 1], [1.0, 2.0], None, None, "logistic"), "between 0 and 1"),
        ("on", (SURE, [0, 1, 2], [0.0, 1.0, 1.0], None, None, "logistic"), "root"),
        ("on", (FLIP, [0, 1], [1.0, 2.0], float), "float"),
        ("of", (FLIP, [0, 1], [[1.0]]), "covariates"),
        ("of", (FLIP, [0, 1], [1.0, 2.0]), "covariates"),
        ("of", (FLIP, [0, 1, 1], [[1.0, 1.0]] * 3), "root"),
        ("of", (FLIP, [0, 0, 0, 0], [[1.0]] * 4), "root"),
        ("of", (FLIP, [0, 3], [[1.0]] * 2), "released"),
        ("of", (NEVER, [0, 1, 2, 2], [[1.0]] * 4), IMPOSSIBLE),
        ("on", (NEVER, [0, 1, 2, 2], [1.0] * 4), IMPOSSIBLE),
        ("of", (DEPENDENT, [0, 1], [[1.0]] * 2), "linearly dependent"),
    ],
)
def test_regressions_that_tell_nothing_are_refused(call, arguments, word):
    with pytest.raises(ValueError, match=word):
        {"on": regress, "of": of_release}[call](*arguments)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("column", [[1e200, 1.0, -1.0, 2.0], [1e300, 1e-300, 1.0, 1.0], [0.0] * 4])
def test_what_floats_do_not_hold_is_refused_without_a_warning(column):
    noisy = pb.Mechanism([[0.75, 0.25], [0.25, 0.75]], [0.5, 0.5], outputs=(0, 1))
    with pytest.raises(ValueError, match="no root"):
        of_release(noisy, [0, 1, 1, 0], np.column_stack([np.ones(4), column]))


def test_one_input_has_no_odds():
    with pytest.raises(ValueError, match="mechanism has one input"):
        of_release(pb.Mechanism([[1.0]], [1.0], outputs=(0,)), [0, 0], np.ones((2, 1)))


@pytest.fixture(scope="module")
def fair():
    """A survey of 6366 women: whether there was an affair, the rating as a yes or no, and public columns."""
    sm = pytest.importorskip("statsmodels.api")
    data = sm.datasets.fair.load_pandas().data
    affair, happy = (data["affairs"] > 0).astype(int), (data["rate_marriage"] >= 4).astype(int)
    public = data[["rate_marriage", "age"]].assign(constant=1.0)
    return sm, affair, happy, public, data


def without_chance(answers, columns):
    """Four of each row, three of them with the true answer: outcomes occur exactly as `QUARTER` states."""
    return pd.concat([answers, answers, answers, 1 - answers]), pd.concat([columns] * 4)


def test_a_model_that_cannot_be_wrong_has_one_target(fair):
    sm, affair, _, _, data = fair
    ages = pd.get_dummies(data["age"].astype(int), dtype=float)
    odds = affair.groupby(data["age"]).mean().pipe(lambda p: np.log(p / (1 - p)))
    fit = of_release(QUARTER, *without_chance(affair, ages))
    assert np.allclose(fit.coefficients, odds, rtol=0, atol=1e-7)


def test_the_target_is_the_regression_without_release_on_real_data(fair):
    """Whether or not the log odds are linear; as a number, too."""
    sm, affair, _, public, _ = fair
    plain = sm.Logit(affair.to_numpy(), public.to_numpy()).fit(disp=0, tol=1e-12).params
    shown = without_chance(affair, public)
    for fit in (
        of_release(QUARTER, *shown),
        of_release(QUARTER, *shown, features=[0, 1], link="logistic"),
    ):
        assert np.allclose(fit.coefficients, plain, rtol=0, atol=1e-9)


def test_intervals_cover_the_regression_without_release_on_real_data(fair):
    """Women drawn anew from all of them, and released; the target is the regression of all, unreleased.

    So few misses are allowed as come but once in ten thousand if each comes with 5 %; in the long run 7 %.
    """
    sm, affair, happy, public, data = fair
    beside = public[["age", "constant"]]
    design = np.column_stack([happy, beside])
    targets = np.concatenate(
        [sm.Logit(affair, public).fit(disp=0).params, sm.Logit(affair, design).fit(disp=0).params]
    )
    missed, runs = np.zeros(len(targets)), 3000 if FULL else 100
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        who = rng.integers(len(affair), size=len(affair))
        said, rated = affair.to_numpy()[who], happy.to_numpy()[who]
        of = of_release(QUARTER, QUARTER.privatize(said, rng), public.iloc[who])
        on = regress(
            QUARTER, QUARTER.privatize(rated, rng), said, float, beside.iloc[who], "logistic"
        )
        ends = np.vstack([of.intervals(), on.intervals()])
        missed += (targets < ends[:, 0]) | (targets > ends[:, 1])
    most = 0.07 * runs if FULL else binom.isf(1e-4, runs, 0.05)
    assert (missed <= most).all(), missed / runs


SKEWED = np.array([[0.8, 0.15, 0.05], [0.1, 0.8, 0.1], [0.1, 0.2, 0.7]])
THREE = pb.Mechanism(SKEWED, [0.5, 0.3, 0.2], outputs=(0, 1, 2))


def ninety():
    rng = np.random.default_rng(13)
    codes = THREE.privatize(rng.integers(3, size=90), rng)
    return rng, codes, rng.normal(size=(90, 1))


def test_outcomes_that_an_input_cannot_give_are_no_trouble():
    holes = pb.Mechanism([[1.0, 0, 0], [0, 0.5, 0.5]], [0.5, 0.5], (0, 1), ("a", "b", "c"))
    fit = of_release(holes, ["a", "a", "a", "b", "c"], np.ones((5, 1)))
    assert np.isclose(fit.coefficients[0], math.log(2 / 3), rtol=0, atol=1e-8)


def test_the_order_of_people_has_no_say():
    rng, codes, age = ninety()
    order, response = rng.permutation(90), rng.random(90)
    for link in ("linear", "logistic"):
        one, two = (
            regress(THREE, codes[o], response[o], None, age[o], link) for o in (slice(None), order)
        )
        assert np.allclose(one.coefficients, two.coefficients, rtol=1e-8, atol=0)


@pytest.mark.parametrize("step", [-200, -40, 40, 200])
def test_a_unit_that_is_a_power_of_two_changes_no_digit(step):
    rng, codes, age = ninety()
    heights, chances = rng.normal(size=90), rng.random(90)

    def fits(step):
        """Coefficients and covariances in the first units, of regressions with columns and response in others."""
        aged = np.hstack([np.ones((90, 1)), np.ldexp(age, step)])
        tall, heard = np.ldexp([1.0, 4.0, 6.0], -step), np.ldexp(heights, step)
        back = [np.ldexp(1.0, step * np.array(power)) for power in ([-2, -1, 0], [-1, 0, 1])]
        odds = np.ldexp(1.0, step * np.array([0, 1, 0, 1]))
        found = [
            (regress(THREE, codes, heard, tall, aged), back[0]),
            (
                regress(THREE, codes, chances, tall, aged, "logistic"),
                back[1],
            ),
            (of_release(THREE, codes, aged), odds),
        ]
        return [(f.coefficients * b, f.covariance * np.outer(b, b)) for f, b in found]

    for here, there in zip(fits(step), fits(0)):
        assert all((a == b).all() for a, b in zip(here, there))


SURE_TWO = pb.Mechanism(np.eye(2), [0.5, 0.5], outputs=(0, 1))


@pytest.mark.parametrize("step", [-600, -500, 0, 500, 600])
def test_a_variance_that_is_no_float_is_refused(step):
    answer, said = [0, 0, 1, 1], [0.0, 1, 0, 1]
    table = np.ldexp([[1.0], [3.0], [2.0], [5.0]], step)
    calls = [lambda: regress(SURE_TWO, answer, said, covariates=table)]
    calls.append(lambda: of_release(SURE_TWO, answer, table))
    for call in calls:
        if abs(step) > 500:
            with pytest.raises(ValueError, match="no root"):
                call()
        else:
            assert np.isfinite(call().standard_errors).all()


TURNS, EIGHT = np.repeat([1.0, -1], 4), [0, 1, 1, 1] * 2
SHARES = [0.25, 0.75, 0.75, 0.75] * 2


@pytest.mark.parametrize("large", [990, 1010])
def test_a_steep_slope_is_one_in_other_units(large):
    """Log odds of ln 3."""
    unit = math.log(3) / large
    beside = np.column_stack([np.full(8, unit), TURNS])
    given = SURE_TWO, EIGHT, SHARES, [-unit, unit], TURNS[:, None], "logistic"
    for fit in (of_release(SURE_TWO, EIGHT, beside), regress(*given)):
        assert np.allclose(fit.coefficients, [large, 0], rtol=1e-9, atol=1e-9)


def test_columns_too_large_are_refused():
    rows = np.column_stack([np.ones(8), 1e307 * TURNS])
    with pytest.raises(ValueError, match="no root"):
        of_release(SURE_TWO, EIGHT, rows)
    with pytest.raises(ValueError, match="no root"):
        regress(SURE_TWO, EIGHT, SHARES, [1.0, 2.0], rows[:, 1:], "logistic")


@pytest.mark.parametrize("wrong", [[0, 1, 0, 1.0000001], [-1e-9, 1, 0, 1]])
def test_what_is_no_share_has_a_linear_regression_alone(wrong):
    answer = [0, 0, 1, 1]
    with pytest.raises(ValueError, match="between 0 and 1"):
        regress(SURE_TWO, answer, wrong, link="logistic")
    assert len(regress(SURE_TWO, answer, wrong).coefficients) == 2
    far = regress(SURE_TWO, answer, [5e6, 5e6, 0, 2]).coefficients
    assert np.allclose(far, [5e6, 1], rtol=1e-12, atol=0)


@pytest.mark.parametrize("rows", [3, 5])
def test_columns_of_other_lengths_are_refused(rows):
    words = f"covariates has {rows} rows, but released 4 values"
    with pytest.raises(ValueError, match=words):
        of_release(SURE_TWO, [0, 0, 1, 1], np.ones((rows, 1)))
    with pytest.raises(ValueError, match=words):
        regress(SURE_TWO, [0, 0, 1, 1], [0.0, 1, 0, 1], covariates=np.ones((rows, 1)))


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_coefficients_have_names(frame):
    rng, codes, age = ninety()
    public = frame({"constant": np.ones(90), "age": age[:, 0]})
    mark = pb.Mechanism(SKEWED, [0.5, 0.3, 0.2], ("low", "<mid>", "high"), (0, 1, 2))
    told, response = pd.Series(codes, name="rating_released"), rng.normal(size=90)
    of = of_release(mark, told, public)
    assert of.names == ("<mid>: constant", "<mid>: age", "high: constant", "high: age")
    on = regress(mark, told, response, [1, 2, 3], public)
    assert on.names == ("rating", "constant", "age")
    each = regress(mark, codes, response, None, age)
    assert each.names == ("low", "<mid>", "high", "covariate 0")
    assert regress(mark, codes, response, [1, 2, 3]).names == ("feature",)
    table = of.to_frame(0.9)
    assert list(table.index) == list(of.names) and len(table.columns) == 4
    assert np.array_equal(table[["low", "high"]], of.intervals(0.9))
    assert np.array_equal(table["coefficient"], of.coefficients)
    assert "high: age" in repr(of) and "&lt;mid&gt;: age" in of._repr_html_()
    assert pickle.loads(pickle.dumps(of)) == of


def test_intervals_are_those_of_statsmodels(fair):
    sm, affair, _, public, _ = fair
    fit = of_release(SURE_TWO, affair, public)
    theirs = sm.Logit(affair, public).fit(disp=0, tol=1e-12, cov_type="HC0")
    for confidence in (0.5, 0.95, 0.999):
        expected = theirs.conf_int(1 - confidence)
        assert np.allclose(fit.intervals(confidence), expected, rtol=0, atol=1e-8)


@pytest.mark.parametrize("confidence", [0, 1, -0.1, 1.5, math.nan, "0.95", None, [0.9]])
def test_a_confidence_that_is_none_is_refused(confidence):
    fit = Regression(np.zeros(1), np.eye(1), ("a",))
    for call in (fit.intervals, fit.to_frame):
        with pytest.raises(ValueError, match="confidence = .* must lie strictly between 0 and 1"):
            call(confidence)


def test_a_variance_below_zero_by_rounding_is_zero():
    fit = Regression(np.zeros(1), np.array([[-1e-20]]), ("a",))
    assert (fit.intervals() == 0).all()


@pytest.mark.filterwarnings("error")
def test_an_outlier_whose_square_is_no_float_is_refused():
    faint = pb.Mechanism(
        [[0.5 + 1e-8, 0.5 - 1e-8], [0.5 - 1e-8, 0.5 + 1e-8]], [0.5, 0.5], (0, 1), (0, 1)
    )
    rows = np.column_stack([np.ones(4), [1e155, 1.0, -1.0, 2.0]])
    with pytest.raises(ValueError, match="no root"):
        of_release(faint, [0, 1, 1, 0], rows)


SHARP = pb.Mechanism([[0.999, 0.001], [0.001, 0.999]], [0.5, 0.5], outputs=(0, 1))
RELEASED = [0, 1, 0, 1, 0, 1]
HEIGHTS = [1.0, 5.0, 2.0, 4.0, 3.0, 7.0]
ALONE = {  # one person alone: a secret, a column, and a constant next to a column of all others
    "a secret": (SURE, [0, 0, 1, 1, 1, 2], None, None, 5),
    "a column": (SHARP, RELEASED, None, [[0.0], [0.0], [0.0], [2.0], [0.0], [0.0]], 3),
    "a constant": (
        SHARP,
        RELEASED,
        [0.0, 1.0],
        [[1.0, 1.0]] * 2 + [[1.0, 0.0]] + [[1.0, 1.0]] * 3,
        2,
    ),
}


@pytest.mark.parametrize("case", ALONE)
@pytest.mark.parametrize("link", ["linear", "logistic"])
def test_a_row_that_no_other_contradicts_has_no_error(case, link):
    mechanism, released, features, covariates, row = ALONE[case]
    shares = [height / 10 for height in HEIGHTS]
    with pytest.raises(ValueError, match=rf"^row {row} alone decides a coefficient"):
        regress(mechanism, released, shares, features, covariates, link)


@pytest.mark.parametrize("people", [1, 2, 3])
def test_as_many_coefficients_as_people_have_no_error(people):
    """Two coefficients: two people fit perfectly, or nearly so, and three may differ."""
    given = FLIP, RELEASED[:people], HEIGHTS[:people]
    if people > 2:
        assert regress(*given).standard_errors.min() > 0
    else:
        with pytest.raises(ValueError, match=f"^{people} people are too few for the errors of 2"):
            regress(*given)


@pytest.mark.parametrize(
    "nothing", [None, [], [[]], np.zeros((4, 0)), pd.DataFrame(index=range(4))]
)
def test_an_empty_set_of_regressors_is_refused_by_name(nothing):
    with pytest.raises(ValueError, match="^covariates "):
        of_release(FLIP, [0, 1, 1, 0], nothing)
    if nothing is not None:
        with pytest.raises(ValueError, match="^covariates "):
            regress(FLIP, [0, 1, 1, 0], [1.0, 2, 3, 4], None, nothing)


@pytest.mark.parametrize("features", [[], {}, [1.0, 2, 3], lambda name: {}[name]])
def test_features_that_are_none_are_told_by_their_name(features):
    with pytest.raises(ValueError, match="^features "):
        regress(FLIP, [0, 1, 1, 0], [1.0, 2, 3, 4], features)


@pytest.mark.parametrize("link", ["linear", "logistic"])
@pytest.mark.parametrize(
    "seen, features",
    [(["r0"] * 200, {"no": 0, "yes": 1}), (["r0", "r1"] * 100, None)],
)
def test_outcomes_that_were_not_seen_determine_no_coefficient(link, seen, features):
    """A coefficient was reported with an error of 0 where all people had the same outcome."""
    table = (
        [[0.98, 0.02], [0.9, 0.1]]
        if features
        else [[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]]
    )
    shares = [0.9, 0.1] if features else [0.4, 0.3, 0.3]
    made = pb.Mechanism(table, shares, ("no", "yes", "maybe")[: len(shares)])
    response = np.random.default_rng(0).uniform(size=200)
    with pytest.raises(ValueError, match="the outcomes too few"):
        covariates = np.ones((200, 1)) if features else None
        regress(made, seen, response, features, covariates, link)


def test_an_answer_too_rare_for_a_regression_is_named():
    """A share of .03 at .7 nats and 1,000 people: 26 of 100 fits had no root, whatever the reference."""
    made = pb.estimation_mechanism({"rare": 0.03, "a": 0.6, "b": 0.37}, 0.7).mechanism
    rng = np.random.default_rng(0)
    secret = rng.choice(["rare", "a", "b"], 1000, p=[0.03, 0.6, 0.37])
    public = np.column_stack([np.ones(1000), rng.normal(size=1000)])
    # drawn so that fewer than none seem to have the rare answer
    for seed in range(100):
        released = made.privatize(secret, rng=seed)
        if made.estimate(released).frequencies[0] < 0:
            break
    with pytest.raises(ValueError, match="the share of 'rare' is -.* merge it with another"):
        of_release(made, released, public)


def test_columns_of_arrow_have_their_names():
    import pyarrow as pa

    table = pa.table({"one": [1.0] * 6, "age": [1.0, 2.0, 3.0, 4.0, 5.0, 7.0]})
    fit = regress(FLIP, [0, 1, 0, 1, 1, 0], np.arange(6.0), {"no": 0, "yes": 1}, table)
    assert fit.names == ("feature", "one", "age")


def test_covariates_far_from_zero_are_not_dependent():
    """Times of a day as seconds since 1970, beside a constant: a rank of squares refused them."""
    rng = np.random.default_rng(0)
    made = pb.Mechanism(randomized_response(3, 0.1), [0.5, 0.3, 0.2], list("abc"))
    secret = rng.choice(3, 5000, p=[0.5, 0.3, 0.2])
    released = made.privatize(np.array(list("abc"))[secret], rng=1)
    times = np.column_stack([np.ones(5000), 1.7e9 + rng.uniform(0, 86400, 5000)])
    fit = regress(made, released, secret + rng.normal(size=5000), {"a": 0, "b": 1, "c": 5}, times)
    assert np.isfinite(fit.standard_errors).all()
