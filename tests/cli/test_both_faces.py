"""What the library warns of, the command line states, and the other way round."""

import warnings

import numpy as np
import pytest

import pmlbook as pb
from pmlbook.release import DesignWarning


def warned(call, *arguments):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        made = call(*arguments)
    return made, " ".join(str(one.message) for one in said if one.category is DesignWarning)


@pytest.mark.parametrize("epsilon", [0.3, 0.7, 1.5, 3.0])
@pytest.mark.parametrize("prior", [[0.5, 0.3, 0.2], [0.7, 0.2, 0.1], [0.4, 0.3, 0.2, 0.1]])
def test_both_faces_warn_of_the_same(run, prior, epsilon):
    """Estimating failed with 'linearly dependent' after the column was out, for 27 of 159 random priors."""
    made, said = warned(pb.optimal_mechanism, prior, epsilon)
    words = " ".join(map(str, prior))
    code, out, err = run(f"design {words} --epsilon {epsilon} -o m.json")
    assert code == 0
    undetermined = np.linalg.matrix_rank(made.mechanism.channel) < len(prior)
    assert ("do not determine the frequencies" in said) == undetermined
    assert ("estimation_mechanism" in said) == undetermined
    assert ("frequencies: not determined" in out) == undetermined
    assert ("would publish" in said) == ("would publish" in err) == (made.mechanism.published > 0)
    released = made.mechanism.privatize(np.arange(len(prior)), rng=1)
    if undetermined:
        with pytest.raises(ValueError, match="linearly dependent"):
            made.mechanism.estimate(released)
    else:
        made.mechanism.estimate(released)


def test_the_remedy_is_one(run):
    made, said = warned(pb.estimation_mechanism, [0.7, 0.2, 0.1], 0.7)
    assert "determine" not in said
    made.mechanism.estimate(made.mechanism.privatize([0, 1, 2], rng=1))
    assert "frequencies: estimated" in run("design .7 .2 .1 --epsilon .7 --for frequencies")[1]


def test_from_accuracy_to_level_on_both_faces(run):
    words = "no=6 flu=3 rare=1"
    code, out, err = run(f"design {words} --error .05 --rows 2000 -o m.json")
    assert code == 0, err
    found = pb.estimation.level_for_error({"no": 6, "flu": 3, "rare": 1}, 0.05, 2000)
    assert f"epsilon: {found.level!r}" in out and "no mechanism of" in out
    # a level that is lower by a part of a hundred misses it
    design = pb.estimation_mechanism([0.6, 0.3, 0.1], found.level * 0.99).mechanism
    each = [pb.estimation.estimation_variance(design, row) for row in np.eye(3)]
    assert max(each) / 2000 > 0.05**2 >= found.standard_error**2
    assert np.sqrt(pb.estimation_mechanism([0.6, 0.3, 0.1], found.bound).bound / 6000) > 0.05
    for wrong, said in [
        ("--error .05 --epsilon 1", "either --epsilon"),
        ("--rows 100", "either --epsilon"),
        ("--error .001 --rows 100", "rows are needed"),
        ("--error .05 --for information", "needs --for frequencies or mean"),
    ]:
        code, _, err = run(f"design {words} {wrong} -o n.json")
        assert code == 2 and said in err
