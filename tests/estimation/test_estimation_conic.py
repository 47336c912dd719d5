"""Designs for estimating against a conic solver that is given all vertices at once, and uses no bounds."""

import os

import numpy as np
import pytest

import pmlbook as pb
from pmlbook.extremal.lift_vectors import lift_vectors

cp = pytest.importorskip("cvxpy")

COUNT = int(os.environ.get("PMLBOOK_CONIC", "12"))  # PMLBOOK_CONIC=300 takes some minutes
AIMS = ("frequencies", "two", "mean")
CONTENT = {"tol_gap_abs": 1e-11, "tol_gap_rel": 1e-11, "tol_feas": 1e-10}


def by_cones(prior, level, criterion):
    """The least variance over all weights of all vertices, of a target or an array of shape (N, K)."""
    lifts = lift_vectors(prior, level)
    n, count = lifts.shape
    weights = cp.Variable(count, nonneg=True)
    told = lifts @ cp.diag(weights) @ lifts.T
    rules = [lifts @ weights == 1]
    wanted = np.eye(n) if isinstance(criterion, str) else criterion.reshape(n, -1)
    wanted = wanted - prior @ wanted
    spread = cp.Variable((wanted.shape[1], wanted.shape[1]), symmetric=True)
    rules.append(cp.bmat([[(told + told.T) / 2, wanted], [wanted.T, spread]]) >> 0)
    problem = cp.Problem(cp.Minimize(cp.trace(spread)), rules)
    return problem.solve(solver=cp.CLARABEL, **CONTENT)


@pytest.mark.parametrize("seed", range(COUNT))
def test_no_conic_solver_does_better(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 6))
    prior = 0.95 * rng.dirichlet(np.full(n, 2.0)) + 0.05 / n
    level, criterion = float(rng.uniform(0.1, 1.5)), AIMS[seed % 3]
    shape = {"two": (n, 2), "mean": n}
    criterion = rng.normal(size=shape[criterion]) if criterion in shape else criterion
    design = pb.estimation_mechanism(prior, level, criterion)
    least = by_cones(prior, level, criterion)
    assert design.mechanism.certify(level)
    assert design.value == pytest.approx(least, rel=1e-7)
    assert design.bound <= least * (1 + 1e-7)  # as exact as the solver is
    assert design.bound <= design.value
