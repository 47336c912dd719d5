"""Sentences and their levels: the weakest answer decides, and other spellings."""

from fractions import Fraction

import numpy as np

from pmlbook.audit.sentences import sentence_level, sentence_levels

three = dict(a=Fraction(1, 2), b=Fraction(3, 10), c=Fraction(1, 5))


def level_of(text):
    """The level of a sentence about the three."""
    return sentence_level(text, three)


def test_the_weakest_answer_decides():
    for name, share in three.items():
        out, proved = (level_of(f"'{name}' is never {word}") for word in ("ruled out", "proved"))
        assert np.isclose(np.exp(-out), float(1 - share), rtol=0, atol=1e-15)
        assert np.isclose(np.exp(-proved), float(share), rtol=0, atol=1e-15)


def test_sentences_fit_together():
    assert level_of("no answer is ruled out") == level_of("'c' is never ruled out")
    assert level_of("no answer is ruled out") == level_of("no 1 answers are ruled out together")
    assert level_of("no answer is proved") == level_of("'a' is never proved")
    assert level_of("no answer is proved") == level_of("no 2 answers are ruled out together")
    assert level_of("no belief more than triples.") == level_of("no belief grows more than 3 times")
    assert level_of("no odds grow more than 3/2 times") == level_of(
        "no odds grow more than 1.5 times"
    )
    assert (
        level_of("no belief grows more than 5 times")
        == np.inf
        > level_of("no belief grows more than 4.99 times")
    )
    for text in (
        "no 0 answers are ruled out together",
        "no 3 answers are ruled out together",
        "'d' is never proved",
        "no answer is nice",
        7,
    ):
        try:
            level_of(text)
            raise AssertionError(f"{text} has a level")
        except ValueError:
            pass


def test_names_that_look_alike_have_no_sentence_of_their_own():
    said = list(sentence_levels({1: 0.5, "1": 0.3, "b": 0.2}))
    assert "'b' is never proved" in said and not any("'1'" in text for text in said)
