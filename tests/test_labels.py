"""What is released does not pass for an answer: labels, names of columns, refusals; what a design publishes; order."""

import json
import math
import pickle
import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import pmlbook as pb
from pmlbook.cli.command_line import main
from pmlbook.cli.reading import read_certificate
from pmlbook.cli.report import report
from pmlbook.cli.sentences import standing_text
from pmlbook.files.release import release_file
from pmlbook.release.certificate import exp_below
from pmlbook.release.columns import encode
from pmlbook.release.labels import sorted_names

SHARES = {1: Fraction(2, 100), 2: Fraction(5, 100), 3: Fraction(16, 100), 4: Fraction(35, 100)}
SHARES |= {5: Fraction(42, 100)}
MAKERS = [list, np.array, pd.Series, pd.Categorical, pl.Series, pa.array]


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """A command line in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def call(command):
        code = main(command.split())
        return code, *capsys.readouterr()

    return call


def shares(inputs):
    """Frequencies of these inputs."""
    return dict(zip(inputs, SHARES.values()))


# labels


@pytest.mark.parametrize(
    "inputs",
    [range(5), range(1, 6), "01234", ("r0", "r1", "R2 ", "rr5", "no"), ("r", "rr", "", "r07", 0.5)],
    ids=str,
)
@pytest.mark.parametrize("design", [pb.optimal_mechanism, pb.estimation_mechanism])
def test_no_label_is_an_input_or_a_number(inputs, design):
    made = design(shares(inputs), 0.5).mechanism
    texts = [str(name).strip().lower() for name in made.inputs]
    assert made.inputs == tuple(inputs) and set(made.outputs).isdisjoint(texts)
    assert list(made.outputs) == sorted(made.outputs)
    for label in made.outputs:
        with pytest.raises(ValueError):
            float(label)


def test_labels_stay_where_a_mechanism_goes():
    made = pb.estimation_mechanism(shares(("r1", "b", "c", "d", "e")), 0.5).mechanism
    text = made.certify(0.5).to_json()
    read = pb.Mechanism.from_certificate(pb.Certificate.from_json(text))
    frame = pb.Mechanism(made.to_frame(), made.exact_prior)
    again = pb.estimation_mechanism(shares(("r1", "b", "c", "d", "e")), 0.5).mechanism
    for same in (pickle.loads(pickle.dumps(made)), read, frame, replace(made), again):
        assert same.outputs == made.outputs and same.outputs[0].startswith("rr")
    turned = replace(pickle.loads(pickle.dumps(made)), inputs=("rr1", "b", "c", "d", "e"))
    assert set(turned.outputs).isdisjoint(turned.inputs)


def test_given_labels_stay():
    names = ("no", "yes")
    made = pb.Mechanism([[0.75, 0.25], [0.25, 0.75]], [0.5, 0.5], names, names)
    assert made.outputs == names and made.estimate(["no", "yes"]).size == 2
    known = pb.hamming.SourceSet([[0.6, 0.3, 0.1]])
    assert pb.dp_leakage(known, 0.2).mechanism.outputs == (0, 1, 2)  # its errors are counted
    parity = pb.leakage_distortion(pb.records.counting(3), 0.5, 1.0).mechanism
    assert parity.outputs == (0, 1, 2, 3)  # a count, not far from the true one


@pytest.mark.parametrize("make", MAKERS)
def test_a_column_that_was_not_released_is_refused(make):
    made = pb.estimation_mechanism(SHARES, 0.5).mechanism
    ratings = make([1, 5, 4, 4])
    with pytest.raises(ValueError, match="it is an input, so this column has not been released"):
        made.estimate(ratings)
    with pytest.raises(ValueError, match="released holds a value .* has not been released"):
        pb.estimation.two_way(made, ratings, list("abab"))
    with pytest.raises(ValueError, match="covariate holds a value .* has not been released"):
        pb.estimation.two_way(made, made.privatize(ratings), ratings, made)
    with pytest.raises(ValueError, match="released holds a value .* has not been released"):
        pb.estimation.regress(made, ratings, np.arange(4.0), float)
    with pytest.raises(ValueError, match="released holds a value .* has not been released"):
        pb.estimation.regress(made, ratings, covariates=np.ones((4, 1)))


def test_a_certificate_from_before_is_read(run):
    """Outcomes 0, 1, 2 are accepted in files that hold them."""
    old = pb.Mechanism(pb.foundations.randomized_response(3, 1.0), [0.5, 0.3, 0.2], "abc", range(3))
    Path("old.json").write_text(old.certify(2.0).to_json())
    Path("old.csv").write_text("x\n" + "0\n1\n2\n" * 20)
    code, out, _ = run("estimate old.json old.csv --column x --json")
    assert code == 0 and [row["name"] for row in json.loads(out)["estimate"]] == list("abc")


def test_a_release_is_no_answer_from_the_command_line_to_the_report(run):
    Path("in.csv").write_text("id,x\n" + "1,0\n" * 700 + "1,1\n" * 300)
    assert run("design 0=.7 1=.3 --epsilon .3 -o m.json")[0] == 0
    code, out, _ = run("release m.json in.csv out.csv --column x")
    assert code == 0 and "column: x_released" in out
    assert "The released values are codes, r0 to r1, and not answers" in out
    header, *rows = Path("out.csv").read_text().splitlines()
    assert header == "id,x_released" and {row[2:] for row in rows} <= {"r0", "r1"}
    code, out, _ = run(
        "estimate m.json out.csv --column x_released --json --confidence 0.999999999"
    )
    told = json.loads(out)["estimate"]
    assert code == 0 and told[1]["low"] < 0.3 < told[1]["high"]
    code, out, err = run("estimate m.json in.csv --column x")
    assert code == 2 and not out and "this column has not been released" in err
    code, out, err = run("estimate m.json out.csv --column x")
    assert code == 2 and "did you mean 'x_released'" in err
    made = pb.Mechanism.from_certificate(read_certificate(Path("m.json")))
    page = report(made, 0.3, "x", 1000)
    assert page.count("The released values are codes, r0 to r1, and not answers") == 1
    named = report(replace(made, outputs=("1", "0")), 0.3, "x", 1000)
    assert named.count("called like answers, and need not be the true ones") == 1


def test_both_certificates_of_start_have_one_set_of_labels(run):
    """An answer that is merged away is an answer too."""
    Path("in.csv").write_text("x\n" + "a\n" * 60 + "b\n" * 37 + "r0\nr1\nq\n")
    assert run("start in.csv x --merge-below 0.02 --for frequencies --epsilon 0.4")[0] == 0
    whole, small = (read_certificate(Path(f"in.{kind}.json")) for kind in ("mechanism", "estimate"))
    assert "r0" in whole.inputs and "r0" not in small.inputs
    assert whole.outputs == small.outputs and set(whole.outputs).isdisjoint(whole.inputs)
    page = Path("in.report.html").read_text()
    assert "--column x_released" in page and page.count("and not answers") == 1


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_name_that_is_taken_is_refused(tmp_path, kind):
    frame = pd.DataFrame({"x": ["no"], "x_released": ["yes"]})
    source, target = tmp_path / f"in.{kind}", tmp_path / f"out.{kind}"
    frame.to_csv(source, index=False) if kind == "csv" else frame.to_parquet(source)
    made = pb.Mechanism(np.eye(2), [0.5, 0.5], ("no", "yes"))
    with pytest.raises(ValueError, match="'x_released', as another one is"):
        release_file(source, target, "x", made)
    assert not target.exists()


# default labels


TRIPS = {
    "pickle": lambda made: pickle.loads(pickle.dumps(made)),
    "certificate": lambda made: pb.Mechanism.from_certificate(made.certify(1.0)),
    "text": lambda made: pb.Mechanism.from_certificate(
        pb.Certificate.from_json(made.certify(1.0).to_json())
    ),
    "frame": lambda made: pb.Mechanism(made.to_frame(), made.prior),
    "lists": lambda made: pb.Mechanism(
        made.channel, made.prior, list(made.inputs), list(made.outputs)
    ),
}


@pytest.mark.parametrize("way", TRIPS)
@pytest.mark.parametrize("inputs", [("no", "yes"), ("no", "R7"), (0, 1)])
def test_default_labels_stay_default_in_every_copy(way, inputs):
    """A frame that names its columns, or secrets of another name, replace default names, but not names that a caller gave."""
    made = pb.Mechanism([[0.75, 0.25], [0.25, 0.75]], [0.5, 0.5], inputs)
    back = TRIPS[way](made)
    assert back == made
    frame = pd.DataFrame(made.channel, list(inputs), ["a", "b"])
    assert replace(back, channel=frame).outputs == ("a", "b")
    assert replace(back, inputs=("r1", "x")).outputs == ("rr0", "rr1")
    named = TRIPS[way](replace(made, outputs=("one", "other")))
    with pytest.raises(ValueError, match="have different names"):
        replace(named, channel=frame)


# what a design publishes


def test_two_answers_of_which_one_is_published():
    design = pb.optimal_mechanism({"yes": 0.32, "no": 0.68}, 0.5)
    first = design.mechanism.channel[1]  # of 'no'
    told = float(0.68 * first[design.mechanism.channel[0] == 0].sum())
    assert design.mechanism.published == pytest.approx(told, rel=1e-12) and round(told, 3) == 0.393
    assert design.mechanism.local_dp == math.inf
    for shown in (design, design.mechanism, pb.audit.audit_leakage(design.mechanism, [0.32, 0.68])):
        assert "local DP none, publishes 39.4 %" in repr(shown)
    assert "local DP none, publishes 39.4 %" in design._repr_html_()
    page = report(design.mechanism, 0.5, "x", 1000)
    assert "It has no level of local differential privacy" in page
    assert "It publishes 39.4 % of the answers" in page


def test_shares_and_levels_at_their_ends():
    one = pb.Mechanism(np.eye(2), [0.5, 0.5])
    assert one.published == 1 and "publishes 100 %" in repr(one)
    nearly = pb.Mechanism([[1, 0], [2.0**-53, 1 - 2.0**-53]], [0.5, 0.5])
    assert 0 < nearly.published < 1
    rare = pb.Mechanism([[1, 0], [0.5, 0.5]], [1 - 1e-12, 1e-12])
    assert rare.published == pytest.approx(5e-13) and "publishes 5e-11 %" in repr(rare)
    almost = pb.Mechanism([[1e-9, 1 - 1e-9, 0], [1e-9, 0, 1 - 1e-9]], [0.5, 0.5])
    assert almost.published < 1 and "publishes over 99.9 %" in repr(almost)
    hidden = pb.Mechanism([[0.75, 0.25, 0], [0.25, 0.75, 0]], [0.5, 0.5])  # one never occurs
    assert hidden.published == 0 and hidden.local_dp == pytest.approx(math.log(3), rel=1e-15)


def test_a_level_of_local_dp_is_never_below_the_ratio():
    rng = np.random.default_rng(3)
    for _ in range(50):
        made = pb.Mechanism(rng.dirichlet(np.ones(3), size=4), np.full(4, 0.25))
        ratio = max(Fraction(max(c), min(c)) for c in made.weights.T.tolist())
        near = pb.local_dp(made.channel)
        assert made.local_dp == pytest.approx(near, rel=1e-13)
        digits = exp_below(made.local_dp)
        assert digits >= ratio > exp_below(np.nextafter(made.local_dp, 0))


def test_the_command_line_prints_shares_in_per_cent(run):
    code, out, err = run("design no=68 yes=32 --epsilon 0.5")
    assert code == 0 and "local DP none, publishes 39.4 %" in out
    assert "would publish 39.4 % of the values" in err
    code, out, err = run("design a=1 b=1 --epsilon 1 --force")
    assert code == 0 and "would publish 100 % of the values" in err
    code, out, _ = run("audit mechanism.json --json")
    assert code == 0 and json.loads(out)["published"] == 1
    code, out, _ = run("audit mechanism.json")
    assert code == 0 and "published: 100 %" in out


def test_an_audit_by_trials_does_not_tell_what_is_impossible():
    tried = pb.audit.audit_leakage({0: [0] * 50, 1: [1] * 50}, [0.5, 0.5], outcomes=(0, 1))
    assert math.isnan(tried.published) and "published share unknown" in repr(tried)


# order

STEPS = ("low", "mid", "high")
CLIMB = pb.Mechanism(np.eye(3), [0.3, 0.3, 0.4], ("high", "low", "mid"), ("high", "low", "mid"))


@pytest.mark.parametrize("known", [STEPS, (*STEPS, "top"), ("bottom", *STEPS)])
def test_ordered_categories_stay_ordered(known):
    said = ["mid", "low", None, "high"]
    column = pd.Series(said, dtype=pd.CategoricalDtype(known, ordered=True), name="x")
    released = CLIMB.privatize(column, missing="keep")
    assert released.dtype == pd.CategoricalDtype(STEPS, ordered=True)
    assert (released >= "mid").tolist() == [True, False, False, True]
    enum = CLIMB.privatize(pl.Series("x", said, pl.Enum(known)), missing="keep")
    assert enum.dtype == pl.Enum(STEPS) and enum.to_list() == said and enum.name == "x"
    index = pa.array([known.index(x) if x else None for x in said])
    coded = pa.DictionaryArray.from_arrays(index, pa.array(known), ordered=True)
    for given in (coded, pa.chunked_array([coded[:1], coded[1:]])):
        back = CLIMB.privatize(given, missing="keep")
        whole = back.combine_chunks() if isinstance(back, pa.ChunkedArray) else back
        assert whole.type.ordered and whole.dictionary.to_pylist() == list(STEPS)
        assert whole.to_pylist() == said


def test_categories_that_are_no_order_of_the_outcomes_are_not_kept():
    kind = pd.CategoricalDtype(STEPS, ordered=True)
    codes = replace(CLIMB, outputs=("a", "b", "c")).privatize(pd.Series(["low"], dtype=kind))
    assert codes.dtype == pd.CategoricalDtype(["a", "b", "c"])
    loose = CLIMB.privatize(pd.Series(["low", "mid", "high"], dtype="category"))
    assert loose.dtype == pd.CategoricalDtype(CLIMB.outputs) and not loose.cat.ordered


def test_ordered_categories_stay_ordered_in_parquet(tmp_path):
    steps = pa.DictionaryArray.from_arrays(
        pa.array([0, 1, 2] * 60_000), pa.array(STEPS), ordered=True
    )
    pq.write_table(pa.table({"x": steps}), tmp_path / "in.parquet", row_group_size=50_000)
    release_file(tmp_path / "in.parquet", tmp_path / "out.parquet", "x", CLIMB)
    new = pd.read_parquet(tmp_path / "out.parquet")["x"]
    assert new.dtype.ordered and new.cat.categories.tolist() == list(STEPS)
    assert new.tolist() == list(STEPS) * 60_000


def test_dictionaries_that_count_without_a_sign_are_read():
    """Polars hands out such ones."""
    column = pa.DictionaryArray.from_arrays(
        pa.array([1, None, 0], pa.uint8()), pa.array(["a", "b"])
    )
    assert encode(column, ("a", "b"), missing="keep").tolist() == [1, -1, 0]


# groups


@pytest.mark.parametrize("make", [list, np.array, pd.Series, pl.Series, pa.array])
@pytest.mark.parametrize("groups", [["north", "east"], [10, 9, 100], [2.5, -1.0]])
def test_groups_stand_in_one_order(make, groups):
    flip = pb.Mechanism(pb.foundations.randomized_response(2, 1.0), [0.5, 0.5], outputs=(0, 1))
    covariate, said = groups * 20, [0, 0, 1] * 20
    said = said[: len(covariate)]
    tables = [
        pb.estimation.two_way(flip, s, make(b))
        for s, b in ((said, covariate), (said[::-1], covariate[::-1]))
    ]
    assert tables[0].groups == tables[1].groups == tuple(sorted(groups))
    assert (tables[0].frequencies == tables[1].frequencies).all()


@pytest.mark.parametrize("make", [pd.CategoricalDtype, pl.Enum])
def test_groups_are_the_categories_met_or_not(make):
    flip = pb.Mechanism(pb.foundations.randomized_response(2, 1.0), [0.5, 0.5], outputs=(0, 1))
    column = (pl if make is pl.Enum else pd).Series(["high", None, "low"] * 9, dtype=make(STEPS))
    table = pb.estimation.two_way(flip, [0, 1, 1] * 9, column)
    assert table.groups == (*STEPS, None) and (table.frequencies[:, 1] == 0).all()
    empty = table.mean(float, "mid")
    assert math.isnan(empty.value) and empty.interval() == empty.interval(method="score") == (0, 1)
    with pytest.raises(ValueError, match="no row is in the group 'mid'"):
        table.within("mid")


def test_what_cannot_be_compared_is_sorted_too():
    days = [pd.Timestamp(2024, 1, 10), pd.Timestamp(2024, 1, 9)]
    mixed = ["b", 2, ("x",), 10, "a", *days, 1.5, True]
    assert sorted_names(mixed) == sorted_names(mixed[::-1]) == [
        True, 1.5, 2, 10, "a", "b", *days[::-1], ("x",)
    ]  # fmt: skip


def test_a_report_does_not_understate_a_level():
    """Three digits once made 1.1 nats of 1.1049."""
    tilt = np.exp(1.1049) / (1 + np.exp(1.1049))
    shown = pb.Mechanism([[tilt, 1 - tilt], [1 - tilt, tilt]], [0.5, 0.5])
    first, _ = standing_text(shown)
    assert shown.local_dp <= float(re.search(r"is ([\d.]+) nats", first)[1]) <= 1.106


def test_a_name_that_no_encoding_can_write_still_labels_a_table():
    made = pb.Mechanism([[0.75, 0.25], [0.25, 0.75]], [0.5, 0.5], inputs=("\ud800", "b"))
    assert pb.Mechanism(made.to_frame(), made.prior).inputs == made.inputs
