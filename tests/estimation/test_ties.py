"""Which of several best designs is returned: a rule decides, and no processor."""

import os
import subprocess
import sys

import numpy as np
import pytest

import pmlbook as pb
from pmlbook.estimation.enumerated_design import centred_weights

PRINTED = """
import numpy as np, pmlbook as pb
women = np.array([99, 348, 993, 2242, 2684]) / 6366
for prior, level in [(women, 0.2), (women, 1.0), ([0.3, 0.3, 0.2, 0.2], 0.4), (np.full(5, 0.2), 0.4)]:
    for target in ("frequencies", np.arange(len(prior))):
        channel = pb.estimation_mechanism(prior, level, target=target).mechanism.channel
        rows = sorted(np.round(channel, 6).T.tolist())
        print([[round(x, 5) + 0.0 for x in row] for row in rows])
"""


def printed(core):
    told = os.environ | {"OPENBLAS_CORETYPE": core}
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PRINTED], env=told, capture_output=True, check=True
    )
    return run.stdout.splitlines()


def test_channels_do_not_depend_on_the_processor():
    one, *others = (printed(core) for core in ("Haswell", "Nehalem", "Prescott"))
    assert len(one) == 8
    for other in others:
        assert other == one


@pytest.mark.parametrize("n, level", [(4, 0.4), (4, 1.0), (5, 1.0)])
def test_what_is_alike_is_treated_alike(n, level):
    found = pb.estimation_mechanism(np.full(n, 1 / n), level).mechanism
    often = found.prior @ found.channel
    assert len(often) > n and np.ptp(often) < 1e-12


def test_the_product_is_the_largest_under_the_equations():
    rng = np.random.default_rng(8)
    for _ in range(20):
        rows, start = rng.normal(size=(4, 9)), rng.dirichlet(np.ones(9))
        rows[0] = 1.0
        rows[3] = rows[0] - 2 * rows[1]  # an equation that follows from others
        found = centred_weights(rows, start)
        assert np.allclose(rows @ found, rows @ start, rtol=0, atol=1e-11) and (found > 0).all()
        multipliers = np.linalg.lstsq(rows.T, 1 / found, rcond=1e-9)[0]
        assert np.allclose(rows.T @ multipliers, 1 / found, rtol=1e-6, atol=0)
