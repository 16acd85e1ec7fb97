# Two commands do all the set-up on a machine with Python 3.11+ and make:
#   make demo    fit topics on the docstrings of scientific Python and print them
#   make test    lint, types and all tests but the slow ones
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin

# Lints the scripts and styles of the explorer's page; fetched by npx.
BIOME  := 2.6.6

.PHONY: demo test test-slow campaign lint lint-page bench notebook docs clean

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

# The user environment: the package and what it needs to run.
$(VENV)/.installed: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable .
	@touch $@

# The developer environment: test and lint tools on top.
$(VENV)/.developer: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	@touch $@ $(VENV)/.installed

demo: $(VENV)/.installed
	$(BIN)/anchorwords demo

lint: $(VENV)/.developer
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# Not a part of test: it needs Node, which nothing else here does.
lint-page:
	npx --yes @biomejs/biome@$(BIOME) ci --colors=off src/anchorwords/exploring/sources

# Two workers, one BLAS thread each: the suite is many small fits, and threads on top of workers only queue.
PYTEST := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist worksteal

test: lint
	$(PYTEST) -m "not slow and not browser" $(PYTEST_ARGS)

# The rest of the tests, which .ci/run adds.
test-slow: $(VENV)/.developer
	$(PYTEST) -m "slow and not browser" $(PYTEST_ARGS)

# The long form of the campaign of faults, with its table; the short form is a part of test-slow.
MINUTES ?= 60
campaign: $(VENV)/.developer
	$(BIN)/python -m tests.campaign --minutes $(MINUTES) $(CAMPAIGN_ARGS)

bench: $(VENV)/.developer
	$(BIN)/python benchmarks/tolerance.py --quick
	$(BIN)/python benchmarks/floor.py --quick
	$(BIN)/python benchmarks/scaling.py --quick
	$(BIN)/python benchmarks/ablation.py --quick
	$(BIN)/python benchmarks/peers.py --quick
	$(BIN)/python benchmarks/side_by_side.py --quick
	$(BIN)/python benchmarks/reading.py --quick
	$(BIN)/python benchmarks/large.py --quick
	$(BIN)/python benchmarks/one_pass.py --quick
	$(BIN)/python benchmarks/evaluate.py --quick
	$(BIN)/python benchmarks/threshold.py --quick
	$(BIN)/python benchmarks/readers.py --quick
	$(BIN)/python benchmarks/labelled.py --quick
	$(BIN)/python benchmarks/stability.py --quick
	$(BIN)/python benchmarks/composition_error.py --quick
	$(BIN)/python benchmarks/transform.py --quick
	$(BIN)/python benchmarks/scan.py --quick
	$(BIN)/python benchmarks/second_moment.py --quick
	$(BIN)/python benchmarks/refinement.py --quick
	$(BIN)/python benchmarks/guidance.py --quick
	$(BIN)/python benchmarks/largest.py --quick
	$(BIN)/python benchmarks/explorer.py --quick
	$(BIN)/python benchmarks/choosing.py --quick
	$(BIN)/python benchmarks/items.py --quick
	$(BIN)/python benchmarks/trends.py --quick
	$(BIN)/python benchmarks/splits.py --quick
	$(BIN)/python benchmarks/effects.py --quick
	$(BIN)/python benchmarks/first_use.py --quick
	$(BIN)/python benchmarks/precision.py --quick

# Writes the outputs of the example notebook; a slow test fails if they are of other kinds than those of a new run.
notebook: $(VENV)/.developer
	$(BIN)/python docs/make_notebook.py

docs: $(VENV)/.developer
	$(BIN)/python docs/check.py

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .coverage htmlcov demo anchorwords-demo.html
