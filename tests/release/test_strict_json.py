"""Strict JSON, at both sides of each limit: the last digit, byte and spelling that is read, and the next."""

import json
import math
from fractions import Fraction

import numpy as np
from refusals import refusal

from pmlbook.release.strict_json import (
    MAX_BYTES,
    check_size,
    common_denominator,
    float_of,
    float_text,
    fractions_of,
    json_text,
    names_text,
    read_object,
    require_same,
    write_object,
)


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


def test_floats_are_read_and_written_back():
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
        assert float_of(text) == float(text) and float_text(float(text)) == text
    assert float_of("-0.0").hex() == "0x0.0p+0" and float_of("1e-400") == 0
    for text in ("1e+1000000000", "1E+1000", "0." + "3" * 39):
        assert "longer than Python writes it" in refusal(float_of, text)


def test_a_text_of_33554432_bytes_is_the_longest():
    full = '{"a": 1}'.ljust(MAX_BYTES)
    assert MAX_BYTES == 2**25 and read_object(full) == {"a": 1}
    assert "more than 33554432 bytes" in refusal(read_object, full + " ")


def test_only_objects_are_read():
    for read, said in [
        (b"{}", "read from text, got bytes"),
        ("[1]", "no JSON object"),
        ("7", "no JSON object"),
    ]:
        assert said in refusal(read_object, read)
    for text in ('{"a": 1e400}', '{"a": ' + "9" * 5000 + "}", "[" * 10**6, '{"a": 1} 2'):
        assert "this is no JSON" in refusal(read_object, text)


def test_a_text_that_would_be_written_otherwise_is_refused_with_its_place():
    written = write_object({"a": 1, "b": [0.5]})
    require_same(written, written)
    for read, line, said in [
        (written.replace("0.5", "0.50"), 3, "'0]"),
        (written.replace("1", "true"), 2, "'true,"),
        (written + " ", 5, "' '"),
        (written[:-1], 4, "''"),
        ("", 1, "''"),
    ]:
        told = refusal(require_same, read, written)
        assert told.startswith(f"line {line} has {said}") and "would be written" in told
