# Everything runs from .venv, made here from one lock file; what needs torch runs from .venv-train, which adds to it.
# Nothing else is needed first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
LOCK := requirements.lock
TRAIN := $(VENV)-train
TRAIN_BIN := $(TRAIN)/bin
TRAIN_LOCK := requirements-train.lock
TORCH := torch==2.13.0
DOCS := $(VENV)-docs
DOCS_LOCK := requirements-docs.lock
RELEASE := $(VENV)-release
RELEASE_LOCK := requirements-release.lock
EXTRAS := all
# Three workers for two cores, since tests wait for servers and browsers; one more would import and set up everything once more.
# Neighbours stay together, since they share what they set up.
WORKERS := -n $(shell expr $$(nproc) \* 3 / 2) --dist worksteal
RESOLVER := uv pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links \
  --no-header --quiet
RESOLVED := $(RESOLVER) pyproject.toml

.DEFAULT_GOAL := help
.PHONY: help install demo test test-busy crash test-train fuzz lint check format bench reproduce atlas references docs wheels licences \
  sbom audit lock clean

help:  ## show the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*##/\t/' | expand -t 12

install: $(VENV)/.installed  ## make .venv with LexFuse and its test tools, no torch

# The lock file is complete, so nothing is resolved: pip 23.2 looks for the newest release of a package that another
# one asks for with an extra, even where its version is pinned, and refuses that release for want of a hash.
$(VENV)/.installed: $(LOCK) pyproject.toml scripts/make-venv
	scripts/make-venv $(PYTHON) $(VENV)
	$(BIN)/python -m pip install --quiet --require-hashes --no-deps -r $(LOCK)
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation -e .
	$(BIN)/python -m pip check
	@touch $@

demo: install  ## fetch real law, index it and serve the search page
	$(BIN)/lexfuse demo

test: install  ## run all tests
	scripts/install-browser
	$(BIN)/python -m pytest $(WORKERS)

test-busy: install  ## run all tests in random order while four processes keep the machine busy
	scripts/install-browser
	LEXFUSE_TEST_ORDER=$${LEXFUSE_TEST_ORDER:-$$$$} scripts/busy 4 $(BIN)/python -m pytest $(WORKERS)

crash: install  ## kill writers 1,000 times, lose power 200 times, let every call fail, damage every file
	@folder=$$(mktemp -d) && trap 'rm -rf "$$folder"' EXIT && \
	for script in kills power_losses io_errors memory malformed; do \
	  echo "== $$script"; mkdir "$$folder/$$script"; $(BIN)/python tests/crash/$$script.py "$$folder/$$script" || exit 1; \
	done

test-train: $(TRAIN)/.installed  ## run the tests of training, which need torch
	$(TRAIN_BIN)/python -m pytest $(WORKERS) tests/train/with_torch src/lexfuse/train src/lexfuse/bridges/mteb.py

fuzz: install  ## look for inputs that break a reader, ten minutes long (Linux on x86_64)
	$(BIN)/python tests/fuzz/fixtures/harness.py -max_total_time=600 -max_len=4096

lint: install  ## style, format and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

check: lint  ## lint, then all tests with coverage
	scripts/install-browser
	$(BIN)/python -m pytest $(WORKERS) --cov=lexfuse --cov-report=term:skip-covered

format: install  ## format the code
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: install  ## run all benchmarks in their quick form, collect failures, and keep the results in docs/benchmarks; FULL=1: in full
	$(BIN)/python -m bench $(if $(FULL),,--quick)

reproduce: install  ## measure the papers' tables that two cores can do within an hour, and write docs/results.md
	$(BIN)/python -m reproduce --all --collect --write

atlas: install  ## advise on every collection at hand, zero-shot and tuned, and write docs/atlas.md
	$(BIN)/python -m reproduce --atlas --collect --write

docs: $(DOCS)/.installed  ## build the documentation site in site/, with every link checked
	$(DOCS)/bin/mkdocs build --strict --clean

wheels: install  ## build and check the wheels and the source distribution in dist/
	rm -rf dist
	$(BIN)/python -m hatchling build -t wheel -t sdist -d dist
	cd packages/lexfuse-models-fr && $(CURDIR)/$(BIN)/python -m hatchling build -t wheel -d $(CURDIR)/dist
	$(BIN)/python -m twine check --strict dist/*

licences: install  ## write docs/licences.md: the licence of every package that an installation has
	$(BIN)/python scripts/licences.py > docs/licences.md.partial-new && mv docs/licences.md.partial-new docs/licences.md

sbom: install $(RELEASE)/.installed  ## write dist/lexfuse.cdx.json, a CycloneDX list of components; EXTRAS=all
	@mkdir -p dist
	$(BIN)/python scripts/locked_requirements.py $(EXTRAS) > dist/requirements.txt
	$(RELEASE)/bin/cyclonedx-py requirements --pyproject pyproject.toml --output-reproducible -o dist/lexfuse.cdx.json dist/requirements.txt

audit: install $(RELEASE)/.installed  ## known vulnerabilities of an installation, by a service on the internet; EXTRAS=all
	@mkdir -p dist
	$(BIN)/python scripts/locked_requirements.py $(EXTRAS) > dist/requirements.txt
	$(RELEASE)/bin/python scripts/audit.py dist/requirements.txt

# The site and the release have their own environments: what builds them is not installed with LexFuse.
$(DOCS)/.installed: $(DOCS_LOCK)
	scripts/make-venv $(PYTHON) $(DOCS)
	$(DOCS)/bin/python -m pip install --quiet --require-hashes --no-deps -r $(DOCS_LOCK)
	@touch $@

$(RELEASE)/.installed: $(RELEASE_LOCK)
	scripts/make-venv $(PYTHON) $(RELEASE)
	$(RELEASE)/bin/python -m pip install --quiet --require-hashes --no-deps -r $(RELEASE_LOCK)
	@touch $@

references: $(TRAIN)/.installed  ## make the stored vectors of the conformance tests anew, with torch
	$(TRAIN_BIN)/python scripts/make-references
	$(TRAIN_BIN)/python scripts/make-references-splade
	$(TRAIN_BIN)/python scripts/make-references-colbert

# A .pth file lends the packages of .venv. Torch is pinned by its version alone, since its builds for different devices differ
# in their hashes; it comes last, when all that it needs is there from the lock file.
$(TRAIN)/.installed: $(VENV)/.installed $(TRAIN_LOCK)
	scripts/make-venv $(PYTHON) $(TRAIN)
	$(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))' \
	  > "$$($(TRAIN_BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/lent.pth"
	$(TRAIN_BIN)/python -m pip install --quiet --require-hashes --no-deps -r $(TRAIN_LOCK)
	$(TRAIN_BIN)/python -m pip install --quiet $(TORCH)
	$(TRAIN_BIN)/python -m pip install --quiet --no-deps --no-build-isolation -e .
	@touch $@

lock:  ## resolve the lock files anew (needs uv)
	$(RESOLVED) --extra dev --output-file $(LOCK)
	echo torch | $(RESOLVED) --extra train-dev --constraints $(LOCK) --excludes /dev/stdin --output-file $(TRAIN_LOCK)
	$(RESOLVER) --group docs --output-file $(DOCS_LOCK)
	$(RESOLVER) --group release --output-file $(RELEASE_LOCK)

clean:  ## remove what was built
	rm -rf $(VENV) $(TRAIN) $(DOCS) $(RELEASE) site dist .coverage .pytest_cache .mypy_cache .ruff_cache .hypothesis .reproduce
