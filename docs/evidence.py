"""Change a sign, or drop a term, in the evidence of a result, one at a time, and see whether it fails.

usage: evidence.py [ID ...]

For the results whose grade is 'proved' or 'exact'. A change is made in the cell that proves, checks or
refutes, or in what its chapter exports and this cell names; where nothing is added, a factor is dropped,
and without products a comparison is turned round. It is *noticed* if the cell fails. The counts go to ``nbs/mutations.csv``, which
the map of results shows. What is not noticed is printed, and its reason is written there by hand.
"""

import __future__

import ast
import contextlib
import csv
import io
import os
import signal
import sys
import types
import warnings

import matplotlib
import proofs

matplotlib.use("Agg")
NBS = proofs.NBS
TABLE = NBS / "mutations.csv"
VERBS = {"proved": ("proves",), "exact": ("checks", "proves", "proves-step", "refutes")}
IN_CELL, IN_FUNCTION, FUNCTIONS = 8, 3, 3  # changes at most, spread evenly
NAMES = dict(min="max", minimum="maximum", argmin="argmax", any="all", floor="ceil")
NAMES |= {other: name for name, other in NAMES.items()}
NAMES |= {"exp": "expm1", "log": "log1p", "cumsum": "cumprod"}
TURNED = {ast.Lt: ast.GtE, ast.LtE: ast.Gt, ast.Gt: ast.LtE, ast.GtE: ast.Lt, ast.Eq: ast.NotEq}
SECONDS = 20  # of processor time: a changed search may not end


def arithmetic(tree):
    """The nodes that compute: not the texts, and not what counts or picks."""
    counts = ("range", "arange", "combinations", "integers", "default_rng", "linspace")
    silent = [node for node in ast.walk(tree) if isinstance(node, (ast.JoinedStr, ast.Raise))]
    silent += [node.slice for node in ast.walk(tree) if isinstance(node, ast.Subscript)]
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = getattr(node.func, "id", getattr(node.func, "attr", ""))
            silent += node.args if name in counts else []
    left_out = {id(part) for node in silent for part in ast.walk(node)}
    return [node for node in ast.walk(tree) if id(node) not in left_out]


def joins(node):
    """Whether a node joins texts or lists: its plus is no sum."""
    texts = (ast.List, ast.Tuple, ast.ListComp, ast.JoinedStr)
    sides = (node.left, node.right)
    return any(isinstance(side, texts) for side in sides) or any(
        isinstance(side, ast.Constant) and isinstance(side.value, str) for side in sides
    )


def other(node):
    """What takes the place of a number, of `and`, of a sum in place, or of a name such as `min`; else None."""
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        return ast.Constant(node.value + 1)
    if isinstance(node, ast.BoolOp):
        return ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values)
    if isinstance(node, ast.AugAssign) and isinstance(node.op, (ast.Add, ast.Sub)):
        sign = ast.Sub() if isinstance(node.op, ast.Add) else ast.Add()
        return ast.AugAssign(node.target, sign, node.value)
    if isinstance(node, ast.Attribute) and node.attr in NAMES:
        return ast.Attribute(node.value, NAMES[node.attr], node.ctx)
    if isinstance(node, ast.Name) and node.id in NAMES:
        return ast.Name(NAMES[node.id], node.ctx)
    return None


def changes(tree, every=False):
    """What can be changed: pairs of a node and what takes its place; `every` kind, or the first that there is."""
    sums, factors, turned = [], [], []
    for node in arithmetic(tree):
        if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)):
            if not joins(node):
                sign = ast.Sub() if isinstance(node.op, ast.Add) else ast.Add()
                sums.append((node, ast.BinOp(node.left, sign, node.right)))
                sums.append((node, node.left))
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            if not isinstance(node.operand, ast.Constant):
                sums.append((node, node.operand))
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult) and not joins(node):
            factors.append((node, node.left))
        elif isinstance(node, ast.Compare) and type(node.ops[0]) in TURNED:
            operators = [TURNED[type(node.ops[0])](), *node.ops[1:]]
            turned.append((node, ast.Compare(node.left, operators, node.comparators)))
    if every:
        rest = [(node, new) for node in arithmetic(tree) if (new := other(node))]
        return sums + factors + turned + rest
    return sums or factors or turned


def changed(source, place, every=False):
    """A cell with one change, and that change in words."""
    tree = ast.parse(source)
    node, new = changes(tree, every)[place]
    words = f"{ast.unparse(node)} -> {ast.unparse(new)}"

    class Change(ast.NodeTransformer):
        def visit(self, here):
            return new if here is node else self.generic_visit(here)

    return ast.unparse(ast.fix_missing_locations(Change().visit(tree))), " ".join(words.split())


def spread(count, most):
    """At most so many of so many places, evenly."""
    return [k * count // most for k in range(most)] if count > most else list(range(count))


def evidence(path, name, verbs):
    """The cells that decide a result: the verb, and the cell after those it needs."""
    sources = proofs.cells(path)
    for place, source in enumerate(sources):
        for line in source.splitlines():
            words = line.split()
            if words[:1] == ["#"] and words[1:2] and words[1] in verbs and name in words[2:]:
                yield words[1], [*proofs.needed(sources, place), source]


def defined(source):
    """The functions and classes that a cell defines."""
    return {node.name for node in ast.parse(source).body if hasattr(node, "name")}


def plan(cells):
    """Which changes are made: pairs of a cell and a place."""
    *before, last = range(len(cells))
    made = [(last, k) for k in spread(len(changes(ast.parse(cells[last]))), IN_CELL)]
    named = proofs.names(cells[last])[1]
    exported = [k for k in before if cells[k].startswith("#| export")]
    for cell in [k for k in exported if named & defined(cells[k])][-FUNCTIONS:]:
        made += [(cell, k) for k in spread(len(changes(ast.parse(cells[cell]))), IN_FUNCTION)]
    return made


class Late(BaseException):
    """A cell that does not end; no cell catches this."""


def late(*_):
    raise Late


def fails(path, cells):
    """Whether the cells fail, or do not end."""
    module = types.ModuleType("__proof__")
    sys.modules["__proof__"], flags = module, __future__.annotations.compiler_flag
    os.chdir(path.parent)
    signal.signal(signal.SIGVTALRM, late)
    signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
    try:
        with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for source in cells:
                exec(compile(source, str(path), "exec", flags), module.__dict__)
    except (Exception, Late):
        return True
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    return False


def graded():
    """The results whose evidence is changed: id, notebook and verbs."""
    with open(NBS / "results.csv", encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["strength"] in VERBS:
                yield row["id"], NBS / row["notebook"], VERBS[row["strength"]]


def recorded():
    """The rows of the table, by result."""
    if not TABLE.exists():
        return {}
    with open(TABLE, encoding="utf-8", newline="") as file:
        return {row["result"]: row for row in csv.DictReader(file)}


def record(table):
    """Write the table, in the order of the results."""
    order = [name for name, _, _ in graded() if name in table]
    with open(TABLE, "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, ["result", "changes", "noticed", "left"], lineterminator="\n")
        writer.writeheader()
        writer.writerows(table[name] for name in order)


def main(chosen):
    """Change the evidence of the chosen results, or of all, and keep the table."""
    table = recorded()
    for name, path, verbs in graded():
        if chosen and name not in chosen:
            continue
        tried, unnoticed = 0, []
        for verb, cells in evidence(path, name, verbs):
            if fails(path, cells):
                raise SystemExit(f"{verb} {name} fails without a change")
            for cell, place in plan(cells):
                source, words = changed(cells[cell], place)
                tried += 1
                if not fails(path, [*cells[:cell], source, *cells[cell + 1 :]]):
                    unnoticed.append(f"{verb}: {words}")
        left = table.get(name, {}).get("left", "") if unnoticed else ""
        noticed = tried - len(unnoticed)
        table[name] = {"result": name, "changes": tried, "noticed": noticed, "left": left}
        record(table)
        print(name, tried, "changes,", len(unnoticed), "not noticed", flush=True)
        for words in unnoticed:
            print("   ", words, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
