# Main commands: `make demo` starts the application on a demo study with real measurements, `make test` runs all checks.
# --no-compile: modules are compiled when they are first imported, which saves time because most are never used.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --constraint constraints.txt

TIMES ?= 20
FAULTS ?= 10
MODULES ?=

.PHONY: help demo test test-all test-pythons flicker mutate soak bench site format clean

help:
	@echo "make demo      make a virtual environment, install, build the demo study, start the browser application"
	@echo "make test      install the test tools and run every check: format, lint, types, tests"
	@echo "make test-all  run all tests, also slow tests and all examples of property tests, and measure coverage"
	@echo "make test-pythons  run the tests in Python 3.12 and 3.13, except slow tests and browser tests"
	@echo "make flicker   repeat the tests TIMES=20 times in other orders, with other seeds, and list the tests that fail sometimes"
	@echo "make mutate    plant FAULTS=10 faults in each of MODULES='...', one at a time, and list those that no test finds"
	@echo "make soak      run the reliability tests for about an hour: lost answers, leaks, access without permission (tests/reliability)"
	@echo "make bench     measure the speed (analysis, report, labelling in a real browser) and the error rate of comparisons; writes bench.json"
	@echo "make site      build the documentation as a site, in site/"
	@echo "make format    format the code"

demo: $(VENV)/.installed
	@echo "Starting the demo. This builds the demo study if it does not exist, and starts the browser application."
	$(BIN)/labeler demo

test: $(VENV)/.test-tools
	BIN=$(BIN) scripts/check

test-all: $(VENV)/.test-tools
	BIN=$(BIN) scripts/check --cov --cov-report= -m "" --hypothesis-profile=all

test-pythons:
	scripts/pythons python3.12 python3.13

flicker: $(VENV)/.test-tools
	$(BIN)/python scripts/flicker.py $(TIMES) --out docs/results/repeated-runs.md

mutate: $(VENV)/.test-tools
	$(BIN)/python scripts/mutate.py $(MODULES) --faults $(FAULTS) --out docs/results/planted-faults.md

soak: $(VENV)/.test-tools
	$(BIN)/python -m tests.reliability

bench: $(VENV)/.test-tools
	$(BIN)/python -m tests.performance.engine --json bench.json
	$(BIN)/python -m tests.performance.startup
	$(BIN)/python -m tests.performance.importing
	$(BIN)/python -m tests.performance.methods
	$(BIN)/python -m tests.performance.report
	$(BIN)/python -m tests.performance.labelling
	$(BIN)/python -m tests.performance.comparison_grid

site: $(VENV)/.test-tools
	$(BIN)/python -m mkdocs build --strict

format: $(VENV)/.test-tools
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

$(BIN)/python:
	@echo "Making the virtual environment $(VENV) ..."
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Python 3.11 or newer is needed; name one with: make PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); \
		echo "The Python module venv is missing. On Debian: apt install python3-venv"; exit 1; }

$(VENV)/.installed: $(BIN)/python pyproject.toml constraints.txt
	@echo "Installing the application and what it needs into $(VENV) ..."
	$(INSTALL) --editable .
	@touch $@

$(VENV)/.test-tools: $(BIN)/python pyproject.toml constraints.txt
	@echo "Installing the application, what it needs and the test tools into $(VENV) ..."
	$(INSTALL) --editable '.[test,docs,cluster,oidc]'
	@touch $(VENV)/.installed $@

clean:
	rm -rf $(VENV) build dist site .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage bench.json
