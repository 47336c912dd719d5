"""Questions in a reader's words lead to their page among the first three, from a server and from disk, offline."""

from .conftest import SITE

# Where a question has two good answers, either will do.
QUESTIONS = {
    "How do I choose epsilon": "audit/02_choosing_epsilon",
    "choosing a level": "audit/02_choosing_epsilon",
    "missing values": "internals/release/06_columns",
    "theorem 3 grosse": "extremal/05_high_privacy",
    "theorem 2 grosse": "extremal/03_binary",
    "forged certificate": "release/01_certificate internals/release/04_checker",
    "randomized response": "extremal/01_randomized_response foundations/07_classic",
    "what is pointwise maximal leakage": "foundations/02_leakage foundations/03_adversaries",
    "who is the adversary": "foundations/03_adversaries records/01_framework",
    "laplace mechanism": "foundations/07_classic records/07_count_audit",
    "linear programme solver": "internals/numerics/05_linear_programmes",
    "the prior is only a guess": "robust/01_estimated_prior",
    "release a csv file": "files/01_release cli/01_command_line internals/files/01_tables",
    "command line": "cli/01_command_line",
    "release the same column twice": "budget/01_composition budget/05_log",
    "composition of mechanisms": "budget/01_composition foundations/04_processing",
    "privacy regions": "extremal/04_regions",
    "total variation": "foundations/06_utility",
    "census": "hamming/10_census",
    "triage waiting room": "worst_case/07_triage",
    "hamming distortion": "hamming/03_mechanisms hamming/index hamming/05_exact",
    "parity of many records": "records/05_parity_query",
    "source set folding": "hamming/02_folding",
    "large alphabet column generation": "internals/extremal/09_column_generation",
    "how are random numbers drawn exactly": "internals/release/01_sampling",
    "table 3 wu": "record_design/07_experiments",
    "limits of the guarantees": "audit/08_limits",
    "install": "index",
    "how do I cite this": "index",
    "k-RR": "foundations/07_classic extremal/01_randomized_response",
    "unknown prior": "robust/01_estimated_prior",
    "what if my prior is wrong": "robust/01_estimated_prior",
    "confidence interval": "internals/release/08_intervals",
    "g-leakage": "foundations/03_adversaries",
    "entropy constrained adversary": "records/01_framework",
    "can I use it with pandas": "internals/release/06_columns",
    "which epsilon": "audit/02_choosing_epsilon",
    "how do I report to my board": "cli/03_report audit/03_sentences",
    "where are the proofs": "results",
    "local differential privacy": "foundations/07_classic",
    "glossary": "notation",
    "how is it different from LDP": "audit/01_differential_privacy",
    "why not differential privacy": "audit/01_differential_privacy",
    "what is PML": "foundations/02_leakage",
    "how do I teach this": "teaching",
    "how do I contribute": "contributing",
    "mean of ages": "estimation/02_one_number",
    "median income": "additive_noise/04_quantile",
    "quantile": "additive_noise/04_quantile",
    "maximal alpha leakage": "audit/07_measures_atlas",
    "renyi differential privacy": "audit/07_measures_atlas",
    "interior point method": "internals/worst_case/02_interior_point",
    "release a column of numbers": "cli/02_wizard",
    "dask cluster": "files/02_engines",
    "regresion": "estimation/04_regression",
    "confidense interval": "internals/release/08_intervals",
    "comopsition": "budget/01_composition foundations/04_processing",
    "randomized respnse": "extremal/01_randomized_response foundations/07_classic",
    "epsilon delta": "audit/01_differential_privacy budget/03_repeated_releases budget/02_leakage_variable",
    "gaussian noise": "audit/05_other_mechanisms",
    "laplace noise": "foundations/07_classic audit/05_other_mechanisms",
    "exponential mechanism": "foundations/07_classic",
    "geometric mechanism": "foundations/07_classic records/07_count_audit",
    "mutual information": "foundations/01_probability hamming/09_mutual_information",
    "f-divergence": "foundations/06_utility internals/foundations/01_lift_functions",
    "chi square utility": "foundations/06_utility extremal/13_optimal",
    "majorization": "foundations/05_majorization",
    "schur convex": "foundations/05_majorization",
    "channel capacity": "internals/foundations/02_capacity record_design/03_classical",
    "maximal leakage": "foundations/02_leakage extremal/12_atlas",
    "lift vectors": "extremal/07_lift_vectors",
    "vertices of the polytope": "extremal/02_polytope extremal/07_lift_vectors",
    "two secrets": "extremal/03_binary",
    "uniform prior": "extremal/06_uniform",
    "high privacy": "extremal/05_high_privacy",
    "how many outcomes are enough": "extremal/09_cardinality",
    "optimal decisions": "extremal/11_gains",
    "local information privacy": "extremal/12_atlas",
    "dual certificate": "internals/worst_case/01_dual_certificate worst_case/04_least_leakage",
    "outcomes that must never occur": "worst_case/07_triage worst_case/04_least_leakage worst_case/01_problem",
    "utility-safe mechanism": "worst_case/03_utility_safe",
    "rate distortion": "record_design/03_classical hamming/09_mutual_information",
    "class III": "hamming/08_class_three",
    "known order of the probabilities": "hamming/06_class_one_and_two",
    "mrs gerber": "records/05_parity_query",
    "blahut arimoto": "internals/foundations/02_capacity internals/records/03_tilted",
    "branch and bound": "internals/numerics/10_branch_and_bound internals/records/04_posterior_bound internals/records/08_output_bound",
    "interval arithmetic": "internals/numerics/04_enclosure internals/numerics/08_balls",
    "smt solver": "internals/numerics/07_proof",
    "html report": "cli/03_report",
    "privacy budget": "budget/01_composition budget/05_log",
    "audit a mechanism": "audit/05_other_mechanisms",
    "opendp": "audit/05_other_mechanisms audit/01_differential_privacy",
    "public columns": "audit/04_strata",
    "logistic regression": "estimation/04_regression",
    "two-way table": "estimation/03_two_way_table",
    "variance of the estimates": "estimation/01_optimal_design release/02_estimation",
    "polars": "internals/release/06_columns",
    "seed": "audit/08_limits internals/release/01_sampling",
    "exercises": "teaching",
    "slides": "teaching",
    "errata": "results",
    "bibliography": "bibliography",
    "list of functions": "api",
    "correlated records": "audit/09_where_we_stand records/01_framework",
    "timing attack": "audit/08_limits",
    "membership inference": "audit/08_limits",
    "robust to the prior": "robust/02_robust_design robust/01_estimated_prior",
    "what is a prior": "foundations/01_probability",
    "post-processing": "foundations/04_processing",
    "pip install": "index",
    "getting started": "index",
    "licence": "index contributing",
    "certifcate": "release/01_certificate internals/release/04_checker",
    "mechansim": "foundations/07_classic release/03_mechanism",
    "adverasry": "foundations/03_adversaries records/01_framework",
    "pointwse maximal leakage": "foundations/02_leakage foundations/03_adversaries",
    "privcy regions": "extremal/04_regions",
}


def first_three(page, question):
    answered = "question => document.getElementById('results').dataset.question === question"
    page.wait_for_function(answered, arg=question)
    links = page.locator("#results > li > a")
    return [link.get_attribute("href").split(".html")[0] for link in links.all()[:3]]


def asked(question):
    return f"search.html?q={question.replace(' ', '+')}"


def test_each_question_finds_its_page(tab, site):
    """Typed one after the other; the page keeps the index."""
    tab.open(f"{site}/search.html")
    lost = {}
    for question, wanted in QUESTIONS.items():
        tab.page.locator("#words").fill(question)
        tab.page.locator("#words").press("Enter")
        found = first_three(tab.page, question)
        if not any(href.endswith(page) for href in found for page in wanted.split()):
            lost[question] = found
    assert not lost, "\n".join(f"{question}: {found}" for question, found in lost.items())
    assert not tab.faults(), "\n".join(tab.faults())


def test_the_book_comes_before_its_machinery(tab, site):
    for question in ("release csv file", "hamming", "noise", "estimate"):
        tab.open(f"{site}/{asked(question)}")
        assert "/internals/" not in first_three(tab.page, question)[0]


def test_the_site_on_disk_searches_too(page):
    page.goto(f"{SITE.as_uri()}/{asked('theorem 3 grosse')}")
    found = first_three(page, "theorem 3 grosse")
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
