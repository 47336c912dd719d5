"""Proofs that the kernel of Coq checks: nothing is assumed, and the map of results lists them."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from test_results import ROWS

FORMAL = Path(__file__).resolve().parent.parent / "formal"
FILES = sorted(FORMAL.glob("*.v"))
STATED = re.compile(r"^(?:Theorem|Example) (\w+)", re.M)
THEOREMS = {path.stem: STATED.findall(path.read_text(encoding="utf-8")) for path in FILES}
COQ = "needs Coq with MathComp: coq, libcoq-mathcomp-algebra and libcoq-mathcomp-algebra-tactics of Debian"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_nothing_is_left_out(path):
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"\b(Admitted|admit|Abort|Axioms?|Parameters?|Conjecture)\b", text)
    assert text.count("Proof.") == text.count("Qed.") > 0 or path.stem == "base"


def test_the_map_lists_what_is_proved():
    papers = {row["paper"] for row in ROWS}
    stated = [name.replace("_", "-") for names in THEOREMS.values() for name in names]
    of_papers = [name for name in stated if name.partition("-")[0] in papers]
    assert sorted(of_papers) == sorted(row["id"] for row in ROWS if row["strength"] == "formal")


def test_an_example_applies_the_theorem_that_it_names():
    """Hypotheses that nothing satisfies prove anything; the kernel checks that numbers satisfy these."""
    text = (FORMAL / "instances.v").read_text(encoding="utf-8")
    examples = re.findall(r"^Example of_(\w+).*?^Proof\.(.*?)^Qed\.", text, re.M | re.S)
    stated = {name for names in THEOREMS.values() for name in names}
    applied = [{s for s in stated if name.startswith(s) and s in proof} for name, proof in examples]
    assert all(applied) and len(applied) == len(re.findall("^Example", text, re.M))
    assert len(set.union(*applied)) >= 14


@pytest.fixture(scope="module")
def kernel(tmp_path_factory):
    """The answer of the kernel for each file, in the order in which they build on each other."""
    if shutil.which("coqc") is None:
        pytest.skip(COQ)
    folder = tmp_path_factory.mktemp("formal")
    for path in FILES:
        asked = "".join(f"Print Assumptions {name}.\n" for name in THEOREMS[path.stem])
        (folder / path.name).write_text(path.read_text(encoding="utf-8") + asked, encoding="utf-8")

    def run(tool, *arguments):
        command = [tool, "-R", ".", "pmlbook", *arguments]
        return subprocess.run(command, cwd=folder, capture_output=True, text=True)

    order = run("coqdep", "-sort", *(path.name for path in FILES))
    assert order.returncode == 0, order.stderr
    names = [Path(name).name for name in order.stdout.split()]
    return {Path(name).stem: run("coqc", "-w", "none", name) for name in names}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_kernel_accepts_it_without_an_assumption(path, kernel):
    done = kernel[path.stem]
    assert done.returncode == 0, done.stderr
    closed = done.stdout.splitlines().count("Closed under the global context")
    assert closed == len(THEOREMS[path.stem]), done.stdout
