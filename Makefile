# A fresh machine with python3 (3.11 or newer), git and make runs `make demo` and `make test`; with Go also `make e2e`.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
DEMO := .demo
AUDIT := .audit
DEMO_READY := $(DEMO)/venv/.ready
# Test by test, so that no core waits for a long file at the end; tests that share servers stay together (tests/conftest.py).
EVERY_CORE := -n auto --maxprocesses 8 --dist loadgroup
# Bytecode is kept, also where the environment forbids it: the programs that tests start would compile each module anew.
export PYTHONDONTWRITEBYTECODE :=

.DEFAULT_GOAL := help
.PHONY: help environment test lint types contracts pytest smoke demo properties fuzz mutations bench bench-smoke chaos flapping e2e e2e-peers e2e-browser attack audit clean
.NOTPARALLEL:

define install
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("$(PYTHON) is Python %d.%d, but Argosy needs 3.11 or newer; name one: make PYTHON=python3.12 $(MAKECMDGOALS)" % sys.version_info[:2])'
	@$(PYTHON) -c 'import ensurepip' 2>/dev/null || { echo "$(PYTHON) cannot make environments; install its venv module (on Debian: apt-get install python3-venv)" >&2; exit 1; }
	@test -x $(1)/bin/python || $(PYTHON) -m venv $(1)
	@echo "installing into $(1)"
	@$(1)/bin/python -m pip install --quiet --disable-pip-version-check --editable '$(2)'
	@touch $(1)/.ready
endef

help:  ## list the targets
	@sed -n 's/^\([a-z0-9-]*\):.*  ## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 20

$(READY): pyproject.toml
	$(call install,$(VENV),.[test])

$(DEMO_READY): pyproject.toml
	$(call install,$(DEMO)/venv,.)

environment: $(READY)  ## the environment for development, in .venv

test: $(READY)  ## linters, types, contracts, tests, attacks, the built wheel: all that needs no API server; .ci/run adds e2e
	@start=$$(date +%s); ARGOSY_E2E=off $(MAKE) --no-print-directory lint types contracts pytest attack smoke && \
	echo "make test: passed in $$(($$(date +%s) - start)) seconds; what needs API servers is left out, make e2e runs it"

lint: $(READY)  ## ruff, and its formatter in check mode
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check --quiet .

types: $(READY)  ## mypy, strict
	@$(BIN)/mypy

contracts: $(READY)  ## which package may import which
	@$(BIN)/lint-imports

pytest: $(READY)  ## the tests but attacks, on every core; one file, in one process: make pytest ARGS=tests/test_render_layout.py
	@$(BIN)/pytest $(if $(ARGS),$(ARGS),$(EVERY_CORE) --ignore tests/attack)

smoke: $(READY)  ## build the wheel, install it into a fresh environment elsewhere, run it
	@$(BIN)/python -m tests.wheel_smoke

demo: $(DEMO_READY)  ## the main job on examples/quickstart: what was committed, and who got what
	@$(DEMO)/venv/bin/python -m tests.demo

properties: $(READY)  ## the properties alone, with 25 times as many examples: about five minutes
	@$(BIN)/pytest -m hypothesis --hypothesis-profile thorough $(EVERY_CORE) $(ARGS)

fuzz: $(READY)  ## YAML both ways against a real kubectl, with a fresh seed
	@$(BIN)/python -m tests.fuzz $(ARGS)

mutations: $(READY)  ## break random lines in a copy and name what no test notices; make mutations ARGS='--count 9 render'
	@$(BIN)/python -m tests.mutations $(ARGS)

bench: $(READY)  ## the benchmarks; one of them: make bench ARGS=yaml
	@$(BIN)/python -m tests.bench $(ARGS)

bench-smoke: $(READY)  ## a few small benchmarks: is anything 1.5 times as slow as in the last report, by ratios? a few minutes
	@$(BIN)/python -m tests.bench all --quick --compare examples/what-it-costs/report.json $(ARGS)

chaos: $(READY)  ## passes that are killed, members that fail in every way, a long day of the controller; about half an hour
	@$(BIN)/python -m tests.kubernetes
	@$(BIN)/python -m tests.chaos $(ARGS)

flapping: $(READY)  ## whole members whose pods flap for 20 minutes: are the numbers of status theirs, in few commits? ARGS='--minutes 5' is shorter
	@$(BIN)/python -m tests.kubernetes
	@$(BIN)/python -m tests.flapping $(ARGS)

e2e: $(READY)  ## against real Kubernetes API servers, which it builds and starts
	@$(BIN)/python -m tests.kubernetes
	@start=$$(date +%s); ARGOSY_E2E=required $(BIN)/pytest -m cluster $(if $(ARGS),$(ARGS),$(EVERY_CORE)) && \
	echo "make e2e: passed in $$(($$(date +%s) - start)) seconds; what needs no server is left out, make test runs it," && \
	echo "and what needs the servers of other tools, make e2e-peers runs that"

e2e-peers: $(READY)  ## beside a real Git server, Prometheus' reading of alerts, and the controllers of Flux and Argo CD; it builds them
	@ARGOSY_E2E=required ARGOSY_PEERS=required $(BIN)/pytest tests/test_run_peers.py tests/test_emission_peers.py $(ARGS)

e2e-browser: $(READY)  ## the page of three real members in a real browser: Debian's Chromium and axe-core, which it installs
	@$(BIN)/python -m tests.kubernetes
	@ARGOSY_E2E=required ARGOSY_BROWSER=required $(BIN)/pytest tests/test_pages_in_browser.py tests/test_report_in_browser.py $(ARGS)

attack: $(READY)  ## what somebody hostile would try, with counts: members, pull requests, branches, time and memory
	@$(BIN)/pytest tests/attack --durations 5 -rfE $(EVERY_CORE) $(ARGS)

audit: $(READY)  ## the lowest versions it may be installed with, against known advisories; needs the network
	@test -x $(AUDIT)/bin/pip-audit || { $(PYTHON) -m venv $(AUDIT) && $(AUDIT)/bin/python -m pip install --quiet pip-audit; }
	@$(BIN)/python -m tests.floors >$(AUDIT)/floors.txt
	@$(AUDIT)/bin/pip-audit --disable-pip --no-deps --requirement $(AUDIT)/floors.txt

clean:  ## remove the environments and every cache
	rm -rf $(VENV) $(DEMO) $(AUDIT) build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache .cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
