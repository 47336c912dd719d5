"""What several releases leak together: against brute force in fractions, to the last digit."""

import math
import pickle
from dataclasses import replace
from fractions import Fraction
from itertools import combinations_with_replacement, product

import numpy as np
import pytest
from oracles import exp_from_below, lift_vertices

import pmlbook as pb
from pmlbook.budget.composition import (
    best_answer,
    certified_level,
    compose,
    composed_level,
    exact_lift_vertices,
    worst_joint_level,
)
from pmlbook.release.certificate import exp_below

FLIP = pb.Mechanism([[0.75, 0.25], [0.25, 0.75]], [0.5, 0.5])
CLINIC = [0.6, 0.3, 0.1]
FLU = pb.Mechanism([[1, 0], [0, 1], [1, 0]], CLINIC)
SICK = pb.Mechanism([[1, 0], [0, 1], [0, 1]], CLINIC)
RARE = pb.Mechanism([[0.999, 0.001], [0.9995, 0.0005], [0.9995, 0.0005]], [0.1, 0.45, 0.45])


def exact_shares(mechanism):
    """The exact prior, from the floats that are stored."""
    values = [Fraction(p) for p in mechanism.prior.tolist()]
    return [p / sum(values) for p in values]


def exact_lift(column, shares):
    """Largest posterior over prior; 0 for a column of zeros."""
    return max(column) / sum(p * v for p, v in zip(shares, column)) if any(column) else Fraction(0)


def sequences(mechanisms):
    """The column of each sequence of outcomes in fractions, by its outcomes."""
    for places in product(*(range(len(m.outputs)) for m in mechanisms)):
        columns = (m.weights[:, j].tolist() for m, j in zip(mechanisms, places))
        rows = zip(*columns)
        yield places, [math.prod(row) for row in rows]


def brute_force(mechanisms):
    """Largest lift of a sequence of outcomes."""
    shares = exact_shares(mechanisms[0])
    return max(exact_lift(column, shares) for _, column in sequences(mechanisms))


def rare_mechanism(rng, prior, m):
    """Outcomes of every size down to one unit of 2^-53, zeros, and now and then a dead outcome."""
    n = len(prior)
    channel = rng.random((n, m)) * 2.0 ** -rng.choice([0, 1, 9, 28, 29, 52, 2000], size=(n, m))
    channel[:, rng.integers(m)] *= rng.integers(2)
    channel[:, 0] += 1
    channel /= channel.sum(axis=1, keepdims=True)
    return pb.Mechanism(channel, prior, outputs=range(channel.shape[1]))


def random_prior(rng, n):
    """A prior, often with very rare secrets, down to the least share that a mechanism takes."""
    p = rng.dirichlet(np.ones(n)) * 2.0 ** -rng.choice([0, 0, 10, 30, 300], size=n)
    p = np.maximum(p / p.sum(), 2e-12)
    return p / p.sum()


def is_smallest(level, lift):
    """Whether e^level is at least `lift` and e^(the float below) is not, by a series of fractions."""
    below = math.nextafter(level, 0)
    return exp_from_below(level) >= lift and (
        level == 0 or exp_from_below(below) + Fraction(1, 10**40) < lift
    )


def test_rare_outcomes_are_not_rounded_away():
    """The lifts of outcomes far below 2^-53 count in full."""
    found = {k: round(compose(*[RARE] * k).epsilon, 4) for k in (4, 5, 6, 12)}
    assert found == {4: 1.8563, 5: 2.0547, 6: 2.171, 12: 2.3004}
    tiny = np.array([2.0**-28, 2.0**-29])
    faint = pb.Mechanism(np.column_stack([1 - tiny, tiny]), [0.1, 0.9])
    twice = compose(faint, faint)
    assert not twice.certify(0.59784) and round(twice.epsilon, 4) == 1.1239


def test_odometer_equals_brute_force():
    """Up to 12 releases of 300 mechanisms: counts of outcomes, with powers of the weights."""
    rng = np.random.default_rng(1)
    for _ in range(300):
        n, m = int(rng.integers(1, 5)), int(rng.integers(1, 4))
        mechanism = rare_mechanism(rng, random_prior(rng, n), m)
        shares, columns = exact_shares(mechanism), mechanism.weights.T.tolist()
        last = int(rng.integers(1, 13))
        expected = Fraction(0)
        for chosen in combinations_with_replacement(columns, last):
            column = [math.prod(entries) for entries in zip(*chosen)]
            expected = max(expected, exact_lift(column, shares))
        joint = compose(*[mechanism] * last)
        assert joint.releases == last and joint.largest_lift == expected
        assert joint.certify(joint.epsilon)
        assert joint.epsilon == 0 or not joint.certify(math.nextafter(joint.epsilon, 0))
        assert sum(c.lifts[0] * c.units for c in joint.columns) == 2 ** (53 * last)


def test_level_is_the_smallest_float():
    rng = np.random.default_rng(2)
    for _ in range(50):
        mechanism = rare_mechanism(rng, rng.dirichlet(np.ones(3)), 3)
        joint = compose(*[mechanism] * int(rng.integers(1, 5)))
        assert is_smallest(joint.epsilon, joint.largest_lift)


def test_different_mechanisms_in_a_row():
    """Every sequence by itself; the named one is the worst, and the joint distribution is a distribution."""
    rng = np.random.default_rng(3)
    for _ in range(60):
        prior = random_prior(rng, int(rng.integers(1, 4)))
        made = [rare_mechanism(rng, prior, int(rng.integers(1, 4))) for _ in range(5)]
        joint = compose(*made)
        distribution = dict(sequences(made))
        shares = exact_shares(made[0])
        assert joint.largest_lift == max(
            exact_lift(column, shares) for column in distribution.values()
        )
        assert exact_lift(distribution[joint.worst], shares) == joint.largest_lift
        units = {}
        for column in distribution.values():
            if any(column):
                direction = tuple(v // math.gcd(*column) for v in column)
                units[direction] = units.get(direction, 0) + math.gcd(*column)
        assert {c.lifts: c.units for c in joint.columns} == units
        for column in joint.columns:
            entries = distribution[column.outcomes]
            assert [v * math.gcd(*entries) for v in column.lifts] == entries


def test_twelve_different_mechanisms():
    rng = np.random.default_rng(4)
    for _ in range(3):
        prior = rng.dirichlet(np.ones(2))
        made = [rare_mechanism(rng, prior, 2) for _ in range(12)]
        assert compose(*made).largest_lift == brute_force(made)


def test_grouping_and_order_do_not_matter():
    rng = np.random.default_rng(5)
    a, b, c = (rare_mechanism(rng, [0.2, 0.3, 0.5], 3) for _ in range(3))
    lifts = {
        compose(a, b, c).largest_lift,
        compose(compose(a, b), c).largest_lift,
        compose(a, compose(c, b)).largest_lift,
    }
    assert len(lifts) == 1 and compose(compose(a, b), c).releases == 3


@pytest.mark.parametrize("rarest", [1e-12, 2.0**-39, 1e-7])
def test_priors_at_the_end_of_the_domain(rarest):
    """A secret that hardly exists is singled out in full, by a zero and by a unit of 2^-53."""
    prior = [1 - rarest, rarest]
    for channel in ([[1, 0], [0.5, 0.5]], [[1 - 2**-53, 2**-53], [0.5, 0.5]]):
        mechanism = pb.Mechanism(channel, prior)
        joint = compose(*[mechanism] * 12)
        assert joint.largest_lift == brute_force([mechanism] * 12)
        assert joint.certify(joint.epsilon) and joint.epsilon <= -math.log(rarest) + 1e-9
    assert compose(*[pb.Mechanism(np.eye(2), prior)] * 2).worst == ("r1", "r1")


def test_one_secret_and_dead_outcomes():
    alone = pb.Mechanism([[0.5, 0.5, 0]], [1.0])
    assert compose(alone, alone).epsilon == 0 and compose(alone, alone).certify(0)
    assert len(compose(alone, alone).columns) == 1
    dead = pb.Mechanism([[0.75, 0, 0.25], [0.25, 0, 0.75]], [0.5, 0.5])
    assert compose(dead, dead).largest_lift == compose(FLIP, FLIP).largest_lift
    assert 1 not in compose(dead, dead).worst


def test_names_are_matched():
    """The same mechanism with its rows in another order is the same mechanism."""
    prior, channel = [0.5, 0.25, 0.25], np.array([[0.7, 0.3], [0.2, 0.8], [0.0, 1.0]])
    first = pb.Mechanism(channel, prior, ("a", "b", "c"))
    order = [2, 0, 1]
    shuffled = pb.Mechanism(channel[order], np.array(prior)[order], ("c", "a", "b"))
    assert compose(first, shuffled).largest_lift == compose(first, first).largest_lift
    assert compose(first, shuffled).inputs == first.inputs


def test_priors_are_matched_with_the_names():
    """.6 for a and .6 for b are two priors, in any order."""
    first = pb.Mechanism(FLIP.channel, [0.6, 0.4], ("a", "b"))
    with pytest.raises(ValueError, match="different priors: 'a' has 0.6 and 0.4"):
        compose(first, pb.Mechanism(FLIP.channel, [0.6, 0.4], ("b", "a")))


def test_another_prior_is_refused_in_the_last_digit():
    nearly = pb.Mechanism(FLIP.channel, [0.5 + 2**-53, 0.5 - 2**-53])
    with pytest.raises(ValueError, match="different priors: 0 has 0.5"):
        compose(FLIP, nearly)


def test_joint_release_cannot_be_changed_and_travels():
    joint = compose(FLIP, FLIP)
    with pytest.raises(AttributeError):
        joint.prior = (Fraction(1, 4), Fraction(3, 4))
    again = pickle.loads(pickle.dumps(joint))
    assert again.largest_lift == joint.largest_lift and again.columns == joint.columns
    assert repr(joint) == "JointRelease(2 releases, 3 directions, epsilon = 0.587787 nats)"


def test_joint_release_must_be_a_distribution():
    """Directions left out, or a prior that is none, are refused also where the object is built by hand."""
    joint = compose(FLIP, FLIP)
    with pytest.raises(ValueError, match="the row of 0 does not sum to one"):
        replace(joint, columns=joint.columns[1:])
    with pytest.raises(ValueError, match="prior must be positive fractions"):
        replace(joint, prior=(Fraction(1, 4), Fraction(1, 4)))


# ---------------------------------------------------------------- bounds


def test_shares_round_up():
    """The float is at least -ln(1 - s1 - s2 - ...), and the float below is less."""
    rng = np.random.default_rng(6)
    for _ in range(200):
        scale = 10.0 ** rng.uniform(-12, 0)
        levels = rng.uniform(0, 0.7, size=int(rng.integers(2, 4))) * scale
        left = 1 - sum(1 - 1 / exp_from_below(level) for level in levels.tolist())
        found = composed_level(*levels)
        if found == np.inf:
            assert left < Fraction(1, 10**40)
        else:
            assert is_smallest(found, 1 / left)


def test_shares_at_the_ends():
    small = 5e-324
    assert composed_level() == composed_level(0, 0) == 0 and composed_level(0, 1e300) == 1e300
    assert composed_level(small) == small and composed_level(small, 0) == small
    assert composed_level(small, small) == 3 * small  # 2 small + small^2 + ... is more than 2 small
    assert composed_level(1.0, small) == math.nextafter(1.0, 2)
    assert composed_level(1e300, small) == np.inf and composed_level(720, 1e-310) == np.inf
    assert 700 < composed_level(700, 1e-310) < 700.00001
    assert composed_level(*[1e-3] * 1000) > 6 and composed_level(*[1e-3] * 1001) == np.inf


def test_shares_bound_random_pairs():
    rng = np.random.default_rng(7)
    for _ in range(100):
        prior = random_prior(rng, int(rng.integers(2, 5)))
        one, two = (rare_mechanism(rng, prior, 3) for _ in range(2))
        assert compose(one, two).epsilon <= composed_level(
            compose(one).epsilon, compose(two).epsilon
        )


def standing(joint):
    """e^-level and e^-(level of local differential privacy)."""
    return 1 / joint.largest_lift, joint.min_ratio


def test_least_ratio_is_local_differential_privacy():
    rng = np.random.default_rng(8)
    for _ in range(50):
        made = [rare_mechanism(rng, rng.dirichlet(np.ones(3)), 3) for _ in range(1)] * 2
        columns = [column for _, column in sequences(made) if any(column)]
        assert compose(*made).min_ratio == min(Fraction(min(c), max(c)) for c in columns)
    assert compose(FLU).min_ratio == 0


# ---------------------------------------------------------------- the worst pair of mechanisms


def test_worst_pair_against_all_pairs_of_vertices():
    """Vertices by a library for polyhedra, every pair of them, every secret."""
    rng = np.random.default_rng(11)
    for _ in range(30):
        counts = rng.integers(1, 40, size=int(rng.integers(2, 5))).tolist()
        shares = [Fraction(k, sum(counts)) for k in counts]
        one, two = (1 + Fraction(int(k), 16) for k in rng.integers(0, 64, size=2))
        assert {tuple(c) for c in lift_vertices(shares, two)} == set(
            exact_lift_vertices(shares, two)
        )
        pairs = product(lift_vertices(shares, one), lift_vertices(shares, two))
        expected = max(exact_lift([v * w for v, w in zip(a, b)], shares) for a, b in pairs)
        assert (
            max(best_answer(shares, one, c) for c in exact_lift_vertices(shares, two)) == expected
        )


def test_worst_pair_may_be_rare():
    """Two questions single out one person in a thousand, in a million, in 10^12."""
    for rarest in (1e-3, 2.0**-20, 1e-12):
        prior = [0.5, 0.5 - rarest, rarest]
        worst = worst_joint_level(prior, 0.7, 0.7)
        assert math.isclose(worst, -math.log(rarest), rel_tol=1e-15)
        often, sometimes = (pb.Mechanism(np.eye(2)[k], prior) for k in ([1, 0, 0], [0, 1, 0]))
        assert compose(often, sometimes).epsilon == worst


def test_worst_pair_covers_made_pairs_and_is_covered_by_shares():
    rng = np.random.default_rng(12)
    for _ in range(40):
        n = int(rng.integers(2, 5))
        counts = rng.multinomial(2**20 - n, rng.dirichlet(np.full(n, 0.3))) + 1
        p, levels = counts / 2**20, rng.uniform(0, 0.8, size=2)
        worst = worst_joint_level(p, *levels)
        assert worst <= composed_level(*levels)
        assert worst <= certified_level(Fraction(2**20, int(counts.min())))
        for sharp in (0.3, 1):
            channels = rng.dirichlet(np.full(3, sharp), size=(2, n))
            made = [pb.Mechanism(channel, p).within(e) for channel, e in zip(channels, levels)]
            assert compose(*made).epsilon <= worst


def test_worst_pair_is_reached():
    """Four equal secrets at ln(4/3): one release may rule out one of them, two releases two."""
    quarter, third = [0.25] * 4, float(np.log(4 / 3))
    assert math.isclose(worst_joint_level(quarter, third, third), math.log(2), rel_tol=1e-14)
    assert math.isclose(composed_level(third, third), math.log(2), rel_tol=1e-14)
    assert worst_joint_level([1.0], 3, 3) == 0 == worst_joint_level(quarter, 0, 0)
    assert worst_joint_level([0.5, 0.5], 1000, 5000) == certified_level(Fraction(2))
    assert exp_below(worst_joint_level(quarter, 9, 0)) >= 4


# ---------------------------------------------------------------- adaptive choice


def random_tree(rng, prior, depth):
    """A mechanism and, for each of its outcomes, what comes next; None at the end."""
    if depth == 0 or depth < 3 and rng.random() < 0.2:
        return None
    mechanism = rare_mechanism(rng, prior, int(rng.integers(2, 4)))
    return mechanism, [random_tree(rng, prior, depth - 1) for _ in mechanism.outputs]


def leaves(tree, path=()):
    """The paths of a tree: pairs of a mechanism and the place of its outcome."""
    if tree is None:
        yield path
        return
    mechanism, branches = tree
    for place, branch in enumerate(branches):
        yield from leaves(branch, (*path, (mechanism, place)))


def test_adaptive_choice_is_covered_along_every_path():
    """The account of the mechanisms on a path bounds what the path leaks; so do the shares."""
    rng = np.random.default_rng(13)
    for _ in range(40):
        prior = random_prior(rng, int(rng.integers(2, 4)))
        tree = random_tree(rng, prior, 3)
        shares, distribution, worst, readings = exact_shares(tree[0]), 0, Fraction(1), Fraction(1)
        for path in leaves(tree):
            columns = [m.weights[:, j].tolist() for m, j in path]
            column = [math.prod(entries) for entries in zip(*columns)]
            distribution += Fraction(column[0], 2 ** (53 * len(path)))
            if not any(column):
                continue
            lift, used = exact_lift(column, shares), [m for m, _ in path]
            assert lift <= compose(*used).largest_lift
            left = sum(1 / exact_lift(c, shares) for c in columns) - (len(path) - 1)
            assert 1 / lift >= left
            worst, readings = max(worst, lift), max(readings, compose(*used).largest_lift)
        assert distribution == 1 and worst <= readings


def test_planned_sequence_does_not_cover_what_was_not_planned():
    """'sick?' asked only after 'no flu' leaks all; only after 'flu', nothing more than 'flu?'."""
    shares, level = exact_shares(FLU), {}
    for after in (0, 1):
        tree = FLU, [(SICK, [None, None]) if y == after else None for y in (0, 1)]
        level[after] = max(
            exact_lift(
                [math.prod(v) for v in zip(*(m.weights[:, j].tolist() for m, j in path))], shares
            )
            for path in leaves(tree)
        )
    assert level[1] == compose(FLU).largest_lift < compose(FLU, SICK).largest_lift == level[0]


# ---------------------------------------------------------------- the log


BAD = {
    "nothing": (lambda: compose(), "releases is empty"),
    "channel": (lambda: compose(FLIP, FLIP.channel), "release 1 must be a Mechanism .* ndarray"),
    "inputs": (
        lambda: compose(FLIP, pb.Mechanism(np.eye(2), [0.5, 0.5], ("a", "b"))),
        r"inputs differ: \(0, 1\) and \('a', 'b'\)",
    ),
    "priors": (
        lambda: compose(FLIP, pb.Mechanism(np.eye(2), [0.4, 0.6])),
        "different priors: 0 has 0.5 and 0.4",
    ),
    "level": (lambda: compose(FLIP).certify(-1), "epsilon = -1 must be"),
    "composed": (lambda: composed_level(0.1, -1), "level = -1 must be"),
    "infinite": (lambda: composed_level(np.inf), "level = inf must be"),
    "pair": (lambda: worst_joint_level([0.5, 0.5], 0.1, np.inf), "second = inf must be"),
    "secrets": (lambda: worst_joint_level([1 / 16] * 16, 1, 1), "prior has 16 symbols, too many"),
}


@pytest.mark.parametrize("call, message", BAD.values(), ids=BAD)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()
