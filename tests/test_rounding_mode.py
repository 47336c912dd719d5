"""Exact results do not depend on how the processor rounds, and its rounding mode is restored."""

import ctypes
import platform

import numpy as np
import pytest

from pmlbook.extremal.optimal import optimal_mechanism
from pmlbook.foundations.probability import random_channel, random_prior
from pmlbook.release.certificate import Certificate
from pmlbook.release.mechanism import Mechanism

if platform.machine() != "x86_64":  # Windows calls it AMD64
    pytest.skip("the modes have other numbers here", allow_module_level=True)
PROCESSOR = ctypes.CDLL(None)
NEAREST = PROCESSOR.fegetround()
MODES = {"down": 0x400, "up": 0x800, "to zero": 0xC00}  # as x86 numbers them


def texts():
    """Certificates that hold, that fail, and that lie."""
    rng = np.random.default_rng(5)
    made = []
    for _ in range(8):
        n, m = rng.integers(2, 6, size=2)
        mechanism = Mechanism(random_channel(n, m, rng), random_prior(n, rng))
        made += [mechanism.certify(mechanism.epsilon * factor) for factor in (1.001, 0.5)]
        made.append(optimal_mechanism(random_prior(n, rng), 0.4).mechanism.certify(0.4))
    honest = [certificate.to_json() for certificate in made]
    return honest + [text.replace('"weights": [[', '"weights": [[1') for text in honest]


def verdict(text):
    """What is decided about a certificate, or None where it is refused."""
    try:
        certificate = Certificate.from_json(text)
    except ValueError:
        return None
    return certificate.holds, certificate.largest_lift, certificate.to_json()


@pytest.mark.parametrize("mode", MODES.values(), ids=MODES)
def test_certificates_are_decided_alike_however_the_processor_rounds(mode):
    written = texts()
    expected = [verdict(text) for text in written]
    assert {None, True, False} == {found and found[0] for found in expected}
    if PROCESSOR.fesetround(mode):
        pytest.skip("this processor numbers its modes otherwise")
    try:
        found = [verdict(text) for text in written]
    finally:
        PROCESSOR.fesetround(NEAREST)
    assert found == expected
