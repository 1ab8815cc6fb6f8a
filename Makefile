# Two commands: `make demo` starts the application on a real demo study, `make test` runs every check.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin

.PHONY: help demo test test-all bench format clean

help:
	@echo "make demo      make a virtual environment, install, build the demo study, start the browser application"
	@echo "make test      install the test tools and run every check: format, lint, types, tests with coverage"
	@echo "make test-all  the same with the slow tests"
	@echo "make bench     measure how fast it is: the analysis, the report, labelling in a real browser; writes bench.json"
	@echo "make format    format the code"

demo: $(VENV)/.installed
	@echo "Starting the demo: builds the demo study if it is not there, then the browser application."
	$(BIN)/labeler demo

test: $(VENV)/.test-tools
	BIN=$(BIN) scripts/check

test-all: $(VENV)/.test-tools
	BIN=$(BIN) scripts/check -m ""

bench: $(VENV)/.test-tools
	$(BIN)/python -m tests.performance.engine --json bench.json
	$(BIN)/python -m tests.performance.importing
	$(BIN)/python -m tests.performance.methods
	$(BIN)/python -m tests.performance.report
	$(BIN)/python -m tests.performance.labelling
	$(BIN)/python -m tests.performance.hot_path
	$(BIN)/python -m tests.performance.load

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
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable .
	@touch $@

$(VENV)/.test-tools: $(VENV)/.installed
	@echo "Installing the test tools into $(VENV) ..."
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[test,cluster,oidc]'
	@touch $@

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage bench.json
