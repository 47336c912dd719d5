"""Strata as they are handed on: counts with names in any order, gaps of several kinds, columns of one length."""

import csv
import math
from collections import Counter
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import pmlbook as pb
from pmlbook.audit.strata import (
    LevelExceeded,
    check_strata,
    strata_levels,
    strata_region,
    tally,
)
from pmlbook.files.release import count_strata, release_file
from pmlbook.files.tables import Layout
from pmlbook.robust.robust_design import robust_mechanism

pd = pytest.importorskip("pandas")

FLIP = pb.Mechanism([[0.8, 0.2], [0.2, 0.8]], [0.5, 0.5], ("no", "yes"))
PLAIN = {("north",): [1800, 200], ("south",): [200, 1800]}


def by_frequency(kind):
    """The same counts with names, the more frequent answer first."""
    rows = {k: Counter({"no": no, "yes": yes}) for k, (no, yes) in PLAIN.items()}
    ordered = {k: dict(row.most_common()) for k, row in rows.items()}
    assert list(ordered["south",]) == ["yes", "no"]
    return ordered if kind == "dict" else {k: pd.Series(row) for k, row in ordered.items()}


@pytest.mark.parametrize("kind", ["dict", "Series"])
def test_counts_by_frequency_are_put_in_order(kind):
    """The design for all strata keeps its level in each, by a reader's own sums."""
    counts = by_frequency(kind)
    assert strata_levels(FLIP, counts) == strata_levels(FLIP, PLAIN)
    for inputs in ((), ("no", "yes")):
        region, plain = strata_region(counts, inputs=inputs), strata_region(PLAIN)
        assert region.inputs == ("no", "yes")
        assert (region.low == plain.low).all() and (region.high == plain.high).all()
    mechanism = robust_mechanism(strata_region(counts), 0.3).mechanism
    for share in (0.9, 0.1):
        distribution = np.array([share, 1 - share]) @ mechanism.channel
        assert math.log((mechanism.channel.max(axis=0) / distribution).max()) <= 0.3
    check_strata(mechanism, counts, 0.3)


def test_a_stratum_with_other_names_is_refused():
    counts = {("a",): pd.Series({"no": 5, "yes": 5}), ("b",): pd.Series({"no": 5, "maybe": 5})}
    for call in (lambda: strata_region(counts), lambda: strata_levels(FLIP, counts)):
        with pytest.raises(ValueError, match=r"counts\[\('b',\)\]"):
            call()


def gaps(path, fields=("", "NA")):
    """A file with two ways to leave a visible field empty, beside answers that differ."""
    answers = ["no"] * 1900 + ["yes"] * 100, ["no"] * 100 + ["yes"] * 1900
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["job", "ill"])
        writer.writerows((job, said) for job, own in zip(fields, answers) for said in own)
    return path


@pytest.mark.parametrize("missing_text", [("",), ("", "NA"), ()])
def test_two_ways_to_leave_a_field_empty_are_two_strata(tmp_path, missing_text):
    """The other columns stay as they are, so a reader of the file can distinguish them."""
    source = gaps(tmp_path / "a.csv")
    with pytest.raises(LevelExceeded):
        release_file(
            source,
            tmp_path / "b.csv",
            "ill",
            FLIP,
            epsilon=0.6,
            given="job",
            layout=Layout(missing_text=missing_text),
        )
    assert not (tmp_path / "b.csv").exists()
    counts = count_strata(source, "ill", "job", Layout(missing_text=missing_text))
    assert counts == {("",): {"no": 1900, "yes": 100}, ("NA",): {"no": 100, "yes": 1900}}


@pytest.mark.parametrize("pair", [(float("nan"), None), (0.0, -0.0)])
def test_numbers_that_look_different_are_different_strata(tmp_path, pair):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    said = ["no"] * 1900 + ["yes"] * 100 + ["no"] * 100 + ["yes"] * 1900
    jobs = pa.array([pair[0]] * 2000 + [pair[1]] * 2000, pa.float64())
    pq.write_table(pa.table({"job": jobs, "ill": said}), tmp_path / "a.parquet")
    with pytest.raises(LevelExceeded):
        release_file(
            tmp_path / "a.parquet", tmp_path / "b.parquet", "ill", FLIP, epsilon=0.6, given="job"
        )


def test_columns_of_different_length_are_refused():
    for beside, values in (([["a", "a"]], [0, 1, 1]), ([["a"], ["b", "b"]], [0, 1])):
        with pytest.raises(ValueError, match="cannot be counted together"):
            tally({}, beside, values)


def test_gaps_that_stay_look_like_no_outcome(tmp_path):
    """The estimate took them for answers: 0.725 for a true half."""
    (tmp_path / "a.csv").write_text("ill\nno\nyes\nNA\n\n")
    for outcome, texts in (("NA", ("", "NA")), ("", ("",)), (None, ("",))):
        if not outcome:
            (tmp_path / "a.csv").write_text("ill,b\nno,1\nyes,1\n,1\n")
        withheld = pb.Mechanism(
            [[0.1, 0.9], [0.7, 0.3]], [0.5, 0.5], ("no", "yes"), ("yes", outcome)
        )
        with pytest.raises(ValueError, match="would look like one"):
            release_file(
                tmp_path / "a.csv",
                tmp_path / "b.csv",
                "ill",
                withheld,
                missing="keep",
                layout=Layout(missing_text=texts),
            )
        assert not (tmp_path / "b.csv").exists()
    with pytest.raises(ValueError, match="the outcome None would look like one"):
        withheld.privatize(["no", None], missing="keep")
    assert len(withheld.privatize(["no", "yes"])) == 2
    asked = pb.Mechanism(np.eye(3), [0.4, 0.4, 0.2], ("no", "yes", None), ("no", "yes", None))
    assert list(asked.privatize(["no", None], missing="keep")) == ["no", None]
    text = pb.Mechanism(np.eye(2), [0.5, 0.5], ("no", "NA"), ("no", "NA"))
    assert list(text.privatize(["no", "NA", None], missing="keep")) == ["no", "NA", None]


def test_counts_beyond_sixty_two_bits_are_summed_as_floats():
    """Sums of integers ended below zero, or at another prior."""
    found = strata_region({(k,): [2**62, 2**60] for k in range(5)})
    assert found.prior.tolist() == [0.8, 0.2]


@pytest.mark.parametrize("kind", [np.float32, np.float64, Decimal])
def test_numbers_that_are_none_are_one_stratum_and_zeros_have_signs(kind):
    counts = {}
    tally(counts, [[kind("nan"), kind("nan"), kind("0"), kind("-0.0")]], list("abcd"))
    assert [*counts] == [("nan",), (0,), ("-0.0",)]


def test_the_level_of_a_stratum_is_rounded_up():
    rng = np.random.default_rng(3)
    for _ in range(200):
        row = rng.integers(1, 60, 2)
        found = strata_levels(FLIP, {(): row})[0].level
        exact = pb.audit.audit_leakage(
            FLIP.channel, [Fraction(int(k), int(row.sum())) for k in row]
        )
        assert found == exact.level[1]
