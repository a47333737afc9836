# Every target makes its own virtual environment: Python 3.11 or newer with pip is all that has to be there.
# Another interpreter: make test PYTHON=python3.12

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
DEMO := $(VENV)/.demo-is-installed
DEV := $(VENV)/.dev-is-installed
PIP := $(BIN)/python -m pip --disable-pip-version-check

.DEFAULT_GOAL := help
.PHONY: help demo test test-slow test-gpu check lint types contracts docs bench interpreters format clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(DEMO) ## schemes against the plain learner on a stream that shifts: a table and a picture
	$(BIN)/spanwise demo

test: $(DEV) ## the tests, doctests among them
	OMP_NUM_THREADS=1 $(BIN)/pytest -m "not slow and not gpu" --numprocesses logical --maxprocesses 8

test-slow: $(DEV) ## the tests that take more than ten seconds each
	$(BIN)/pytest -m "slow and not gpu"

test-gpu: $(DEV) ## the tests that need a CUDA device
	$(BIN)/pytest -m gpu

check: lint types contracts test docs ## all that must pass before a push

lint: $(DEV) ## ruff: style and format
	$(BIN)/ruff check
	$(BIN)/ruff format --check

types: $(DEV) ## mypy, strict
	$(BIN)/mypy

contracts: $(DEV) ## imports go one way
	$(BIN)/lint-imports

docs: $(DEV) ## build the pages into site/
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict  # never with --quiet: it drops the warnings that --strict counts

bench: $(DEV) ## counts asserted, times recorded
	$(BIN)/pytest benchmarks --benchmark-enable

interpreters: ## core tests on each further interpreter that is here
	bash .ci/interpreters

format: $(DEV) ## let ruff put style and format right
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

clean: ## remove what the other targets made, .venv included
	rm -rf $(VENV) demo site build dist .mypy_cache .ruff_cache .import_linter_cache .hypothesis .benchmarks
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# Two levels. The smaller one has no torch, so that the demo starts sooner; the larger one holds the smaller one.
$(DEMO): pyproject.toml constraints.txt
	$(make_venv)
	$(PIP) install --quiet --constraint constraints.txt --editable '.[sklearn,report]'
	touch $@

$(DEV): pyproject.toml constraints.txt
	$(make_venv)
	$(PIP) install --quiet --constraint constraints.txt --editable '.[sklearn,river,torch,text,files,wildtime,report]' --group dev
	touch $(DEMO) $@

# pip learned dependency groups in 25.1.
define make_venv
@$(PYTHON) -c 'import sys; sys.exit("spanwise needs Python 3.11 or newer: make PYTHON=..." if sys.version_info < (3, 11) else 0)'
@$(BIN)/python -m pip --version > /dev/null 2>&1 || $(PYTHON) -m venv --clear $(VENV)
@echo "Installing into $(VENV); the first time takes a few minutes."
@$(PIP) install --quiet --upgrade 'pip>=25.1'
endef
