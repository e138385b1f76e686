# `make bench` and `make test` are all a newcomer needs: each creates the environment first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
RUNS := $(VENV)/.runs
STAMP := $(VENV)/.installed
SUDO := $(shell [ "$$(id -u)" = 0 ] || echo sudo)

.PHONY: bench test check docs clean

bench: $(RUNS)
	@echo "== hexsim bench --chip sd835"
	@$(BIN)/hexsim bench --chip sd835

test: $(STAMP)
	$(BIN)/python -m pytest -n auto --dist worksteal -m "not slow and not toolchain and not browser"

check: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	@find hexsim -name '*.py' | wc -l | xargs printf '%s files of Python in hexsim/ (at most 700), '
	@find hexsim -name '*.py' -exec cat {} + | wc -l | xargs printf '%s lines (at most 86000)\n'
	@cat models/*.py | wc -l | xargs printf '%s lines of built-in networks in models/\n'

docs: $(STAMP)
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet

# Debian and Ubuntu split venv off their Python; it is installed where it is missing.
$(BIN)/python:
	@echo "== an environment in $(VENV)"
	@$(PYTHON) -m venv $(VENV) || { \
	    $(SUDO) apt-get update -qq && $(SUDO) apt-get install -y -qq python3-venv && \
	    $(PYTHON) -m venv --clear $(VENV); }

# What running needs, and besides it what tests, linters and pages do.
$(RUNS): pyproject.toml | $(BIN)/python
	@echo "== hexsim and what it runs with"
	@$(BIN)/python -m pip install --disable-pip-version-check --editable .
	@touch $@

$(STAMP): pyproject.toml | $(BIN)/python
	@echo "== hexsim and what it is developed with"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[dev]"
	@touch $(RUNS) $@

clean:
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache
