"""Sentences about a release, their levels and back."""

import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from oracles import exp_from_below

import pmlbook as pb
from pmlbook.audit.sentences import explain, sentence_level
from pmlbook.cli.command_line import main

PRIOR = pd.Series([0.5, 0.3, 0.15, 0.05], ["a", "b", "c", "d's"])
SLACK = Fraction(1, 10**45)
FACTORS = {  # the largest e^level, by hand
    "no belief more than doubles": Fraction(2),
    "no belief grows more than 3/2 times": Fraction(3, 2),
    "no odds more than triple": 1 / (1 - Fraction(2, 3) * Fraction(1, 20)),
    "no odds grow more than 1.25 times": 1 / (1 - Fraction(1, 5) * Fraction(1, 20)),
    "no answer is ruled out": Fraction(20, 19),
    "'b' is never ruled out": Fraction(10, 7),
    "'d's' is never ruled out": Fraction(20, 19),
    "no 2 answers are ruled out together": Fraction(5, 4),
    "no 3 answers are ruled out together": Fraction(2),
    "no answer is proved": Fraction(2),
    "'c' is never proved": Fraction(20, 3),
}


@pytest.mark.parametrize("sentence", FACTORS)
def test_levels_are_the_largest_floats(sentence):
    """Priors in fractions, so that the level is decided to the last digit."""
    prior = {
        "a": Fraction(1, 2),
        "b": Fraction(3, 10),
        "c": Fraction(3, 20),
        "d's": Fraction(1, 20),
    }
    level = sentence_level(sentence, prior)
    assert exp_from_below(level) <= FACTORS[sentence]
    assert exp_from_below(math.nextafter(level, math.inf)) + SLACK > FACTORS[sentence]
    assert sentence_level(f"  {sentence}. ", prior) == level


def test_optimal_mechanisms_keep_the_sentence():
    """At the level of the sentence nothing is ruled out; a little above, an optimum does it."""
    level = sentence_level("no answer is ruled out", PRIOR)
    assert (pb.optimal_mechanism(PRIOR, level).mechanism.weights > 0).all()
    above = pb.optimal_mechanism(PRIOR, level + 1e-3).mechanism
    assert (above.weights == 0).any()
    level = sentence_level("no 2 answers are ruled out together", PRIOR)
    for measure in ("mutual_information", "total_variation"):
        made = pb.optimal_mechanism(PRIOR, level, measure).mechanism
        assert (made.weights == 0).sum(axis=0).max() <= 1


def test_odds_without_a_prior_have_no_level():
    for sentence in ("no odds more than double", "no answer is ruled out"):
        with pytest.raises(ValueError, match="needs a prior: no level keeps it"):
            sentence_level(sentence)
    assert sentence_level("no belief more than doubles") == sentence_level(
        "no belief grows more than 2 times", PRIOR
    )


def test_back_again():
    """What is kept at a level is just what has a level at least as large; one secret has no rivals."""
    for level in (0, 0.02, 0.05129, 0.3, 0.7, 5):
        table = explain(PRIOR, level)
        assert [sentence_level(s, PRIOR) >= level for s in table.index] == list(table["kept"])
    assert explain(PRIOR, 0)["kept"].all() and not explain(PRIOR, 5)["kept"].any()
    assert explain([1.0], 0.1)["kept"].all()


@pytest.mark.parametrize(
    ("sentence", "said"),
    [
        ("nobody learns anything", "none that has a level"),
        ("no odds grow more than 1/2 times", "growth is by at least 1"),
        ("no odds grow more than 1/0 times", "sentence"),
        ("'e' is never ruled out", "names 'e'"),
        ("no 4 answers are ruled out together", "4 answers of 4"),
        ("no 0 answers are ruled out together", "0 answers of 4"),
        (f"no odds grow more than {'9' * 5000} times", "none that has a level"),
        (f"no {'9' * 5000} answers are ruled out together", "none that has a level"),
        ("no odds grow more than \u0663 times", "none that has a level"),
        (3, "sentence must be text"),
        (None, "sentence must be text"),
    ],
)
def test_other_sentences(sentence, said):
    with pytest.raises(ValueError, match=said):
        sentence_level(sentence, PRIOR)


def test_extremes():
    rare = [1e-8, 1 - 1e-8]
    assert sentence_level("no answer is ruled out", rare) == pytest.approx(1e-8, rel=1e-6)
    assert sentence_level("no odds more than double", rare) == pytest.approx(5e-9, rel=1e-6)
    assert sentence_level("no odds grow more than 1 times", PRIOR) == 0
    assert np.isinf(sentence_level("no odds more than double", [1.0]))
    with pytest.raises(pb.InvalidPrior):
        sentence_level("no answer is ruled out", [1.0, 0.0])


def test_what_every_level_keeps_has_no_largest():
    """Beliefs end at one: under a prior none grows more than 1 / min P(x) times, even if the secret is published."""
    prior = [Fraction(1, 2), Fraction(3, 10), Fraction(1, 5)]
    told = pb.Mechanism(np.eye(3), prior)
    growth = np.nanmax(np.exp(told.leakage))
    assert growth == pytest.approx(5) and told.epsilon > 1.6
    for factor, level in (("5", math.inf), ("20", math.inf), ("4.999", math.log(4.999))):
        sentence = f"no belief grows more than {factor} times"
        assert sentence_level(sentence, prior) == pytest.approx(level)
        assert sentence_level(sentence) == pytest.approx(math.log(float(factor)))
    assert explain([0.5, 0.5], 9)["kept"]["no belief more than doubles"]


def test_on_the_command_line(capsys):
    given = ["explain", "a=6", "b=3", "c=1"]
    assert main([*given, "--promise", "no odds more than double"]) == 0
    assert "0.05129" in capsys.readouterr().out
    assert main([*given, "--epsilon", "0.3", "--json"]) == 0
    assert '"no answer is proved": true' in capsys.readouterr().out
    assert main([*given, "--promise", "nobody minds"]) == 2
    capsys.readouterr()
    promise = ["explain", "--promise", "no belief more than doubles", "a=1", "b=1"]
    assert main(promise) == 0 and capsys.readouterr().out == "every level keeps it\n"
    assert main([*promise, "--json"]) == 0 and '"largest_level": null' in capsys.readouterr().out
