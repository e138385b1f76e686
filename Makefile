# `make bench` and `make test` are all a newcomer needs: each creates the environment first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
SUDO := $(shell [ "$$(id -u)" = 0 ] || echo sudo)

.PHONY: bench test check docs clean

bench: $(STAMP)
	$(BIN)/hexsim bench

test: $(STAMP)
	$(BIN)/python -m pytest -n auto --dist worksteal -m "not slow and not toolchain and not browser"

check: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: $(STAMP)
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet

# Debian and Ubuntu split venv off their Python; it is installed where it is missing.
$(STAMP): pyproject.toml setup.py
	$(PYTHON) -m venv $(VENV) || { \
	    $(SUDO) apt-get update -qq && $(SUDO) apt-get install -y -qq python3-venv && \
	    $(PYTHON) -m venv --clear $(VENV); }
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[dev]"
	touch $@

clean:
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache
