"""A matrix between answers keeps what it promises, also where answers are rare, and travels as text."""

import numpy as np
import pytest

from pmlbook import Certificate, Mechanism
from pmlbook.extremal import pram_mechanism

RARE = (0.5, 0.5 - 1e-12, 1e-12)


@pytest.mark.parametrize("invariant", [True, False])
@pytest.mark.parametrize("epsilon", [0.0, 1e-6, 0.5, 3.0, 30.0])
@pytest.mark.parametrize("prior", [RARE, RARE[::-1], (1 - 1e-9, 5e-10, 5e-10), (1.0,)])
def test_rare_answers_break_no_promise_and_cost_next_to_nothing(prior, epsilon, invariant):
    """Half of the answers were lost, or all of a row: the solver does not see coefficients below 1e-9."""
    made = pram_mechanism(prior, epsilon, invariant=invariant)
    assert made.mechanism.certify(epsilon) and 0 <= made.gap < 3e-9
    if invariant:
        assert made.defect < 1e-3 * min(
            prior
        )  # the rarest answer is released, as often as it is true


@pytest.mark.parametrize("seed", range(3))
def test_rare_answers_keep_a_gain_and_a_certainty(seed):
    """A column of 1e-8 was stored with a lift far above its cap, and the whole matrix was mixed for it."""
    weights = np.array([4.76e-7, 0.476, 4.76e-8, 4.76e-4, 0.476, 0.0476])
    prior, gain = weights / weights.sum(), np.random.default_rng(seed).normal(size=(6, 6))
    for invariant in (True, False):
        made = pram_mechanism(prior, 0.4623, invariant=invariant, gain=gain, certainty=0.8086)
        joint = prior[:, None] * made.mechanism.channel
        assert made.mechanism.certify(0.4623) and 0 <= made.gap < 1e-8
        assert (joint.max(axis=0) <= 0.8086 * joint.sum(axis=0) + 1e-15).all()


@pytest.mark.parametrize("invariant", [True, False])
def test_a_rare_answer_does_not_loosen_the_bound(invariant):
    """A bound of 0.75 for a value of 0.5: the dual variable of the rare answer had no digits left."""
    made = pram_mechanism(
        [0.5, 0.5 - 7.363e-12, 7.363e-12], 40.0, invariant=invariant, certainty=0.500086919
    )
    assert 0 <= made.gap < 1e-9


def test_a_certainty_next_to_the_largest_share_is_refused():
    with pytest.raises(ValueError, match="certainty = 0.5000001 must be above the largest share"):
        pram_mechanism([0.5, 0.3, 0.2], 1.0, certainty=0.5000001)
    made = pram_mechanism([0.5, 0.3, 0.2], 1.0, certainty=0.500001)
    assert made.gap < 1e-9 and made.value > 0.46


def test_a_gain_is_read_by_its_names():
    pd = pytest.importorskip("pandas")
    prior, worth = {"a": 0.5, "b": 0.3, "c": 0.2}, np.arange(9.0).reshape(3, 3)
    table = pd.DataFrame(worth, [*"abc"], [*"abc"]).loc[[*"cab"], [*"bca"]]
    named = pram_mechanism(prior, 0.7, gain=table)
    assert named.mechanism == pram_mechanism(prior, 0.7, gain=worth).mechanism


@pytest.mark.parametrize("names", [("yes", "no"), (1, "1"), ('say "no", or', "é\n")])
def test_it_travels_as_json_and_as_a_table(names, tmp_path):
    pd = pytest.importorskip("pandas")
    made = pram_mechanism(dict(zip(names, (0.7, 0.3))), 0.4).mechanism
    text = made.certify(0.4).to_json()
    again = Mechanism.from_certificate(Certificate.from_json(text))
    assert again == made and again.outputs == again.inputs == names and again.keeps_names
    made.to_frame().to_csv(tmp_path / "pd.csv")
    table = pd.read_csv(tmp_path / "pd.csv", index_col=0)
    assert (table.to_numpy() == made.channel).all()
    assert [*table.index.astype(str)] == list(map(str, names))
