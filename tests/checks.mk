# How tests are run. A check is a unit test (tests/test_NAME.c is the check NAME) or one of the others below. A check that has
# passed runs again only when something that it depends on has changed: its program, the files that it reads, or larmor.

RESULTS := $(B)/checks
UNIT := $(patsubst tests/test_%.c,%,$(wildcard tests/test_*.c))
EXAMPLES := $(patsubst examples/%/check.py,%,$(wildcard examples/*/check.py))

# The generator of random configurations, without its main function.
RANDOM := $(filter-out tests/random/random.c,$(wildcard tests/random/*.c))

# Checks that take longest come first, so that none of them runs alone at the end. `make test` runs CHECKS, `make test-ci` also
# SLOW, and `make test-all` also LONGEST: long examples, more restarts, and readers, which downloads much.
QUICK_EXAMPLES := waves effusion electron_heating gyration
LONG_EXAMPLES := beside_peers kelvin_helmholtz reconnection comet driven_turbulence warm_waves parallel_shock turbulence cyclotron \
                 oblique_shock firehose
SLOW_UNIT := radiating_waves key_extremes body_radius tracks body_order
CHECKS := fingerprint physics-budgets $(QUICK_EXAMPLES:%=example-%) cppcheck-src cppcheck-tests \
          field_walls_div_b exchange_few_ions ionisation_run electrons_run fields open advect ionisation field_bodies \
          ledger_restart background_restart exchange_budgets gas cppcheck-cuda diagnostics notebooks validate ranks
CHECKS += $(if $(RANDOM),random-configurations) $(filter-out $(CHECKS) $(SLOW_UNIT),$(UNIT)) install format layers docs tools gpu kernels
LINT := format layers cppcheck-src cppcheck-tests cppcheck-cuda
LONGEST := fingerprint-all physics-voids physics-drifts physics-sides physics-reflection readers $(LONG_EXAMPLES:%=example-%)
SLOW := $(if $(RANDOM),ranks-configurations) $(SLOW_UNIT) physics-energy physics-inflow physics-starts \
        $(filter-out $(CHECKS) $(LONGEST),$(EXAMPLES:%=example-%))

# Under the sanitizers `make test-ci` runs random configurations and the unit tests that take at most 15 seconds there on two
# cores. `make test-all` also runs the others, except for the last two of SANITIZED_LONG, which take many minutes.
SANITIZED_LONG := absorption advect averages background_cut background_restart body_noise body_order body_particles body_radius \
                  body_shadow cli_check cli_lock electrons_conduction exchange_few_ions field_radiating field_walls_div_b fields \
                  fingerprint gas ionisation open partition program_random radiating_corners radiating_waves side_energy \
                  step_forecast tracks weno_dynamic key_extremes cli_signals
SANITIZED := $(if $(RANDOM),random-configurations) $(filter-out $(SANITIZED_LONG),$(UNIT))
SANITIZED_ALL := $(SANITIZED) $(filter-out key_extremes cli_signals,$(SANITIZED_LONG))

# These tests run the program larmor, directly or through cli.h.
RUN_LARMOR := $(patsubst tests/test_%.c,%,$(shell grep -lE '"cli\.h"|LARMOR"' tests/test_*.c))

# A check has two threads: that is enough to find errors that only threads show, and checks already run in parallel. SHOW makes
# a check print its whole output; `make check-NAME` sets it.
SHOW ?=
export LARMOR = $(abspath $(B)/larmor)
ifneq ($(VARIANT),asan) # Python cannot load a library that has the sanitizers
export LARMOR_LIBRARY = $(abspath $(LIBRARY))
endif
check = @SHOW='$(SHOW)' OMP_NUM_THREADS=$${OMP_NUM_THREADS:-2} tests/check.sh $@ '$(1)' $(sort $^)
results = $(addprefix $(RESULTS)/,$(1))

# --- what a user calls ----------------------------------------------------------------------------------------------------

##@ Test
.PHONY: test
test: setup-tests ## Installs what is missing, builds, and runs the checks that are due (minutes).
	@$(MAKE) --no-print-directory built
	@$(MAKE) --no-print-directory $(call results,$(CHECKS))
	@tests/summary.sh $(call results,$(CHECKS))

.PHONY: test-ci
test-ci: setup-tests ## Runs also most examples, random runs on ranks, and unit tests under sanitizers, as continuous integration does.
	@$(MAKE) --no-print-directory built
	@$(MAKE) --no-print-directory $(call results,$(SLOW) $(CHECKS))
	@$(MAKE) --no-print-directory VARIANT=asan NVCC= sanitized
	@tests/summary.sh $(call results,$(CHECKS) $(SLOW)) $(SANITIZED:%=build/asan/checks/%)

.PHONY: test-all
test-all: setup-tests ## Runs all checks, also the longest examples and more restarts.
	@$(MAKE) --no-print-directory built
	@$(MAKE) --no-print-directory $(call results,$(LONGEST) $(SLOW) $(CHECKS))
	@$(MAKE) --no-print-directory VARIANT=asan NVCC= sanitized-all
	@tests/summary.sh $(call results,$(CHECKS) $(SLOW) $(LONGEST)) $(SANITIZED_ALL:%=build/asan/checks/%)

# One make runs all checks that the command line names, so that nothing is built twice.
CHOSEN := $(patsubst check-%,%,$(filter check-%,$(MAKECMDGOALS)))
.PHONY: chosen
chosen:
	$(if $(filter-out $(CHECKS) $(SLOW) $(LONGEST),$(CHOSEN)),$(error no check $(filter-out $(CHECKS) $(SLOW) $(LONGEST),$(CHOSEN)): make checks lists them))
	@rm -f $(call results,$(CHOSEN))
	@$(MAKE) --no-print-directory SHOW=yes $(call results,$(CHOSEN))
	@tests/summary.sh $(call results,$(CHOSEN))

check-%: chosen ## Runs one check, due or not, and shows all that it prints: check-weno, check-example-waves.
	@:

.PHONY: checks
checks: ## Lists the names of all checks.
	@printf '%s\n' $(CHECKS)
	@printf '%s (make test-ci)\n' $(SLOW)
	@printf '%s (make test-all)\n' $(LONGEST)

.PHONY: setup-tests
setup-tests:
	@tools/setup.sh tests

.PHONY: built
built: $(B)/larmor $(LIBRARY) $(UNIT:%=$(B)/tests/test_%) $(B)/tests/gpu/test_gpu $(if $(RANDOM),$(B)/tests/random/random)

.PHONY: checked-unit sanitized sanitized-all unit lint gpu-test
checked-unit: $(call results,$(UNIT))
sanitized: $(call results,$(SANITIZED))
sanitized-all: $(call results,$(SANITIZED_ALL))
unit: ## Runs the unit tests that are due.
	@$(MAKE) --no-print-directory checked-unit
	@tests/summary.sh $(call results,$(UNIT))

lint: ## Runs clang-format 14, cppcheck and the check of the layers.
	@$(MAKE) --no-print-directory $(call results,$(LINT))
	@tests/summary.sh $(call results,$(LINT))

gpu-test: ## Compares the GPU with the CPU bit for bit, where there is a GPU.
	@$(MAKE) --no-print-directory check-gpu

.PHONY: validate
validate: $(B)/larmor ## Runs the openPMD validator over the fields and particles of a run.
	@tests/validate_run.sh $(B)/larmor

.PHONY: layers
layers: ## Checks that dependencies between the parts of the program point one way.
	@tools/python.sh tools/layers.py

##@ Sources and documentation
.PHONY: format
format: ## Lays the sources out as clang-format 14 does.
	@$(call clang_format,-i)

# --- test programs --------------------------------------------------------------------------------------------------------

$(B)/tests/%: $(B)/tests/%.c.o $(B)/liblarmor.a
	$(say) LINK $@
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $(filter %.o,$^) $(filter %.a,$^) $(shell pkg-config --libs check) $(LDLIBS)
$(B)/tests/test_random: $(RANDOM:%=$(B)/%.o)

# The test of the GPU. It has CUDA where nvcc is, as the program has.
ifneq ($(NVCC),)
$(B)/tests/gpu/test_gpu.c.o: CFLAGS += -DLM_CUDA
GPU_TEST_OBJ := $(B)/tests/gpu/divide.cu.o
endif
$(B)/tests/gpu/test_gpu.c.o: $(B)/link
$(B)/tests/gpu/test_gpu: $(B)/tests/gpu/test_gpu.c.o $(GPU_TEST_OBJ) $(CUDA_OBJ) $(B)/liblarmor.a $(B)/link
	$(say) LINK $@
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $(filter %.o %.a,$^) $(LDLIBS) $(CUDA_LIBS)

$(B)/tests/random/random: $(B)/tests/random/random.c.o $(RANDOM:%=$(B)/%.o) $(CUDA_OBJ) $(MPI_OBJ) $(B)/liblarmor.a $(B)/link
	$(say) LINK $@
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $(filter %.o %.a,$^) $(LDLIBS) $(MPI_LIBS) $(CUDA_LIBS)

# --- the checks -----------------------------------------------------------------------------------------------------------

# This file changes when the program or the library changes, but not when only the commit that they name changes.
PROGRAM := $(RESULTS)/larmor.sum
$(PROGRAM): $(B)/src/main.c.o $(B)/src/base/h5.c.library.o $(CUDA_OBJ) $(B)/liblarmor.a $(B)/link | $(B)/larmor $(LIBRARY)
	@mkdir -p $(@D); cat $^ | sha256sum > $@.new; if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi

RUNNER := tests/check.sh
CASES := $(wildcard tests/cases/*.* tests/golden.txt)

$(call results,$(UNIT)): $(RESULTS)/%: $(B)/tests/test_% $(CASES) $(RUNNER)
	$(call check,$(B)/tests/test_$*)
$(call results,$(RUN_LARMOR)): $(PROGRAM)
$(RESULTS)/cli: config/reference.md

$(RESULTS)/fingerprint-all: $(B)/tests/test_fingerprint $(CASES) $(RUNNER)
	$(call check,LARMOR_TEST_ALL=1 $(B)/tests/test_fingerprint)

$(RESULTS)/random-configurations: $(B)/tests/random/random $(PROGRAM) $(wildcard tests/cases/random/*) $(RUNNER)
	$(call check,$(if $(filter asan,$(VARIANT)),$< --seed 1 --count 12 --jobs 1,$< --seed 1 --count 40 --jobs 1 && $< --cases tests/cases/random --jobs 1))

$(RESULTS)/ranks $(RESULTS)/ranks-configurations: $(B)/tests/random/random $(PROGRAM) tests/ranks.py $(wildcard tests/cases/random/*) $(RUNNER)
$(RESULTS)/ranks:
	$(call check,tools/python.sh tests/ranks.py --larmor $(B)/larmor --random $< --configurations 0)
$(RESULTS)/ranks-configurations:
	$(call check,tools/python.sh tests/ranks.py --larmor $(B)/larmor --random $< --only configurations)

PYTHON_PACKAGE := $(wildcard diagnostics/larmor/*.py diagnostics/larmor/live_page/*) tools/python.sh

.SECONDEXPANSION:
$(call results,$(EXAMPLES:%=example-%)): $(RESULTS)/example-%: $(PROGRAM) $(PYTHON_PACKAGE) $(RUNNER) examples/run.py \
                                         $$(filter-out %.md %.png,$$(wildcard examples/$$*/*.*))
	$(call check,tools/python.sh examples/run.py $* --larmor $(B)/larmor)
$(RESULTS)/example-beside_peers: examples/landau/run.ini # one of its runs

$(RESULTS)/physics-%: tests/physics/%.py tests/physics/run.py $(PROGRAM) $(CASES) $(PYTHON_PACKAGE) $(RUNNER)
	$(call check,tools/python.sh tests/physics/run.py $* --larmor $(B)/larmor)

# Some of them step simulations of the shared library beside the program.
$(RESULTS)/diagnostics: $(PYTHON_PACKAGE) $(wildcard diagnostics/tests/*.py) $(PROGRAM) $(CASES) docs/user/library.md docs/user/examples.md $(wildcard config/*.ini) include/larmor.h $(RUNNER)
	$(call check,cd diagnostics && ../tools/python.sh -m unittest discover -s tests)

# The third one steps a simulation of the shared library.
NOTEBOOKS := $(wildcard examples/notebooks/*.ipynb)
$(RESULTS)/notebooks: $(NOTEBOOKS) $(PYTHON_PACKAGE) $(PROGRAM) tests/notebooks.py include/larmor.h $(RUNNER)
	$(call check,tools/python.sh tests/notebooks.py)

# One of them compares the versions that the program, the Python package and the citation state; one sees that every case of
# a unit test is in a suite, and that the injected faults name lines of the sources.
VERSIONED := $(shell grep -rl 'define LM_VERSION' include) diagnostics/pyproject.toml CITATION.cff
UNIT_TESTS := $(wildcard tests/*.[ch]) tests/faults/faults.ini
UNIT_TESTS += $(sort $(shell sed -n 's/^file = //p' tests/faults/faults.ini))
VERIFICATION := $(wildcard docs/physics/verification.* examples/*/README.md examples/*.py tests/physics/*.py) docs/user/examples.md
$(RESULTS)/tools: $(wildcard tools/*.py tests/tools/*.py) $(VERSIONED) $(UNIT_TESTS) $(VERIFICATION) $(PYTHON_PACKAGE) $(RUNNER)
	$(call check,tools/python.sh -m unittest discover -s tests/tools)

# Links can lead to any file, so the check depends on the names of all files too.
DOCS := $(wildcard *.md docs/*.md docs/*/*.md config/* examples/*/*.md tests/*/*.md docs/conf.py tools/check_docs.py tools/docs.sh)
FILES = $(shell git ls-files 2>/dev/null | sha256sum | cut -c 1-16)
$(RESULTS)/docs: $(DOCS) $(RUNNER)
	$(call check,tools/docs.sh $(B)/docs && echo files $(FILES))

$(RESULTS)/install: $(PROGRAM) tests/install.sh tools/install.sh include/larmor.h docs/user/library.md $(CASES) $(RUNNER)
	$(call check,tests/install.sh $(B))

$(RESULTS)/validate: $(PROGRAM) tests/validate_run.sh tests/validate_openpmd.sh tests/cases/mix.ini $(RUNNER)
	$(call check,tests/validate_run.sh $(B)/larmor)

$(RESULTS)/readers: $(PROGRAM) tests/readers.sh tests/readers.py $(PYTHON_PACKAGE) $(RUNNER)
	$(call check,tests/readers.sh $(B)/larmor)

# The check fingerprint compares the CPU with the golden fingerprints, so without a GPU nothing is left to do here.
$(RESULTS)/gpu: $(B)/tests/gpu/test_gpu $(PROGRAM) $(CASES) $(RUNNER)
	$(call check,$(B)/larmor --version | grep -q "^backend cuda: NVIDIA" || { echo "no GPU here"; exit 77; }; $<)

# The limits are those of the kernels' machine code for sm_90.
$(RESULTS)/kernels: PTX_ARCH := sm_90
$(RESULTS)/kernels: $(PROGRAM) tools/ptx_report.py tools/kernels.py $(RUNNER)
ifeq ($(NVCC),)
	$(call check,echo "no nvcc here"; exit 77)
else ifeq ($(findstring sm_90,$(GPU_TARGETS)),)
	$(call check,echo "the limits are those of sm_90; GPU_TARGETS has none"; exit 77)
else
	$(call check,$(PTX_REPORT))
endif

# --- sources --------------------------------------------------------------------------------------------------------------

C_SOURCES = $(shell find src cuda include tests -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh')
INCLUDED = $(filter %.h %.cuh,$(C_SOURCES))

$(RESULTS)/layers: tools/layers.py $(C_SOURCES) $(RUNNER)
	$(call check,tools/python.sh tools/layers.py)

# Other versions of clang-format give another layout.
CLANG_FORMAT := $(shell for c in clang-format-14 clang-format; do $$c --version 2>/dev/null | grep -q 'version 14\.' && echo $$c && break; done)
clang_format = $(or $(CLANG_FORMAT),echo "no clang-format 14 here"; exit 77;) $(1) $(C_SOURCES)
$(RESULTS)/format: $(C_SOURCES) .clang-format $(RUNNER)
	$(call check,$(call clang_format,--dry-run -Werror))

$(RESULTS)/cppcheck-%: $(C_SOURCES) tests/cppcheck.sh $(RUNNER)
	$(call check,tests/cppcheck.sh $*)
