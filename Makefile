# Two commands set everything up on a fresh machine: `make site` and `make test`. `make help` lists the rest.
PYTHON ?= python3
TORCH ?= torch==2.13.0
VENV := .venv
BIN := $(VENV)/bin

.PHONY: site test check serve clean help

site: $(VENV)/.site ## build the site from the recorded runs; measure first where there is CUDA and torch
	$(BIN)/foretrace site

test: $(VENV)/.dev ## run the tests
	$(BIN)/python -m pytest

check: $(VENV)/.dev ## format, lint, types, layers
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

serve: $(VENV)/.site ## show the site at a local address while you write
	$(BIN)/foretrace serve

clean: ## remove what these commands made, not the recorded runs
	rm -rf $(VENV) site build docs/reports .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .foretrace_cache .hypothesis

help: ## this list
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.site: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable .
	@touch $@

# torch comes by itself first, so that its version is the one named here (TORCH=torch takes the newest).
$(VENV)/.dev: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet "$(TORCH)"
	$(BIN)/python -m pip install --quiet --editable '.[torch,dev]'
	@touch $@ $(VENV)/.site
