"""The upper hull of choices of so many symbols, against all of them."""

from itertools import combinations

import numpy as np

from pmlbook.extremal.few_numbers import numbers_full, upper_hull
from pmlbook.extremal.lift_vectors import lift_vectors
from pmlbook.extremal.losses import Groups
from pmlbook.foundations.leakage import epsilon_max
from pmlbook.foundations.utility import NAMED


def test_no_choice_lies_above_the_hull():
    draw = np.random.default_rng(31)
    for trial in range(60):
        n, ties = int(draw.integers(2, 9)), trial % 3
        width = 1 + 10.0 ** -draw.integers(1, 6) * draw.normal(size=n)
        profit = draw.normal(size=n)
        width[:ties], profit[:ties] = width[0], profit[0]
        for many in range(n + 1):
            sets, above = upper_hull(profit, width, many)
            assert (np.sort(sets, axis=1)[:, 1:] > np.sort(sets, axis=1)[:, :-1]).all()
            assert above < 1e-9
            vertex = np.array([[part[s].sum() for part in (width, profit)] for s in sets])
            assert (np.diff(vertex[:, 0]) >= -1e-14).all()
            for choice in combinations(range(n), many):
                at, height = width[list(choice)].sum(), profit[list(choice)].sum()
                assert vertex[0, 0] - 1e-12 <= at <= vertex[-1, 0] + 1e-12
                at = np.clip(vertex[vertex[:, 1].argmax(), 0], at - 1e-14, at + 1e-14)
                assert (
                    height <= np.interp(at, *vertex.T) + above + 1e-14
                )  # no choice lies above the hull
        p = np.sort(width / width.sum())
        groups = Groups(
            p, draw.uniform(0.05, 0.95) * epsilon_max(p), list(NAMED.values())[trial % 6]
        )
        lifts, member = lift_vectors(p, -np.log(groups.a)), groups.member
        x = (lifts - groups.floor[member][:, None]) / groups.span[member][:, None]
        ends = np.array([(x < 1e-9).sum(axis=0), (x > 1 - 1e-9).sum(axis=0)])
        inside = n - ends.sum(axis=0)
        met = np.append(
            ends[1][inside == 1], ends[1][inside == 0] - 1
        )  # a full one may be the taker
        assert set(np.maximum(met, 0)) <= set(numbers_full(groups)) | {0}
