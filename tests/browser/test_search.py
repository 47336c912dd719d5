"""Questions in a reader's words lead to their page among the first three, from a server and from disk, offline."""

import pytest

from .conftest import SITE

# Where a question has two good answers, either will do.
QUESTIONS = {
    "How do I choose epsilon": "practice/05_choosing_epsilon",
    "choosing a level": "practice/05_choosing_epsilon",
    "missing values": "release/06_columns",
    "theorem 3 grosse": "extremal/05_high_privacy",
    "theorem 2 grosse": "extremal/03_binary",
    "forged certificate": "release/03_certificate release/04_checker",
    "randomized response": "extremal/01_randomized_response foundations/07_classic",
    "what is pointwise maximal leakage": "foundations/02_leakage foundations/03_adversaries",
    "who is the adversary": "foundations/03_adversaries per_record/01_framework",
    "laplace mechanism": "foundations/07_classic practice/04_count_audit",
    "linear programme solver": "numerics/03_linear_programmes",
    "the prior is only a guess": "practice/07_estimated_prior",
    "release a csv file": "files/01_release cli/01_command_line internals/files/01_tables",
    "command line": "cli/01_command_line",
    "release the same column twice": "practice/12_composition budget/05_log",
    "composition of mechanisms": "practice/12_composition foundations/04_processing",
    "privacy regions": "extremal/04_privacy_regions",
    "total variation": "foundations/06_utility",
    "census": "practice/03_census",
    "triage waiting room": "practice/02_triage",
    "hamming distortion": "hamming/03_mechanisms hamming/index hamming/05_exact",
    "parity of many records": "per_record/12_parity",
    "source set folding": "hamming/02_folding",
    "large alphabet column generation": "large_alphabets/06_column_generation",
    "how are random numbers drawn exactly": "release/01_sampling",
    "table 3 wu": "record_algorithms/04_experiments",
    "limits of the guarantees": "practice/14_limits",
    "install": "index",
    "how do I cite this": "index",
    "k-RR": "foundations/07_classic extremal/01_randomized_response",
    "unknown prior": "practice/07_estimated_prior",
    "what if my prior is wrong": "practice/07_estimated_prior",
    "confidence interval": "release/11_intervals",
    "g-leakage": "foundations/03_adversaries",
    "entropy constrained adversary": "per_record/01_framework",
    "can I use it with pandas": "release/06_columns",
    "which epsilon": "practice/05_choosing_epsilon",
    "how do I report to my board": "cli/03_report practice/06_interpretation",
    "where are the proofs": "results",
    "local differential privacy": "foundations/07_classic",
    "glossary": "notation",
    "how is it different from LDP": "practice/00_differential_privacy",
    "why not differential privacy": "practice/00_differential_privacy",
    "what is PML": "foundations/02_leakage",
    "how do I teach this": "teaching",
    "how do I contribute": "contributing",
    "mean of ages": "estimation/06_one_number",
    "median income": "beyond/12_line_quantile",
    "quantile": "beyond/12_line_quantile",
    "maximal alpha leakage": "beyond/11_measures_atlas",
    "renyi differential privacy": "beyond/11_measures_atlas",
    "interior point method": "worst_case/10_interior_point",
    "release a column of numbers": "cli/02_wizard",
    "dask cluster": "files/02_large_tables",
    "regresion": "release/13_regression",
    "confidense interval": "release/11_intervals",
    "comopsition": "practice/12_composition foundations/04_processing",
    "randomized respnse": "extremal/01_randomized_response foundations/07_classic",
    "epsilon delta": "practice/00_differential_privacy beyond/07_repeated_releases beyond/04_leakage_variable",
    "gaussian noise": "practice/13_audit",
    "laplace noise": "foundations/07_classic practice/13_audit",
    "exponential mechanism": "foundations/07_classic",
    "geometric mechanism": "foundations/07_classic practice/04_count_audit",
    "mutual information": "foundations/01_probability hamming/11_mutual_information",
    "f-divergence": "foundations/06_utility foundations/11_lift_functions",
    "chi square utility": "foundations/06_utility large_alphabets/07_optimal",
    "majorization": "foundations/05_majorization",
    "schur convex": "foundations/05_majorization",
    "channel capacity": "foundations/08_capacity record_design/05_classical",
    "maximal leakage": "foundations/02_leakage extremal/12_atlas",
    "lift vectors": "extremal/07_lift_vectors",
    "vertices of the polytope": "extremal/02_polytope extremal/07_lift_vectors",
    "two secrets": "extremal/03_binary",
    "uniform prior": "extremal/06_uniform",
    "high privacy": "extremal/05_high_privacy",
    "how many outcomes are enough": "extremal/09_cardinality",
    "optimal decisions": "extremal/11_gains",
    "local information privacy": "extremal/12_atlas",
    "dual certificate": "worst_case/04_dual_certificate worst_case/05_min_leakage",
    "outcomes that must never occur": "practice/02_triage worst_case/05_min_leakage worst_case/01_problem",
    "utility-safe mechanism": "worst_case/03_utility_safe",
    "rate distortion": "record_design/05_classical hamming/11_mutual_information",
    "class III": "hamming/10_class_three",
    "known order of the probabilities": "hamming/08_class_one_and_two",
    "mrs gerber": "per_record/12_parity",
    "blahut arimoto": "foundations/08_capacity per_record/05_tilted",
    "branch and bound": "numerics/07_branch_and_bound per_record/06_posterior_bound per_record/09_output_bound",
    "interval arithmetic": "numerics/02_enclosure numerics/06_balls",
    "smt solver": "numerics/05_proof",
    "html report": "cli/03_report",
    "privacy budget": "practice/12_composition budget/05_log",
    "audit a mechanism": "practice/13_audit",
    "opendp": "practice/13_audit practice/00_differential_privacy",
    "public columns": "practice/11_strata",
    "logistic regression": "release/13_regression",
    "two-way table": "release/12_two_way",
    "variance of the estimates": "estimation/01_optimal_design release/05_estimation",
    "D-optimal": "estimation/02_targets",
    "polars": "release/06_columns",
    "seed": "practice/14_limits release/01_sampling",
    "exercises": "teaching",
    "slides": "teaching",
    "errata": "results",
    "bibliography": "bibliography",
    "list of functions": "api",
    "correlated records": "practice/15_where_we_stand per_record/01_framework",
    "timing attack": "practice/14_limits",
    "membership inference": "practice/14_limits",
    "robust to the prior": "practice/08_robust practice/07_estimated_prior",
    "what is a prior": "foundations/01_probability",
    "post-processing": "foundations/04_processing",
    "pip install": "index",
    "getting started": "index",
    "licence": "index contributing",
    "certifcate": "release/03_certificate release/04_checker",
    "mechansim": "foundations/07_classic release/07_mechanism",
    "adverasry": "foundations/03_adversaries per_record/01_framework",
    "pointwse maximal leakage": "foundations/02_leakage foundations/03_adversaries",
    "privcy regions": "extremal/04_privacy_regions",
}


def first_three(page):
    page.wait_for_function("document.getElementById('results').dataset.question")
    links = page.locator("#results > li > a")
    return [link.get_attribute("href").split(".html")[0] for link in links.all()[:3]]


def asked(question):
    return f"search.html?q={question.replace(' ', '+')}"


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_question_finds_its_page(tab, site, question):
    tab.open(f"{site}/{asked(question)}")
    found = first_three(tab.page)
    assert any(href.endswith(wanted) for href in found for wanted in QUESTIONS[question].split()), (
        found
    )
    assert not tab.faults(), "\n".join(tab.faults())


def test_the_site_on_disk_searches_too(page):
    page.goto(f"{SITE.as_uri()}/{asked('theorem 3 grosse')}")
    found = first_three(page)
    assert found[0].startswith("file:") and any("05_high_privacy" in href for href in found)


def test_the_sidebar_leads_to_the_results(page, site):
    page.goto(f"{site}/extremal/03_binary.html")
    page.keyboard.press("Control+k")
    page.keyboard.type("census")
    page.keyboard.press("Enter")
    page.wait_for_url("**/search.html?q=census")
    page.locator("#results > li > a").first.click()
    page.wait_for_load_state()
    assert "census" in page.content().lower()


def test_there_are_a_hundred_questions():
    assert len(QUESTIONS) >= 100
    pages = {page for pages in QUESTIONS.values() for page in pages.split()}
    sources = SITE.parents[1] / "nbs"
    assert [page for page in pages if not list(sources.glob(f"{page}.*"))] == []
