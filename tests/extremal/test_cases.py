"""Optima computed by another program: the reference values next to the project, where they are present."""

import json
from pathlib import Path

import pytest

from pmlbook import optimal_mechanism

FILE = Path(__file__).parents[3] / "shared" / "cases" / "extremal.json"
CASES = json.loads(FILE.read_text())["cases"] if FILE.exists() else []
NAMES = {
    "mi": "mutual_information",
    "tv": "total_variation",
    "chi2": "chi_square",
    "js": "jensen_shannon",
}


def test_the_reference_values_are_there():
    if not CASES:
        pytest.skip(f"no reference values at {FILE}")
    assert {case["utility"] for case in CASES} == NAMES.keys()


@pytest.mark.parametrize(
    "case",
    CASES,
    ids=[f"{k}-{c['tag']}-{len(c['prior'])}-{c['utility']}" for k, c in enumerate(CASES)],
)
def test_reference_value(case):
    """Value and bound to 1e-9, and exactly no more leakage than allowed."""
    n, epsilon, best = len(case["prior"]), case["eps"], case["U_star"]
    design = optimal_mechanism(case["prior"], epsilon, NAMES[case["utility"]])
    assert design.value == pytest.approx(best, abs=1e-9)
    assert design.bound == pytest.approx(best, abs=1e-9)
    assert design.mechanism.certify(epsilon)
    assert design.mechanism.channel.shape[1] <= n
