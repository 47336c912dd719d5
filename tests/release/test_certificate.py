"""What is no mechanism, has no prior or no names is refused before a certificate decides anything."""

from fractions import Fraction

import numpy as np
from refusals import refusal

from pmlbook.release.certificate import Certificate
from pmlbook.release.sampling import UNITS

fair = np.array([0.5, 0.5])


def test_certificates_of_no_mechanism_are_refused():
    half = UNITS // 2
    good = {
        "epsilon": 1.0,
        "weights": [[half, half]] * 2,
        "prior": fair,
        "inputs": (0, 1),
        "outputs": ("no", "yes"),
    }
    refused = {
        "weights must be rows": (
            "weights",
            [[[1.0, 0.0]] * 2, [UNITS, 0], [[half, half], [UNITS]], [[], []], "no"],
        ),
        "weights has 1 rows": ("weights", [[[UNITS, 0]]]),
        "must be non-negative": (
            "weights",
            [[[half, half], [-1, UNITS + 1]], [[half, half], [half, 0]]],
        ),
        "must be a list or tuple": ("inputs", ["01", {0, 1}, None]),
        "must be 2 different names": (
            "inputs",
            [(0, 0), (0, False), (0,), (0, 1, 2), (0, [1]), ([0], [1])],
        ),
        "must be positive": (
            "prior",
            [[Fraction(1), Fraction(0)], [Fraction(3, 2), Fraction(-1, 2)]],
        ),
        "not to 1": ("prior", [[Fraction(1, 2), Fraction(1, 3)]]),
    }
    for told, (argument, wrong) in refused.items():
        for value in wrong:
            assert told in refusal(lambda given: Certificate(**given), good | {argument: value}), (
                told,
                value,
            )
    for mixed in ([Fraction(1, 2), 0.5], [0.5, Fraction(1, 2)], list(fair)):
        assert Certificate(**good | {"prior": mixed}) == Certificate(**good)
