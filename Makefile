# Everything runs from .venv, made here from one lock file. Nothing else is needed first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
LOCK := requirements.lock

.DEFAULT_GOAL := help
.PHONY: help install demo test lint check format bench references lock clean

help:  ## show the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*##/\t/' | expand -t 12

install: $(VENV)/.installed  ## make .venv with LexFuse and its test tools, no torch

$(VENV)/.installed: $(LOCK) pyproject.toml scripts/make-venv
	scripts/make-venv $(PYTHON) $(VENV)
	$(BIN)/python -m pip install --quiet --require-hashes -r $(LOCK)
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation -e .
	@touch $@

demo: install  ## fetch real law, index it and serve the search page
	$(BIN)/lexfuse demo

test: install  ## run all tests
	scripts/install-browser
	$(BIN)/python -m pytest -n auto

lint: install  ## style, format and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

check: lint  ## lint, then all tests with coverage
	scripts/install-browser
	$(BIN)/python -m pytest -n auto --cov=lexfuse --cov-report=term:skip-covered

format: install  ## format the code
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: install  ## side-by-side benchmarks against peers
	@for script in bench/*.py; do echo "== $$script"; $(BIN)/python $$script || exit 1; done

references: $(VENV)-train/.installed  ## make the stored vectors of the conformance tests anew (installs torch in .venv-train)
	$(VENV)-train/bin/python scripts/make-references
	$(VENV)-train/bin/python scripts/make-references-splade
	$(VENV)-train/bin/python scripts/make-references-colbert

$(VENV)-train/.installed:
	scripts/make-venv $(PYTHON) $(VENV)-train
	$(VENV)-train/bin/python -m pip install --quiet torch==2.13.0
	$(VENV)-train/bin/python -m pip install --quiet sentence-transformers==6.2.0
	$(VENV)-train/bin/python -m pip install --quiet --no-deps -e .
	@touch $@

lock:  ## resolve the lock file anew (needs uv)
	uv pip compile pyproject.toml --extra dev --universal --python-version 3.11 --generate-hashes \
	  --no-emit-index-url --no-emit-find-links --no-header --quiet --output-file $(LOCK)

clean:  ## remove what was built
	rm -rf $(VENV) $(VENV)-train .coverage .pytest_cache .mypy_cache .ruff_cache .hypothesis
