PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
# TensorFlow lives apart: the tests must not need it.
PARITY_VENV ?= .venv-parity
PARITY_STAMP := $(PARITY_VENV)/.installed
PARITY_PYTHON := $(abspath $(PARITY_VENV))/bin/python

.PHONY: demo examples test test-slow test-all test-without-forms test-versions test-large stress check parity fuzz accelerators accelerators-quick device foreign mutants docs docs-serve docs-test docs-printed names bench bench-core bench-growth bench-sparse dist clean

demo: $(STAMP)
	@echo "Training word embeddings: about a minute on two cores that are idle"
	$(BIN)/python examples/word_embeddings.py

# Every script of `examples`, each of which prints a table and may draw a picture; what it printed is kept
# for `make docs`, and a script is run again after a change. Two minutes with `make examples -j2` on two cores.
SCRIPTS := $(filter-out gallery,$(patsubst examples/%.py,%,$(shell grep -l '^if __name__' examples/*.py)))
PRINTED := $(SCRIPTS:%=build/docs/examples/%.txt)

examples: $(PRINTED) build/docs/pictures/.made
	@echo "What they print is in build/docs/examples, their pictures are in build."

build/docs/examples/%.txt: examples/%.py $(wildcard jaxops/*.py jaxops/*/*.py) | $(STAMP)
	@mkdir -p $(@D)
	@echo "Running $<"
	@bash -c 'set -o pipefail; $(BIN)/python -u $< | tee $@.part'
	@mv $@.part $@

# Each process has tests that stand together, which trace the same programs.
PYTEST = $(BIN)/python -m pytest --numprocesses auto --maxprocesses 8 --dist worksteal

# What is soon done; of TESTS=tests/ops only. WITH="jax==0.10.0 jaxlib==0.10.0" sets the environment up
# with other versions. XLA leaves optimizations out: see tests/fast.py.
test: $(STAMP)
	JAXOPS_TESTS_SOON=1 $(PYTEST) $(TESTS)

# The values of every op without the forms that programs for the CPU compute faster.
test-without-forms: $(STAMP)
	JAXOPS_TESTS_WITHOUT_FORMS=1 JAXOPS_TESTS_SOON=1 $(PYTEST) \
		tests/ops/test_ops.py tests/ops/test_dtypes.py

# What `make test` leaves out of `make test-all`, and is not for the night; slow tests that need no
# optimizations of XLA are compiled without them, as in `make test`. SHARE=3 takes a third, as `test-versions` does;
# PART=1 another one than PART=0.
test-slow: $(STAMP)
test-slow: export JAXOPS_TESTS_SHARE = $(if $(SHARE),$(or $(PART),0)/$(SHARE))
test-slow:
	JAXOPS_TESTS_FAST=1 $(PYTEST) -m 'slow and not nightly and not optimized and not large and not stress'
	$(PYTEST) -m 'optimized and not nightly and not large and not stress'

# Every test but those of the two targets below, with programs as users compile them.
test-all: $(STAMP)
	$(PYTEST)

# All tests with Python 3.11 and the oldest jax, and with Python 3.13 and jax 0.12, each with 64-bit
# types off and on; and the tests of numbers with each instruction set and with one thread. What this
# machine has not is left out and named. RUNS="3.11-x64 isa-SSE4_2" does less; with SOON=1 a version
# runs the tests of `make test` only, and as there; with SHARE=5 one in five of the parameters of each
# test function, and other ones with the other version, and of the functions with fewer parameters
# every other one; of TESTS=tests/errors only.
test-versions: $(STAMP)
	$(PYTHON) tests/versions.py --python $(abspath $(BIN))/python \
		$(if $(SOON),--soon) $(if $(SHARE),--share $(SHARE)) $(if $(RUNS),--runs $(RUNS)) $(if $(TESTS),-- $(TESTS))

# Arrays of more than 2^31 elements, one test after the other. The arrays take 2.1 GB each.
test-large: $(STAMP)
	$(BIN)/python -m pytest -m large tests

# Tens of thousands of failing calls, from many threads, in long scans; sparse gradients of all
# patterns in all kinds of programs; every case as lowered for a TPU: half an hour.
stress: $(STAMP)
	$(BIN)/python -m pytest -m stress tests

# Besides: calls as users write them, by two type checkers, and that every public name has a type.
check: $(STAMP)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/pyright
	$(BIN)/pyright --project tests/typing
	$(BIN)/mypy
	PYTHONPATH=$(CURDIR) $(BIN)/pyright --pythonpath $(BIN)/python --verifytypes jaxops --ignoreexternal

# Every function against TensorFlow's, in calls that Hypothesis draws: see CONTRIBUTING.md.
# EXAMPLES is their number for each function.
EXAMPLES ?= 500
parity: $(PARITY_STAMP)
	PARITY_EXAMPLES=$(EXAMPLES) $(PARITY_PYTHON) -m pytest -c tests/parity/pytest.ini tests/parity \
		--numprocesses auto --maxprocesses 8 --dist loadgroup

# Every function compiled for an H100 and for a TPU v5e, which XLA's compilers for them do on a
# machine without one; into benchmarks/results, of which `make docs` makes a page. A quarter of an hour.
accelerators: .venv-cuda/.installed .venv-tpu/.installed
	.venv-cuda/bin/python benchmarks/accelerators.py cuda
	.venv-tpu/bin/python benchmarks/accelerators.py tpu

# A few of the programs for the H100; fails if one waits for the host, adds by compare-and-swap, or is worse than
# the recorded one of the same jax.
accelerators-quick: .venv-cuda/.installed
	.venv-cuda/bin/python benchmarks/accelerators.py cuda --quick

# Bounds, values, gradients and times on the device of this machine, into benchmarks/results/device-NAME.json.
# PYTHON_OF_DEVICE names a Python that has jax for it, and optax; else one is set up.
# `make device PLATFORM=cpu` is a dry run with small arrays, into build.
PLATFORM ?= cuda
ifeq ($(PLATFORM),cpu)
PYTHON_OF_DEVICE ?= $(BIN)/python
device: $(STAMP)
else
PYTHON_OF_DEVICE ?= .venv-device/bin/python
device: $(if $(filter .venv-device/%,$(PYTHON_OF_DEVICE)),.venv-device/.installed)
endif
device:
	PYTHONPATH=$(CURDIR):tests $(if $(filter cpu,$(PLATFORM)),JAX_PLATFORMS=cpu) $(PYTHON_OF_DEVICE) benchmarks/device.py \
		--platform $(PLATFORM) $(if $(filter cpu,$(PLATFORM)),--json build/device-cpu.json)

# The test suites that other packages of JAX ship, with an error for each index out of bounds: see tests/foreign.
# SUITES="haiku optax" runs these alone.
foreign: .venv-foreign/.installed
	.venv-foreign/bin/python tests/foreign/suites.py $(if $(SUITES),--suites $(SUITES))

# Like `parity`, with fresh seeds, as long as SECONDS; FUNCTIONS=gather,v0.pad and SEED=7 narrow it down.
SECONDS ?= 300
fuzz: $(PARITY_STAMP)
	$(PARITY_PYTHON) tests/parity/fuzz.py --seconds $(SECONDS) \
		$(if $(FUNCTIONS),--functions $(FUNCTIONS)) $(if $(SEED),--seed $(SEED))

# Small changes of jaxops, each of which its tests must notice: those of tests/mutants_by_hand.py, and COUNT that
# SEED draws of those made by rule. ONLY=_indexing/bounds narrows them down. About half an hour on two cores.
mutants: $(STAMP)
	$(BIN)/python tests/mutants.py $(if $(ONLY),--only '$(ONLY)') $(if $(SEED),--seed $(SEED)) \
		$(if $(COUNT),--count $(COUNT)) $(if $(JOBS),--jobs $(JOBS))

# The documentation, built into build/site. FOUND is made by running the functions and the examples, two
# at a time, and made again after a change of jaxops: a few minutes on two idle cores.
FOUND := $(addprefix build/docs/,dtypes.json symbolic_shapes.json tutorial.md pictures/.made) $(PRINTED)

docs: $(STAMP)-docs
	$(MAKE) --jobs=2 $(FOUND)
	$(MKDOCS) build

# The same at http://localhost:8000, built again while pages are written.
docs-serve: $(STAMP)-docs
	$(MAKE) --jobs=2 $(FOUND)
	$(MKDOCS) serve

# Links, and pages in a headless browser, which must be there: Chromium, or that of Playwright.
docs-test: docs
	$(BIN)/python -m pytest -m site tests/site

# What is made from the table of names (jaxops/_names.py) and the records: the stubs that type checkers read,
# tests/signatures.txt, and the names in README.md.
names: $(STAMP)
	PYTHONPATH=tests $(BIN)/python tests/write_names.py
	PYTHONPATH=tests $(BIN)/python docs/make/readme_names.py

# What stands in README.md and in docs, and is printed by scripts: names, numbers and outputs.
docs-printed: names
	$(BIN)/python docs/make/captured.py

MKDOCS := NO_MKDOCS_2_WARNING=1 PYTHONPATH=tests $(BIN)/mkdocs
FUNCTIONS_AND_RECORDS := $(wildcard jaxops/*.py jaxops/*/*.py tests/records/*.py)

build/docs/dtypes.json: docs/make/dtype_table.py $(FUNCTIONS_AND_RECORDS) | $(STAMP)
	XLA_FLAGS="$$($(BIN)/python tests/fast.py)" PYTHONPATH=tests $(BIN)/python $< $@

build/docs/symbolic_shapes.json: docs/make/symbolic_table.py $(FUNCTIONS_AND_RECORDS) | $(STAMP)
	XLA_FLAGS="$$($(BIN)/python tests/fast.py)" PYTHONPATH=tests $(BIN)/python $< $@

build/docs/tutorial.md: docs/make/tutorial.py docs/tutorial.ipynb $(FUNCTIONS_AND_RECORDS) | $(STAMP)
	@mkdir -p $(@D)
	$(BIN)/python $< $@

build/docs/pictures/.made: examples/gallery.py examples/gallery_table.py $(FUNCTIONS_AND_RECORDS) | $(STAMP)
	$(BIN)/python $< --output build/docs
	touch $@

# Every op against TensorFlow, jax.numpy and keras.ops: see benchmarks/README.md. Options of
# suite.py go into BENCH, as in `make bench BENCH=--quick`.
bench: $(STAMP)-benchmarks
	PYTHONPATH=tests $(BIN)/python benchmarks/suite.py \
		--json benchmarks/results/suite.json --plot benchmarks/results/suite.png $(BENCH)

# How time, temporaries and compilation grow with size, as exponents beside those of TensorFlow and
# jax.numpy: see benchmarks/README.md. Options go into BENCH, as in `make bench-growth
# BENCH="--kinds time --rows ^gather --largest 4"`.
bench-growth: $(STAMP)-benchmarks
	PYTHONPATH=tests $(BIN)/python benchmarks/growth.py --json benchmarks/results/growth.json $(BENCH)

# What the default bounds cost.
bench-core: $(STAMP)
	$(BIN)/python benchmarks/bounds_cost.py

# One training step of a table lookup, against a dense gradient and against TensorFlow.
bench-sparse: $(STAMP)
	$(BIN)/python -m pip install --quiet --editable '.[benchmarks]'
	$(BIN)/python benchmarks/sparse_gradients.py --json benchmarks/results/sparse_gradients.json \
		--plot docs/pictures/sparse_gradients.png

$(STAMP): pyproject.toml
	@echo "Setting up $(VENV), and fetching packages that are not on this machine"
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable '.[dev]' $(WITH)
	touch $@

$(PARITY_STAMP): pyproject.toml
	$(PYTHON) -m venv $(PARITY_VENV)
	$(PARITY_VENV)/bin/python -m pip install --quiet --upgrade pip
	$(PARITY_VENV)/bin/python -m pip install --quiet --editable '.[parity]'
	touch $@

.venv-cuda/.installed: REQUIREMENTS = 'jax[cuda12-local]' nvidia-cuda-nvcc-cu12
.venv-tpu/.installed: REQUIREMENTS = 'jax[tpu]'
.venv-device/.installed: REQUIREMENTS = 'jax[cuda12]' pytest
.venv-foreign/.installed: REQUIREMENTS = chex craftax distrax dm-haiku dm-pix flax frozendict jaxmarl jraph jumanji mctx pgx rlax pytest pytest-xdist
.venv-%/.installed: pyproject.toml
	$(PYTHON) -m venv .venv-$*
	.venv-$*/bin/python -m pip install --quiet --upgrade pip
	.venv-$*/bin/python -m pip install --quiet --editable '.[optax]' $(REQUIREMENTS)
	touch $@

$(STAMP)-docs: $(STAMP)
	$(BIN)/python -m pip install --quiet --editable '.[docs]'
	touch $@

$(STAMP)-benchmarks: $(STAMP)
	$(BIN)/python -m pip install --quiet --editable '.[benchmarks]'
	touch $@

# What is released, in `dist`: built and checked, and the wheel tried in empty environments, one for each
# Python that this machine has with the oldest jax and with the newest. A TAG must be that of the version.
dist: $(STAMP)
	$(BIN)/python -m pip install --quiet --editable '.[release]'
	$(BIN)/python tests/distribution.py $(if $(TAG),--tag $(TAG))

clean:
	rm -rf $(VENV) $(VENV)-* $(PARITY_VENV) .venv-cuda .venv-tpu .venv-foreign build dist .mypy_cache .pytest_cache .ruff_cache
