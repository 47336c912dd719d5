"""Steps that stay open are said, and without time both ends hold."""

import warnings
from dataclasses import replace

import numpy as np

from pmlbook.numerics.linear_programmes import LooseBound
from pmlbook.numerics.progress import Clock
from pmlbook.worst_case.frontier import Stairs, Step, worst_case_mechanism


def said(gaps, max_time=None):
    """The warnings about steps whose bounds stay so far below their values."""

    class Open(Stairs):
        def steps(self):
            closed = super().steps()[0].design
            return [Step(0.0, replace(closed, value=1.0, bound=1.0 - gap)) for gap in gaps]

    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        Open(np.eye(2), [0.5, 0.5], Clock(max_time, label="stairs")).checked_steps()
    return [(one.category, str(one.message)[:6]) for one in told]


def test_an_open_step_is_said():
    assert said([0, 0, 0]) == said([0, 0.5], 0) == [] and said([0.5, 0]) == said([0, 0.5]) == [
        (LooseBound, "stairs")
    ]


def test_without_time_both_ends_hold():
    ranks, p = [[3, 2, 1], [1, 3, 2], [2, 1, 3]], [0.6, 0.25, 0.15]
    designs = [worst_case_mechanism(ranks, p, 0.7, max_time) for max_time in (None, 0)]
    assert [(d.value, d.bound) for d in designs] == [(2, 2), (1, 2)]
    assert all(d.mechanism.certify(0.7) for d in designs)
