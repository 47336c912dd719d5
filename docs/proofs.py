"""Run every proof by machine from scratch, each with the cells it needs, and print one line a proof.

A cell that begins ``# proves``, ``# proves-step`` or ``# refutes`` is run after the cells of its notebook
that define its names, and theirs, in the notebook's order. A proof that is not found, or a counterexample
that is none, fails its assertion, and the exit is 1. So it is where a claim still holds when it is asked
again without its hypotheses, and the cell does not call it an identity. Words after the command choose ids; without them the times go to
``nbs/proof_times.csv``, which the map of results shows. With ``--second`` another solver, cvc5, is asked
each question too: where both decide they must agree, and the last line counts.
"""

import __future__

import ast
import contextlib
import csv
import datetime
import io
import json
import os
import symtable
import sys
import time
import types
from collections import Counter
from pathlib import Path
from unittest.mock import patch

import matplotlib

from pmlbook.numerics import proof

matplotlib.use("Agg")
NBS = Path(__file__).resolve().parent.parent / "nbs"
VERBS = ("proves", "proves-step", "refutes")
ALONE = 200_000  # steps of the solver for a claim without its hypotheses: to decide it takes few


def cells(path):
    """The sources of a notebook's code cells."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    return ["".join(c["source"]) for c in notebook["cells"] if c["cell_type"] == "code"]


def claims(source):
    """What a cell's first lines say it proves or refutes: pairs of verb and id."""
    for line in source.splitlines():
        if not line.startswith("#"):
            return
        words = line.lstrip("# ").split()
        if words and words[0] in VERBS:
            yield from ((words[0], name) for name in words[1:])


def scopes(table):
    """A table of symbols and those inside it."""
    yield table
    for child in table.get_children():
        yield from scopes(child)


def names(source):
    """The names that a cell binds, and those that it takes from the cells above."""
    bound, taken, later = set(), set(), set()
    for statement in ast.parse(source).body:
        table = symtable.symtable(ast.unparse(statement), "cell", "exec")
        stored = {s.get_name() for s in table.get_symbols() if s.is_assigned() or s.is_imported()}
        stored |= {s.get_name() for s in table.get_symbols() if s.is_namespace()}
        inner = [
            s
            for child in table.get_children()
            for inside in scopes(child)
            for s in inside.get_symbols()
        ]
        loaded = {s.get_name() for s in table.get_symbols() if s.is_referenced()}
        loaded |= {s.get_name() for s in inner if s.is_global()}
        if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
            later |= loaded  # when it is called, the whole cell has run
        elif isinstance(statement, (ast.Assign, ast.AnnAssign)):
            taken |= loaded - bound
        elif isinstance(statement, ast.AugAssign):
            taken |= (loaded | stored) - bound
        else:
            taken |= loaded - stored - bound
        bound |= stored
    return bound, taken | (later - bound)


def needed(sources, place):
    """The cells that a cell needs: for each name the last one above that binds it, and so on."""
    tables, wanted, queue = [names(source) for source in sources[: place + 1]], set(), [place]
    while queue:
        for name in tables[here := queue.pop()][1]:
            # the nearest above; or below, where a function calls what is defined after it
            places = [*range(here - 1, -1, -1), *range(here + 1, place)]
            cell = next((k for k in places if name in tables[k][0]), None)
            if cell is not None and cell not in wanted:
                wanted.add(cell)
                queue.append(cell)
    return [sources[k] for k in sorted(wanted)]


class Asked:
    """The prover, which keeps the proved claims of a cell that are no declared identities."""

    def __init__(self, prove):
        self.prove, self.claims = prove, []

    def __call__(self, claim, given=(), steps=proof.SOLVER_STEPS, identity=""):
        claim = list(proof._formulas(claim))
        found = self.prove(claim, given, steps, identity)
        if found and not identity:
            self.claims.append(claim)
        return found

    def needless(self):
        """A claim that holds without its hypotheses, if there is one."""
        for claim in self.claims:
            with contextlib.suppress(
                ValueError
            ):  # a division by zero, which the hypotheses exclude
                if self.prove(claim, steps=ALONE):
                    return claim


def run(path, sources, place):
    """Seconds of processor time that the proof takes, and what went wrong, if anything."""
    module = types.ModuleType("__proof__")  # dataclasses look their module up
    sys.modules["__proof__"], space = module, module.__dict__
    os.chdir(path.parent)
    asked, flags = Asked(proof.prove), __future__.annotations.compiler_flag
    begin = time.process_time()
    try:
        with contextlib.redirect_stdout(io.StringIO()), patch.object(proof, "prove", asked):
            for source in [*needed(sources, place), sources[place]]:
                begin = time.process_time()
                asked.claims.clear()  # of the cells that are only needed
                exec(compile(source, str(path), "exec", flags), space)
    except Exception as error:
        return time.process_time() - begin, f"{type(error).__name__}: {error}".splitlines()[0]
    seconds, claim = time.process_time() - begin, asked.needless()
    said = f"no declared identity, but true without hypotheses: {claim}" if claim else None
    return seconds, said and " ".join(said.split())


def ask_another(formulas, milliseconds=300):
    """What cvc5 says about formulas: 'none' if no point satisfies them, 'found', or 'unknown'."""
    import cvc5
    import z3

    question = z3.Solver(ctx=formulas[0].ctx)
    question.add(*formulas)
    solver = cvc5.Solver()
    solver.setOption("tlimit-per", str(milliseconds))
    solver.setOption("nl-cov", "false")  # its cells cannot be interrupted
    parser = cvc5.InputParser(solver)
    text = "(set-logic QF_NRA)\n" + question.to_smt2()
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, text, "question")
    names, said = parser.getSymbolManager(), ""
    while not (command := parser.nextCommand()).isNull():
        said += str(command.invoke(solver, names))
    return {"unsat": "none", "sat": "found"}.get(said.strip(), "unknown")


def with_second_opinion(search, tally):
    """The search of the prover, with cvc5 asked the same; a contradiction is an error."""

    def both(formulas, steps):
        first, point = search(formulas, steps)
        second = ask_another(formulas) if formulas else "unknown"
        tally["confirmed" if first == second else "not decided by both"] += 1
        if {first, second} == {"none", "found"}:
            raise AssertionError(f"z3 says {first}, cvc5 says {second}: {formulas}")
        return first, point

    return both


def record(times):
    """Write how long the cells of each result took, and when they ran."""
    today = datetime.date.today().isoformat()
    with open(NBS / "proof_times.csv", "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["id", "seconds", "run"])
        writer.writerows((name, f"{times[name]:.2f}", today) for name in sorted(times))


def main(chosen, record=lambda times: None):
    """Run the proofs and say how many hold; where all do, `record` gets the seconds of each id."""
    failed, total, count, times = 0, 0.0, 0, Counter()
    for path in sorted(NBS.rglob("*.ipynb")):
        sources = cells(path) if ".ipynb_checkpoints" not in path.parts else []
        for place, source in enumerate(sources):
            said = list(claims(source))
            if not said or (chosen and not {name for _, name in said} & set(chosen)):
                continue
            seconds, error = run(path, sources, place)
            failed, total, count = failed + (error is not None), total + seconds, count + 1
            times.update({name: seconds for _, name in said})
            what = ", ".join(f"{verb} {name}" for verb, name in said)
            print(f"{seconds:7.2f} s  {what}" + (f"  FAILED: {error}" if error else ""), flush=True)
    print(f"{total:7.2f} s  {count} proofs, {failed} failed")
    if not failed:
        record(times)
    return failed or not count


if __name__ == "__main__":
    tally = Counter()
    if "--second" in sys.argv[1:]:
        proof._search = with_second_opinion(proof._search, tally)
    chosen = [word for word in sys.argv[1:] if not word.startswith("--")]
    failed = main(chosen, *([record] if len(sys.argv) == 1 else []))
    if tally:
        print(*(f"{number} questions {answer}" for answer, number in tally.items()), sep=", ")
    sys.exit(1 if failed else 0)
