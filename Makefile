# What can be done here. `make` alone lists it; every target sets up what it needs.
.DEFAULT_GOAL := help
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PROTOS := $(wildcard protos/verity/v1/*.proto)
STUBS := gen/verity/v1/.generated
# buf compares the protos with this revision; CI's clone has main, and a first commit has nothing.
AGAINST ?= main

.PHONY: help
help: ## List the targets
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-13s %s\n", $$1, $$2}'

$(VENV)/.installed: requirements.lock pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit("Verity needs Python 3.11 or newer; set PYTHON=") if sys.version_info < (3, 11) else 0'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	touch $@

$(STUBS): $(PROTOS) Makefile | $(VENV)/.installed
	mkdir -p gen/verity/v1
	$(BIN)/python -m grpc_tools.protoc -Iprotos --python_out=gen --pyi_out=gen --grpc_python_out=gen \
	  --include_source_info --descriptor_set_out=gen/verity/v1/descriptors.binpb $(PROTOS)
	touch $@

.PHONY: setup
setup: $(VENV)/.installed $(STUBS) ## Make .venv from the lock and generate the stubs

web/node_modules/.installed: web/package-lock.json
	node -e 'if (parseInt(process.versions.node) < 20) { console.error("The page needs Node 20 or newer"); process.exit(1) }'
	cd web && npm ci --silent
	touch $@

web/dist/index.html: web/node_modules/.installed $(shell find web/src web/public -type f) web/index.html web/vite.config.ts
	cd web && npm run --silent build
	touch $@

.PHONY: page
page: web/dist/index.html ## Build the page that the gateway serves (needs Node 20)

.PHONY: run
run: setup page ## Start the whole system, ingest the samples, ask, stay up (Ctrl-C drains)
	$(BIN)/verity up --samples

.PHONY: demo
demo: setup ## Start the whole system, ask the three sample questions, print answers and timings, exit
	$(BIN)/verity up --samples --demo

.PHONY: test
test: setup page ## Run every test: unit, contract, end to end, in a browser
	cd web && npm test --silent
	$(BIN)/python -m pytest

.PHONY: lint
lint: setup web/node_modules/.installed ## Check style, types and protos, and the page
	cd web && npm run --silent lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/buf lint protos
	if git rev-parse --quiet --verify '$(AGAINST):protos/buf.yaml' >/dev/null; then \
	  $(BIN)/buf breaking protos --against '.git#ref=$(AGAINST),subdir=protos'; \
	else echo "buf breaking: $(AGAINST) has no protos yet"; fi

.PHONY: format
format: setup ## Format code and protos
	$(BIN)/ruff check --fix-only --quiet .
	$(BIN)/ruff format .
	$(BIN)/buf format -w protos

.PHONY: bench
bench: setup ## Measure Ask against the same steps as plain functions
	$(BIN)/python -m benchmarks serve

# make images BASE_IMAGE=python:3.12-slim-bookworm@sha256:... PREFIX=registry.example/verity/
BASE_IMAGE ?= python:3.12-slim-bookworm
PREFIX ?=
.PHONY: images
images: setup page ## Build the image of every service and of the command (needs Docker), weigh each
	$(BIN)/python -m images.build --base $(BASE_IMAGE) --prefix '$(PREFIX)'

.PHONY: images-check
images-check: setup ## Run each image as in a cluster: no root, nothing writable, no network
	$(BIN)/python -m pytest -q tests/images

.PHONY: pin
pin: setup ## Write the digests of pushed images into the production overlay (PREFIX=...)
	$(BIN)/python -m images.pin --prefix '$(PREFIX)'

# make e2e TARGET=localhost:8000 TOKEN=...
TARGET ?=
TOKEN ?=
.PHONY: e2e
e2e: setup ## Run the end-to-end tests: here, or against a gateway anywhere (TARGET=host:port)
	E2E_TARGET='$(TARGET)' E2E_TOKEN='$(TOKEN)' $(BIN)/python -m pytest -q tests/e2e

.PHONY: manifests
manifests: setup ## Render every overlay with every set of components, validate and check each
	$(BIN)/python -m pytest -q tests/manifests

.PHONY: samples
samples: setup ## Build the sample PDFs from their sources
	$(BIN)/python -m samples.build

.PHONY: lock
lock: ## Pin every dependency with its hashes
	$(BIN)/uv pip compile pyproject.toml --all-extras --generate-hashes --universal --python-version 3.11 \
	  --upgrade --quiet --custom-compile-command "make lock" -o requirements.lock

.PHONY: clean
clean: ## Remove what was made here, but not var/, which holds data
	rm -rf $(VENV) gen build dist web/dist web/node_modules .mypy_cache .ruff_cache .pytest_cache .hypothesis
