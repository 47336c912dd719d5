"""Planes below the leakage: what rounding takes from them."""

import numpy as np

from pmlbook.record_design import cutting_planes


def test_a_plane_is_lowered_by_a_unit_for_each_number_that_is_added(monkeypatch):
    """In an arithmetic of far lower precision, so that it shows."""
    unit, rng = 2.0**-20, np.random.default_rng(0)
    for a, r, m in ((2, 2, 2), (3, 4, 2), (4, 2, 5)):
        priors = rng.dirichlet(np.ones(a * r), size=3).reshape(3, a, r)
        q = rng.dirichlet(np.ones(m), size=r)
        monkeypatch.setattr(cutting_planes, "MACHINE_EPSILON", 0.0)
        sharp = cutting_planes.planes_at(priors, q)
        monkeypatch.setattr(cutting_planes, "MACHINE_EPSILON", unit)
        lowered = sharp - cutting_planes.planes_at(priors, q)
        distribution, both = priors.sum(axis=2)[:, :, None], priors @ q
        logs = 1 - np.log(distribution) - np.log(both / both.sum(axis=1, keepdims=True))
        size = unit * a * r * (priors.swapaxes(1, 2) @ logs)
        assert (size <= lowered).all() and (lowered <= 8 * size).all()
