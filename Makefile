# Larmor. `make help` lists the targets.

.DEFAULT_GOAL := all

# make V=1 shows the commands.
$(V).SILENT:
say = @printf '  %-5s %s\n'
SHELL := /bin/bash

# Tests and examples share the machine with other work: threads that wait should not spin for long.
export GOMP_SPINCOUNT ?= 10000

VARIANT ?= release
B := build/$(VARIANT)
ifeq ($(origin CC),default)
CC := gcc
endif
MARCH ?= native
PKG := hdf5 inih muparser jansson libxxhash
GIT := $(shell git describe --always --dirty 2>/dev/null || echo unknown)

# A newer compiler may find something new: only continuous integration makes that an error (WERROR=-Werror).
WERROR ?=
WARN := -Wall -Wextra -Wconversion $(WERROR)
OPT_release := -O3
OPT_portable := -O3
OPT_asan := -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
OPT := $(OPT_$(VARIANT))
# Whole vectors where the processor has AVX-512. A gcc older than the processor finds its instructions but tunes for no
# processor in particular, without gathers: the processor whose instructions it found is nearer.
accepted = $(shell $(CC) $(1) -E -x c /dev/null >/dev/null 2>&1 && echo '$(1)')
target = $(shell $(CC) -march=$(MARCH) -Q --help=target 2>/dev/null | awk '$$1 == "-$(1)=" {print $$2}')
TUNE := $(call accepted,-mprefer-vector-width=512) \
        $(if $(filter generic,$(call target,mtune)),$(call accepted,-mtune=$(filter-out x86-64%,$(call target,march))))
# -ffp-contract=off: the same bits everywhere; fma is written where it is wanted. No errno or traps from sqrt and casts.
CFLAGS := -std=gnu17 $(OPT) -march=$(MARCH) $(TUNE) -ffp-contract=off -fno-math-errno -fno-trapping-math -fopenmp $(WARN) $(EXTRA_CFLAGS) \
          -Iinclude $(patsubst -I%,-isystem %,$(shell pkg-config --cflags $(PKG) 2>/dev/null))
LDLIBS := $(shell pkg-config --libs $(PKG) 2>/dev/null) -lm

NVCC ?= $(shell command -v nvcc 2>/dev/null || { test -x /usr/local/cuda/bin/nvcc && echo /usr/local/cuda/bin/nvcc; })
GPU_TARGETS ?= -gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=[sm_90,compute_90]
NVCCFLAGS := -O3 -std=c++17 $(GPU_TARGETS) -fmad=false $(if $(WERROR),-Werror all-warnings) -Iinclude -Xcompiler=-Wall,-ffp-contract=off --threads 2

# Sources that touch particles are compiled once for each precision.
SRC := $(filter-out src/main.c,$(wildcard src/*.c src/cpu/*.c))
TWICE := $(wildcard src/cpu/particles*.c)
CUDA_SRC := $(wildcard cuda/*.cu)
CUDA_TWICE := $(wildcard cuda/particles*.cu)
objects = $(patsubst %,$(B)/%.o,$(filter-out $(2),$(1))) $(foreach p,32 64,$(patsubst %,$(B)/%.$(p).o,$(2)))
OBJ := $(call objects,$(SRC),$(TWICE))
ifneq ($(NVCC),)
OBJ += $(call objects,$(CUDA_SRC),$(CUDA_TWICE))
CUDA_LIBS := -L$(dir $(NVCC))../lib64 -lcudart_static -ldl -lrt -lpthread -lstdc++
endif

.PHONY: all
all: $(B)/larmor ## build the program (with CUDA where nvcc is)
ifeq ($(NVCC),)
	@echo "nvcc not found: built for the CPU only"
endif

$(B)/larmor: $(B)/src/main.c.o $(B)/liblarmor.a
	$(say) LINK $@
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS) $(CUDA_LIBS)

$(B)/liblarmor.a: $(OBJ)
	@rm -f $@
	$(say) AR $@
	ar rcs $@ $^

# A change of flags, or of whether nvcc is there, rebuilds everything.
.PHONY: always
$(B)/flags: always
	@mkdir -p $(@D); echo '$(CC) $(CFLAGS) $(NVCC) $(NVCCFLAGS)' | cmp -s - $@ || echo '$(CC) $(CFLAGS) $(NVCC) $(NVCCFLAGS)' > $@

ifneq ($(NVCC),)
$(B)/src/backend.c.o $(B)/src/bench_cuda.c.o: CFLAGS += -DLM_CUDA
endif

# Only this file knows the commit, so that a commit rebuilds no more than it.
$(B)/src/version.c.o: CFLAGS += -DLM_GIT='"$(GIT)"'
$(B)/src/version.c.o: $(wildcard .git/HEAD .git/logs/HEAD)

$(B)/%.c.o: %.c $(B)/flags
	@mkdir -p $(@D)
	$(say) CC $@
	$(CC) $(CFLAGS) -MMD -MP -c -o $@ $<

$(B)/%.c.32.o: %.c $(B)/flags
	@mkdir -p $(@D)
	$(say) CC $@
	$(CC) $(CFLAGS) -DLM_PRECISION=32 -MMD -MP -c -o $@ $<

$(B)/%.c.64.o: %.c $(B)/flags
	@mkdir -p $(@D)
	$(say) CC $@
	$(CC) $(CFLAGS) -DLM_PRECISION=64 -MMD -MP -c -o $@ $<

$(B)/%.cu.o: %.cu $(B)/flags
	@mkdir -p $(@D)
	$(say) NVCC $@
	$(NVCC) $(NVCCFLAGS) -MMD -MP -c -o $@ $<

$(B)/%.cu.32.o: %.cu $(B)/flags
	@mkdir -p $(@D)
	$(say) NVCC $@
	$(NVCC) $(NVCCFLAGS) -DLM_PRECISION=32 -MMD -MP -c -o $@ $<

$(B)/%.cu.64.o: %.cu $(B)/flags
	@mkdir -p $(@D)
	$(say) NVCC $@
	$(NVCC) $(NVCCFLAGS) -DLM_PRECISION=64 -MMD -MP -c -o $@ $<

ifneq ($(NVCC),)
$(B)/tests/gpu/test_gpu.c.o: CFLAGS += -DLM_CUDA
$(B)/tests/gpu/test_gpu: $(B)/tests/gpu/divide.cu.o
endif

$(B)/tests/gpu/test_gpu: $(B)/tests/gpu/test_gpu.c.o $(B)/liblarmor.a
	$(say) LINK $@
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS) $(CUDA_LIBS)

# The generator of random configurations: a program, and a test of it.
RANDOM_PARTS := $(patsubst %,$(B)/%.o,$(filter-out tests/random/random.c,$(wildcard tests/random/*.c)))

$(B)/tests/random/random: $(B)/tests/random/random.c.o $(RANDOM_PARTS) $(B)/liblarmor.a
	$(say) LINK $@
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS) $(CUDA_LIBS)

$(B)/tests/test_random: $(B)/tests/test_random.c.o $(RANDOM_PARTS) $(B)/liblarmor.a
	$(say) LINK $@
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(shell pkg-config --libs check) $(LDLIBS) $(CUDA_LIBS)

TESTS := $(patsubst tests/%.c,$(B)/tests/%,$(wildcard tests/test_*.c))

$(B)/tests/%: $(B)/tests/%.c.o $(B)/liblarmor.a
	$(say) LINK $@
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(shell pkg-config --libs check) $(LDLIBS) $(CUDA_LIBS)

# The program, the GPU tests, the profile and every shared library they need, to be carried to a machine that has a GPU and little else.
.PHONY: bundle
bundle: ## build/bundle: program, GPU tests, profile and their libraries, with relative paths
	$(MAKE) VARIANT=portable MARCH=x86-64-v3 LDFLAGS="-Wl,--disable-new-dtags,-rpath,'\$$\$$ORIGIN/lib'" \
	    build/portable/larmor build/portable/tests/gpu/test_gpu build/portable/tests/random/random
	rm -rf build/bundle && mkdir -p build/bundle/lib
	cp build/portable/larmor build/portable/tests/gpu/test_gpu build/portable/tests/random/random build/bundle
	cp -r tests/cases tests/golden.txt tests/gpu/run.sh tests/gpu/signals.sh build/bundle
	cp tools/profile.sh tools/profile_table.py tools/kernels.py config/thermal.ini build/bundle
	ldd build/bundle/larmor build/bundle/test_gpu | awk '$$3 ~ /^\// {print $$3}' | grep -vE '/(libc|libm|libdl|librt|libpthread|libresolv)\.so' | \
	    sort -u | xargs -I{} cp -L {} build/bundle/lib

# --- what a user calls; each re-reads this file after the set-up, so that it sees what was installed ---------------------

.PHONY: setup
setup: ## install what is missing (apt; needs root or sudo)
	@tools/setup.sh

.PHONY: demo
demo: setup ## two minutes: build, run the whistler and ion-cyclotron waves, compare with theory, draw
	@$(MAKE) --no-print-directory all
	@tools/python.sh examples/run.py waves --larmor $(B)/larmor

.PHONY: test
test: setup ## set-up, build (CUDA too where nvcc is), all tests
	@$(MAKE) --no-print-directory all
	@$(MAKE) --no-print-directory layers tools-test $(if $(NVCC),ptx-report) unit random-test gpu-test diagnostics-test physics validate
	@tools/python.sh examples/run.py all --larmor $(B)/larmor
	@$(MAKE) --no-print-directory unit VARIANT=asan NVCC=
	@echo "all tests passed"

.PHONY: examples
examples: setup ## run and check all examples, write their pictures
	@$(MAKE) --no-print-directory all
	@tools/python.sh examples/run.py all --larmor $(B)/larmor

# --- parts of `make test` -------------------------------------------------------------------------------------------------

.PHONY: unit
unit: $(B)/larmor $(TESTS) ## unit tests
	@set -e; for t in $(TESTS); do LARMOR=$(abspath $(B)/larmor) $$t; done

.PHONY: gpu-test
gpu-test: $(B)/tests/gpu/test_gpu ## the GPU against the CPU, bit for bit, where there is one
	@if $(B)/larmor --version | grep -q '^backend cuda: NVIDIA'; then $(B)/tests/gpu/test_gpu; else \
	    echo "no GPU here: the CPU against the golden fingerprints only"; $(B)/tests/gpu/test_gpu --cpu | diff - tests/golden.txt; fi

SEED ?= 1
COUNT ?= 40
JOBS ?= $(shell nproc)
WAYS ?= all
.PHONY: random
random: $(B)/tests/random/random ## COUNT random configurations from SEED: CPU and GPU, threads, tiles, sorts, restarts, all alike
	$(B)/tests/random/random --seed $(SEED) --count $(COUNT) --jobs $(JOBS) --ways $(WAYS)

.PHONY: random-test
random-test: $(B)/tests/random/random ## 32 random configurations, and those that have differed once
	@$(B)/tests/random/random --seed 1 --count 32 --jobs $(JOBS)
	@$(B)/tests/random/random --cases tests/cases/random --jobs $(JOBS)

.PHONY: ledger-long
ledger-long: $(B)/larmor ## 10^5 steps with every way in and out: residual 0, the fingerprint that a GPU has confirmed
	@tests/ledger_long.sh $(B)/larmor

.PHONY: kills
kills: $(B)/larmor $(B)/tests/test_cli_signals ## runs cut by random signals at random times: COUNT=200, SEED=1
	@LARMOR_KILLS=$(or $(COUNT),200) LARMOR_KILLS_SEED=$(or $(SEED),1) CK_RUN_CASE=any LARMOR=$(abspath $(B)/larmor) $(B)/tests/test_cli_signals

.PHONY: physics
physics: $(B)/larmor ## energy of a thermal box against fixed limits, budgets with everything on
	@tools/python.sh tests/physics/energy.py --larmor $(B)/larmor
	@tools/python.sh tests/physics/budgets.py --larmor $(B)/larmor

.PHONY: physics-long
physics-long: $(B)/larmor ## the same over 10^4 steps, for colder and warmer electrons
	@tools/python.sh tests/physics/energy.py --larmor $(B)/larmor --long
	@tools/python.sh tests/physics/budgets.py --larmor $(B)/larmor --steps 10000

.PHONY: diagnostics-test
diagnostics-test: ## tests of the Python package
	@cd diagnostics && ../tools/python.sh -m unittest discover -s tests

.PHONY: tools-test
tools-test: ## tests of the reports on CUDA kernels
	@tools/python.sh -m unittest discover -s tests/tools

PTX_ARCH ?= sm_90

.PHONY: ptx-report
ptx-report: ## registers, spills, code size, instructions of every CUDA kernel; fails on a spill
	@test -n "$(NVCC)" || { echo "ptx-report: nvcc not found" >&2; exit 1; }
	@python3 tools/ptx_report.py --nvcc '$(NVCC)' --arch $(PTX_ARCH) --flags='$(subst $(GPU_TARGETS),,$(NVCCFLAGS))' \
	    --output build/ptx-report $(filter-out $(CUDA_TWICE),$(CUDA_SRC)) $(foreach p,32 64,$(CUDA_TWICE:%=%:$(p)))

.PHONY: advect-report
advect-report: ## code size and instructions of the kernels of `larmor bench advect`, way by way
	@test -n "$(NVCC)" || { echo "advect-report: nvcc not found" >&2; exit 1; }
	@python3 tools/advect_sass.py --nvcc '$(NVCC)' --arch $(PTX_ARCH) --flags='$(subst $(GPU_TARGETS),,$(NVCCFLAGS))'

.PHONY: validate
validate: $(B)/larmor ## openPMD-validator over fields and particles of a run
	@rm -rf $(B)/validate && $(B)/larmor run tests/cases/mix.ini --backend cpu --quiet --output $(B)/validate \
	    output.fields_every=20 output.particles_every=20
	@tests/validate_openpmd.sh $(B)/validate/fields/*.h5 $(B)/validate/particles/*.h5 || [ $$? -eq 77 ]

.PHONY: layers
layers: ## dependencies between the parts point one way
	@tools/python.sh tools/layers.py

.PHONY: lint
lint: ## clang-format, cppcheck
	clang-format --dry-run -Werror $$(git ls-files 'src/*.[ch]' 'src/cpu/*.[ch]' 'tests/*.[ch]' 'include/*.h')
	cppcheck -q --enable=warning,performance,portability --inline-suppr --suppress=missingIncludeSystem --error-exitcode=1 \
	    -Iinclude -DLM_PRECISION=64 src

.PHONY: reference
reference: $(B)/larmor ## rewrite config/reference.md from the table of keys
	$(B)/larmor keys --markdown > config/reference.md

.PHONY: help clean
help: ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 16

clean: ## remove build/
	rm -rf build

.SECONDARY:
-include $(shell find build -name '*.d' 2>/dev/null)
