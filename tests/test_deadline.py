"""`max_time` is kept by every public call that takes it, by processor time, and one clock reaches all that it asks for.

Without a limit, work is counted, so that an answer depends on no load.

What a call may take beyond a limit, and a fifth of it, has two parts. `GRACE_SECONDS`, a second: the last programme, without which there would
be no answer. And the exact part, which is not interrupted: input is read in fractions, a mechanism is mixed and
certified in whole numbers, classes of datasets are counted. Each case says how many seconds that is on a slow machine
for its input; it does not grow with the limit. The watch, and the clock of the call, are the processor time of this
thread. Where others share the processor's core and its caches, a second of it does less: a short sum, timed just
before, tells by how much, and what goes beyond the limit may take as many times longer.

PMLBOOK_FUZZ=full also gives them five seconds, and larger input.
"""

import ast
import inspect
import itertools
import os
import warnings
from pathlib import Path
from time import thread_time

import numpy as np
import pytest
from public_names import PUBLIC

import pmlbook as pb
from pmlbook.estimation import enumerated_design
from pmlbook.extremal import column_generation
from pmlbook.numerics import progress
from pmlbook.numerics.progress import GRACE_SECONDS, Clock
from pmlbook.robust import many_secrets, pilot

FULL = os.environ.get("PMLBOOK_FUZZ") == "full"
LIMITS = (0.1, 1.0, 5.0) if FULL else (0.1,)
SOURCE = Path(pb.__file__).parent


def normal(weights):
    return np.asarray(weights, dtype=float) / np.sum(weights)


def zipf(n):
    return normal(1 / np.arange(1, n + 1))


def ties(n, spread, seed=0):
    return normal(abs(1 + spread * np.random.default_rng(seed).normal(size=n)))


def table(n, m):
    return np.random.default_rng(0).random((n, m))


def region(n):
    return pb.robust.box_region(np.random.default_rng(1).integers(50, 400, n))


def keeping(n):
    """A table of which no row is below .2 everywhere, and that threshold."""
    rows = table(n, n)
    return rows, float(rows.max(axis=1).min())


def counted(n):
    return pb.records.counting(n), pb.foundations.geometric(n + 1, 0.3)


def listed(n, m):
    return pb.records.counting(n), np.random.default_rng(0).dirichlet(np.ones(m), 2**n)


def largest(column):
    """A utility of one's own, for which all vertices are listed."""
    return float(column.max())


OPTIMAL, RECORD = pb.optimal_mechanism, pb.per_record_leakage
DECIDED = pb.foundations.ExpectedGain(table(60, 40))

# the call, what it is given, the seconds of its exact part; the sign of a case that is for the long run alone
CASES = {
    "a hundred near ties": (OPTIMAL, (ties(100, 1e-3), 0.1), 0.4),
    "fifty near ties": (OPTIMAL, (ties(50, 0.1, 1), 2.0), 0.4),
    "three thousand at random": (OPTIMAL, (normal(1e-3 + table(1, 3000)[0]), 1.0), 0.3),
    "many rows": (OPTIMAL, (zipf(300), 2.0), 0.6),
    "a long list": (OPTIMAL, (zipf(15), 1.2, "mutual_information", "enumeration"), 0.4),
    "decisions": (OPTIMAL, (zipf(60), 1.2, DECIDED), 0.8),
    "frequencies of forty": (pb.estimation_mechanism, (zipf(40), 1.0), 1.0),
    "a mean of numbers": (
        pb.additive_noise.mean_mechanism,
        ((np.full(30, 1.0), np.linspace(0, 1, 31)), 1.0, 16),
        0.6,
    ),
    "a median of numbers": (
        pb.additive_noise.quantile_mechanism,
        ((np.full(30, 1.0), np.linspace(0, 1, 31)), 1.0, 0.5, 16),
        0.6,
    ),
    "a delta for a function": (pb.extremal.delta_mechanism, (zipf(15), 1.0, 0.01, largest), 1.0),
    "answers that stay answers": (pb.extremal.pram_mechanism, (zipf(120), 1.0), 0.3),
    "one more record": (
        RECORD,
        (pb.records.pairwise_products(10), pb.foundations.geometric(46, 0.3), 6.0),
        0.2,
    ),
    "datasets one by one": (RECORD, (*listed(13, 10), 8.0), 0.4),
    "a curve": (pb.records.leakage_curve, (*counted(40), [26.0, 27.0, 27.5], 1e-9), 0.3),
    "least leakage": (pb.leakage_distortion, (pb.records.counting(12), 0.5, 7.0), 0.3),
    "least distortion": (pb.distortion_leakage, (pb.records.counting(12), 0.1, 7.0), 0.3),
    "a table": (pb.min_leakage, (table(60, 60), zipf(60), keeping(60)[1]), 0.4),
    "every step": (pb.worst_case.worst_case_frontier, (table(40, 40), zipf(40)), 0.5),
    "worst utility": (pb.worst_case_mechanism, (table(60, 60), zipf(60), 1.0), 0.6),
    "best average": (
        pb.worst_case.expected_utility_mechanism,
        (table(60, 60), zipf(60), 3.0, 0.2),
        0.6,
    ),
    "thirty secrets and a region": (pb.robust.robust_mechanism, (region(30), 0.5), 0.5),
    "nine secrets and a region": (pb.robust.robust_mechanism, (region(9), 0.5), 0.6),
}
LARGE = {
    "a thousand in proportion": (OPTIMAL, (zipf(1000), 2.0), 0.3),
    "five thousand near ties": (OPTIMAL, (ties(5000, 1e-3), 0.5), 0.3),
    "ten thousand at random": (OPTIMAL, (normal(1e-3 + table(1, 10**4)[0]), 1.0), 0.3),
    "hundreds of decisions": (
        OPTIMAL,
        (zipf(150), 1.2, pb.foundations.ExpectedGain(table(150, 60))),
        2.0,
    ),
    "datasets beyond thirty thousand": (RECORD, (*listed(15, 10), 9.0), 1.0),
    "a count of many": (RECORD, (*counted(1500), 1000.0), 1.5),
    "frequencies of a hundred": (pb.estimation_mechanism, (zipf(100), 1.0), 0.2),
    "frequencies of a thousand": (pb.estimation_mechanism, (zipf(1000), 1.0), 4.0),
    "a hundred secrets and a region": (pb.robust.robust_mechanism, (region(100), 0.5), 1.5),
    "ten secrets and a region": (pb.robust.robust_mechanism, (region(10), 0.5), 2.0),
}


@pytest.fixture(autouse=True)
def processor_time(monkeypatch):
    """Clocks that count the time of this process alone."""
    monkeypatch.setattr(progress, "perf_counter", thread_time)


def used(call, given, limit):
    """Processor seconds of a call."""
    began = thread_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pb.LooseBound)
        try:
            call(*given, max_time=limit)
        except pb.SolverFailed as failure:  # reports that the time was too short to decide
            assert "time was too short" in str(failure)
    return thread_time() - began


def slowness():
    """How many times longer a short sum takes than on an idle machine, at least once."""
    began = thread_time()
    sum(k * k for k in range(300_000))
    return max(1.0, (thread_time() - began) / 0.02)


@pytest.mark.parametrize("name", CASES | LARGE if FULL else CASES)
def test_a_limit_is_kept(name):
    call, given, exact = (CASES | LARGE)[name]
    used(call, given, 0.0)  # modules are loaded when they are needed first
    for limit in LIMITS:
        beyond = slowness() * (GRACE_SECONDS + exact)
        assert used(call, given, limit) <= 1.2 * limit + beyond


WORK = {
    "near ties": (column_generation, OPTIMAL, (ties(60, 1e-3), 0.5)),
    "frequencies of sixteen": (enumerated_design, pb.estimation_mechanism, (zipf(16), 0.3)),
    "frequencies of sixty": (enumerated_design, pb.estimation_mechanism, (zipf(60), 1.0)),
    "a region": (many_secrets, pb.robust.robust_mechanism, (region(16), 0.5)),
    "another utility": (many_secrets, pb.robust.robust_mechanism, (region(14), 0.5, "chi_square")),
    "frequencies in a region": (pilot, pb.estimation_mechanism, (region(11), 1.0)),
}


@pytest.mark.filterwarnings("ignore::pmlbook.LooseBound")
@pytest.mark.parametrize("name", WORK)
def test_an_answer_without_a_limit_depends_on_no_load(name, monkeypatch):
    """The same call where the clock stands still, and where an hour passes between two looks at it; work does limit it."""
    module, call, given = WORK[name]
    limits = {"DEFAULT_WORK", "SEARCH_WORK", "EXCHANGE_WORK"} & set(vars(module))
    answers = []
    for work, pace in ((0.02, 0.0), (0.02, 3600.0), (0.2, 0.0)):
        for limit in limits:
            monkeypatch.setattr(module, limit, work)
        looks = itertools.count()
        monkeypatch.setattr(progress, "perf_counter", lambda: pace * next(looks))  # noqa: B023
        design = call(*given)
        answers.append((design.mechanism.weights.tobytes(), design.value, design.bound))
    assert answers[0] == answers[1] != answers[2]


def limited():
    """The public calls with a limit of time."""
    calls = {name: call for name, call in PUBLIC.items() if inspect.isfunction(call)}
    return {name for name, f in calls.items() if "max_time" in inspect.signature(f).parameters}


def test_every_public_call_with_a_limit_is_walked():
    walked = {call.__name__ for call, *_ in (CASES | LARGE).values()}
    assert limited() == walked


def functions():
    """Functions and methods of the library: module, name and syntax tree; and what each module imports from it."""
    found, imports = {}, {}
    for path in SOURCE.rglob("*.py"):
        tree, module = ast.parse(path.read_text(encoding="utf-8")), path.stem
        imports[module] = {
            alias.asname or alias.name: (str(node.module).split(".")[-1], alias.name)
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef):
                found.setdefault((module, node.name), node)
    return found, imports


def place_of_clock(node):
    """The position of a parameter `clock`, without `self`; None if there is none."""
    names = [parameter.arg for parameter in node.args.args if parameter.arg != "self"]
    keywords = [parameter.arg for parameter in node.args.kwonlyargs]
    return names.index("clock") if "clock" in names else len(names) if "clock" in keywords else None


def without_a_clock(doors):
    """Calls of functions that take a clock, which hand them none, in all that these calls reach by name."""
    found, imports = functions()
    todo, seen, guilty = [key for key in found if key[1] in doors], set(), []
    while todo:
        key = todo.pop()
        if key in seen:
            continue
        seen.add(key)
        for call in [node for node in ast.walk(found[key]) if isinstance(node, ast.Call)]:
            name = getattr(call.func, "id", None) or getattr(call.func, "attr", None)
            target = imports[key[0]].get(name, (key[0], name))
            if isinstance(call.func, ast.Attribute):  # a method of this module, or of one it knows
                near = [key[0], *sorted({module for module, _ in imports[key[0]].values()})]
                target = next(((m, name) for m in near if (m, name) in found), target)
            if target not in found:
                continue
            todo.append(target)
            place, handed = place_of_clock(found[target]), [k.arg for k in call.keywords]
            starred = any(isinstance(argument, ast.Starred) for argument in call.args)
            if (
                place is not None
                and len(call.args) <= place
                and not starred
                and "clock" not in handed
            ):
                guilty.append((*key, name))
    return guilty, seen


def test_one_clock_is_handed_to_every_programme():
    guilty, seen = without_a_clock(limited())
    assert not guilty
    assert {("linear_programmes", "maximise"), ("restricted_master", "minimise_precisely")} <= seen


def test_a_programme_without_a_clock_is_noticed():
    """A missing clock is detected: the exact answers of another part have no limit of time."""
    assert without_a_clock({"dp_leakage"})[0]


def test_parts_end_with_the_whole():
    whole = Clock(0.5)
    assert whole.part(1 / 2).part(most=9).left <= 0.25 and whole.part(most=0.1).limit == 0.1
    assert Clock(0).part().over and not Clock(0).finishing().over


@pytest.mark.parametrize("each", [False, True])
@pytest.mark.parametrize("n", [8, 12, 16])
def test_a_delta_without_time_has_a_mechanism_and_a_bound(n, each):
    timed = pb.extremal.delta_mechanism(zipf(n), 0.5, 0.01, each=each, max_time=0)
    full = pb.extremal.delta_mechanism(zipf(n), 0.5, 0.01, each=each)
    assert timed.tail <= timed.delta and 0 < timed.value <= full.bound <= timed.bound + 1e-9
