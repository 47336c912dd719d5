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
    "release a csv file": "release/09_csv_text cli/01_command_line release/10_tables",
    "command line": "cli/01_command_line",
    "release the same column twice": "practice/12_composition accounting/02_release_log",
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
    "g-leakage": "foundations/09_vulnerability",
    "entropy constrained adversary": "per_record/01_framework",
    "can I use it with pandas": "release/06_columns",
    "which epsilon": "practice/05_choosing_epsilon",
    "how do I report to my board": "cli/04_report practice/06_interpretation",
    "where are the proofs": "results",
    "local differential privacy": "foundations/07_classic",
    "glossary": "notation",
    "how is it different from LDP": "practice/00_differential_privacy",
    "why not differential privacy": "practice/00_differential_privacy",
    "what is PML": "foundations/02_leakage",
    "how do I teach this": "teaching",
    "how do I contribute": "contributing",
    "mean of ages": "estimation/06_one_number",
    "dask cluster": "accounting/06_scale",
    "regresion": "release/13_regression",
    "confidense interval": "release/11_intervals",
    "comopsition": "practice/12_composition foundations/04_processing",
    "randomized respnse": "extremal/01_randomized_response foundations/07_classic",
}


def first_three(page):
    page.wait_for_function("document.getElementById('results').dataset.question")
    links = page.locator("#results > li > a")
    return [link.get_attribute("href").split(".html")[0] for link in links.all()[:3]]


def asked(question):
    return f"search.html?q={question.replace(' ', '+')}"


@pytest.mark.xdist_group("questions")
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
