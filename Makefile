# `make bench` and `make test` are all a newcomer needs: each creates the environment first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: bench test check clean

bench: $(STAMP)
	$(BIN)/hexsim bench

test: $(STAMP)
	$(BIN)/python -m pytest -n auto -m "not slow and not toolchain"

check: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

$(STAMP): pyproject.toml
	$(PYTHON) -m venv $(VENV) || (echo "python venv is missing: apt install python3-venv" && exit 1)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[dev]"
	touch $@

clean:
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache
