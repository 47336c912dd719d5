# `make book` builds the book, `make test` checks everything, `make lab` opens the live chapters.
PY    ?= python3
VENV  ?= .venv
B     := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: install export strip readme book lab test lint browser clean
.DELETE_ON_ERROR:

install: $(STAMP)

# uv installs in seconds what pip needs a minute for; pip is the fallback.
$(STAMP): settings.ini setup.py pyproject.toml constraints.txt
	$(PY) -m venv $(VENV)
	$(B)/python -m pip install -q --disable-pip-version-check uv && \
	  $(B)/uv pip install -q --python $(B)/python -c constraints.txt -e '.[dev]' || \
	  $(B)/python -m pip install -q -c constraints.txt -e '.[dev]'
	touch $@

export: install
	$(B)/nbdev_export

strip: install
	$(B)/python docs/strip.py

readme: install
	$(B)/python docs/readme.py

book: export
	$(B)/python docs/execute.py
	$(B)/sphinx-build -W --keep-going -q -c docs nbs _build/html -d _build/doctrees
	@echo "The book is built: open _build/html/index.html"

lab: export
	$(B)/jupyter lab nbs/index.ipynb

lint: install
	$(B)/ruff check nbs pmlbook tests docs benchmarks setup.py
	$(B)/ruff format --check nbs tests docs benchmarks setup.py
	$(B)/mypy
	$(B)/python docs/strip.py --check
	$(B)/python docs/readme.py --check

# The committed module is compared with the notebooks before anything is exported.
test: lint
	$(B)/nbdev_test --n_workers 2
	$(B)/pytest --doctest-modules tests pmlbook --ignore=tests/browser

# Needs the built book and a Chromium; `.ci/run` brings both.
browser: install
	$(B)/python -m pip install -q --disable-pip-version-check -c constraints.txt playwright
	$(B)/pytest tests/browser

clean:
	rm -rf _build .jupyter_cache $(VENV) build dist *.egg-info
