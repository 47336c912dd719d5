"""Parts of linear programming at their limits: when to warn and whom, small gains, a solver that gives up."""

import math
import subprocess
import sys
import warnings

import numpy as np
import pytest
import scipy
from scipy import sparse

from pmlbook.numerics.linear_programmes import (
    Infeasible,
    LooseBound,
    OutOfTime,
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


def test_a_solver_that_gives_up_is_followed_by_another(monkeypatch):
    solve, asked = scipy.optimize.linprog, []

    def ends(status):
        """The same solver, but its simplex method ends with this status."""

        def stands_in(gain, *arguments, **options):
            assert np.abs(gain).max() == 1  # of order one
            found, method = solve(gain, *arguments, **options), arguments[-1]
            asked.append(method)
            if method == "highs-ds":
                found.status = status
            return found

        monkeypatch.setattr(scipy.optimize, "linprog", stands_in)
        asked.clear()
        return maximise([1e-9, 3e-9], at_most=([[1.0, 2.0]], [1.0])).value

    for status, methods in ((0, 1), (3, 2), (4, 2)):  # optimal, unbounded, numerical difficulty
        assert abs(ends(status) - 1.5e-9) < 1e-18
        assert asked == ["highs-ds", "highs-ipm"][:methods]
    for status, error in ((1, OutOfTime), (2, Infeasible)):
        with pytest.raises(error):
            ends(status)
        assert asked == ["highs-ds"]


def test_a_programme_with_numbers_that_are_not_finite_is_refused():
    assert outcome(at_most=([[math.nan]], [1.0])) == "SolverFailed"
    assert outcome(equal=([[1.0]], [math.inf])) == "SolverFailed"


def test_no_solver_prints():
    """What a process writes to its standard output is what it was asked for; HiGHS 1.16 writes there by itself."""
    search = """
import pmlbook
print(pmlbook.optimal_mechanism({"a": 0.5, "b": 0.3, "c": 0.2}, 0.5).value > 0)
prior = {i: i for i in range(1, 26)}
total = sum(prior.values())
print(pmlbook.optimal_mechanism({i: n / total for i, n in prior.items()}, 0.3, max_time=1).value > 0)
"""
    done = subprocess.run([sys.executable, "-c", search], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("True\nTrue\n", "")


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
