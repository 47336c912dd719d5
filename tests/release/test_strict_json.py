"""Strict JSON, at both sides of each limit: the last digit, byte and spelling that is read, and the next."""

import json
import math
from fractions import Fraction

import numpy as np
from refusals import refusal

from pmlbook.release import strict_json as module
from pmlbook.release.strict_json import (
    MAX_BYTES,
    _at_most,
    _float,
    _integer,
    check_size,
    common_denominator,
    float_text,
    fractions_of,
    json_text,
    names_text,
    read_object,
    require_keys,
    require_same,
    rows_of,
    write_object,
)


def test_whole_numbers_have_one_spelling():
    assert _integer("9" * 40) == 10**40 - 1 and _integer("-5") == -5
    for text in ("9" * 41, "-0", "007", "+1"):
        assert "not written as Python writes it" in refusal(_integer, text)


def test_floats_have_one_spelling():
    for text in (
        "0.5",
        "1e-05",
        "0.0001",
        "1e+16",
        "1000000000000000.0",
        "1.5e+300",
        "5e-324",
        "-0.25",
    ):
        assert _float(text) == float(text) and float_text(float(text)) == text
    for text in (
        "0.50",
        "1e-5",
        "1e16",
        "-0.0",
        "1e-400",
        "1e+400",
        "1e+1000000000",
        "0." + "3" * 39,
    ):
        assert "not written as Python writes it" in refusal(_float, text)


def test_numbers_are_counted():
    three = _at_most(3, int)
    assert [three("7") for _ in range(3)] == [7] * 3 and "more than 3 numbers" in refusal(
        three, "7"
    )


def test_a_text_of_33554432_bytes_is_the_longest():
    full = '{"a": 1}'.ljust(MAX_BYTES)
    assert MAX_BYTES == 2**25 and read_object(full) == {"a": 1}
    assert "more than 33554432 bytes" in refusal(read_object, full + " ")
    assert "more than 33554432 bytes" in refusal(read_object, '{"a": "%s"}' % ("é" * 2**24))


def test_only_objects_are_read_and_each_key_once():
    for read, said in [
        (b"{}", "read from text, got bytes"),
        ("[1]", "no object"),
        ("7", "no object"),
    ]:
        assert said in refusal(read_object, read)
    assert read_object('{"a": {"b": 1}, "b": {"b": 2}}') == {"a": {"b": 1}, "b": {"b": 2}}
    assert "twice" in refusal(read_object, '{"a": {"b": 1, "b": 1}}')


def test_fractions_are_short_and_positive():
    half, third = Fraction(1, 2), Fraction(1, 3)
    assert fractions_of(["1/2", "1/3", "7"]) == (half, third, Fraction(7))
    assert fractions_of([]) == () and len(fractions_of(["1"] * 2**14)) == 2**14
    most = "1/" + "9" * 600
    assert fractions_of([most, "9" * 600]) == (Fraction(most), Fraction("9" * 600))
    for given in (("1/2",), "1", None, ["1"] * (2**14 + 1)):
        assert refusal(fractions_of, given) == "prior must be a list of at most 16384 fractions"
    for odd in (
        half,
        1,
        None,
        "0",
        "-1",
        "01",
        "1/01",
        "1/0",
        "1 ",
        "1\n",
        "1/",
        "/2",
        "1" + "0" * 600,
        most + "0",
    ):
        words = "prior[1] must be a positive fraction, a text such as '1/2'"
        assert refusal(fractions_of, ["1", odd]) == words


def test_a_common_denominator_has_600_digits_at_most():
    half, third = Fraction(1, 2), Fraction(1, 3)
    assert (
        common_denominator([half, third, Fraction(5, 6)], "x") == 6
        and common_denominator([], "x") == 1
    )
    wide = [Fraction(1, 2**1000), Fraction(1, 5**427)]  # 301 digits and 299
    assert len(str(common_denominator(wide, "x"))) == 600
    wider = [Fraction(1, 2**1000), Fraction(1, 5**429)]
    assert (
        refusal(common_denominator, wider, "x") == "x needs a denominator of more than 600 digits"
    )
    assert refusal(common_denominator, [Fraction(1, 10**600)], "x")
    assert common_denominator([Fraction(1, 10**600 - 1)], "x") == 10**600 - 1


def test_a_table_is_not_too_large():
    for rows, columns, large in [
        (2**14, 64, False),
        (64, 2**14, False),
        (2**10, 2**10, False),
        (2**14, 65, True),
        (2**10, 2**10 + 1, True),
        (2**14 + 1, 1, True),
        (1, 2**14 + 1, True),
        (0, 0, False),
    ]:
        assert ("too large" in refusal(check_size, rows, columns, "weights")) == large


def test_rows_are_whole_numbers_of_one_length():
    assert rows_of([[0, 2], [1, 1]], 2, "w") == [[0, 2], [1, 1]] and rows_of([], 2, "w") == []
    for rows, said in [
        (((1, 2),), "w must be a list of rows"),
        ([[1], (1,)], "w must be a list of rows"),
        ([[1, 1], [1, 3]], "w[1] must be 2 whole numbers from 0 to 2"),
        ([[1, 1], [1, -1]], "w[1] must be 2 whole numbers from 0 to 2"),
        ([[1, 1], [1]], "w[1] must be 2 whole numbers from 0 to 2"),
        ([[1, 1], [1, 1.0]], "w[1] must be 2 whole numbers from 0 to 2"),
        (
            [[0] * (2**14 + 1)],
            "w of 1 x 16385 is too large: at most 16384 each and 1048576 together",
        ),
    ]:
        assert refusal(rows_of, rows, 2, "w") == said


def test_names_are_short_and_plain():
    for names in (["a", 1, 0.5, True, None], ("a",), [], [1e-05, 1e22], [10**39, "x" * 1000]):
        assert json.loads(names_text(names, "inputs")) == list(names)
        assert names_text(names, "inputs") == json.dumps(list(names))
    for names, said in [
        ("ab", "inputs must be at most 16384 names"),
        ({"a"}, "inputs must be at most 16384 names"),
        (["a"] * (2**14 + 1), "inputs must be at most 16384 names"),
        (["a", ["b"]], "inputs[1] of type list cannot be written to JSON"),
        (["a", np.int64(1)], "inputs[1] of type "),
        ([math.inf], "inputs[0] cannot be written to JSON"),
        ([10**40], "inputs[0] is a number of more than 40 characters"),
        ([10**5000], "inputs[0] cannot be written to JSON"),
    ]:
        assert refusal(names_text, names, "inputs").startswith(said)
    assert names_text(["a"] * 2**14, "inputs")
    assert json_text([1, 0.5, "é", None]) == '[1, 0.5, "\\u00e9", null]' and json_text([]) == "[]"
    assert json_text(1e16) == "1e+16" and json_text([[0.5]]) == "[[0.5]]"


def test_what_is_written_is_as_short_as_what_is_read():
    room = MAX_BYTES - len(write_object({"a": ""}))
    assert len(write_object({"a": "x" * room})) == MAX_BYTES
    assert refusal(write_object, {"a": "x" * (room + 1)}).startswith(
        f"the text has {MAX_BYTES + 1} bytes"
    )
    assert write_object({"a": 1, "b": [0.5]}) == '{\n  "a": 1,\n  "b": [0.5]\n}\n'


def test_keys_and_values_are_those_asked_for():
    assert refusal(require_keys, {"a": 1}, ["a", "b"]) == "the key 'b' is missing"
    assert refusal(require_keys, {"a": 1, "z": 1, "y": 2}, ["a"]) == "there is no key 'y' here"
    require_keys({"b": 1, "a": 2}, ["a", "b"])
    require_same({"a": 1, "b": [0.5]}, {"a": 1})
    assert refusal(require_same, {"a": 1, "b": [0.5]}, {"a": 1, "b": [0.25]}) == (
        "b is [0.5], where [0.25] would be written"
    )


def test_exponents_have_three_digits():
    for text in ("1e-100", "1e-1000", "1e+1000"):  # three digits of an exponent, and four
        assert (refusal(_float, text) == "") == (text == "1e-100")


def test_as_many_numbers_as_a_certificate_can_hold(monkeypatch):
    monkeypatch.setattr(module, "MAX_ENTRIES", 4)
    monkeypatch.setattr(module, "MAX_LENGTH", 3)
    for text, numbers in (("1", 4 + 2 * 3 + 1), ("0.5", 2 * 3 + 1)):  # a level, weights and names
        many = f'{{"a": [{",".join([text] * numbers)}]}}'
        assert len(read_object(many)["a"]) == numbers
        longer = many.replace("[", f"[{text},")
        assert f"more than {numbers} numbers" in refusal(read_object, longer)
