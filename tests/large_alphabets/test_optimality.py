"""Each limit of a certificate of optimality, from both sides."""

import subprocess
import sys
from dataclasses import fields, replace
from decimal import Decimal
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest

from pmlbook.extremal.randomized_response import randomized_response_for_pml
from pmlbook.foundations.probability import random_prior
from pmlbook.foundations.utility import NAMED, ExpectedGain, FInformation, alpha_information
from pmlbook.large_alphabets.optimal import optimal_mechanism
from pmlbook.large_alphabets.optimality import (
    KEYS,
    _check_shape,
    _content,
    _decimal,
    _signed,
    _table,
    _text,
    bounded,
    certify_optimum,
    exact_value,
    from_json,
    to_json,
    utility_called,
)
from pmlbook.release.mechanism import Mechanism

clinic, level = np.array([0.6, 0.3, 0.1]), 0.4


best = optimal_mechanism(clinic, level)


proof = certify_optimum(best.mechanism, level)


CHECKER = r"""
import json, math, re, sys
from decimal import Context, Decimal, ROUND_CEILING, ROUND_FLOOR
from fractions import Fraction as F
from itertools import product

KEYS = "format claim epsilon utility gain proof prior duals units weights value bound".split()

def need(fact, why):
    if not fact:
        raise SystemExit("refused: " + why)

def once(pairs):
    need(len(dict(pairs)) == len(pairs), "a key is there twice")
    return dict(pairs)

def plain(kind):
    def read(text):
        need(len(text) <= 40 and repr(kind(text) + kind(0)) == text, "an odd number " + text[:40])
        return kind(text)
    return read

def around(name, x):                                  # ln, exp, sqrt are rounded correctly
    if (name, x) in (("ln", 1), ("exp", 0), ("sqrt", 0), ("sqrt", 1)):
        return [F(name == "exp") if name != "sqrt" else x] * 2
    ends = [c.divide(Decimal(x.numerator), Decimal(x.denominator)) for c in (DOWN, UP)]
    low, high = (getattr(NEAR, name)(end) for end in ends)
    return F(NEAR.next_minus(low)), F(NEAR.next_plus(high))

def shannon(t):
    return [t * end - (t - 1) for end in around("ln", t)] if t else [F(1)] * 2

def f(t):                                             # f(t) - f'(1)(t - 1), from both sides
    if utility == "mutual_information": return shannon(t)
    if utility == "total_variation": return [abs(t - 1) / 2] * 2
    if utility == "chi_square": return [(t - 1) ** 2] * 2
    if utility == "le_cam": return [(t - 1) ** 2 / (2 * (t + 1))] * 2
    if utility == "hellinger": return [((t - 1) / (1 + end)) ** 2 for end in around("sqrt", t)[::-1]]
    if utility == "jensen_shannon":
        (low, high), (less, more) = shannon(t), shannon((t + 1) / 2)
        return [low / 2 - more, high / 2 - less]
    a, power = F(alpha), [F(0)] * 2                    # t^alpha = exp(alpha ln t)
    if t: power = [around("exp", a * end)[k] for k, end in enumerate(around("ln", t))]
    return sorted((end - 1 - a * (t - 1)) / (a * (a - 1)) for end in power)

def worth(lifts, end):                                # of one outcome, from below or from above
    if gain: return max(sum(p * t * F(g) for p, t, g in zip(prior, lifts, c)) for c in zip(*gain))
    return sum(p * f(t)[end] for p, t in zip(prior, lifts))

def vertices():                                        # utility less duals of every vertex
    kinds = sorted(set(zip(prior, duals)))
    sizes = [list(zip(prior, duals)).count(kind) for kind in kinds]
    need(math.prod(s + 1 for s in sizes) <= 2**14, "too many vertices")
    zero, full = f(F(0))[1], f(c)[1]
    for held in product(*(range(s + 1) for s in sizes)):
        mass = sum(h * p for h, (p, y) in zip(held, kinds))
        paid = sum(y * h * c for h, (p, y) in zip(held, kinds))
        for h, s, (p, y) in zip(held, sizes, kinds):
            rest = (1 - c * mass) / p
            if h < s and 0 <= rest <= c:
                yield mass * full + p * f(rest)[1] + (1 - mass - p) * zero - paid - y * rest

def chord(p):
    low, high = max(F(0), (1 - c * (1 - p)) / p), min(c, 1 / p)
    at = (1 - low) / (high - low) if high > low else F(0)
    return (1 - at) * f(low)[1] + at * f(high)[1]

def best_share(column):
    net, mean, left = [F(g) - y / p for g, y, p in zip(column, duals, prior)], F(0), F(1)
    for k in sorted(range(n), key=lambda k: -net[k]):
        belief = min(c * prior[k], left)
        mean, left = mean + belief * net[k], left - belief
    return mean

text = sys.stdin.read(2**25)
try:
    o = json.loads(text, object_pairs_hook=once, parse_int=plain(int), parse_float=plain(float),
                   parse_constant=lambda word: need(False, word))
except (ValueError, RecursionError):
    need(False, "no JSON")
need(type(o) is dict and sorted(o) == sorted(KEYS), "other keys")
epsilon, utility, gain, proof, weights = (o[k] for k in "epsilon utility gain proof weights".split())
lists = [o["prior"], o["duals"], weights, gain]
need(all(type(part) is list for part in lists), "no lists")
need(all(type(o[k]) is str for k in "format claim utility proof value bound".split()), "no texts")
need(all(type(x) is str and re.fullmatch(r"0|-?[1-9]\d{0,599}(/[1-9]\d{0,599})?", x, re.A)
         for x in o["prior"] + o["duals"]), "an odd fraction")
prior, duals = ([F(x) for x in o[k]] for k in ("prior", "duals"))
need([str(x) for x in prior + duals] == o["prior"] + o["duals"], "a fraction that is not reduced")
n = len(prior)
need(all(math.lcm(*(x.denominator for x in part)) < 10**600 for part in (prior, duals)), "too long")
need(n and min(prior) > 0 and sum(prior) == 1, "no prior")
need(type(epsilon) is float and 0 <= epsilon <= 1000, "no level")
need(o["format"] == "pmlbook optimality 1" and o["units"] == 2**53 and type(o["units"]) is int, "format")
need(len(weights) == n and all(type(row) is list for row in weights), "not one row for each secret")
need(len({len(row) for row in weights}) == 1 and 0 < n * len(weights[0]) <= 2**14, "uneven rows")
need(all(type(k) is int and k >= 0 for row in weights for k in row), "weights that are none")
need(all(sum(row) == 2**53 for row in weights), "rows that do not sum to 2^53")
named = ("mutual_information", "total_variation", "chi_square", "jensen_shannon", "hellinger", "le_cam")
order = re.fullmatch(r"alpha_([0-9.e-]{1,30})", utility, re.A)
if order:
    try: alpha = float(order[1])
    except ValueError: alpha = 1.0
    need(0.001 <= alpha <= 1000 and alpha != 1, "no utility")
    need("alpha_" + repr(alpha).removesuffix(".0") == utility, "no utility")
need(order or utility in named or utility == "expected_gain", "no utility")
need(len(gain) == (n if utility == "expected_gain" else 0), "a gain that does not fit")
need(all(type(row) is list and len(row) == len(gain[0]) > 0 for row in gain), "uneven gains")
need(all(type(g) is float and math.isfinite(g) for row in gain for g in row), "gains that are none")
need(not gain or n * len(gain[0]) <= 2**14, "too many gains")
need(proof in (("shares",) if gain else ("vertices", "chords")), "no proof for this utility")
need(len(duals) == (0 if proof == "chords" else n), "not one dual variable for each secret")
for name in ("value", "bound"):
    need(re.fullmatch(r"-?\d{1,20}(\.\d{1,20})?(E[+-]\d{1,4})?", o[name], re.A), "an odd " + name)
    need(str(Decimal(o[name])) == o[name], "an odd " + name)
value, bound = F(o["value"]), F(o["bound"])
need(o["claim"] == f"under this prior no mechanism that leaks at most {epsilon!r} nats (as a 64-bit "
     f"float) is worth more than {o['bound']} by {utility}; this one leaks no more and is worth at "
     f"least {o['value']}", "another claim")

digits = 100 + 2 * max(0, -int(math.log10(epsilon or 1)))
NEAR, DOWN, UP = Context(digits), Context(digits, ROUND_FLOOR), Context(digits, ROUND_CEILING)
below, above = around("exp", F(epsilon))
c, total = min(above, 1 / min(prior)), F(0)
for column in zip(*weights):
    mean = sum(p * k for p, k in zip(prior, column))
    if mean:
        need(max(column) <= below * mean, "it leaks more")
        total += mean / 2**53 * worth([k / mean for k in column], 0)
need(value <= total, "it is worth less")
if proof == "vertices": top = sum(duals) + max(vertices())
if proof == "chords": top = sum(p * chord(p) for p in prior)
if proof == "shares": top = sum(duals) + max(map(best_share, zip(*gain)))
need(top <= bound, "the duals do not prove the bound")
print("holds")
"""


def third_party(text):
    """The verdict of the checker, in a process of its own."""
    command = [sys.executable, "-I", "-c", CHECKER]
    run = subprocess.run(command, input=text, capture_output=True, text=True)
    return run.stdout.strip() or run.stderr.strip()


def nudged(number, by):
    """A decimal number with its last digit changed."""
    return number + by * Decimal((0, (1,), number.as_tuple().exponent))


parts = {field.name: getattr(proof, field.name) for field in fields(proof)}


def misfit(**changes):
    """Why parts do not fit together, or an empty text."""
    try:
        _check_shape(SimpleNamespace(**parts | changes))
    except ValueError as error:
        return str(error)
    return ""


THIRD, WHOLE = Fraction(1, 3), 2**53
TWO = {"prior": (THIRD, 2 * THIRD), "duals": (THIRD, THIRD)}
SIZES = (8192, 8193)  # of a row: 2^14 entries in two rows, and two more
WIDE = [((WHOLE, *[0] * (most - 1)),) * 2 for most in SIZES]
GAINS = [((0.0,) * most,) * 2 for most in SIZES]
SMALL = ((WHOLE,), (WHOLE,))


def test_what_a_certificate_may_hold():
    alone = {"prior": (Fraction(1),), "duals": (THIRD,), "weights": ((WHOLE,),)}
    for fits in (
        {},
        {"epsilon": 0.0},
        {"epsilon": 1000.0},
        {"proof": "chords", "duals": ()},
        {"proof": "shares"},
        alone,
        {"utility": "expected_gain", "gain": ((0.0,),), **alone},
        {"weights": WIDE[0], **TWO},
        {"weights": SMALL, "utility": "expected_gain", "gain": GAINS[0], **TWO},
    ):
        assert misfit(**fits) == ""


def test_what_a_certificate_may_not_hold():
    rows = parts["weights"]
    for wrong, why in (
        ({"epsilon": -1e-300}, "between 0 and 1000"),
        ({"epsilon": np.nextafter(1000.0, 1001).item()}, "between 0 and 1000"),
        ({"epsilon": 1}, "must be a float"),
        ({"epsilon": float("nan")}, "between 0 and 1000"),
        ({"prior": ()}, "sum to exactly 1"),
        ({"prior": (THIRD, THIRD, THIRD + Fraction(1, 2**99))}, "sum to exactly 1"),
        ({"prior": (THIRD, 2 * THIRD, Fraction(0))}, "positive"),
        ({"proof": "belief"}, "is none of"),
        ({"proof": "chords"}, "3 dual variables"),
        ({"duals": parts["duals"][:2]}, "2 dual variables"),
        ({"proof": "shares", "duals": ()}, "0 dual variables"),
        ({"weights": rows[:2]}, "3 rows of the same length"),
        ({"weights": (*rows[:2], (*rows[2], 0))}, "3 rows of the same length"),
        ({"weights": ((), (), ())}, "weights[0]"),
        ({"weights": (*rows[:2], (rows[2][0] + 1, *rows[2][1:]))}, "weights[2]"),
        ({"weights": (*rows[:2], (WHOLE + 1, -1, *[0] * (len(rows[2]) - 2)))}, "weights[2]"),
        ({"weights": WIDE[1], **TWO}, "more than 16384"),
        (
            {"weights": SMALL, "utility": "expected_gain", "gain": GAINS[1], **TWO},
            "more than 16384",
        ),
        ({"gain": ((0.0,),) * 3}, "gain has 3 rows"),
        ({"utility": "expected_gain"}, "gain has 0 rows"),
        ({"utility": "expected_gain", "gain": ((0.0,),) * 2}, "gain has 2 rows"),
    ):
        assert why in misfit(**wrong)


def test_utilities_with_a_name():
    for name in (*(alpha_information(order).name for order in (0.001, 0.5, 3, 1000)), *NAMED):
        assert utility_called(name).name == name


def test_names_of_no_utility():
    for name in (
        "alpha_0.0009",
        "alpha_1000.5",
        "alpha_1",
        "alpha_1.0",
        "alpha_0.50",
        "alpha_-2",
        "alpha_",
        "alpha_1e",
        "alpha_1e999",
        "alpha_" + "5" * 31,
        "gain",
    ):
        with pytest.raises(ValueError) as error:
            utility_called(name)
        assert "no utility is called" in str(error.value)


def test_the_exact_value_of_a_channel():
    rows = parts["weights"]
    lifts = max(
        Fraction(k) / sum(p * x for p, x in zip(proof.prior, column))
        for column in zip(*rows)
        for k in column
    )
    worth = exact_value(np.array(rows), proof.prior, NAMED["mutual_information"])
    silent = np.column_stack([rows, np.zeros((3, 2), int)])  # outcomes that never occur
    assert exact_value(silent, proof.prior, NAMED["mutual_information"]) == worth
    assert Fraction(proof.value) <= worth < Fraction(nudged(proof.value, 1))
    assert abs(float(worth) - best.value) < 1e-15 and lifts <= Fraction(1.5)
    assert proof.gap == float(proof.bound - proof.value) >= 0
    assert not bounded(SimpleNamespace(**parts), ExpectedGain(np.eye(3)))  # vertices bound no gain


def test_claims_that_are_false_are_refused():
    for change, why in (
        ({"value": nudged(proof.value, 1)}, "worth less"),
        ({"bound": nudged(proof.bound, -1)}, "do not prove"),
        ({"epsilon": 0.3999}, "leaks more"),
    ):
        with pytest.raises(ValueError) as error:
            replace(proof, **change)
        assert why in str(error.value)


def test_one_outcome_that_leaks_too_much():
    rng = np.random.default_rng(19)
    kinds = [*NAMED.values(), alpha_information(0.5), alpha_information(3)]
    for trial in range(24):
        n = int(rng.integers(2, 6))
        p = np.full(n, 1 / n) if trial % 4 == 0 else random_prior(n, rng)
        level = float(rng.uniform(0.01, 1.5))
        utility = ExpectedGain(rng.normal(size=(n, 3))) if trial % 3 == 0 else kinds[trial % 8]
        made = optimal_mechanism(p, level, utility)
        found = certify_optimum(made.mechanism, level, utility)
        assert found.gap < 1e-9 and from_json(to_json(found)) == found
        assert third_party(to_json(found)) == "holds"
        assert float(found.value) <= made.bound and made.value <= float(found.bound) + made.gap
    response = Mechanism(randomized_response_for_pml(clinic, level), clinic).within(level)
    # one outcome leaks too much, another does not
    with pytest.raises(ValueError) as error:
        certify_optimum(response, 0.39)
    lifts = (response.channel / (response.prior @ response.channel)).max(axis=0)
    assert "leaks more" in str(error.value) and lifts.min() < np.exp(0.39) < lifts.max()


def test_weaker_claims_are_true():
    assert replace(proof, bound=proof.value + 1).gap >= 1  # weaker claims are true as well


def test_utilities_that_cannot_be_enclosed():
    for utility, why in (
        (FInformation(lambda t: (t - 1) ** 2, "chi_square"), "can be enclosed"),
        (FInformation(lambda t: (t - 1) ** 2, "mine"), "no utility is called 'mine'"),
    ):
        with pytest.raises(ValueError) as error:
            certify_optimum(best.mechanism, 0.5, utility)
        assert why in str(error.value)


def test_texts_of_numbers():
    digits = "7" * 600
    for read, good, bad in (
        (
            _signed,
            (["0", "-1/2", "7", digits], []),
            (["-0"], ["01"], ["1/02"], ["+1"], ["1/"], [digits + "7"], [1], "1", [f"1/{digits}7"]),
        ),
        (
            lambda text: _decimal(text, "value"),
            ("0.25", "-3", "1E-7", "7" * 20, "0." + "7" * 20, "1E+1234"),
            (0.25, "", ".5", "5.", "7" * 21, "0." + "7" * 21, "1E7", "1E+12345", "nan"),
        ),
        (
            _table,
            ([], [[1.0, 2.0], [3.0, -4.0]]),
            ([[1.0], [1.0, 2.0]], [[1]], [1.0], "no", [[True]]),
        ),
        (lambda text: _text(text, "utility"), ("", "a"), (1, None, ["a"])),
    ):
        for text in good:
            read(text)
        for text in bad:
            try:
                read(text)
                raise AssertionError(f"accepted {text!r:.40}")
            except ValueError:
                pass
    assert _signed(["-1/2", "0"]) == (Fraction(-1, 2), Fraction(0)) and _decimal(
        "1E-7", ""
    ) == Decimal("1E-7")
    assert list(_content(proof)) == list(KEYS) and _table([[1.0], [2.0]]) == ((1.0,), (2.0,))
