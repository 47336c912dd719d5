"""A release log: the budget to the last float, many writers, kills, a full disk, and names that look alike."""

import errno
import math
import os
import pickle
import signal
import sqlite3
import stat
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from decimal import Decimal
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from pmlbook import AlreadyReleased, BudgetExceeded, Mechanism
from pmlbook.budget import ReleaseLog, compose
from pmlbook.budget import log as module
from pmlbook.release.parts import Key, release_part

FLIP = Mechanism([[0.6, 0.4], [0.4, 0.6]], [0.5, 0.5], ("no", "yes"))
SOFT = Mechanism([[0.55, 0.45], [0.45, 0.55]], [0.5, 0.5], ("no", "yes"))
ANSWERS = ["no", "yes", "yes"] * 30


@pytest.fixture
def log(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return ReleaseLog("log", new=True)


def keys():
    return list(Path().glob("log.*.key"))


def test_the_joint_level_is_computed_anew_from_the_file(log):
    for mechanism in (FLIP, SOFT):
        log.record("smokes", mechanism)
    later = ReleaseLog("log")
    assert later["smokes"].epsilon == compose(FLIP, SOFT).epsilon and later["smokes"].exact
    assert [entry.level for entry in later.entries] == [FLIP.epsilon, SOFT.epsilon]
    assert list(later) == ["smokes"] and "drinks" not in later and len(later) == 1
    with pytest.raises(KeyError):
        later["drinks"]


def test_what_a_row_holds(log):
    log.privatize("smokes", FLIP, ANSWERS, budget=0.5)
    (entry,) = log.entries
    assert (entry.column, entry.account, entry.rows, entry.budget) == ("smokes", "smokes", 90, 0.5)
    assert entry.certificate == FLIP.certify(FLIP.epsilon)
    assert entry.prior == (Fraction(1, 2), Fraction(1, 2)) and len(entry.digest) == 64
    assert entry.as_dict()["certificate"] == entry.certificate.digest


# the budget


def test_a_budget_decides_at_the_float(log):
    """Both print alike with fifteen digits: one is what two releases need, the other the float below."""
    need = compose(FLIP, FLIP).epsilon
    for column, budget in (("a", need), ("b", math.nextafter(need, 0))):
        log.record(column, FLIP, budget=budget, account=column)
        if column == "a":
            log.record(column, FLIP, again=True)
        else:
            with pytest.raises(BudgetExceeded):
                log.record(column, FLIP, again=True)
    assert [log[name].releases for name in log] == [2, 1]


@pytest.mark.parametrize("kind", [Decimal, Fraction])
def test_a_budget_between_two_floats_is_rounded_down(log, kind):
    need = FLIP.epsilon
    below = kind(need) - kind(math.ulp(need)) / 2
    with pytest.raises(BudgetExceeded):
        log.record("a", FLIP, budget=below)
    assert log.record("a", FLIP, budget=kind(need) + kind(math.ulp(need)) / 2).budget == need


def test_a_budget_is_lowered_and_never_raised(log):
    log.record("a", SOFT, budget=1.0)
    log.record("a", SOFT, budget=0.5, again=True)
    with pytest.raises(ValueError, match="has 0.5 nats, and a budget is never raised"):
        log.record("a", SOFT, budget=0.6, again=True)
    with pytest.raises(BudgetExceeded, match="this budget neither"):
        log.record("a", SOFT, budget=0.1, again=True)
    assert log.budget("a") == 0.5 and log.budget("b") is None and len(log.entries) == 2


@pytest.mark.parametrize("number", [-1.0, math.nan, "1", True, None])
def test_what_is_no_budget_or_number_of_rows(log, number):
    if number is not None:
        with pytest.raises(ValueError, match="budget"):
            log.record("a", FLIP, budget=number)
    for rows in (-1, 1.5, True):
        with pytest.raises(ValueError, match="rows"):
            log.record("a", FLIP, rows=rows)
    assert not log.entries


# one draw


def test_the_same_release_is_booked_once_unless_again_is_said(log):
    log.record("a", FLIP)
    for same in (FLIP, FLIP.certify(1.0)):  # a certificate of another level is no other mechanism
        with pytest.raises(AlreadyReleased, match="as release 1 of .*again"):
            log.record("a", same)
    log.record("a", SOFT)  # another mechanism is another release
    log.record("a", FLIP, again=True)
    assert [entry.number for entry in log.entries] == [1, 2, 3]
    with pytest.raises(ValueError, match="again"):
        log.record("a", FLIP, again=1)


def cut_off(log, values=ANSWERS, column="smokes", **terms):
    """Draw and book a release that is never published."""
    draw = log.begin(column, FLIP, **terms)
    released, digest = release_part(values, draw.key, 0, FLIP)
    draw.book(len(values), [digest])
    return released


def test_a_release_that_was_cut_off_is_gone_on_with(log):
    first = cut_off(log, budget=FLIP.epsilon)
    assert len(keys()) == 1
    assert (log.privatize("smokes", FLIP, ANSWERS) == first).all() and not keys()
    assert len(log.entries) == 1
    with pytest.raises(AlreadyReleased):
        log.privatize("smokes", FLIP, ANSWERS)


@pytest.mark.parametrize("other", [ANSWERS[::-1], ANSWERS[1:], ANSWERS[:-1] + ["no"], ["no"]])
def test_other_rows_are_refused_under_its_row(log, other):
    cut_off(log)
    with pytest.raises(ValueError, match="other rows"):
        log.privatize("smokes", FLIP, other)
    assert len(keys()) == 1 and len(log.entries) == 1
    log.privatize("smokes", FLIP, other, again=True)
    assert not keys() and len(log.entries) == 2


def test_texts_and_numbers_that_print_alike_are_other_rows(log):
    made = Mechanism(np.full((2, 2), 0.5), [0.5, 0.5], ("1", 1))
    draw = log.begin("said", made)
    draw.book(2, [release_part(["1", 1], draw.key, 0, made)[1]])
    with pytest.raises(ValueError, match="other rows"):
        log.privatize("said", made, [1, "1"])


def test_a_key_is_its_owners_and_is_neither_shown_nor_pickled(log):
    cut_off(log)
    (path,) = keys()
    key = Key.read(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600 or os.name != "posix"
    assert key.secret.hex() not in repr(key) and key.secret not in Path("log").read_bytes()
    assert key.secret.hex().encode() not in Path("log").read_bytes()
    with pytest.raises(TypeError, match="not pickled"):
        pickle.dumps(key)
    whole = path.read_bytes()
    for damaged in (b"", whole[:40], whole.replace(b"key", b"kye"), whole.replace(b'"parts', b"")):
        path.write_bytes(damaged)
        with pytest.raises(ValueError, match="damaged, or no key") as told:
            log.privatize("smokes", FLIP, ANSWERS)
        assert key.secret.hex() not in str(told.value)


def test_a_planted_key_does_not_become_the_key_of_a_release(log):
    """A user with write access to the folder could otherwise choose the noise."""
    cut_off(log)
    (path,) = keys()
    path.unlink()
    Key(bytes(32)).write(path)
    with pytest.raises(ValueError, match="booked with other rows"):
        log.privatize("smokes", FLIP, ANSWERS)


def test_a_log_deletes_no_key_of_another_one(log):
    """Neither of a log whose name goes on as its own, nor of a release that is being published."""
    other = ReleaseLog("log.old", new=True)
    cut_off(other)
    cut_off(log)
    first, second = (log.begin("smokes", FLIP, again=True) for _ in range(2))
    for draw in (first, second):
        draw.book(90, [release_part(ANSWERS, draw.key, 0, FLIP)[1]])
    first.finish()
    assert log.key_file(second.entry).exists() and other.key_file(other.entries[0]).exists()
    second.finish()
    assert [path.name.startswith("log.old.") for path in keys()] == [True]


def test_nothing_is_booked_if_a_value_is_refused(log):
    with pytest.raises(ValueError, match="row 1"):
        log.privatize("smokes", FLIP, ["no", "perhaps"])
    assert not log.entries and not keys()


# names


@pytest.mark.parametrize("name", ["Smokes", " smokes ", "SMOKES", "smoKes", "ｓmokes"])
def test_names_that_look_alike_are_one_account(log, name):
    log.record("smokes", FLIP)
    assert log.record(name, SOFT).account == "smokes" and len(log) == 1


@pytest.mark.parametrize("name", ["", "  ", "smo\u200bkes", "a" * 1001, 7, None, "\ud800"])
def test_what_is_no_name(log, name):
    with pytest.raises(ValueError, match="column"):
        log.record(name, FLIP)
    if name is not None:
        with pytest.raises(ValueError, match="account"):
            log.record("a", FLIP, account=name)


@pytest.mark.parametrize("names", [("no", "yes"), ("Yes", "no"), ("no", "yes", "never"), ("yes",)])
def test_other_names_with_the_same_answers_are_asked_about(log, names):
    log.record("smokes", FLIP)
    made = Mechanism(np.full((len(names), 1), 1.0), np.full(len(names), 1 / len(names)), names)
    with pytest.raises(ValueError, match="has the answers of 'smokes': give account 'smokes'"):
        log.record("tobacco", made)
    assert log.record("tobacco", made, account="tobacco").account == "tobacco"


def test_whole_numbers_in_a_column_with_gaps_are_the_same_answers(log):
    log.record("rating", Mechanism([[1.0]] * 2, [0.5, 0.5], (1, 2)))
    with pytest.raises(ValueError, match="has the answers of 'rating'"):
        log.record("grade", Mechanism([[1.0]] * 2, [0.5, 0.5], (1.0, 2.0)))


def test_an_account_that_is_a_slip_of_the_finger_is_not_opened(log):
    log.record("smokes", FLIP)
    with pytest.raises(ValueError, match="account 'smoeks' is not in this log.*'smokes'"):
        log.record("tobacco", FLIP, account="smoeks")
    assert log.record("tobacco", SOFT, account="SMOKES").account == "smokes"


def test_a_column_has_one_account(log):
    log.record("smokes", FLIP)
    log.record("tobacco", SOFT, account="smokes")
    for account in ("tobacco", None):
        with pytest.raises(ValueError, match="release 2 in account 'smokes'"):
            log.record("Tobacco", FLIP, account=account)


def test_a_prior_that_moved_is_booked_under_that_of_the_account(log):
    """Every joint outcome by Bayes' rule, with the prior of the first release."""
    log.record("a", FLIP, budget=1.0)
    later = Mechanism([[0.3, 0.7], [0.65, 0.35]], [0.52, 0.48], ("yes", "no"))
    log.record("a", later)
    lifts = []
    for one, two in product(range(2), range(2)):
        there = [FLIP.channel[0, one] * later.channel[1, two]]  # 'no' comes second there
        there.append(FLIP.channel[1, one] * later.channel[0, two])
        lifts.append(max(there) / (0.5 * there[0] + 0.5 * there[1]))
    assert log["a"].exact and log["a"].epsilon == pytest.approx(np.log(max(lifts)), rel=1e-12)
    assert log["a"].first.prior == FLIP.exact_prior and log.budget("a") == 1.0


def test_other_answers_are_refused(log):
    log.record("a", FLIP)
    with pytest.raises(ValueError, match="account 'a'"):
        log.record("a", Mechanism(FLIP.channel, [0.5, 0.5], ("no", "often")))
    with pytest.raises(ValueError, match="does not hold what it claims"):
        log.record("a", FLIP.certify(0.01))
    with pytest.raises(ValueError, match="release must be"):
        log.record("a", [[1.0]])
    assert len(log.entries) == 1


# the file


def test_a_log_is_private_and_begun_once(log):
    assert stat.S_IMODE(os.stat("log").st_mode) == 0o600 or os.name != "posix"
    with pytest.raises(FileExistsError):
        ReleaseLog("log", new=True)
    with pytest.raises(FileNotFoundError, match="no such release log"):
        ReleaseLog("lgo")
    for name in (None, 7, b"log"):
        with pytest.raises(ValueError, match="path must be a path"):
            ReleaseLog(name)


def test_another_file_is_no_log(log):
    Path("text").write_text("a text that is long enough for a page of SQLite" * 100)
    with closing(sqlite3.connect("other")) as connection:
        connection.execute("CREATE TABLE t (x)")
    Path("empty").touch()
    for name in ("text", "other", "empty"):
        with pytest.raises(ValueError, match=f"{name} is damaged, or no release log"):
            ReleaseLog(name)


def test_a_damaged_certificate_has_its_row(log):
    log.record("a", FLIP)
    with closing(sqlite3.connect("log")) as connection, connection:
        connection.execute(
            "UPDATE releases SET certificate = replace(certificate, '9007199254740992', '9')"
        )
    with pytest.raises(ValueError, match="release 1 of the log"):
        ReleaseLog("log")["a"]


def test_the_log_stays_where_it_was_named(log, tmp_path, monkeypatch):
    (tmp_path / "elsewhere").mkdir()
    os.symlink("log", "link")
    linked = ReleaseLog("link")
    monkeypatch.chdir("elsewhere")
    log.record("a", FLIP)
    assert len(linked.entries) == 1 and linked.path == log.path and not os.listdir()


@pytest.mark.posix
@pytest.mark.parametrize("room", [0, 5000])
def test_a_full_disk_leaves_the_log_as_it_was(log, room):
    resource = pytest.importorskip("resource")
    log.record("a", FLIP)
    before = Path("log").read_bytes()
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    large = Mechanism(np.full((40, 40), 1 / 40), np.full(40, 1 / 40))
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, limits[1]))
    try:
        with pytest.raises(OSError) as told:
            log.privatize("b", large, [0, 1])
        assert told.value.errno in (errno.ENOSPC, errno.EFBIG, errno.EIO)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, ignored)
    assert len(ReleaseLog("log").entries) == 1 and not keys()
    assert Path("log").read_bytes()[:100] == before[:100]


@pytest.mark.posix
def test_a_kill_at_any_moment_leaves_a_valid_log(log):
    """Each program is killed while it releases as fast as it can."""
    rng = np.random.default_rng(3)
    for _ in range(10):
        child = os.fork()
        if not child:
            try:
                while True:
                    ReleaseLog("log").privatize("a", FLIP, ["no"], again=True)
            finally:
                os._exit(0)
        time.sleep(float(rng.uniform(0.02, 0.2)))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        entries = ReleaseLog("log").entries
        assert [entry.number for entry in entries] == list(range(1, len(entries) + 1))
    with closing(sqlite3.connect("log")) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert log.privatize("a", FLIP, ["no"], again=True) is not None and not keys()


RACE = """
import sys
from pmlbook import BudgetExceeded, Mechanism
from pmlbook.budget import ReleaseLog
flip = Mechanism([[0.6, 0.4], [0.4, 0.6]], [0.5, 0.5], ("no", "yes"))
through = 0
for _ in range(3):
    try:
        ReleaseLog("log").privatize("a", flip, ["no"] * 9, again=True)
        through += 1
    except BudgetExceeded:
        pass
print(through)
"""


def test_programs_and_threads_that_race_keep_one_budget(log):
    need = compose(*[FLIP] * 5).epsilon
    log.record("a", FLIP, budget=need)

    def book(_):
        try:
            log.record("a", FLIP, again=True)
        except BudgetExceeded:
            return 0
        return 1

    programs = [
        subprocess.Popen([sys.executable, "-c", RACE], stdout=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    with ThreadPoolExecutor(4) as pool:
        through = sum(pool.map(book, range(4)))
    through += sum(int(program.communicate(timeout=300)[0]) for program in programs)
    assert through == 4 and log["a"].releases == 5 and log["a"].epsilon == need and not keys()


def test_who_waits_too_long_is_refused(log, monkeypatch):
    monkeypatch.setattr(module, "LOCK_WAIT_SECONDS", 0.1)
    with closing(sqlite3.connect("log")) as connection:
        connection.execute("BEGIN EXCLUSIVE")
        with pytest.raises(OSError, match="another program has had it") as told:
            log.record("a", FLIP)
    assert told.value.errno == errno.EAGAIN
    log.record("a", FLIP)


@pytest.mark.posix
@pytest.mark.skipif(getattr(os, "geteuid", lambda: 0)() == 0, reason="root may write everywhere")
def test_who_only_reads_needs_no_right_to_write(log):
    log.record("a", FLIP)
    os.chmod("log", 0o400)
    assert len(ReleaseLog("log").entries) == 1
    with pytest.raises(PermissionError):
        log.record("a", SOFT)


@pytest.mark.posix
def test_a_release_with_numbers_between_nodes_is_the_first_of_its_account(log):
    log.record("a", FLIP)
    with pytest.raises(ValueError, match="rounded at random once more"):
        log.record("a", SOFT, alone=True)
