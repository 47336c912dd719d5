"""Weigh the project: how dense its code is, what the notebooks hide, and which names stand twice.

usage: weigh.py [CHECKOUT]

Prints a table in Markdown. An expression is a node of the syntax tree that has a value; comments that only
steer a tool are none; hidden is what a reader must unfold.
"""

import ast
import io
import json
import re
import statistics
import sys
import tokenize
from collections import Counter
from pathlib import Path

HIDING = {"hide-cell", "hide-input"}
TOOLS = re.compile(r"# (%%|noqa|type:|auto)")
PATCH = re.compile(r"patch\.(?:dict|object)\(")
LAYOUT = {tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}


def documented(tree: ast.Module) -> set[int]:
    """Lines of docstrings."""
    lines: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(
            node
        ):
            first = node.body[0]
            lines |= set(range(first.lineno, first.end_lineno + 1))
    return lines


def lines_of(source: str, tree: ast.Module) -> tuple[set[int], set[int]]:
    """Lines of code, and lines with a comment for people."""
    code, comments = set(), set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            comments |= set() if TOOLS.match(token.string) else {token.start[0]}
        elif token.type not in LAYOUT:
            code |= set(range(token.start[0], token.end[0] + 1))
    return code - documented(tree), comments


def defined(tree: ast.Module) -> set[str]:
    """Public functions, classes and constants of a module."""
    names = set()
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Assign):
            parts = [part for target in node.targets for part in ast.walk(target)]
            names |= {part.id for part in parts if isinstance(part, ast.Name)}
    return {name for name in names if not name.startswith("_")}


def stored(function: ast.FunctionDef) -> int:
    """How many names a function stores, besides its arguments."""
    names = {
        n.id for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
    }
    return len(names - {arg.arg for arg in function.args.args})


def weigh_package(package: Path) -> dict[str, str]:
    """What the exported modules weigh."""
    code = comments = expressions = public = many = 0
    lengths, sizes, names = [], [], Counter()
    for path in sorted(package.rglob("*.py")):
        if path.name in ("__init__.py", "_modidx.py"):
            continue
        source = path.read_text(encoding="utf-8")
        tree = ast.parse(source)
        own, said = lines_of(source, tree)
        code, comments = code + len(own), comments + len(said)
        expressions += sum(isinstance(node, ast.expr) for node in ast.walk(tree))
        functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
        lengths += [node.end_lineno - node.lineno + 1 - len(documented(ast.Module([node], [])))
                    for node in functions]  # fmt: skip
        many += sum(stored(function) > 20 for function in functions)
        sizes.append((len(source.splitlines()), path.stem))
        names.update(defined(tree))
        listed = (line for line in tree.body if ast.unparse(line).startswith("__all__ = "))
        public += sum(len(line.value.elts) for line in listed)
    tenth = sorted(lengths)[len(lengths) * 9 // 10]
    longest = ", ".join(f"{name} {size}" for size, name in sorted(sizes, reverse=True)[:4])
    return {
        "lines of code": f"{code}",
        "expressions on a line of code": f"{expressions / code:.1f}",
        "comment lines in 100 of code": f"{100 * comments / code:.1f}",
        "lines of a function, median and 90th percentile": f"{statistics.median(lengths):.0f} / {tenth}",
        "functions that store more than 20 names": f"{many}",
        "longest modules": longest,
        "names that modules list as public": f"{public}",
        "public names in several modules": f"{sum(places > 1 for places in names.values())}",
    }


def weigh_notebooks(nbs: Path) -> dict[str, str]:
    """What the notebooks export and hide."""
    exported = hidden = judged = patches = 0
    for path in nbs.rglob("*.ipynb"):
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            source, tags = "".join(cell["source"]), set(cell["metadata"].get("tags", []))
            lines = len(source.splitlines())
            if cell["cell_type"] != "code" or ".ipynb_checkpoints" in path.parts:
                continue
            exported += lines * source.startswith("#| export")
            hidden += lines * bool(tags & HIDING)
            judged += lines * bool(tags & HIDING and "assert" in source)
            patches += len(PATCH.findall(source))
    return {
        "exported lines in notebooks": f"{exported}",
        "hidden lines in notebooks": f"{hidden}, of them {judged} in cells that assert",
        "patches of the module under test in notebooks": f"{patches}",
    }


def main(root: Path) -> None:
    """Print the table."""
    print("| trait | |\n|---|---|")
    for trait, weight in {
        **weigh_package(root / "pmlbook"),
        **weigh_notebooks(root / "nbs"),
    }.items():
        print(f"| {trait} | {weight} |")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent)
