"""Parts of the start: shares, merged values, questions, and the best design for each goal."""

import io
import re
from argparse import Namespace
from fractions import Fraction

import numpy as np
from refusals import refusal
from scipy.stats import entropy

from pmlbook.cli.parsing import share_of
from pmlbook.cli.wizard import _designed, _show_levels, check_options, merged
from pmlbook.display.messages import ask
from pmlbook.practice.interpretation import sentence_level


def test_shares_and_what_is_merged():
    assert (share_of("0"), share_of("0.0"), share_of("1/4"), share_of("0.02")) == (
        0,
        0,
        Fraction(1, 4),
        Fraction(1, 50),
    )
    answered = {"a": 90, "b": 8, "c": 2}
    assert merged(answered, Fraction(8, 100)) == {"a": ("a",), "b": ("b",), "c": ("c",)}
    assert merged(answered, Fraction(81, 1000)) == {"a": ("a",), "other": ("b", "c")}
    assert merged({"other": 1, "b": 1, "a": 98}, Fraction(1, 50), "rest")["rest"] == ("other", "b")


def test_what_is_no_choice_is_refused(monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO())
    asking = Namespace(
        column=None, merge_below=Fraction(0), goal="mean", epsilon=None, promise=None
    )
    for make in (
        lambda: share_of("1"),
        lambda: share_of("-0.1"),
        lambda: share_of("many"),
        lambda: merged({"other": 90, "b": 5, "c": 5}, Fraction(1, 10)),
        lambda: check_options(asking),
        lambda: check_options(Namespace(**(vars(asking) | {"column": "x"}))),
    ):
        told = refusal(make)
        assert told
    assert told.endswith("give --epsilon NATS or --promise SENTENCE")
    check_options(Namespace(**(vars(asking) | {"column": "x", "epsilon": 0.0})))
    check_options(Namespace(**(vars(asking) | {"column": "x", "promise": "no answer is proved"})))


def test_a_question_is_asked_until_it_is_answered(monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("\n2\n"))
    assert ask("a share", share_of, "0.25") == Fraction(1, 4)
    assert "no answer to the question" in refusal(ask, "a share", share_of)


def test_each_design_is_the_best_for_its_goal():
    def costs(made):
        """The variance of all frequencies and of the mean, by least squares, and less information."""
        joint = prior[:, None] * made.channel
        spread = np.linalg.inv(made.channel / joint.sum(axis=0) @ made.channel.T)
        told = entropy(joint.ravel(), np.outer(prior, joint.sum(axis=0)).ravel())
        return np.trace(spread), sizes @ spread @ sizes, -told

    shares = {"0": Fraction(1, 2), "1": Fraction(3, 10), "5": Fraction(1, 5)}
    prior, sizes = np.array([0.5, 0.3, 0.2]), np.array([0.0, 1, 5])
    goals = ("frequencies", "mean", "information")
    best = [costs(_designed(goal, shares, 0.6)) for goal in goals]
    assert np.argmin(best, axis=0).tolist() == [0, 1, 2]


def test_a_limit_that_is_shown_keeps_its_promise(capsys):
    """The largest level of a promise is rounded down: typed as it is shown, it keeps the promise."""
    prior = {"yes": Fraction(9, 10), "no": Fraction(1, 10)}
    _show_levels(prior)
    shown = re.findall(r"'(.*)' is kept up to (\S+) nats", capsys.readouterr().out)
    assert shown and all(float(most) <= sentence_level(text, prior) for text, most in shown)


def test_the_name_of_merged_answers_is_no_answer_in_another_type():
    told = refusal(merged, {1: 465, 2: 119, 3: 8, 4: 8}, Fraction(1, 20), "1")
    assert told.startswith("'1' is an answer itself")
