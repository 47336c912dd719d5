"""Which names are one, and what a log on disk allows and refuses at both sides of each limit."""

import math

import pytest

from pmlbook import BudgetExceeded, Mechanism
from pmlbook.accounting.release_log import _invisible, check_text, folded
from pmlbook.budget import DiskLog, compose

FLIP = Mechanism([[0.6, 0.4], [0.4, 0.6]], [0.5, 0.5], ("no", "yes"))
STILL = Mechanism([[1.0, 0.0]] * 2, [0.5, 0.5], ("no", "yes"))


@pytest.fixture
def log(tmp_path):
    """A log with two lines of one account, and a budget of half a nat."""
    log = DiskLog(tmp_path / "log", new=True)
    assert len(log) == 0 and bool(log) and "smokes" not in log and log.budget("smokes") is None
    log.record("smokes", FLIP, budget=0.5, rows=7)
    log.record("Smokes ", FLIP, account="smokes", budget=0.5)
    return log


@pytest.mark.parametrize(
    "one, other",
    [
        ("Straße", "STRASSE"),
        ("a\u200bb", "ab"),
        ("ﬁne", "fine"),
        ("a \t b", "A b"),
        ("\u2800x", "x"),
    ],
)
def test_names_that_look_alike_are_one(one, other):
    assert folded(one) == folded(other)


def test_names_that_look_different_are_not():
    assert len({folded(name) for name in ("a", "b", "ab", "a b", "á")}) == 5


def test_the_ends_of_what_is_invisible():
    """Each range of Unicode has its first and last character, and neither neighbour."""
    ranges = [(0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F), (0xFE00, 0xFE0F)]
    ranges += [(0xFFF0, 0xFFF8), (0xE0000, 0xE0FFF)]
    assert all(_invisible(chr(edge)) for ends in ranges for edge in ends)
    seen = (0x115E, 0x1161, 0x17B3, 0x17B6, 0x180A, 0x1810, 0xFDFF, 0xFE10, 0xFFFC, 0xE1000)
    assert not any(_invisible(chr(edge)) for edge in (*seen, 0x41, 0x20))


def test_the_length_of_a_name():
    assert check_text("x" * 1000, "column") == "x" * 1000
    for name in ("x" * 1001, "", " \u200b", "\u3164"):
        with pytest.raises(ValueError, match="1 to 1000 characters that can be seen"):
            check_text(name, "column")
    with pytest.raises(ValueError, match="half a character"):
        check_text("\ud800", "column")


def test_the_number_of_rows(log):
    assert [log.ask("smokes", STILL, rows=n).rows for n in (0, 10**40 - 1)] == [0, 10**40 - 1]
    for rows, told in ((10**40, "at most 9{40}"), (-1, "at least 0")):
        with pytest.raises(ValueError, match=told):
            log.ask("smokes", STILL, rows=rows)


def test_what_a_line_holds(log):
    first, second = log.entries
    assert (first.number, first.rows, first.budget, first.exact) == (1, 7, 0.5, True)
    assert first.mechanism and second.mechanism is None and second.previous == first.digest
    assert log.budget("SMOKES") == 0.5 and list(log) == ["smokes"] and len(log) == 1
    assert "SMOKES" in log and 7 not in log
    assert log["smokes"].epsilon == compose(FLIP, FLIP).epsilon == second.joint
    with pytest.raises(KeyError) as error:
        log["unknown"]
    assert error.value.args == ("unknown",)


def test_a_budget_at_both_sides_of_its_limits(log):
    with pytest.raises(ValueError, match="a budget is never raised"):
        log.ask("smokes", FLIP, budget=math.nextafter(0.5, 1))
    exact = compose(FLIP, FLIP, FLIP).epsilon
    assert log.ask("smokes", FLIP, budget=exact).joint == exact
    with pytest.raises(BudgetExceeded, match="would leak"):
        log.ask("smokes", FLIP, budget=math.nextafter(exact, 0))


def test_the_least_budget_counts(tmp_path):
    log = DiskLog(tmp_path / "lowered", new=True)
    for budget in (0.7, 0.5, None, 0.4):
        log.record("smokes", FLIP if budget == 0.7 else STILL, budget=budget)
    assert log.budget("smokes") == 0.4
    with pytest.raises(ValueError, match="has 0.4 nats"):
        log.ask("smokes", STILL, budget=0.5)


@pytest.mark.parametrize(
    "column, options, told",
    [
        ("smokes", {"account": "other"}, "is not in this log"),
        ("smokes", {"new_account": "smokes"}, "there is an account"),
        ("x", {"account": "smokes", "new_account": "other"}, "there is an account"),
    ],
)
def test_which_accounts_are_refused(log, column, options, told):
    with pytest.raises(ValueError, match=told):
        log.ask(column, FLIP, **options)
    assert log.ask("smokes", FLIP, new_account="other").account == "other"


def test_slips_of_a_call(log, tmp_path):
    with pytest.raises(ValueError, match="they are counted"):
        log.privatize("smokes", FLIP, ["no"], rows=1)
    with pytest.raises(ValueError, match="cannot be booked"):
        log.privatize("smokes", FLIP, ["no"], rng=1)
    for wrong in (b"x", 7, "a\0b"):
        with pytest.raises(ValueError, match="name of a file"):
            DiskLog(wrong)
    with pytest.raises(ValueError, match="holds no line yet"):
        DiskLog(tmp_path / "fresh", new=True, after=log.entries[0].digest)
