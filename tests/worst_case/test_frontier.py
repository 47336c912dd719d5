"""Steps that stay open are said, and the staircase is read twice."""

import warnings
from dataclasses import replace

import numpy as np

from pmlbook.workshop.linear_programmes import LooseBound
from pmlbook.workshop.progress import Clock
from pmlbook.worst_case.frontier import Stairs, Step


def said(gaps, max_time=None):
    """The warnings about steps whose bounds stay so far below their values."""

    class Open(Stairs):
        def steps(self):
            closed = super().steps()[0].design
            return [Step(0.0, replace(closed, value=1.0, bound=1.0 - gap)) for gap in gaps]

    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        Open(np.eye(2), [0.5, 0.5], Clock(max_time, label="stairs")).told()
    return [(one.category, str(one.message)[:6]) for one in told]


def test_an_open_step_is_said():
    assert said([0, 0, 0]) == said([0, 0.5], 0) == [] and said([0.5, 0]) == said([0, 0.5]) == [
        (LooseBound, "stairs")
    ]
