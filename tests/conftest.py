"""Hypothesis without surprises, and a judge of polytopes that leaves the processor's rounding alone."""

import ctypes
import gc
import os
import sys

import numpy as np
import pytest
from hypothesis import settings

# Importing ppl sets the processor to round upwards, and some versions do not reset it.
processor = ctypes.CDLL("ucrtbase" if sys.platform == "win32" else None)
rounding = processor.fegetround()
try:
    import ppl  # noqa: F401
except ImportError:
    pass  # pplpy has no wheels for Windows, ARM and new Macs; what needs it is skipped there
finally:
    processor.fesetround(rounding)

# The same examples every time, more at length, and no deadline on a busy machine.
FULL = os.environ.get("PMLBOOK_FUZZ") == "full"
settings.register_profile(
    "pmlbook", derandomize=True, deadline=None, max_examples=500 if FULL else 50
)
settings.load_profile("pmlbook")


def pytest_configure(config):
    """The mark of what Windows has not: rights in bits, pipes, links for everybody, signals that can be caught."""
    config.addinivalue_line("markers", "posix: needs rights, pipes, links or signals of POSIX")


def pytest_collection_finish():
    """Collected tests are no garbage: looking through them all the time takes an eighth of the run."""
    gc.freeze()
    gc.set_threshold(100_000, 50, 50)


def pytest_runtest_setup(item):
    """Skip what has this mark on other systems."""
    if item.get_closest_marker("posix") and os.name != "posix":
        pytest.skip("not on this system")


@pytest.fixture(autouse=True)
def same_draws(request, starts={}):  # noqa: B006
    """Each test draws from its module's generators what it would draw alone: no order of tests matters."""
    for name, value in vars(request.module).items():
        if isinstance(value, np.random.Generator):
            start = starts.setdefault((request.module, name), value.bit_generator.state)
            value.bit_generator.state = start
