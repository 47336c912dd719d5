"""Parts of linear programming at their limits: when to warn and whom, small gains, a solver that gives up."""

import math
import warnings
from fractions import Fraction
from unittest.mock import patch

import numpy as np
from scipy.optimize import linprog as solver

from pmlbook.numerics import linear_programmes as module
from pmlbook.numerics.linear_programmes import (
    Infeasible,
    LooseBound,
    SolverFailed,
    as_decimal,
    as_fractions,
    digits_for,
    maximise,
    warn_if_loose,
)


def outcome(**demands):
    try:
        return maximise([1.0], **demands).value
    except (Infeasible, SolverFailed) as error:
        return type(error).__name__


warning = """def one(value, bound):
    warn_if_loose("one", value, bound, 2.0**-20)

def two(*pair):
    one(*pair)
two(1.0, 1.0 + 1001 * 2.0**-20)
two(1.0, 1.0 - 1001 * 2.0**-20)
two(1.0, math.nan)
sound = len(heard)
two(1.0, 1.0 + 1000 * 2.0**-20)
two(math.inf, math.inf)
"""


def test_a_loose_bound_is_told_where_the_call_was_made():
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        exec(
            compile(warning, "book", "exec"),
            (told := {"warn_if_loose": warn_if_loose, "math": math, "heard": heard}),
        )
    assert [w.category for w in heard] == [LooseBound] * 3
    assert told["sound"] == 3 and {w.lineno for w in heard} == {5}  # where `one` was called


def test_a_gain_in_another_unit():
    for factor in (1e-13, 1e13):  # in another unit
        small = maximise(factor * np.array([0.0, 1.0, 3.0]), at_most=([[1.0, 1.0, 2.0]], [1.0]))
        assert np.isclose(small.value / factor, 1.5, rtol=1e-12, atol=0)
        assert np.isclose(small.inequality_duals[0] / factor, 1.5, rtol=1e-12, atol=0)
    still = maximise([0.0, 0.0], at_most=([[1.0, 1.0]], [1.0]))
    assert still.value == 0 == still.inequality_duals[0]


def test_a_solver_that_gives_up_is_followed_by_another():
    def methods(*statuses):
        """The methods that are asked in turn when the solver ends with these."""
        left, asked = list(statuses), []

        def ends(*programme, method, options):
            asked.append(method)
            assert abs(programme[0]).max() == 1  # the gain, of order one
            result = solver(*programme, method=method, options=options)
            result.status = left.pop(0)
            return result

        with patch.object(module, "linprog", ends):
            try:
                return maximise([1e-9, 3e-9], at_most=([[1.0, 2.0]], [1.0])).value, asked
            except (Infeasible, SolverFailed) as error:
                return type(error).__name__, asked

    assert methods(0)[1] == ["highs-ds"]
    assert all(methods(end, 0)[1] == ["highs-ds", "highs-ipm"] for end in (3, 4))
    assert abs(methods(0)[0] - 1.5e-9) < 1e-21 and abs(methods(4, 0)[0] - 1.5e-9) < 1e-18
    assert methods(2)[0] == methods(4, 2)[0] == "Infeasible"
    assert {methods(3, 3)[0], methods(4, 4)[0]} == {"SolverFailed"} and methods(1)[0] == "OutOfTime"
    assert outcome(at_most=([[math.nan]], [1.0])) == "SolverFailed"


def test_digits_for_the_smallest_number():
    for k in (0, 3, 40, 300):  # as many digits for the smallest, twice, beside sixty
        assert 60 + 2 * k <= digits_for(Fraction(1, 10**k)) <= 62 + 2.01 * k
    assert (
        digits_for(Fraction(1, 10**40 + 1))
        >= digits_for(Fraction(1, 10**40))
        > digits_for(Fraction(1))
    )


def test_fractions_and_decimals():
    assert as_fractions([1, Fraction(1, 2), 0.5]) == (
        Fraction(1, 2),
        Fraction(1, 4),
        Fraction(1, 4),
    )
    assert as_decimal(Fraction(3, 8)) * 8 == 3
