"""Parts of the start: merged answers, the best design for each goal, and levels as they are shown."""

import re
from fractions import Fraction

import numpy as np
from refusals import refusal
from scipy.stats import entropy

from pmlbook.audit.sentences import sentence_level
from pmlbook.cli.commands import designed
from pmlbook.cli.wizard import _show_levels, merged


def test_what_is_merged():
    answered = {"a": 90, "b": 8, "c": 2}
    assert merged(answered, Fraction(8, 100)) == {"a": ("a",), "b": ("b",), "c": ("c",)}
    assert merged(answered, Fraction(81, 1000)) == {"a": ("a",), "other": ("b", "c")}
    assert merged({"other": 1, "b": 1, "a": 98}, Fraction(1, 50), "rest")["rest"] == ("other", "b")
    assert merged({"a": 99, "b": 1}, Fraction(1, 10)) == {"a": ("a",), "b": ("b",)}
    assert merged({"a": 50, "b": 50}, Fraction(1, 2)) == {"a": ("a",), "b": ("b",)}  # below, not at


def test_the_name_of_merged_answers_is_no_answer_in_any_type():
    assert "is an answer itself" in refusal(merged, {"other": 90, "b": 5, "c": 5}, Fraction(1, 10))
    told = refusal(merged, {1: 465, 2: 119, 3: 8, 4: 8}, Fraction(1, 20), "1")
    assert told.startswith("'1' is an answer itself")


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
    best = [costs(designed(shares, 0.6, goal).mechanism) for goal in goals]
    assert np.argmin(best, axis=0).tolist() == [0, 1, 2]


def test_a_limit_that_is_shown_keeps_its_promise(capsys):
    """The largest level of a promise is rounded down: typed as it is shown, it keeps the promise."""
    prior = {"yes": Fraction(9, 10), "no": Fraction(1, 10)}
    _show_levels(prior)
    shown = re.findall(r"'(.*)' is kept up to (\S+) nats", capsys.readouterr().out)
    assert shown and all(float(most) <= sentence_level(text, prior) for text, most in shown)
