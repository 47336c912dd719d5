"""Releases and beliefs in the shape of the records."""

import numpy as np
import pytest

from pmlbook.numerics.validation import InvalidChannel
from pmlbook.records.framework import check_belief, check_record_channel


def test_a_release_has_one_axis_per_record():
    rows = np.random.default_rng(0).dirichlet(np.ones(3), size=6)
    release = check_record_channel(rows, (2, 3))
    assert release.shape == (2, 3, 3) and (release[1, 2] == rows[5]).all()
    assert (check_record_channel(release, (2, 3)) == release).all()
    with pytest.raises(InvalidChannel, match="datasets have shape"):
        check_record_channel(release, (3, 2))


def test_a_belief_keeps_its_axes():
    assert check_belief([[0.5, 0], [0, 0.5]]).shape == (2, 2)
