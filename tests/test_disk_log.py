"""A log on disk: every damage has its line, nothing goes out before it is noted, and names are not a way around it."""

import json
import math
import multiprocessing
import os
import re
import shutil
import signal
import sqlite3
import stat
import subprocess
import sys
import threading
from contextlib import closing
from dataclasses import replace
from decimal import Decimal, localcontext
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from pmlbook import BudgetExceeded, Mechanism
from pmlbook.accounting import budgeted_release, disk_log, log_file
from pmlbook.accounting.budgeted_release import LOG
from pmlbook.accounting.log_file import NO_DIGEST, Entry, begin
from pmlbook.accounting.release import release_file
from pmlbook.accounting.release_log import folded
from pmlbook.budget import DiskLog, ReleaseLog, compose
from pmlbook.cli.command_line import main
from pmlbook.release.certificate import Certificate
from pmlbook.release.files import KEPT_BEGINNINGS, new_file

THIRDS = [Fraction(1, 2), Fraction(3, 10), Fraction(1, 5)]
NAMES = ("healthy", "flu", "rare")


def mechanism(seed=0, noise=0.8, names=NAMES):
    """One of many mechanisms for the same answers and prior."""
    rows = np.random.default_rng(seed).dirichlet(np.ones(3), size=3)
    return Mechanism(noise / 3 + (1 - noise) * rows, THIRDS, names, names)


WEEKLY = mechanism()


@pytest.fixture
def log(tmp_path):
    """A log with three releases of two columns."""
    log = DiskLog(tmp_path / LOG, new=True)
    log.record("diagnosis", WEEKLY, budget=2.0, rows=10)
    log.record("diagnosis", mechanism(1))
    log.record("illness", WEEKLY, account="illness")
    return log


# what it knows


def test_the_joint_level_is_computed_anew_from_the_file(log):
    later = DiskLog(log.path)
    joint = compose(WEEKLY, mechanism(1))
    assert later["diagnosis"].epsilon == joint.epsilon == later.entries[1].joint
    assert later["illness"].epsilon == WEEKLY.epsilon
    assert list(later) == ["illness", "diagnosis"] or set(later) == {"illness", "diagnosis"}
    assert later.entries == log.entries and later.budget("illness") is None
    assert later.entries[2].mechanism is None  # the first line holds it


def test_the_budget_decides_at_the_exact_level(tmp_path):
    joint = compose(WEEKLY, WEEKLY).epsilon
    for place, budget in enumerate((joint, float(np.nextafter(joint, 0)))):
        log = DiskLog(tmp_path / str(place), new=True)
        log.record("a", WEEKLY, budget=budget)
        whole = log.path.read_bytes()
        if place == 0:
            assert log.record("a", WEEKLY).joint == joint
        else:
            with pytest.raises(BudgetExceeded, match="'a' has a budget of"):
                log.record("a", WEEKLY)
            assert log.path.read_bytes() == whole


@pytest.mark.parametrize("kind", [Fraction, Decimal])
def test_a_budget_between_two_floats_is_rounded_down(tmp_path, kind):
    level = WEEKLY.epsilon
    exact, hair = kind(level), kind(1) / 10**20
    with localcontext(prec=60):
        for budget, granted in ((exact, level), (exact + hair, level), (exact - hair, None)):
            log = DiskLog(tmp_path / str(budget).replace("/", "_"), new=True)
            if granted is None:
                with pytest.raises(BudgetExceeded):
                    log.record("a", WEEKLY, budget=budget)
            else:
                assert log.record("a", WEEKLY, budget=budget).budget == granted
        assert log.ask("a", mechanism(0, 1.0), budget=hair**20).budget == 0.0


def test_a_budget_is_lowered_and_never_raised(log):
    for raised in (2.0000001, 1000.0):
        with pytest.raises(ValueError, match="never raised"):
            log.record("diagnosis", WEEKLY, budget=raised)
    with pytest.raises(BudgetExceeded):
        log.record("diagnosis", mechanism(2), budget=1e-10)
    log.record("diagnosis", mechanism(2), budget=1.9)
    assert DiskLog(log.path).budget("diagnosis") == 1.9
    with pytest.raises(ValueError, match="never raised"):
        log.ask("diagnosis", WEEKLY, budget=2.0)


def test_a_list_that_is_too_long_is_a_bound(tmp_path, monkeypatch):
    from pmlbook.accounting import release_log

    monkeypatch.setattr(release_log, "MAX_LISTED_STEPS", 8)
    log = DiskLog(tmp_path / "log", new=True)
    entries = [log.record("a", mechanism(seed, 0.95)) for seed in range(3)]
    assert [entry.exact for entry in entries] == [True, False, False]
    exact = compose(*(mechanism(seed, 0.95) for seed in range(3))).epsilon
    assert exact <= entries[2].joint == DiskLog(log.path)["a"].epsilon
    monkeypatch.undo()  # a longer list gives a better bound, and the lines stay valid
    assert DiskLog(log.path)["a"].epsilon == exact


def test_one_mechanism_has_its_exact_level_beyond_the_list(tmp_path, monkeypatch):
    """Its types show this, and a line that states less is refused, exact or not."""
    from pmlbook.accounting import release_log

    monkeypatch.setattr(release_log, "MAX_LISTED_STEPS", 8)
    log = DiskLog(tmp_path / LOG, new=True)
    entries = [log.record("diagnosis", WEEKLY) for _ in range(4)]
    assert entries[3].exact and entries[3].joint == compose(*[WEEKLY] * 4).epsilon
    for exact in (True, False):
        less = replace(entries[3], joint=lower(entries[3].joint), exact=exact)
        assert re.match("line 4 of .* mechanisms give", refused(log, [*entries[:3], less]))
    more = replace(entries[3], joint=2 * entries[3].joint, exact=False)  # as in an older log
    assert refused(log, [*entries[:3], more]) == ""


# what it notices


def edited(path, *statements):
    """Change a log with SQL, as a stranger does."""
    with closing(sqlite3.connect(path)) as connection, connection:
        for statement in statements:
            connection.execute(statement)


def changed(old, new, number=1):
    return f"UPDATE releases SET entry = replace(entry, '{old}', '{new}') WHERE number = {number}"


DEEP = "[" * 100_000
DAMAGES = [
    (changed('"rows": 10,', '"rows": 11,'), 1, "changed"),
    (changed('"column": "illness"', '"column": "Illness"', 3), 3, "changed"),
    (changed('"budget": 2.0', '"budget": 3.0'), 1, "changed"),
    (changed('"budget": 2.0', '"budget": 2.00'), 1, "no line of a log"),
    (changed('"budget": 2.0', '"budget": NaN'), 1, "no line of a log"),
    (changed('"budget": 2.0', '"budget": 1e999'), 1, "no line of a log"),
    (changed('"rows": 10,', '"rows": true,'), 1, "rows is not"),
    (changed('"rows": 10,', f'"rows": {"9" * 9999},'), 1, "no line of a log"),
    (changed('"rows": 10,', '"rows": 10, "rows": 10,'), 1, "a key is there twice"),
    ("DELETE FROM releases WHERE number = 2", 2, "is line 3"),
    ("DELETE FROM releases WHERE number = 1", 1, "is line 2"),
    ("UPDATE releases SET number = -number", 1, "is line -3"),
    ("UPDATE releases SET number = number + 1 WHERE number = 3", 3, "is line 4"),
    ("INSERT INTO releases SELECT 4, entry, sha256 FROM releases WHERE number = 3", 4, "is line 3"),
    ("INSERT INTO releases SELECT 0, entry, sha256 FROM releases WHERE number = 3", 1, "is line"),
    ("UPDATE releases SET sha256 = upper(sha256) WHERE number = 2", 2, "changed"),
    ("UPDATE releases SET sha256 = x'00' WHERE number = 2", 2, "changed"),
    ("UPDATE releases SET entry = CAST(entry AS BLOB) WHERE number = 2", 2, "it is no text"),
    ("UPDATE releases SET entry = 7 WHERE number = 2", 2, "no line of a log"),
    ("UPDATE releases SET entry = CAST(x'ff' AS TEXT) WHERE number = 2", 2, "no line of a log"),
    ("UPDATE releases SET entry = entry || char(0) WHERE number = 2", 2, "no line of a log"),
    ("UPDATE releases SET entry = entry || char(10) WHERE number = 2", 2, "no line of a log"),
    (f"UPDATE releases SET entry = '{DEEP}' WHERE number = 3", 3, "no line of a log"),
    ("UPDATE releases SET entry = 'null' WHERE number = 3", 3, "no line of a log"),
    ("UPDATE releases SET entry = '' WHERE number = 3", 3, "no line of a log"),
]


@pytest.mark.parametrize("damage, line, told", DAMAGES)
def test_damage_has_its_line(log, damage, line, told):
    edited(log.path, damage)
    with pytest.raises(ValueError, match=rf"^line {line} of .*{told}") as error:
        DiskLog(log.path)
    assert len(str(error.value)) < 400 + len(str(log.path))
    with pytest.raises(ValueError, match=rf"^line {line} of"):  # and nothing is added to it
        log.record("diagnosis", WEEKLY)


def rewritten(path, entries):
    """Write the file of a forger, all digests fitting."""
    previous, chained = NO_DIGEST, []
    for number, entry in enumerate(entries, 1):
        chained.append(replace(entry, number=number, previous=previous))
        previous = chained[-1].digest
    path.unlink(missing_ok=True)
    begin(path, chained)


def refused(log, entries):
    """The errors about lines whose digests all match, when a log is opened or its accounts are computed."""
    rewritten(log.path, entries)
    try:
        found = DiskLog(log.path)
        return [found[name] for name in found] and ""
    except ValueError as error:
        with pytest.raises(ValueError):  # nor is anything added to it
            DiskLog(log.path).record("diagnosis", WEEKLY)
        return str(error)


def lower(level):
    return math.nextafter(level, 0)


def higher(level):
    return math.nextafter(level, math.inf)


@pytest.mark.parametrize(
    "place, change, told",
    [
        (0, lambda e: {"joint": 0.01}, "mechanisms give"),
        (0, lambda e: {"joint": 0.01, "exact": False}, "mechanisms give"),
        (0, lambda e: {"level": e.level / 2}, "mechanisms give"),
        (0, lambda e: {"level": e.level / 2, "joint": e.level / 2}, "mechanisms give"),
        (0, lambda e: {"level": -0.1}, "mechanisms give"),
        (0, lambda e: {"budget": lower(e.joint)}, "a budget of .* nats forbids"),
        (1, lambda e: {"joint": e.joint + 1e-9}, "mechanisms give"),
        (1, lambda e: {"joint": lower(e.joint)}, "mechanisms give"),
        (1, lambda e: {"joint": lower(e.joint), "exact": False}, "mechanisms give"),
        (1, lambda e: {"joint": e.level, "exact": False}, "mechanisms give"),
        (1, lambda e: {"joint": higher(2.0), "exact": False}, "a budget of 2.0 nats forbids"),
        (1, lambda e: {"budget": higher(2.0)}, "a budget of 2.0 nats forbids"),
        (1, lambda e: {"joint": e.joint, "exact": False}, None),  # bounds, and true
        (1, lambda e: {"joint": higher(e.joint), "exact": False}, None),
        (1, lambda e: {"budget": 2.0}, None),
    ],
)
def test_what_a_line_states_is_what_its_mechanisms_give(log, place, change, told):
    entries = list(log.entries)
    entries[place] = replace(entries[place], **change(entries[place]))
    said = refused(log, entries)
    if told is None:
        assert said == ""
    else:
        assert re.match(rf"line {place + 1} of .* states .*{told}", said), said


def test_what_is_said_to_be_exact_must_be_listed(log, monkeypatch):
    """Without a list of the outcomes only a bound is known, and a line that states less is refused."""
    from pmlbook.accounting import release_log

    monkeypatch.setattr(release_log, "MAX_LISTED_STEPS", 8)
    assert re.match("line 2 of .* mechanisms give .* at most", refused(log, log.entries))


def test_a_certificate_in_a_log_holds(log):
    low = Mechanism(np.eye(3), THIRDS, NAMES, NAMES).certify(0.1)
    level = float(-np.log(0.2))  # of the identity, whose rarest answer has a share of 1/5
    first = replace(
        log.entries[0],
        certificate=low.digest,
        mechanism=json.loads(low.to_json()),
        level=level,
        joint=level,
    )
    assert re.match("line 1 of .* does not hold what it claims", refused(log, [first]))


def test_a_certificate_is_in_the_log_and_is_the_one_it_says(log):
    first, second, third = log.entries
    honest = json.loads(Mechanism(np.eye(3), THIRDS, NAMES, NAMES).certify(9.0).to_json())
    for forged in (
        [replace(first, mechanism=None), second, third],
        [replace(first, mechanism=honest), second, third],
        [replace(first, mechanism={}), second, third],
        [second, third],
    ):
        rewritten(log.path, forged)
        with pytest.raises(ValueError, match="line [12] of .* certificate"):
            DiskLog(log.path)


@pytest.mark.parametrize("depth", [100, 300, 600, 900, 1500, 5000, 100_000])
def test_a_deep_line_has_its_line_too(log, depth):
    deep = f'"mechanism": {{"a": {"[" * depth}{"]" * depth}}}'
    edited(log.path, changed('"mechanism": null', deep, 3))
    with pytest.raises(ValueError, match="^line 3 of"):
        DiskLog(log.path)


def test_a_deep_mechanism_with_fitting_digests_is_refused(log):
    refused = []
    for depth in range(10, 1000, 30):
        try:
            nested = json.loads("[" * depth + "]" * depth)
            rewritten(log.path, [replace(log.entries[0], mechanism={"a": nested})])
        except RecursionError:
            break
        with pytest.raises(ValueError, match="^line 1 of"):
            DiskLog(log.path)
        refused.append(depth)
    assert max(refused) > 300


def test_what_was_read_is_compared_and_not_read_again(log, monkeypatch):
    """Only what is new is read line by line; what is old may not change all the same."""
    read, numbers = log_file.read_row, []

    def counted(row, number, previous):
        numbers.append(number)
        return read(row, number, previous)

    DiskLog(log.path).record("diagnosis", mechanism(2))
    monkeypatch.setattr(log_file, "read_row", counted)
    log.record("diagnosis", mechanism(2))
    assert numbers == [4]
    edited(log.path, changed('"rows": 10,', '"rows": 11,'))
    with pytest.raises(ValueError, match="^line 1 of .*changed"):
        log.record("diagnosis", WEEKLY)


def test_a_receipt_reveals_an_older_copy(log, tmp_path):
    shutil.copy(log.path, tmp_path / "older")
    entry = log.record("diagnosis", mechanism(3))
    receipt = json.loads(entry.receipt())
    assert DiskLog(log.path, after=receipt["line"]).entries[-1] == entry
    shutil.copy(tmp_path / "older", log.path)
    DiskLog(log.path)  # a chain cannot know
    with pytest.raises(ValueError, match="older copy"):
        DiskLog(log.path, after=receipt["line"])
    with pytest.raises(ValueError, match="no longer the log"):  # nor does one who saw it before
        log.record("diagnosis", WEEKLY)


def test_a_receipt_says_all_but_the_mechanism(log):
    receipt = json.loads(log.entries[0].receipt())
    assert receipt["certificate"] == WEEKLY.certify(WEEKLY.epsilon).digest
    assert receipt["rows"] == 10 and receipt["joint"] == receipt["level"] == WEEKLY.epsilon
    assert receipt["line"] == json.loads(log.lines[0])["sha256"]
    assert "mechanism" not in receipt


# names


@pytest.mark.parametrize(
    "name",
    [
        "Diagnosis",
        " diagnosis ",
        "diag\N{ZERO WIDTH SPACE}nosis",
        "ｄｉａｇｎｏｓｉｓ",
        "DIAGNOſIS",
    ],
)
def test_names_that_look_alike_are_one_account(log, name):
    assert log.ask(name, WEEKLY).joint == compose(WEEKLY, mechanism(1), WEEKLY).epsilon
    assert name in log


def test_composed_and_decomposed_letters_are_one_account(tmp_path):
    log = DiskLog(tmp_path / "log", new=True)
    log.record("caf\N{LATIN SMALL LETTER E WITH ACUTE}", WEEKLY)
    assert log.ask("cafe\N{COMBINING ACUTE ACCENT}", WEEKLY).joint > WEEKLY.epsilon
    assert folded("Straße") == folded("STRASSE")


@pytest.mark.parametrize(
    "mark",
    "\u200d \ufe0f \u034f \u3164 \u180b \U000e0100 \u2800 \x07 \xad \u115f \uffa0".split(" "),
)
def test_invisible_characters_do_not_part_names(mark):
    accented = folded("caf\N{LATIN SMALL LETTER E WITH ACUTE}")
    assert folded(f"cafe{mark}\N{COMBINING ACUTE ACCENT}{mark}") == accented
    assert folded(f"sa{mark}id") == folded(f"{mark} SAID") == "said"
    assert folded("a\tb") == folded("a b") != folded("ab")


def test_folding_twice_is_folding_once():
    for number in (n for n in range(0x32000) if not 0xD800 <= n < 0xE000):
        once = folded(f"{chr(number)}a")
        assert folded(once) == once, hex(number)


def test_other_names_with_the_same_answers_are_asked_about(log):
    for names in (NAMES, NAMES[::-1], tuple(name.upper() for name in NAMES)):
        with pytest.raises(ValueError, match="has the answers of 'diagnosis': give account"):
            log.ask("d\N{CYRILLIC SMALL LETTER I}agnosis", mechanism(0, names=names))
    for names in (("flu", "healthy"), (*NAMES, "other")):
        even = Mechanism(np.eye(len(names)), np.full(len(names), 1 / len(names)), names)
        with pytest.raises(ValueError, match="has the answers of 'diagnosis': give account"):
            log.ask("Befund", even)
    same = log.ask("Befund", WEEKLY, account="diagnosis")
    assert same.joint > log["diagnosis"].epsilon and same.column == "Befund"
    assert log.ask("Befund", WEEKLY, account="Befund").joint == WEEKLY.epsilon
    log.ask("smokes", Mechanism([[0.6, 0.4], [0.4, 0.6]], [0.5, 0.5], ("no", "yes")))


def test_an_account_that_is_a_slip_of_the_finger_is_not_opened(log):
    for hostile in ("diagnosi", "x", "dia gnosis"):
        with pytest.raises(
            ValueError, match="is not in this log, whose accounts are: 'd.*new_account"
        ):
            log.ask("diagnosis", WEEKLY, account=hostile)
    for options in ({"new_account": "Illness"}, {"new_account": "x", "account": "illness"}):
        with pytest.raises(ValueError, match="new_account = .*there is an account"):
            log.ask("diagnosis", WEEKLY, **options)
    entry = log.record("diagnosis", WEEKLY, new_account="second cohort")
    assert entry.joint == WEEKLY.epsilon == log["second cohort"].epsilon
    assert log.record("diagnosis", WEEKLY, account="second cohort").joint > entry.joint


def test_a_seeded_release_is_not_booked(log, tmp_path):
    """Two releases of one seed are not independent, and leak more than an account states."""
    data = tmp_path / "in.csv"
    data.write_text("said\nflu\n")
    for seed in (0, np.random.default_rng(0)):
        for account in (log, ReleaseLog()):
            with pytest.raises(ValueError, match="seeded release"):
                account.privatize("diagnosis", WEEKLY, ["flu"], rng=seed)
        with pytest.raises(ValueError, match="seeded release"):
            release_file(data, tmp_path / "out.csv", "said", WEEKLY, confirm=print, rng=seed)
    assert len(DiskLog(log.path).entries) == 3 and not (tmp_path / "out.csv").exists()


@pytest.mark.parametrize("options", [{"budget": -0.0}, {"rows": 10**40}, {"rows": 10**5000}])
def test_nothing_is_written_that_cannot_be_read(tmp_path, options):
    log = DiskLog(tmp_path / "log", new=True)
    noise = Mechanism([[1.0]] * 3, THIRDS, NAMES)
    log.record("a", noise)
    if "rows" in options:
        with pytest.raises(ValueError, match="rows = .* must be at most"):
            log.record("a", noise, **options)
    else:
        assert str(log.record("a", noise, **options).budget) == "0.0"
    assert len(DiskLog(log.path).entries) == len(log.entries)


def test_a_line_is_read_before_it_is_written(log, monkeypatch):
    whole = log.path.read_bytes()
    monkeypatch.setattr(disk_log, "MAX_NUMBER_CHARACTERS", 60)
    with pytest.raises(ValueError, match="is no line of a log"):
        log.record("diagnosis", WEEKLY, rows=10**40)
    assert log.path.read_bytes() == whole


def test_a_budget_that_comes_too_late_says_so(log):
    with pytest.raises(BudgetExceeded, match="this budget neither"):
        log.record("diagnosis", WEEKLY, budget=0.01)
    assert DiskLog(log.path).budget("diagnosis") == 2.0


@pytest.mark.parametrize(
    "column", ["", " ", "\N{ZERO WIDTH SPACE}", "\udcff", "x" * 1001, None, 1, True, b"a", ("a",)]
)
def test_what_is_no_name(log, column):
    for call in (log.ask, log.record):
        with pytest.raises(ValueError, match="column"):
            call(column, WEEKLY)
        with pytest.raises(ValueError, match="column|account"):
            call("diagnosis", WEEKLY, account=column if column is not None else "")


def test_strange_names_stay_on_their_line(tmp_path):
    log = DiskLog(tmp_path / "log", new=True)
    strange = ["a\nb", 'a"}', "c\u2028b", "x\x00", "💉", "ה", "..", "null"]
    for place, name in enumerate(strange):
        names = tuple(f"{place}{answer}" for answer in "abc")
        log.record(name, mechanism(names=names))
    assert not any("\n" in line for line in DiskLog(log.path).lines)
    assert [entry.column for entry in DiskLog(log.path).entries] == strange


def test_names_that_python_holds_for_equal(tmp_path):
    """1, 1.0 and True are one name in Python, and three in JSON; the column of a file has texts."""
    log = DiskLog(tmp_path / "log", new=True)
    for names in ((1, 0), (1.0, 0.0), (True, False)):
        flip = Mechanism([[0.6, 0.4], [0.4, 0.6]], [0.5, 0.5], names)
        joint = log.record("a", flip).joint
    assert joint == compose(*[flip] * 3).epsilon == DiskLog(log.path)["a"].epsilon
    with pytest.raises(ValueError, match="inputs differ"):
        log.record("a", Mechanism([[0.6, 0.4], [0.4, 0.6]], [0.5, 0.5], ("1", "0")))


def test_other_priors_and_other_answers_are_refused(log):
    whole = log.path.read_bytes()
    other = Mechanism(WEEKLY.channel, [0.5, 0.3, 0.2], NAMES, NAMES)
    for release in (other, Mechanism(np.eye(2), [0.5, 0.5]), Mechanism([[1.0]], [1.0])):
        with pytest.raises(ValueError, match="priors|inputs differ"):
            log.record("diagnosis", release)
    assert log.path.read_bytes() == whole


@pytest.mark.parametrize("hostile", [None, "", 1, WEEKLY.channel, Path("m.json"), {}, object()])
def test_what_is_no_release(log, hostile):
    with pytest.raises(ValueError, match="release must be"):
        log.record("diagnosis", hostile)


def test_a_certificate_that_does_not_hold_is_not_noted(log):
    with pytest.raises(ValueError, match="does not hold"):
        log.record("diagnosis", WEEKLY.certify(0.0))


@pytest.mark.parametrize("number", [-1, np.nan, np.inf, "1", 10**400, 1j, [1], -1e-300])
def test_what_is_no_budget_or_number_of_rows(log, number):
    whole = log.path.read_bytes()
    with pytest.raises(ValueError, match="budget"):
        log.record("diagnosis", WEEKLY, budget=number)
    if number != 10**400:
        with pytest.raises(ValueError, match="rows"):
            log.record("diagnosis", WEEKLY, rows=number)
    assert log.path.read_bytes() == whole


def test_names_that_json_cannot_hold_are_refused_before_anything(tmp_path):
    log = DiskLog(tmp_path / "log", new=True)
    with pytest.raises(ValueError, match="cannot be written to JSON"):
        log.record("a", mechanism(names=((1, 2), "b", "c")))
    assert os.listdir(tmp_path) == []


# files


@pytest.mark.posix
def test_the_log_is_private_and_no_link_or_folder_or_pipe(log, tmp_path):
    assert stat.S_IMODE(log.path.stat().st_mode) == 0o600
    os.symlink(log.path, tmp_path / "link")
    os.symlink(tmp_path / "nowhere", tmp_path / "dangling")
    os.mkfifo(tmp_path / "pipe")
    for name, told in (
        ("link", "symbolic link"),
        ("dangling", "symbolic link"),
        ("pipe", "no regular"),
        ("", "no regular"),
        ("/dev/null", "no regular"),
    ):
        with pytest.raises(ValueError, match=told):
            DiskLog(tmp_path / name)
    for name in ("link", "dangling", LOG, "pipe"):
        with pytest.raises(FileExistsError):
            DiskLog(tmp_path / name, new=True)
    with pytest.raises(FileNotFoundError):
        DiskLog(tmp_path / "none")
    for hostile in (None, 1, b"log", ["log"]):
        with pytest.raises(ValueError, match="path must be"):
            DiskLog(hostile)
    with pytest.raises(ValueError, match="no name of a file"):
        DiskLog("a\0b", new=True)
    (tmp_path / "empty").touch()
    with pytest.raises(ValueError, match="is empty, and no log: delete it"):
        DiskLog(tmp_path / "empty")


def test_a_log_stays_where_it_was_named(tmp_path, monkeypatch):
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path)
    log = DiskLog("log", new=True)
    monkeypatch.chdir("other")
    log.record("a", WEEKLY)
    log.record("a", WEEKLY)
    assert [path.name for path in tmp_path.rglob("log")] == ["log"] and (tmp_path / "log").exists()


def test_small_slips_have_messages(log):
    for call in (lambda: log[1], lambda: log[None], lambda: log.budget(1)):
        with pytest.raises(ValueError, match="account must be"):
            call()
    assert 1 not in log and len(log) == 2
    with pytest.raises(ValueError, match="rows: they are counted"):
        log.privatize("diagnosis", WEEKLY, ["flu"], rows=1)
    with pytest.raises(ValueError, match="account 'diagnosis': .*priors"):
        log.record("diagnosis", Mechanism(np.eye(3), [0.5, 0.25, 0.25], NAMES))
    assert DiskLog(log.path, after=log.entries[1].digest.upper()).entries == log.entries


def full(*arguments):
    raise OSError(28, "full")


def test_a_new_log_that_fails_leaves_nothing(tmp_path, monkeypatch):
    log = DiskLog(tmp_path / "log", new=True)
    assert os.listdir(tmp_path) == []
    with pytest.raises(BudgetExceeded):
        log.record("a", WEEKLY, budget=0.0)
    monkeypatch.setattr(log_file, "append", full)
    with pytest.raises(OSError):
        log.record("a", WEEKLY)
    assert os.listdir(tmp_path) == []
    monkeypatch.undo()
    assert log.record("a", WEEKLY).number == 1


def test_nothing_is_noted_if_privatize_fails_and_nothing_is_drawn_if_the_log_does(log):
    with pytest.raises(ValueError, match="not among"):
        log.privatize("diagnosis", WEEKLY, ["flu", "cold"])
    assert len(DiskLog(log.path).entries) == 3
    drawn = []
    values = type("Values", (list,), {"__iter__": lambda self: drawn.append(1)})(["flu"])
    log.record("diagnosis", WEEKLY, budget=log["diagnosis"].epsilon + 0.5)
    with pytest.raises(BudgetExceeded):
        log.privatize("diagnosis", WEEKLY, values, budget=0.0)
    assert drawn == []


def hurried(path, count):
    for _ in range(count):
        DiskLog(path).record("smokes", mechanism(names=("a", "b", "c")))


@pytest.mark.posix
def test_processes_wait_for_each_other(log):
    processes = multiprocessing.get_context("fork")
    crowd = [processes.Process(target=hurried, args=(log.path, 3)) for _ in range(4)]
    for process in crowd:
        process.start()
    for process in crowd:
        process.join(60)
    assert [process.exitcode for process in crowd] == [0] * 4
    assert len(DiskLog(log.path).entries) == 15


STEPS = (DiskLog.record, DiskLog._read, DiskLog.ask, DiskLog.__getitem__)
STEPS += (DiskLog._certificate, log_file.append, log_file.begin, log_file.opened.__wrapped__)


def interrupted(work, place):
    """Do the work, with an interrupt at one line of the log's methods; whether it came to that line."""
    left, methods = [place], {code.__code__ for code in STEPS}

    def follow(frame, event, _):
        if frame.f_code not in methods:
            return None
        left[0] -= event == "line"
        if event == "line" and left[0] < 0:
            sys.settrace(None)
            raise KeyboardInterrupt
        return follow

    before = sys.gettrace()
    sys.settrace(follow)
    try:
        work()
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(before)
    return False


@pytest.mark.parametrize("new", [False, True])
def test_an_interrupt_at_any_line_forgets_nothing(tmp_path, new):
    """Ctrl-C while a colleague's line is read, or one is written: then the budget holds, in this program and in all."""
    flip = Mechanism([[0.75, 0.25], [0.25, 0.75]], [0.5, 0.5], ("no", "yes"))
    most, place, more = compose(*[flip] * 3).epsilon, 0, True
    while more:
        mine = DiskLog(tmp_path / str(place), new=True)
        if not new:
            mine.record("smokes", flip, budget=most)
            DiskLog(mine.path).record("smokes", flip)
        more = interrupted(lambda log=mine: log.record("smokes", flip, budget=most), place)
        assert sum(map(len, mine._state.accounts.values())) == len(mine.entries)
        try:
            while len(mine.entries) < 9:
                mine.record("smokes", flip, budget=most)
        except BudgetExceeded:
            assert len(mine.entries) == 3 and DiskLog(mine.path)["smokes"].epsilon == most
        except FileExistsError:  # stopped when the new log had its name
            assert new and len(DiskLog(mine.path).entries) == 1
        place += 1
    assert place > 50


def test_a_line_that_comes_while_an_account_is_computed_is_counted(log, monkeypatch):
    """One thread asks what has leaked, another one reads a colleague's line of the same account."""
    mine = DiskLog(log.path)
    log.record("diagnosis", mechanism(2))
    found, other = disk_log.after_release, []

    def meanwhile(before, release):
        if not other:
            other.append(True)
            mine.record("illness", WEEKLY)
        return found(before, release)

    monkeypatch.setattr(disk_log, "after_release", meanwhile)
    assert mine["diagnosis"].epsilon == compose(WEEKLY, mechanism(1)).epsilon
    assert mine["diagnosis"].releases == 3
    assert mine["diagnosis"].epsilon == DiskLog(log.path)["diagnosis"].epsilon


def test_who_asked_earlier_is_not_confused_by_who_knows_more(log, monkeypatch):
    """A thread still holds the lines it saw; another one has computed the account up to a later line."""
    lines = log._of("diagnosis")
    log.record("diagnosis", mechanism(2))
    later = log["diagnosis"].epsilon
    monkeypatch.setattr(log, "_of", lambda account: lines)
    assert log["diagnosis"].epsilon == compose(WEEKLY, mechanism(1)).epsilon
    monkeypatch.undo()
    assert log["diagnosis"].epsilon == later


# the command line


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """A command line in a folder with a certificate and a file; what changed if it fails."""
    monkeypatch.chdir(tmp_path)
    Path("m.json").write_text(WEEKLY.certify(WEEKLY.epsilon).to_json())
    Path("in.csv").write_text("id,said\n" + "".join(f"{i},{NAMES[i % 3]}\n" for i in range(300)))

    def call(command):
        def content():
            return {p: p.is_file() and p.read_bytes() for p in tmp_path.rglob("*")}

        before = content()
        code = main(command.split())
        out, err = capsys.readouterr()
        if code:
            assert content() == before
            assert out == "" and err.count("\n") == 1
        return code, out + err

    return call


RELEASE = "release m.json in.csv out{}.csv --column said"


def test_the_log_beside_the_source_is_used_unless_switched_off(run, tmp_path):
    twice = compose(WEEKLY, WEEKLY).epsilon
    code, said = run(f"{RELEASE.format(0)} --json")
    assert code == 0 and json.loads(said)["log"] is None
    assert run(f"{RELEASE.format(1)} --start-log {LOG} --budget {twice!r}")[0] == 0
    code, said = run(f"{RELEASE.format(2)} --json")
    facts = json.loads(said)
    assert code == 0 and facts["joint"] == twice == facts["budget"] and facts["releases"] == 2
    receipt = json.loads(Path("out2.csv.receipt.json").read_text())
    assert receipt["line"] == facts["line"] and receipt["rows"] == 300
    code, said = run(RELEASE.format(3))
    assert code == 1 and "nothing released, column 'said' has a budget of" in said
    os.mkdir("outside")
    assert run("release m.json in.csv outside/out.csv --column said")[0] == 1
    assert run(f"{RELEASE.format(4)} --no-log")[0] == 0
    assert run(f"{RELEASE.format(5)} --log {LOG} --budget {twice + 1}")[0] == 2


@pytest.mark.parametrize(
    "options, told",
    [
        ("--budget 1", "--budget needs a log"),
        ("--account a", "--account needs a log"),
        ("--after a", "--after needs a log"),
        ("--receipt r.json", "--receipt needs a log"),
        ("--log typo.sqlite", "does not exist"),
        ("--start-log in.csv", "in.csv exists"),
        ("--start-log out.csv", "names of their own"),
        ("--start-log l --receipt out.csv", "names of their own"),
        ("--start-log l --receipt l", "names of their own"),
        ("--start-log l --receipt l-journal", "names of their own"),
        ("--start-log l --receipt in.csv --force", "never changed"),
        ("--start-log l --receipt m.json", "never changed"),
        ("--start-log l --after " + "0" * 64, "holds no line"),
        ("--start-log none/l", "none, the folder of l, does not exist"),
        ("--log in.csv", "in.csv is no log"),
        ("--log m.json", "m.json is no log"),
        ("--log l --no-log", "not allowed with"),
        ("--start-log l --budget 1e999", "more than a number can be"),
        ("--start-log l --budget=-1", "no number of nats"),
        ("--start-log l --budget ٣", "no number"),
    ],
)
def test_what_a_release_with_a_log_refuses(run, options, told):
    code, said = run(f"{RELEASE.format('')} {options}")
    assert code == 2 and told in said, said


@pytest.mark.posix
def test_a_log_never_gives_way_to_what_is_written(run):
    assert run(f"{RELEASE.format('')} --start-log {LOG}")[0] == 0
    for command in (
        f"release m.json in.csv {LOG} --column said --force",
        f"{RELEASE.format(1)} --receipt {LOG} --force",
    ):
        code, said = run(command)
        assert code == 2 and ("names of their own" in said or "never replaced" in said)
    os.link(LOG, "other.sqlite")
    os.symlink(LOG, "soft.sqlite")
    whole = {name: Path(name).read_bytes() for name in (LOG, "out.csv.receipt.json", "out.csv")}
    for taken in (LOG, "other.sqlite", "soft.sqlite", "out.csv.receipt.json"):
        for command in (
            f"release m.json in.csv {taken} --column said --force",
            f"release m.json in.csv {taken} --column said --force --no-log",
            f"design --prior a=1 b=1 --epsilon 0.5 -o {taken} --force",
            f"{RELEASE.format(1)} --receipt {taken} --force",
            f"{RELEASE.format(1)} --receipt {taken} --force --start-log second.sqlite",
        ):
            code = main(command.split())
            assert code == 2 and whole == {name: Path(name).read_bytes() for name in whole}, command


def test_a_release_that_fails_is_not_noted(run):
    assert run(f"{RELEASE.format('')} --start-log {LOG}")[0] == 0
    whole = Path(LOG).read_bytes()
    Path("in.csv").write_text("id,said\n1,flu\n2,cold\n")
    assert run(RELEASE.format(1))[0] == 2 and Path(LOG).read_bytes() == whole
    Path("in.csv").write_text("id,said\n1,flu\n2,flu\n")
    assert run(f"{RELEASE.format(1)} --given id --epsilon {WEEKLY.epsilon!r}")[0] == 1
    assert run(RELEASE.format(""))[0] == 2 and Path(LOG).read_bytes() == whole


def at_the_receipt(action):
    """A `new_file` that does something else in the place of a receipt."""
    return lambda path: action() if path.name.endswith("receipt.json") else new_file(path)


def test_what_is_noted_and_not_released_is_only_that(run, monkeypatch, capsys):
    """The order is log, receipt, data: a crash in between leaves a line too many, never one too few."""
    assert run(f"{RELEASE.format('')} --start-log {LOG}")[0] == 0

    def crash():
        raise OSError("the receipt cannot be written")

    monkeypatch.setattr(budgeted_release, "new_file", at_the_receipt(crash))
    assert main(RELEASE.format(1).split()) == 2
    told = capsys.readouterr().err
    assert (
        told
        == f"pmlbook: booked as line 2 of {LOG}, but not released: the receipt cannot be written\n"
    )
    assert not Path("out1.csv").exists() and len(DiskLog(LOG).entries) == 2


def test_stopped_between_log_and_data(run, monkeypatch, capsys):
    def stop():
        raise KeyboardInterrupt

    monkeypatch.setattr(budgeted_release, "new_file", at_the_receipt(stop))
    assert main(f"{RELEASE.format('')} --start-log {LOG}".split()) == 130
    told = f"pmlbook: booked as line 1 of {LOG}, but not released\n"
    assert capsys.readouterr().err == told and not Path("out.csv").exists()


def killed():
    budgeted_release.new_file = at_the_receipt(lambda: os.kill(os.getpid(), signal.SIGKILL))
    main(f"{RELEASE.format('')} --start-log {LOG}".split())


@pytest.mark.posix
def test_killed_between_log_and_data(run):
    process = multiprocessing.get_context("fork").Process(target=killed)
    process.start()
    process.join(60)
    assert process.exitcode == -signal.SIGKILL
    assert len(DiskLog(LOG).entries) == 1 and not Path("out.csv").exists()


@pytest.mark.posix
def test_a_receipt_that_cannot_be_written_is_noticed_before_anything_is_noted(run):
    assert run(f"{RELEASE.format('')} --start-log {LOG}")[0] == 0
    for receipt in ("/proc/receipt.json", "none/receipt.json", "x" * 300):
        code, said = run(f"{RELEASE.format(1)} --receipt {receipt}")
        assert code == 2 and "booked" not in said
    assert len(DiskLog(LOG).entries) == 1


def test_a_receipt_replaces_nothing(run):
    assert run(f"{RELEASE.format('')} --start-log {LOG}")[0] == 0
    first = Path("out.csv.receipt.json").read_bytes()
    code, said = run(f"{RELEASE.format('')} --force --json")
    assert code == 0 and json.loads(said)["receipt"] == "out.csv.2.receipt.json"
    Path("notes").write_text("mine")
    for taken in ("out.csv.receipt.json", "notes"):
        code, said = run(f"{RELEASE.format(1)} --receipt {taken} --force")
        assert code == 2 and "a receipt replaces nothing" in said
    assert Path("out.csv.receipt.json").read_bytes() == first
    assert json.loads(Path("out.csv.2.receipt.json").read_text())["number"] == 2


@pytest.mark.posix
def test_a_log_is_not_passed_by_in_silence(run, tmp_path):
    """Other names of a source, and other logs than the one next to it."""
    assert run(f"{RELEASE.format('')} --start-log {LOG} --budget {WEEKLY.epsilon!r}")[0] == 0
    os.mkdir("away")
    os.symlink(tmp_path / "in.csv", "away/link.csv")
    os.symlink(tmp_path, "folder")
    os.mkdir("far")
    os.symlink("../middle/link.csv", "far/link.csv")
    os.mkdir("middle")
    os.symlink(tmp_path / "in.csv", "middle/link.csv")
    number = os.open("in.csv", os.O_RDONLY)
    handles = [f"/dev/fd/{number}", f"/proc/self/fd/{number}"] if sys.platform == "linux" else []
    for source in ("away/link.csv", "folder/in.csv", *handles):
        code, said = run(f"release m.json {source} away/out.csv --column said")
        assert code == 1 and "has a budget of" in said, source
    os.close(number)
    note = f"note: {LOG} is next to the source, and is not used"
    for place, other in enumerate(("--no-log", "--start-log away/fresh", "--log away/fresh")):
        code, said = run(f"{RELEASE.format(place)} {other}")
        assert code == 0 and note in said, other
    assert "note" not in run(f"{RELEASE.format(7)} --log folder/{LOG}")[1]
    os.symlink("loop", "loop")
    assert run("release m.json loop away/out.csv --column said")[0] == 2
    shutil.copy("away/fresh", f"away/{LOG}")
    code, said = run("release m.json away/link.csv away/out.csv --column said")
    assert code == 2 and "both next to the source" in said


@pytest.mark.posix
def test_a_pipe_has_no_log_next_to_it(run):
    for options in ("", f"--start-log {LOG}"):
        end, start = os.pipe()
        with os.fdopen(start, "wb") as pipe:
            pipe.write(Path("in.csv").read_bytes())
        code, said = run(
            f"release m.json /dev/fd/{end} out{options[:3]}.csv --column said {options}"
        )
        os.close(end)
        assert code == 0 and ("is no regular file" in said) == (not options)


def test_accounts_of_other_names_on_the_command_line(run):
    assert run(f"{RELEASE.format('')} --start-log {LOG} --budget {WEEKLY.epsilon!r}")[0] == 0
    for options, wanted, told in (
        ("--account sald", 2, "whose accounts are: 'said'"),
        ("--account said", 1, "has a budget"),
        ("--account said --new-account x", 2, "not allowed with"),
        ("--new-account Said", 2, "there is an account"),
        ("--new-account x --no-log", 2, "--new-account needs a log"),
    ):
        code, said = run(f"{RELEASE.format(1)} {options}")
        assert code == wanted and told in said, options
    assert run(f"{RELEASE.format(1)} --new-account x")[0] == 0 and set(DiskLog(LOG)) == {
        "said",
        "x",
    }


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no disk that is always full")
def test_what_is_done_stays_done_without_a_reader(tmp_path, run):
    call = "import sys; from pmlbook.cli.command_line import main; sys.exit(main(sys.argv[1:]))"
    for command, code in (
        (f"{RELEASE.format('')} --start-log {LOG}", 0),
        ("audit m.json", 2),
    ):
        with open("/dev/full", "wb") as full:
            done = subprocess.run(
                [sys.executable, "-c", call, *command.split()], stdout=full, stderr=subprocess.PIPE
            )
        assert done.returncode == code and done.stderr.count(b"\n") == 1, done.stderr
    assert Path("out.csv").exists() and len(DiskLog(LOG).entries) == 1


def test_names_forge_no_lines(run, capsys):
    DiskLog(LOG, new=True).record("a\nb: 9 releases", WEEKLY)
    assert main(["log", LOG]) == 0
    assert "'a\\nb: 9 releases': 1 releases" in capsys.readouterr().out


def test_the_first_bytes_tell_a_log_and_a_receipt(log):
    assert log.path.read_bytes().startswith(KEPT_BEGINNINGS[0])
    assert log.entries[0].receipt().encode().startswith(KEPT_BEGINNINGS[2])


def test_the_log_is_shown(run):
    run(f"{RELEASE.format('')} --start-log {LOG} --budget 1")
    run(RELEASE.format(1))
    line = json.loads(Path("out1.csv.receipt.json").read_text())["line"]
    code, said = run(f"log {LOG} --after {line} --json")
    facts = json.loads(said)
    assert code == 0 and facts["last"] == line and facts["lines"] == 2
    account = {"account": "said", "releases": 2, "exact": True, "budget": 1.0}
    assert facts["accounts"] == [account | {"joint": compose(WEEKLY, WEEKLY).epsilon}]
    assert "2 releases" in run(f"log {LOG}")[1]
    assert run(f"log {LOG} --after 0")[0] == 2 and run("log none")[0] == 2


def test_a_certificate_of_the_log_is_the_one_that_was_released_with(run):
    text = WEEKLY.certify(2.0).to_json()
    Path("m.json").write_text(text)
    assert run(f"{RELEASE.format('')} --start-log {LOG}")[0] == 0
    entry = DiskLog(LOG).entries[0]
    assert isinstance(entry, Entry) and entry.certificate == Certificate.from_json(text).digest
    assert entry.level == WEEKLY.epsilon < 2


@pytest.mark.posix
def test_a_link_to_the_source_leads_to_its_log(run, tmp_path):
    os.mkdir("elsewhere")
    assert run(f"{RELEASE.format('')} --start-log {LOG} --budget {WEEKLY.epsilon!r}")[0] == 0
    os.symlink(tmp_path / "in.csv", "elsewhere/in.csv")
    linked = "release m.json elsewhere/in.csv out1.csv --column said"
    assert run(linked)[0] == 1
    shutil.copy(LOG, f"elsewhere/{LOG}")
    code, said = run(linked)
    assert code == 2 and "name one with --log" in said
    assert run(f"{linked} --log {LOG}")[0] == 1
    os.unlink(f"elsewhere/{LOG}")
    os.symlink(tmp_path / LOG, f"elsewhere/{LOG}")
    assert run(linked)[0] == 2  # a log is no link


@pytest.mark.parametrize(
    "options",
    [
        {"rows": np.int64(7)},
        {"rows": 0},
        {"budget": -0.0},
        {"budget": 1e300},
        {"budget": np.float32(0.3)},
        {"budget": 1e-10},
        {"budget": 5e-324},
        {"budget": Fraction(1, 3)},
        {"rows": 10**30},
    ],
)
def test_what_is_written_can_be_read(tmp_path, options):
    silent = Mechanism([[1.0]] * 3, THIRDS, NAMES)
    log = DiskLog(tmp_path / "log", new=True)
    entry = log.record("a", silent, **options)
    assert DiskLog(log.path).entries == (entry,)


@pytest.mark.parametrize("name", ["rows", "budget"])
def test_a_truth_value_is_neither_a_count_nor_a_level(log, name):
    before = log.path.read_bytes()
    with pytest.raises(ValueError, match=f"{name} must be a .*number.*, got True"):
        log.record("diagnosis", WEEKLY, **{name: True})
    assert log.path.read_bytes() == before


def test_what_could_not_be_read_is_not_written(log):
    whole = log.path.read_bytes()
    with pytest.raises(ValueError, match="rows = .* must be at most"):
        log.record("diagnosis", WEEKLY, rows=10**50)
    assert log.path.read_bytes() == whole


def test_levels_that_are_tiny_or_large(tmp_path):
    for noise in (1 - 1e-10, 1.0, 0.0):
        log = DiskLog(tmp_path / repr(noise), new=True)
        entries = [log.record("a", mechanism(0, noise)) for _ in range(2)]
        assert DiskLog(log.path)["a"].epsilon == entries[1].joint >= entries[0].level
    rare = [Fraction(1, 10**8), 1 - Fraction(1, 10**8)]
    log = DiskLog(tmp_path / "rare", new=True)
    joint = log.record("a", Mechanism(np.eye(2), rare), budget=18.5).joint
    assert joint == pytest.approx(np.log(1e8), abs=1e-12) and DiskLog(log.path)["a"].joint


def test_an_empty_log_is_a_log(tmp_path):
    assert DiskLog(tmp_path / "log", new=True) and len(DiskLog(tmp_path / "log", new=True)) == 0


@pytest.mark.parametrize("write", [False, True])
def test_a_log_that_is_written_for_long_is_waited_for(tmp_path, write):
    """Longer than SQLite itself waits, which is half a second: each statement that reads the file is tried again."""
    flip = Mechanism([[0.75, 0.25], [0.25, 0.75]], [0.5, 0.5])
    log = DiskLog(tmp_path / "log", new=True)
    log.record("smokes", flip)
    with closing(sqlite3.connect(log.path, isolation_level=None, check_same_thread=False)) as other:
        other.execute("BEGIN EXCLUSIVE")
        release = threading.Timer(1.2, other.execute, ["COMMIT"])
        release.start()
        if write:
            log.record("smokes", flip)
        assert len(DiskLog(log.path).entries) == 1 + write
        release.join()


@pytest.mark.parametrize("names", [(1.0, 2.0), ("1.0", "2.0"), ("1", "2"), ("01", "2.")])
def test_whole_numbers_in_a_column_with_gaps_are_the_same_answers(tmp_path, names):
    """They are floats there, and the same column under another name began a budget of its own."""
    log = DiskLog(tmp_path / "log", new=True)
    log.record("kids", Mechanism(np.eye(2), [0.5, 0.5], (1, 2)), budget=1)
    with pytest.raises(ValueError, match="has the answers of 'kids'"):
        log.ask("children", Mechanism(np.eye(2), [0.5, 0.5], names))


@pytest.mark.parametrize(
    "names, others, same",
    [
        (("01", "02"), ("\ufeff01", "02"), True),
        (("1.0", "2.0"), ("1.0\u200b", "2.0"), True),
        (("1.50", "2"), ("1．50", "2"), True),
        (("3e7654321", "4a"), ("3e7654321", "4b"), False),
        ((10**29 + 1, 10**29 + 2), (10**29 + 3, 10**29 + 4), False),
        (("1_0", "a"), ("10", "a"), False),
        (("-0.5", "0"), ("-.5", "0"), False),
    ],
)
def test_names_are_folded_before_they_are_numbers(tmp_path, names, others, same):
    log = DiskLog(tmp_path / "log", new=True)
    log.record("a", Mechanism(np.eye(2), [0.5, 0.5], names), budget=1)
    other = Mechanism(np.eye(2), [0.5, 0.5], others)
    if same:
        with pytest.raises(ValueError, match="has the answers of 'a'"):
            log.ask("b", other)
    else:
        assert log.ask("b", other).account == "b"
