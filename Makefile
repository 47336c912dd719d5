# `make book` builds the book, `make test` checks everything, `make lab` opens the live chapters.
PY    ?= python3
VENV  ?= .venv
B     := $(VENV)/bin
STAMP := $(VENV)/.installed
PIP   := python -m pip install -q --disable-pip-version-check
UV    := 0.13.9
LEAST := 3.11

# What runs in parallel here are processes; threads inside them would only stand in each other's way.
export OMP_NUM_THREADS ?= 1
# Where compiled modules are not kept, each process compiles NumPy, SciPy and every test anew.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: install lock export strip readme parts course book pdf lab notebooks test tests lowest newest binder spark proofs formal evidence fuzz mutants release-check lint browser clean
.DELETE_ON_ERROR:

install: $(STAMP)

# Every package is compared with its hash. uv installs in seconds what pip needs a minute for; pip is the fallback.
$(STAMP): settings.ini setup.py pyproject.toml constraints.txt
	$(PY) -m venv $(VENV)
	$(B)/$(PIP) uv==$(UV) && \
	  $(B)/uv pip install -q --python $(B)/python --require-hashes -r constraints.txt || \
	  $(B)/$(PIP) --require-hashes -r constraints.txt
	$(B)/$(PIP) --no-deps --no-build-isolation -e .
	touch $@

# Writes the lock anew, moving only what settings.ini asks to move; with `LOCK=--upgrade` everything.
lock: install
	$(B)/uv pip compile -q pyproject.toml --extra dev --extra browser --universal --python-version $(LEAST) \
	  --generate-hashes --no-annotate --no-header $(LOCK) -o constraints.txt

export: install
	$(B)/nbdev_export

strip: install
	$(B)/python docs/strip.py

readme: install
	$(B)/python docs/readme.py

# The student's edition of the six weeks in nbs/teaching.md: no solutions, but cells that check an answer.
course: install
	$(B)/python docs/course.py

# The lists of part pages and referee pages, from the chapters, results.csv and errata.csv.
parts: install
	$(B)/python docs/parts.py

book: export
	$(B)/python docs/execute.py
	$(B)/sphinx-build -W --keep-going -q -c docs nbs _build/html -d _build/doctrees
	$(B)/python docs/search.py
	@echo "The book is built: open _build/html/index.html"

# One typeset document of the same pages; needs a Chromium.
pdf: book
	$(B)/python docs/pdf.py

lab: export
	$(B)/jupyter lab nbs/index.ipynb

lint: install
	$(B)/ruff check nbs pmlbook tests docs benchmarks setup.py
	$(B)/ruff format --check nbs tests docs benchmarks setup.py
	$(B)/mypy
	$(B)/python docs/strip.py --check
	$(B)/python docs/readme.py --check
	$(B)/python docs/parts.py --check

test: install
	$(MAKE) -j2 lint notebooks
	$(MAKE) tests

# The committed module is compared with the notebooks, so nothing is exported before.
tests: install
	$(B)/pytest -n 2 --dist loadfile --doctest-modules tests pmlbook --ignore=tests/browser

notebooks: install
	$(B)/python docs/execute.py --test

# The wheel in clean environments, on the lowest versions that settings.ini admits and on the newest there are;
# PYTHONS="3.12" for another. What these machines lack is an error.
lowest newest: install
	$(B)/python docs/installed.py $@ $(PYTHONS)

# The chapters that the front page begins with, as Binder runs them.
binder: install
	$(B)/python docs/installed.py binder $(PYTHONS)

# Releases on Spark, which needs a Java runtime (Debian: default-jre-headless); PySpark is too large for the lock.
SPARK := _build/spark
spark: install
	@command -v java || { echo "needs a Java runtime (Debian: default-jre-headless)"; exit 1; }
	$(B)/uv pip install -q --python $(B)/python --target $(SPARK) "$$(sed -n 's/^spark_requirements = \([^ ]*\).*/\1/p' settings.ini)"
	PYTHONPATH=$(SPARK) PYSPARK_PYTHON=$(abspath $(B)/python) $(B)/pytest -v tests/files/test_engines.py -k spark
	PYTHONPATH=$(SPARK) PYSPARK_PYTHON=$(abspath $(B)/python) $(B)/python benchmarks/engines.py --engines spark

# The random and hostile tests at length, an hour or so.
fuzz: install
	PMLBOOK_FUZZ=full PMLBOOK_FUZZ_CASES=100000 $(B)/pytest tests/test_hostile.py tests/release/test_certificates.py \
	  tests/extremal/test_bounds.py tests/test_closed_forms.py tests/record_design/test_per_record_edges.py \
	  tests/test_roads.py tests/extremal/test_searches.py

# Small changes of exported code that the evidence ought to notice; see the head of the script.
mutants: install
	$(B)/python docs/mutants.py $(or $(COUNT),100) $(or $(SEED),1) $(PARTS)

# Every proof by machine from scratch, a line each; PROOFS=--second asks a second solver, PROOFS=<id> for one.
proofs: install
	$(B)/python docs/proofs.py $(PROOFS)

# A sign changed or a term dropped in the evidence of each result, and whether it fails; RESULTS=<id> for one.
evidence: install
	$(B)/python docs/evidence.py $(RESULTS)

# Proofs for every number of secrets, checked by the kernel of Coq with MathComp.
formal: install
	@command -v coqc || { echo "needs coq, libcoq-mathcomp-algebra, libcoq-mathcomp-algebra-tactics (Debian)"; exit 1; }
	$(B)/pytest -v tests/test_formal.py

# What must be filled in before this version is published, a line each.
release-check: install
	$(B)/python docs/release_check.py

# Needs the built book and a Chromium; `.ci/run` brings both.
# `tests/browser/conftest.py` keeps the tests of a page in one process.
browser: install
	$(B)/pytest -n 2 --dist loadfile tests/browser

clean:
	rm -rf _build .jupyter_cache $(VENV) build dist *.egg-info
