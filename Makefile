# Every task of the project; `make help` lists them. Each makes what it needs first, so any of them works in a fresh clone.

# The interpreter that the virtual environment is made from: Python 3.10 or newer.
PYTHON ?= python3
# An environment elsewhere, as the images have it (VENV=/opt/venv), holds what was done for it: the clone is used from outside too.
VENV ?= .venv
BIN := $(VENV)/bin
SETUP := $(if $(filter .venv,$(VENV)),.setup,$(VENV)/.setup)
# Programs run in the activated environment (docs/cli.md): whatever the user has activated, the clone's own is meant here.
export VIRTUAL_ENV := $(abspath $(VENV))
# The site's generator has an environment of its own: nothing of it is needed to build, test or run.
DOCS_VENV := build/docs-venv
THREADED := $(wildcard tests/native/test_*_threads.py) tests/breakpoints/test_native_breakpoints.py tests/breakpoints/test_kernel_places.py
NATIVE_FILES := $(shell find csrc -name '*.h' -o -name '*.cpp')

.DEFAULT_GOAL := help
.PHONY: help setup debug-build release-build asan-build wheel test test-versions test-vscode test-slurm asan-test tsan-test test-all stress-test fault-test fuzz-test lint lint-python lint-others format demo vscode docs clean

help: ## list the tasks
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))

setup: $(SETUP)/installed ## prepare this clone: system packages, .venv, pyharness in it (editable)

$(SETUP)/system: scripts/system-packages.sh
	@mkdir -p $(SETUP)
	scripts/system-packages.sh $(PYTHON)
	@touch $@

$(SETUP)/venv: requirements.txt $(SETUP)/system
	test -e $(VENV) || rm -f $(VENV) # a link that was made in a container leads nowhere outside of it
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo 'Installing the pinned packages into $(VENV): torch is the largest'
	$(BIN)/python -m pip install --quiet -r requirements.txt
	@touch $@

# What was done for an environment that has gone is to be done again.
ifeq ($(wildcard $(BIN)/python),)
.PHONY: $(SETUP)/venv
endif
# An environment elsewhere may have another clone in it: it runs the one that was installed last.
ifneq ($(file <$(SETUP)/installed),$(CURDIR))
.PHONY: $(SETUP)/installed
endif
$(SETUP)/installed: pyproject.toml setup.py $(SETUP)/venv
	test -e .venv || test '$(VENV)' = .venv || ln -sfn $(abspath $(VENV)) .venv # the name that .vscode/ and the docs use
	$(BIN)/python cmake/build.py debug # which counts the files as it compiles them: pip is silent for minutes, and finds it done
	$(BIN)/python -m pip uninstall --quiet --yes pyharness # its name until 0.1
	$(BIN)/python -m pip install --quiet --no-build-isolation --no-deps --editable .
	@echo '$(CURDIR)' >$@

debug-build: setup ## build for debugging (no optimization, asserts, gdb index) and make it the active build
	$(BIN)/python cmake/build.py debug

release-build: setup ## build as users have it, optimized, and make it the active build
	$(BIN)/python cmake/build.py release

wheel: $(SETUP)/venv ## make the wheel, into dist/: for every Python, without torch
	rm -rf build/wheel dist/*.whl
	$(BIN)/python -m build --no-isolation --wheel --outdir build/wheel
	PATH="$(abspath $(BIN)):$$PATH" $(BIN)/auditwheel repair --wheel-dir dist build/wheel/*.whl

asan-build: setup ## build with address and undefined-behaviour sanitizers and make it the active build
	$(BIN)/python cmake/build.py asan

# Two thousand processes import the package, and each test process rewrites 300 files of tests (5 s): what they compile is
# kept, also where PYTHONDONTWRITEBYTECODE is set.
test: export PYTHONDONTWRITEBYTECODE :=
test: export PYHARNESS_TURN ?= $(TURN)
test: export PYHARNESS_DOUBLE ?= $(DOUBLE)
test: debug-build ## run the tests (TESTS=PATH for some, TURN=all for every variant, DOUBLE=1 for what CI runs) against the debug build
	$(BIN)/python -m compileall -q pyharness tests/kit
	$(BIN)/python -m pytest -n 4 --dist loadfile --no-loadscope-reorder $(TESTS)

test-versions: setup ## run the tests with other versions of Python and torch (VERSIONS=py3.12-torch2.14 for one pair)
	$(BIN)/nox -s "tests$(if $(VERSIONS),($(VERSIONS)))"

test-vscode: debug-build ## run the tests in a real VS Code workbench and of the HTML page, headless (needs Node.js 20; installs .vscode-lab)
	tests/vscode/lab/setup.sh
	node --test --test-concurrency=1 $(or $(TESTS),$(wildcard tests/vscode/*.test.js tests/report/*.test.js))

test-slurm: debug-build ## run the tests below a real Slurm, of one node and of two (fetches it into .setup/slurm, installs nothing)
	scripts/slurm.sh .setup/slurm
	$(MAKE) --no-print-directory test TESTS=tests/ranks/test_slurm.py TURN=all

asan-test: setup ## run the tests of the native code (TESTS=PATH for others) under the sanitizers
	PATH="$(abspath $(BIN)):$$PATH" scripts/asan-test.sh $(or $(TESTS),tests/ops)

tsan-test: setup ## run the tests of what watches many threads (TESTS=PATH for others) under the thread sanitizer
	PATH="$(abspath $(BIN)):$$PATH" scripts/tsan-test.sh $(or $(TESTS),$(THREADED))

test-all: debug-build ## the tests, lint and all that CI leaves out: JavaScript, sanitizers, docs, stress, Slurm, versions (ONLY="docs versions" for some; hours)
	$(BIN)/python scripts/test_all.py $(ONLY)

stress-test: debug-build ## record 10^7 events from 8 threads, and start and stop recordings meanwhile (minutes)
	PYHARNESS_STRESS=63 $(BIN)/python -m pytest -n 0 --timeout 1200 tests/native/test_record_threads.py tests/native/test_record_ring.py

fault-test: debug-build ## kill each part of a session in each phase, three times (docs/faults.md; half an hour)
	PYHARNESS_TURN=all PYHARNESS_FAULT_TIMES=3 $(BIN)/python -m pytest -n 2 tests/faults/test_fault_table.py

fuzz-test: debug-build ## make up 10^5 inputs of each kind: places, files, messages (EXAMPLES=N for another number; half an hour to an hour)
	PYHARNESS_EXAMPLES=$(or $(EXAMPLES),100000) $(BIN)/python -m pytest -n 2 --timeout 7200 tests/fuzz tests/protocol

# mypy has one thread: what else there is runs beside it.
lint: debug-build ## formatting, ruff, docstrings, mypy (the packages --strict), clang-format, hadolint, clang-tidy
	$(MAKE) --no-print-directory --jobs 2 --output-sync lint-python lint-others

lint-python:
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/python scripts/docstrings.py
	$(BIN)/mypy
	$(BIN)/mypy --config-file tests/mypy.ini

lint-others:
	$(BIN)/clang-format --dry-run -Werror $(NATIVE_FILES)
	$(BIN)/hadolint docker/*Dockerfile
	$(BIN)/python scripts/clang_tidy.py

format: setup ## rewrite the sources in the project's format
	$(BIN)/ruff format
	$(BIN)/ruff check --fix-only
	$(BIN)/clang-format -i $(NATIVE_FILES)

demo: debug-build ## step from a generated line into a C++ kernel and back, then the same by a plain gdb script
	PATH="$(abspath $(BIN)):$$PATH" scripts/demo.sh

vscode: dist/pyharness.vsix ## package the VS Code extension into dist/ (needs Node.js 20 and npm)

dist/pyharness.vsix: $(shell find vscode -type f -not -path '*/test/*')
	@mkdir -p dist
	cd vscode && npm exec --yes --ignore-scripts --package=@vscode/vsce@3.9.2 -- \
	  vsce package --no-dependencies --allow-missing-repository --out ../$@

docs: setup $(DOCS_VENV)/installed ## write the reference from the code and build the site into build/docs
	$(BIN)/python scripts/reference
	$(DOCS_VENV)/bin/sphinx-build --fail-on-warning --keep-going --quiet -d build/doctrees docs build/docs
	@echo "build/docs/index.html"

$(DOCS_VENV)/installed: docs/requirements.txt
	$(PYTHON) -m venv $(DOCS_VENV)
	$(DOCS_VENV)/bin/python -m pip install --quiet -r $<
	@touch $@

clean: ## remove builds; the virtual environment stays
	rm -rf build dist artifacts *.egg-info $(SETUP)/installed compile_commands.json
	rm -f pyharness/_*.so
