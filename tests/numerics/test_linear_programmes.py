"""Parts of linear programming at their limits: when to warn and whom, small gains, a solver that gives up."""

import math
import warnings
from unittest.mock import patch

import highspy
import numpy as np
from scipy import sparse

from pmlbook.numerics import linear_programmes as module
from pmlbook.numerics.linear_programmes import (
    Infeasible,
    LooseBound,
    SolverFailed,
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


def test_a_loose_bound_warns_where_the_call_was_made():
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
    state, solved = highspy.HighsModelStatus, module._solved

    def methods(*statuses):
        """The methods that are tried in turn when the solver ends with these."""
        left, asked = list(statuses), []

        def ends(posed, method, seconds):
            asked.append(method)
            assert np.abs(posed.col_cost_).max() == 1  # the gain, of order one
            return left.pop(0), *solved(posed, method, seconds)[1:]

        with patch.object(module, "_solved", ends):
            try:
                return maximise([1e-9, 3e-9], at_most=([[1.0, 2.0]], [1.0])).value, asked
            except (Infeasible, SolverFailed) as error:
                return type(error).__name__, asked

    fine, without_end, stuck = state.kOptimal, state.kUnbounded, state.kSolveError
    assert methods(fine)[1] == ["simplex"]
    assert all(methods(end, fine)[1] == ["simplex", "ipm"] for end in (without_end, stuck))
    assert abs(methods(fine)[0] - 1.5e-9) < 1e-21 and abs(methods(stuck, fine)[0] - 1.5e-9) < 1e-18
    assert methods(state.kInfeasible)[0] == methods(stuck, state.kInfeasible)[0] == "Infeasible"
    assert {methods(end, end)[0] for end in (without_end, stuck)} == {"SolverFailed"}
    assert methods(state.kTimeLimit)[0] == "OutOfTime"
    assert outcome(at_most=([[math.nan]], [1.0])) == "SolverFailed"


def test_sparse_matrices_and_single_bounds_say_what_dense_ones_and_lists_say():
    rng = np.random.default_rng(5)
    for _ in range(20):
        k, m, v = rng.integers([1, 1, 2], [4, 4, 9])
        point, gain = rng.random(v), rng.normal(size=v)
        equal, most = rng.random((k, v)).round(1), rng.normal(size=(m, v))
        sides, limits = equal @ point, most @ point + rng.random(m)
        dense = maximise(gain, equal=(equal, sides), at_most=(most, limits), bounds=(0, 2))
        packed = maximise(
            gain,
            equal=(sparse.csr_array(equal), sides),
            at_most=(sparse.coo_array(most), limits.tolist()),
            bounds=[(0, 2)] * v,
        )
        assert dense.value == packed.value and np.array_equal(dense.x, packed.x)
        assert (most @ dense.x <= limits + 1e-9).all() and (dense.x <= 2 + 1e-9).all()


def test_what_the_solver_calls_a_solution_is_looked_at(monkeypatch):
    """A solution that violates its constraints is not returned as an optimum."""
    monkeypatch.setattr(module, "CONSTRAINT_TOLERANCE", -1.0)
    assert outcome(at_most=([[2.0]], [1.0])) == "SolverFailed"
