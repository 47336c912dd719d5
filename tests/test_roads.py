"""No design is above its level, whatever road it takes: replaced, copied, pickled, written, read, or by the command line.

The judge counts in whole numbers and takes e^epsilon to sixty digits from `decimal`; nothing of it is the library's.
PMLBOOK_FUZZ=full sends ten thousand designs.
"""

import contextlib
import copy
import io
import itertools
import json
import math
import os
import pickle
import warnings
from dataclasses import replace
from decimal import ROUND_FLOOR, Context, Decimal
from fractions import Fraction

import numpy as np
import pytest

import pmlbook as pb
from pmlbook.cli.command_line import main
from pmlbook.cli.reading import read_certificate
from pmlbook.foundations.utility import NAMED
from pmlbook.robust.estimated_prior import PriorRegion

FULL = os.environ.get("PMLBOOK_FUZZ") == "full"
BLOCKS, CASES = (100, 100) if FULL else (2, 60)
UNITS = 2**53


def powers(level):
    """A fraction just below e^level: sixty correct digits of what is above one."""
    digits = 80 + max(0, -Decimal(level).adjusted()) if level else 80
    value = Context(prec=digits).exp(Decimal(level))
    down = Context(prec=digits - 10, rounding=ROUND_FLOOR).plus(value)
    return max(Fraction(1), Fraction(down))


def largest_lift(weights, prior):
    """Largest P(y | x) / P(y) of whole numbers under a prior of fractions."""
    common = math.lcm(*(share.denominator for share in prior))
    shares = [int(share * common) for share in prior]
    assert min(shares) > 0 and sum(shares) == common
    assert all(min(row) >= 0 and sum(row) == UNITS for row in weights)
    lifts = [Fraction(0)]
    for column in zip(*weights):
        if any(column):
            mean = sum(share * entry for share, entry in zip(shares, column))
            lifts.append(Fraction(max(column) * common, mean))
    return max(lifts)


def meant(prior):
    """The fractions that a prior of numbers stands for."""
    parts = [Fraction(share) for share in prior]
    return [part / sum(parts) for part in parts]


def numbers(mechanism):
    """Weights as whole numbers and the prior as fractions, from what users see of a mechanism."""
    rows = [[int(Fraction(v) * UNITS) for v in row] for row in mechanism.channel.tolist()]
    assert rows == mechanism.weights.tolist()
    return rows, list(mechanism.exact_prior)


def prior_of(rng, n):
    """A prior with shares down to 1e-12, from floats, whole numbers or fractions."""
    counts = rng.integers(1, 10 ** int(rng.integers(1, 7)), n)
    if rng.random() < 0.2:
        return meant(counts.tolist())
    parts = [
        rng.dirichlet(np.ones(n)) + 1e-9,
        counts / 1.0,
        10.0 ** rng.uniform(-12, 0, n),
        rng.dirichlet(np.ones(n)) * 10.0 ** rng.uniform(-12, 0, n),
        1 + rng.normal(size=n) * 1e-9,
    ][rng.integers(5)]
    return (parts / math.fsum(parts)).clip(1e-12)


def level_of(rng, prior):
    """A level from 1e-6 to 50; half of them within 1e-9 of a boundary of the prior's regions."""
    if rng.random() < 0.5:
        return float(10.0 ** rng.uniform(-6, math.log10(50)))
    shares = meant(prior)
    out = rng.permutation(len(shares))[: rng.integers(1, len(shares))] if len(shares) > 1 else []
    left_out = float(sum((shares[i] for i in out), Fraction(0)))
    edge = (
        -math.log1p(-left_out)
        if left_out < 1
        else -math.log(float(1 - sum(shares[i] for i in out)))
    )
    near = [edge, math.nextafter(edge, 0), math.nextafter(edge, 1e3)]
    near.append(edge + rng.choice([-1, 1]) * min(1.0, edge) * 10.0 ** rng.uniform(-17, -9.1))
    return max(1e-6, min(700.0, float(rng.choice(near))))


def utility_of(rng, n):
    """A named utility, an order from .1 to 5, or a gain."""
    kind = rng.integers(4)
    if kind < 2:
        return str(rng.choice(list(NAMED)))
    if kind == 2:
        return pb.foundations.alpha_information(
            float(rng.choice([0.1, 0.5, 2, 5, rng.uniform(0.1, 5)]))
        )
    return pb.foundations.ExpectedGain(rng.normal(size=(n, int(rng.integers(1, 5)))))


def optimal(rng):
    prior = prior_of(rng, int(rng.integers(1, 8)))
    level = level_of(rng, prior)
    return prior, level, pb.optimal_mechanism(prior, level, utility_of(rng, len(prior)), max_time=5)


def binary(rng):
    prior = prior_of(rng, 2)
    level = level_of(rng, prior)
    return prior, level, pb.extremal.binary_mechanism(prior, level)


def high_privacy(rng):
    prior = prior_of(rng, int(rng.integers(2, 9)))
    end = float(pb.extremal.privacy_regions(prior)[1])
    level = float(rng.choice([end, math.nextafter(end, 0), end * rng.random(), end * (1 - 1e-12)]))
    return prior, level, pb.extremal.high_privacy_mechanism(prior, level)


def uniform(rng):
    n = int(rng.integers(1, 40))
    prior = [Fraction(1, n)] * n
    level = level_of(rng, prior)
    made = pb.extremal.uniform_mechanism(n, level)
    return made.prior.tolist(), level, made


def responses(rng):
    """Randomized response, repaired as in its docstring."""
    prior = prior_of(rng, int(rng.integers(2, 9)))
    level = level_of(rng, prior)
    channel = pb.extremal.randomized_response_for_pml(prior, level)
    return prior, level, pb.Mechanism(channel, prior).within(level)


def worst_case(rng):
    """The least leakage of a worst case, the best worst case of a level, and the best average of a level."""
    n, m = (int(v) for v in rng.integers(2, 5, size=2))
    prior, table = prior_of(rng, n), rng.integers(0, 5, (n, m)).astype(float)
    kind, level = rng.integers(3), level_of(rng, prior)
    if kind == 0:
        found = pb.min_leakage(table, prior, float(table.max(axis=1).min()), max_time=2)
        return prior, found.value, found
    if kind == 1:
        return prior, level, pb.worst_case_mechanism(table, prior, level, max_time=2)
    silent = float(table.min(axis=0).max())
    return prior, level, pb.worst_case.expected_utility_mechanism(table, prior, level, silent)


def robust(rng):
    """A design for all priors of a region, judged at each vertex of the region."""
    counts = rng.integers(1, 10 ** int(rng.integers(1, 5)), int(rng.integers(2, 5)))
    region = [pb.robust.box_region, pb.robust.ball_region][rng.integers(2)](counts)
    level = level_of(rng, region.prior)
    found = pb.robust.robust_mechanism(region, level, str(rng.choice(list(NAMED))), max_time=5)
    return [region], level, found


MAKERS = [optimal] * 12 + [binary, high_privacy, uniform, responses] * 2 + [worst_case, robust]


def worst_means(column, region):
    """Least mean of a column over a region: by each order in which shares could be filled, in fractions."""
    low, high = ([Fraction(v) for v in side.tolist()] for side in (region.low, region.high))
    free, means = Fraction(region.free), []
    for order in itertools.permutations(range(len(low))):
        left, belief = 1 - free - sum(low), list(low)
        for i in order:
            more = max(Fraction(0), min(left, high[i] - low[i]))
            belief[i], left = belief[i] + more, left - more
        belief[order[0]] += free
        total = sum(belief)
        means.append(sum(b * v for b, v in zip(belief, column)) / total)
    return min(means)


def kept(weights, prior, level):
    """Whether whole numbers keep a level, under a prior or under all of a region."""
    if not isinstance(prior[0], PriorRegion):
        return largest_lift(weights, prior) <= powers(level)
    columns = [column for column in zip(*weights) if any(column)]
    return all(max(c) <= powers(level) * worst_means(c, prior[0]) for c in columns)


def roads(mechanism, level, folder):
    """The mechanism at the end of each road."""
    yield replace(mechanism)
    yield replace(mechanism, outputs=[f"y{j}" for j in range(len(mechanism.outputs))])
    yield copy.copy(mechanism)
    yield copy.deepcopy(mechanism)
    yield from (pickle.loads(pickle.dumps(mechanism, protocol)) for protocol in (2, 5))
    certificate = mechanism.certify(level)
    for other in (
        copy.deepcopy(certificate),
        pickle.loads(pickle.dumps(certificate)),
        replace(certificate),
        pb.Certificate.from_json(certificate.to_json()),
    ):
        assert other == certificate and other.to_json() == certificate.to_json()
        yield pb.Mechanism.from_certificate(other)
    if folder:
        path = folder / "certificate.json"
        path.write_text(certificate.to_json())
        yield pb.Mechanism.from_certificate(read_certificate(path))
    yield pb.Mechanism(mechanism.to_frame(), mechanism.exact_prior)


def travel(prior, level, found, folder):
    """Judge a mechanism before it leaves and wherever it arrives."""
    mechanism = getattr(found, "mechanism", found)
    weights, shares = numbers(mechanism)
    region = not isinstance(prior[0], (float, int, Fraction))
    assert region or shares == meant(prior)
    assert kept(weights, prior if region else shares, level), "above its level"
    assert mechanism.certify(level).holds or region
    assert mechanism.certify(mechanism.epsilon).holds
    for other in roads(mechanism, level, folder):
        assert numbers(other) == (weights, shares)
        assert other.inputs == mechanism.inputs and other.epsilon == mechanism.epsilon
    if found is not mechanism:
        for other in (replace(found), copy.deepcopy(found), pickle.loads(pickle.dumps(found))):
            assert other == found and numbers(other.mechanism) == (weights, shares)


def made(maker, rng):
    """The result of a maker, or None where a programme in floats reports that the prior is too uneven for it."""
    state = copy.deepcopy(rng)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", pb.LooseBound)
            return maker(rng)
    except (pb.SolverFailed, ValueError) as error:
        assert isinstance(error, pb.SolverFailed) or "must be finite" in str(error)  # overflow
        assert min(prior_of(state, int(state.integers(1, 8)))) < 1e-9, error
        return None


@pytest.mark.parametrize("block", range(BLOCKS))
def test_no_road_leads_above_the_level(block, tmp_path):
    refused = 0
    for k in range(CASES):
        found = made(MAKERS[k % len(MAKERS)], np.random.default_rng([1217, block, k]))
        if found:
            travel(list(found[0]), *found[1:], tmp_path)
        refused += not found
    assert refused <= CASES // 10


def command(*words):
    """Exit code and output of the command line, in this process."""
    out = io.StringIO()
    with (
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(out),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore", pb.LooseBound)
        return main([str(word) for word in words]), out.getvalue()


@pytest.mark.parametrize("trial", range(1000 if FULL else 12))
def test_the_command_line_keeps_the_level(trial, tmp_path):
    """The certificate is read here as plain JSON, for the very numbers that were typed."""
    rng = np.random.default_rng([1218, trial])
    prior = list(prior_of(rng, int(rng.integers(1, 7))))
    level, name = level_of(rng, prior), str(rng.choice(list(NAMED)))
    typed = [
        f"s{i}={share if isinstance(share, Fraction) else repr(float(share))}"
        for i, share in enumerate(prior)
    ]
    shares = meant([Fraction(word.partition("=")[2]) for word in typed])
    path, column, out = (tmp_path / name for name in ("made.json", "column.csv", "out.csv"))
    asked = *typed, "--epsilon", repr(level), "--utility", name, "-o", path
    code, text = command("design", *asked)
    if code == 2:
        assert "is rarer than" in text and min(prior) < 1e-11 and not path.exists()
        return
    content = json.loads(path.read_text())
    assert code == 0 and [Fraction(p) for p in content["prior"]] == shares, text
    assert largest_lift(content["weights"], shares) <= powers(level)
    assert command("audit", path, "--epsilon", repr(level))[0] == 0
    column.write_text("secret\n" + "\n".join(f"s{i}" for i in range(len(prior))) + "\n")
    code, text = command(
        "release", path, column, out, "--column", "secret", "--epsilon", repr(level), "--believed"
    )
    assert code == 0 and len(out.read_text().split()) == len(prior) + 1, text


def test_this_judge_can_say_no():
    """One unit too many in one entry, one float below the level, and a region's vertex."""
    made = pb.extremal.binary_mechanism([0.7, 0.3], 0.4)
    weights, shares = numbers(made)
    assert kept(weights, shares, made.epsilon)
    assert not kept(weights, shares, math.nextafter(made.epsilon, 0))
    region = pb.robust.box_region([50, 50])
    flip = pb.Mechanism([[0.75, 0.25], [0.25, 0.75]], [0.5, 0.5])
    level = float(pb.robust.worst_leakage(flip.channel, region).max())
    assert kept(flip.weights.tolist(), [region], level + 1e-9)
    assert not kept(flip.weights.tolist(), [region], level - 1e-9)
