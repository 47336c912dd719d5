"""What `import pmlbook` gives: documented, with its source, and light."""

import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest
from public_names import NAMES, PUBLIC

import pmlbook

README = Path(__file__).parents[1] / "README.md"


@pytest.mark.parametrize("name", PUBLIC)
def test_public_name_states_its_source(name):
    thing = PUBLIC[name]
    lines = [line.strip() for line in (thing.__doc__ or "").splitlines()]
    assert any(lines), f"{name} has no docstring"
    if not (isinstance(thing, type) and issubclass(thing, Exception)):
        assert any(line.startswith("Source: ") for line in lines), f"{name} names no source"


def test_import_loads_no_plots_and_no_widgets():
    code = "import sys, pmlbook; print({'matplotlib', 'ipywidgets'} & set(sys.modules))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "set()\n"


# the top level is short, and each name has one place


def test_each_name_has_one_place():
    assert len(PUBLIC) > 80
    for module, name in NAMES:
        part = getattr(module, name).__module__.split(".")[1]
        assert module is pmlbook or part == module.__name__.split(".")[1], name


def test_functions_of_the_top_level_are_those_of_the_readme():
    table = README.read_text("utf-8").split("| you ask | you call |")[1].split("\n\n")[0]
    called = set(re.findall(r"`(\w+)`", table)) - {"pmlbook"}  # without a dot
    top = {name for module, name in NAMES if module is pmlbook}
    assert {name for name in top if inspect.isfunction(PUBLIC[name])} == called


# each is loaded when it is used


FRESH = """
import pickle, sys, pmlbook
from inspect import ismodule
assert {*pmlbook.__all__} <= {*dir(pmlbook)} and not hasattr(pmlbook, "x")
assert "numpy" not in sys.modules and "pmlbook.records" not in sys.modules
assert {"parity", "Query"} <= {*dir(pmlbook.records)} and "numpy" not in sys.modules
assert pmlbook.Mechanism is pmlbook.Mechanism and "Mechanism" in vars(pmlbook)
assert pickle.loads(pickle.dumps(pmlbook.Mechanism([[1]], [1]))).epsilon == 0
assert pickle.loads(pickle.dumps(pmlbook.records.parity)) is pmlbook.records.parity
from IPython import InteractiveShell
shell = InteractiveShell.instance()
shell.user_ns["pml"] = pmlbook
shell.Completer.use_jedi = False
assert any("optimal_mechanism" in text for text in shell.complete("pml.optimal_mech")[1])
assert any("modular_sum" in text for text in shell.complete("pml.records.modular")[1])
assert not {"optimal_mechanism", "modular_sum"} & {*vars(pmlbook), *vars(pmlbook.records)}
from pmlbook import *
assert {*pmlbook.__all__} <= {*globals()} and ismodule(hamming)
from pmlbook.hamming import *
assert {*hamming.__all__} <= {*globals()}
"""


def test_lazy_names_are_like_any_others():
    subprocess.run([sys.executable, "-W", "ignore", "-c", FRESH], check=True)


RELEASING = """
import sys, pmlbook.cli.commands
from pmlbook import Mechanism, optimal_mechanism
from pmlbook.budget import ReleaseLog
flip = Mechanism([[0.6, 0.4], [0.4, 0.6]], [0.5, 0.5])
assert flip.certify(0.5) and len(flip.privatize([0, 1])) == 2
ReleaseLog("log", new=True).record("smokes", flip)
print(*sys.modules)
"""


def test_a_release_loads_no_part_of_scipy(tmp_path):
    """They take longer to load than NumPy."""
    command = [sys.executable, "-c", RELEASING]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    parts = "linalg", "optimize", "sparse", "special", "stats"
    assert not {f"scipy.{part}" for part in parts} & set(run.stdout.split())


@pytest.mark.parametrize("line", ["from pmlbook import parity", "from pmlbook.hamming import x"])
def test_a_wrong_import_is_an_import_error(line):
    with pytest.raises(ImportError, match="cannot import name"):
        exec(line)


USER = """
import pmlbook as pml
from pmlbook import epsilon_pml, records
from pmlbook.foundations import entropy

bits: float = entropy([0.5, 0.5]) + epsilon_pml([[1.0]], [1.0])
query = records.parity(3)
rows: int = query.n_values
version: str = pml.__version__
worst: pml.records.Adversary
wrong = pml.parity
"""


def test_a_type_checker_sees_the_names(tmp_path):
    api = pytest.importorskip("mypy.api")
    script = tmp_path / "user.py"
    script.write_text(USER, encoding="utf-8")
    said, _, _ = api.run(["--strict", "--no-incremental", "--follow-imports=silent", str(script)])
    assert re.findall(r": error: (.*)", said) == [
        'Module has no attribute "parity"  [attr-defined]'
    ]
