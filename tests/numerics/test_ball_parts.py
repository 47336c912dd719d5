"""Arithmetic of balls, their images, and each way in which a search over a box can end."""

from fractions import Fraction

import pytest

flint = pytest.importorskip("flint")

from pmlbook.numerics.balls import (  # noqa: E402
    Ball,
    _admitted,
    _at,
    _ball,
    _checked,
    _ends,
    _halves,
    _hull,
    _image,
    enclose,
    exp,
    information,
    joint_information,
    ln,
    prove_over,
    shannon_entropy,
    xlogx,
)
from pmlbook.numerics.linear_programmes import SolverFailed  # noqa: E402


def around(f, value, **point):
    """Whether an enclosure holds a value, no further than it promises."""
    low, high = enclose(f, **point)
    return low <= value <= high and high - low <= Fraction(1, 10**30)


a, b = Fraction(7, 3), Fraction(-5, 11)


rows = [[Fraction(1, 3), Fraction(2, 3), 0], [Fraction(1, 5), Fraction(1, 5), Fraction(3, 5)]]
prior = [Fraction(2, 7), Fraction(5, 7)]
table = [[p * e for e in row] for p, row in zip(prior, rows)]


def by_parts():
    """The same information as a sum of logarithms of quotients."""
    kept = [(x, y) for x in range(2) for y in range(3) if table[x][y] > 0]
    sizes = {(x, y): sum(table[x]) * (table[0][y] + table[1][y]) for x, y in kept}
    return sum((table[x][y] * ln(table[x][y] / sizes[x, y]) for x, y in kept), Ball(0))


side = {"x": (1, 2)}


def steep(x):
    return (x - Fraction(3, 2)) ** 2 * 100 - x / 10  # below 0 near the middle only


def test_arithmetic_holds_the_value():
    for f, value in [
        (lambda x, y: x + y, a + b),
        (lambda x, y: x - y, a - b),
        (lambda x, y: x * y, a * b),
        (lambda x, y: x / y, a / b),
        (lambda x, y: -x, -a),
        (lambda x, y: 2 + x, 2 + a),
        (lambda x, y: 2 - x, 2 - a),
        (lambda x, y: 2 * x, 2 * a),
        (lambda x, y: 2 / x, 2 / a),
        (lambda x, y: x + b, a + b),
        (lambda x, y: x - b, a - b),
        (lambda x, y: b / x, b / a),
        (lambda x, y: x**0, 1),
        (lambda x, y: x**1, a),
        (lambda x, y: y**5, b**5),
        (lambda x, y: Ball(x), a),
        (lambda x, y: 3, 3),
    ]:
        assert around(f, value, x=a, y=b)


def test_what_makes_no_ball_is_refused():
    for power in (-1, True, 0.5):
        with pytest.raises(ValueError, match="the power of a ball"):
            Ball(2) ** power
    for value in (0.5, True, "1", None):
        with pytest.raises(ValueError, match="a ball is made of"):
            Ball(value)
    for f in (lambda: ln(0), lambda: ln(-1), lambda: 1 / (Ball(1) - 1), lambda: xlogx(-1)):
        with pytest.raises(SolverFailed):
            enclose(f)


def test_logarithms_and_exponentials_undo_each_other():
    assert around(lambda: exp(ln(a)), a) and around(lambda: ln(exp(b)), b)
    assert (
        around(lambda: exp(1300) / exp(1300), 1) and enclose(lambda: exp(200) * exp(1))[0] > 2**289
    )
    assert enclose(lambda: exp(1300))[1] - enclose(lambda: exp(1300))[0] <= Fraction(1, 10**30)
    with pytest.raises(SolverFailed, match="4000 bits"):
        enclose(lambda: exp(1500))  # 30 digits after the point would take more


def test_entropy_of_known_distributions():
    distribution = [Fraction(1, 2), Fraction(1, 4), Fraction(1, 4), Fraction(0)]
    assert around(lambda: xlogx(a) - a * ln(a), 0) and around(
        lambda: xlogx(Fraction(1, 2)) * 2 + ln(2), 0
    )
    assert around(lambda: shannon_entropy(distribution) - Fraction(3, 2) * ln(2), 0) and around(
        lambda: shannon_entropy([1]), 0
    )


def test_information_is_the_same_by_parts():
    assert around(lambda: information(prior, rows) - by_parts(), 0)
    assert around(lambda: information(prior, rows) - joint_information(table), 0)
    for wrong in (
        lambda: information([Fraction(1, 2), Fraction(1, 3)], rows),
        lambda: information(prior, [rows[0], [1, 0, Fraction(1, 10**20)]]),
        lambda: joint_information([[1, 0], [0, 1]]),
    ):
        with pytest.raises(ValueError, match="not to 1"):
            enclose(wrong)


def test_images_hold_every_value_and_little_more():
    fine = Fraction(1, 2**12)
    for side in ((Fraction(0), fine), (Fraction(1, 3), Fraction(2, 5)), (Fraction(1), Fraction(2))):
        low, high = _ends(_image(xlogx, {"x": side}))
        seen = [
            enclose(xlogx, x=side[0] + Fraction(k, 20) * (side[1] - side[0])) for k in range(21)
        ]
        least, most = min(ends[0] for ends in seen), max(ends[1] for ends in seen)
        assert low <= least and most <= high
        assert high - low < (Fraction(1, 100) if side[0] == 0 else 4 * (side[1] - side[0]))
    low, high = _ends(_image(lambda x: x * (1 - x), {"x": (Fraction(2, 5), Fraction(3, 5))}))
    assert Fraction(2299, 10**4) < low <= Fraction(24, 100) and Fraction(1, 4) <= high < Fraction(
        2701, 10**4
    )
    low, high = _ends(
        _image(
            lambda x, y: x * y - y,
            {"x": (Fraction(1), Fraction(2)), "y": (Fraction(3), Fraction(4))},
        )
    )
    assert low <= 0 and 4 <= high and high - low < 6
    assert _ends(_image(lambda x: 7, {"x": (Fraction(1), Fraction(2))})) == (7, 7)
    assert not _image(lambda x: 1 / x, {"x": (Fraction(-1), Fraction(1))}).is_finite()


def test_what_does_not_move_costs_nothing():
    crossed = {"x": (Fraction(2, 5), Fraction(3, 5)), "y": (Fraction(0), Fraction(9))}
    alone = _ends(_image(lambda x: x * (1 - x), {"x": crossed["x"]}))
    assert (
        _ends(_image(lambda x, y: x * (1 - x), crossed)) == alone
    )  # what does not move costs nothing


def test_the_entropy_term_near_nothing():
    inverse = enclose(lambda: exp(-1))  # x ln x has its least value -1/e at 1/e
    touch = Fraction(1, 2**40)
    for low, high, finite in (
        (-touch * 3 / 4, touch, True),
        (-touch * 5 / 4, touch, False),
        (-touch / 8, -touch / 16, False),
        (None, Fraction(7, 16), True),
        (None, Fraction(5, 16), True),
        (None, Fraction(3, 2), True),
    ):
        ball = _hull(low or Fraction(0), high).inside
        if low is None:  # a radius has thirty bits; moved, so that it begins just below 0
            with flint.ctx.workprec(200):
                ball += Ball(-_ends(ball)[0] - touch / 2).inside
        image = xlogx(_ball(ball)).inside
        assert not finite or -touch < _ends(ball)[0] < 0
        assert image.is_finite() is finite
        if finite:
            least, most = _ends(image)
            at_end = enclose(lambda x: xlogx(x), x=high)
            lowest = at_end[0] if high < inverse[0] else -inverse[1]
            assert least <= lowest and max(0, at_end[1]) <= most
            assert lowest - least < Fraction(1, 10**8) and most - max(0, at_end[1]) < Fraction(
                1, 10**8
            )


def test_ends_of_a_search():
    assert prove_over(lambda x: x, side, pieces=1).status == "proved"
    assert prove_over(lambda x: x, side, pieces=0).status == "undecided"
    assert prove_over(lambda x: Ball(1), side, least=1, pieces=1).status == "proved"
    assert prove_over(lambda: ln(2), {}, least=Fraction(69, 100)).status == "proved"
    assert prove_over(lambda: ln(2), {}, least=Fraction(70, 100)).status == "refuted"
    assert prove_over(lambda x: x, {"x": [2, 2]}, least=1).status == "proved"
    assert prove_over(lambda x: x, {"x": (2, 2)}, least=3).status == "refuted"
    one = prove_over(lambda x: x, side)
    assert one.point == {"x": Fraction(3, 2)} and one.value == (Fraction(3, 2),) * 2
    assert one and not prove_over(lambda x: x, side, least=2) and 0 <= one.seconds < 3600


def test_a_refutation_has_its_point():
    found = prove_over(steep, side)
    assert found.status == "refuted" and found.value[1] < 0
    assert around(steep, found.value[0], **found.point) and not found
    away = [lambda x: x - Fraction(8, 5)]
    assert prove_over(steep, side, given=away)
    beside = prove_over(lambda x: x - Fraction(9, 5), side, given=away)
    assert beside.status == "refuted" and Fraction(8, 5) <= beside.point["x"] < Fraction(9, 5)


def test_hypotheses_that_nothing_satisfies():
    both = [lambda x: x - Fraction(8, 5), lambda x: Fraction(7, 5) - x]
    assert prove_over(steep, side, given=both).status == "vacuous"
    unsure = prove_over(
        lambda x: x * 0, side, given=[lambda x: (x - 1) * 0 - Fraction(1, 10**40)], pieces=9
    )
    assert unsure.status == "vacuous" and unsure.value is None and unsure.point == {}


def test_what_touches_is_undecided():
    edge = prove_over(lambda x: x * x - 2 * x + 1, side, pieces=50)
    assert edge.status == "undecided" and edge.point == {} and edge.value is None
    vertex = prove_over(lambda x: x, side, given=[lambda x: x - 2])  # true where they meet, at 2
    assert vertex.status == "undecided"


def test_boxes_are_halved_and_checked():
    box = {"x": (Fraction(0), Fraction(1)), "y": (Fraction(0), Fraction(3))}
    first, second = _halves(box)
    assert first == {"x": (0, 1), "y": (0, Fraction(3, 2))} and second == {
        "x": (0, 1),
        "y": (Fraction(3, 2), 3),
    }
    assert _halves({}) == [{}] and _checked({"x": [1, 2]}) == {"x": (1, 2)} and _checked({}) == {}
    assert _admitted({"x": Fraction(1)}, [lambda x: x - 1, lambda x: x])
    assert not _admitted({"x": Fraction(1)}, [lambda x: x, lambda x: x - 2])
    assert not _admitted({"x": Fraction(0)}, [lambda x: ln(x)]) and _admitted({}, [])
    assert _at(lambda x: 1 / x, {"x": Fraction(0)}) is None
