# Larmor. `make help` lists the targets, in these groups and this order. A target belongs to the group of the last line
# with ##@ before it, here or in tests/checks.mk; the words after ## say what it does.
##@ Build
##@ Run
##@ Test
##@ Test for longer
##@ Measure
##@ Sources and documentation
##@ Build
##@ Clean

.DEFAULT_GOAL := all

# make V=1 shows the commands.
$(V).SILENT:
say = @printf '  %-5s %s\n'
SHELL := /bin/bash

# As many jobs as there are cores, unless the command line says how many (make -j4): what it says comes last and counts.
ifeq ($(MAKELEVEL),0)
MAKEFLAGS += -j$(shell nproc)
endif

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
OPT_asan := -O2 -g1 -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
OPT := $(OPT_$(VARIANT))
# Whole vectors where the processor has AVX-512. A gcc older than the processor finds its instructions but tunes for no
# processor in particular, without gathers: the processor whose instructions it found is nearer.
accepted = $(shell $(CC) $(1) -E -x c /dev/null >/dev/null 2>&1 && echo '$(1)')
target = $(shell $(CC) -march=$(MARCH) -Q --help=target 2>/dev/null | awk '$$1 == "-$(1)=" {print $$2}')
TUNE := $(call accepted,-mprefer-vector-width=512) \
        $(if $(filter generic,$(call target,mtune)),$(call accepted,-mtune=$(filter-out x86-64%,$(call target,march))))
# -ffp-contract=off: the same bits everywhere; fma is written where it is wanted. No errno or traps from sqrt and casts.
# The same objects make up the program and the shared library: -fPIC costs nothing where no symbol is visible outside.
CFLAGS := -std=gnu17 $(OPT) -march=$(MARCH) $(TUNE) -ffp-contract=off -fno-math-errno -fno-trapping-math -fopenmp -fPIC -fvisibility=hidden $(WARN) $(EXTRA_CFLAGS) \
          -Iinclude -Isrc $(patsubst -I%,-isystem %,$(shell pkg-config --cflags $(PKG) 2>/dev/null))
LDLIBS := $(shell pkg-config --libs $(PKG) 2>/dev/null) -lm

ifneq ($(VARIANT),asan)
NVCC ?= $(shell command -v nvcc 2>/dev/null || { test -x /usr/local/cuda/bin/nvcc && echo /usr/local/cuda/bin/nvcc; })
endif
ifneq ($(NVCC),)
# The build is for the cards that are here; without one for sm_90, and in PTX for later ones. GPU_TARGETS chooses others.
GPU_CARDS := $(shell nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | sed -nE 's/^([0-9]+)\.([0-9])$$/\1\2/p' | sort -u)
GPU_TARGETS ?= $(foreach a,$(or $(GPU_CARDS),90),-gencode arch=compute_$(a),code=[sm_$(a),compute_$(a)])
NVCCFLAGS := -O3 -std=c++17 $(GPU_TARGETS) -fmad=false $(if $(WERROR),-Werror all-warnings) -Iinclude -Isrc -Icuda -Xcompiler=-Wall,-ffp-contract=off,-fPIC,-fvisibility=hidden
endif

# Sources that touch particles are compiled once for each precision.
SRC := $(wildcard src/*/*.c src/*/*/*.c)
TWICE := $(wildcard src/cpu/particles*.c)
# First those that take longest to compile.
CUDA_LONG := $(wildcard cuda/bench/ops.cu cuda/bench/tendency.cu cuda/particles/pass.cu cuda/bench/particles.cu cuda/fluid/advect.cu cuda/core/backend.cu)
CUDA_SRC := $(CUDA_LONG) $(filter-out $(CUDA_LONG),$(wildcard cuda/*/*.cu))
CUDA_TWICE := $(wildcard cuda/particles/*.cu) cuda/bench/particles.cu
objects = $(foreach p,32 64,$(patsubst %,$(B)/%.$(p).o,$(2))) $(patsubst %,$(B)/%.o,$(filter-out $(2),$(1)))
OBJ := $(call objects,$(SRC),$(TWICE))

# The library, which every test links, knows neither CUDA nor the commit. What has both comes before it on the command
# line of the linker. So a build with nvcc and one without differ only in the last link, and a commit changes no test.
COMMITTED := $(B)/src/run/version.c.commit.o
# MPI, where Open MPI's packages are; the library has one rank only.
MPI_CFLAGS := $(shell pkg-config --cflags ompi-c 2>/dev/null)
MPI_LIBS := $(shell pkg-config --libs ompi-c 2>/dev/null)
MPI_OBJ := $(if $(MPI_LIBS),$(B)/src/ranks/mpi.c.mpi.o)
ifneq ($(NVCC),)
CUDA_OBJ := $(B)/src/backend/backend.c.cuda.o $(B)/src/bench/device.c.cuda.o $(call objects,$(CUDA_SRC),$(CUDA_TWICE))
CUDA_LIBS := -L$(dir $(NVCC))../lib64 -lcudart_static -ldl -lrt -lpthread -lstdc++
endif

# The number grows when a program that was built with an older include/larmor.h could no longer run.
LIBRARY := $(B)/liblarmor.so.0

##@ Build
.PHONY: all
all: $(B)/larmor $(LIBRARY) ## Builds program and library, with CUDA where nvcc is (GPU_TARGETS chooses the cards); `make` alone does so too.
ifeq ($(NVCC),)
	@echo "built for the CPU only"
endif

# The CUDA objects come first because they take longest.
$(B)/larmor: $(CUDA_OBJ) $(B)/src/main.c.o $(COMMITTED) $(MPI_OBJ) $(B)/liblarmor.a $(B)/link
	$(say) LINK $@
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $(filter %.o %.a,$^) $(LDLIBS) $(MPI_LIBS) $(CUDA_LIBS)

# The shared library: what a user's C program and Python load. It exports the functions of include/larmor.h and nothing
# else, and it knows no MPI.
LIBRARY_OBJ := $(patsubst %,$(B)/%.o,$(wildcard src/library/*.c)) $(B)/src/base/h5.c.library.o
$(LIBRARY): $(CUDA_OBJ) $(LIBRARY_OBJ) $(COMMITTED) $(B)/liblarmor.a $(B)/link
	$(say) LINK $@
	$(CC) $(CFLAGS) $(LDFLAGS) -shared -Wl,-soname,$(@F) -Wl,--exclude-libs,ALL -o $@ $(filter %.o %.a,$^) $(LDLIBS) $(CUDA_LIBS)

$(B)/liblarmor.a: $(OBJ)
	@rm -f $@
	$(say) AR $@
	ar qcs $@ $^

# Files that hold what objects and programs depend on beside their sources; they change only when their text does. They are
# written while this file is read: what waits for the recipe of a file would be started last, also where it takes longest.
# For the same reason `make clean all` removes here what was there.
$(if $(filter clean,$(MAKECMDGOALS)),$(if $(findstring n,$(firstword -$(MAKEFLAGS))),,$(shell rm -rf build)))
remember = $(shell mkdir -p $(B); echo '$(2)' | cmp -s - $(B)/$(1) || echo '$(2)' > $(B)/$(1))
$(call remember,flags,$(CC) $(CFLAGS))
$(if $(NVCC),$(call remember,nvcc.flags,$(NVCC) $(NVCCFLAGS)))
$(call remember,commit,$(GIT))
# The demo decides later whether it has CUDA.
ifeq ($(filter demo,$(MAKECMDGOALS)),)
$(call remember,link,$(LDFLAGS) $(LDLIBS) $(MPI_LIBS) $(CUDA_LIBS) $(notdir $(CUDA_OBJ)))
endif

define compile
@mkdir -p $(@D)
$(say) CC $@
$(CC) $(CFLAGS) $(1) -MMD -MP -c -o $@ $<
endef

$(B)/%.c.o: %.c $(B)/flags
	$(call compile)

$(B)/%.c.32.o: %.c $(B)/flags
	$(call compile,-DLM_PRECISION=32)

$(B)/%.c.64.o: %.c $(B)/flags
	$(call compile,-DLM_PRECISION=64)

$(B)/%.c.library.o: %.c $(B)/flags
	$(call compile,-DLM_LIBRARY)

$(B)/%.c.mpi.o: %.c $(B)/flags
	$(call compile,-DLM_MPI $(patsubst -I%,-isystem %,$(MPI_CFLAGS)))

$(B)/%.c.cuda.o: %.c $(B)/flags
	$(call compile,-DLM_CUDA)

$(COMMITTED): src/run/version.c $(B)/flags $(B)/commit
	$(call compile,-DLM_GIT='"$(GIT)"')

# The PTX, the machine code and what ptxas said stay beside the object, for ptx-report.
define compile_cuda
@rm -rf $@.kept && mkdir -p $@.kept
$(say) NVCC $@
$(NVCC) $(NVCCFLAGS) $(1) --keep --keep-dir $@.kept -Xptxas -v -MMD -MP -c -o $@ $< 2>$@.kept/ptxas; status=$$?; \
    grep -vE '^ptxas info|bytes stack frame' $@.kept/ptxas >&2; \
    find $@.kept -type f ! -name '*.ptx' ! -name '*.cubin' ! -name ptxas -delete; exit $$status
endef

$(B)/%.cu.o: %.cu $(B)/nvcc.flags
	$(call compile_cuda)

$(B)/%.cu.32.o: %.cu $(B)/nvcc.flags
	$(call compile_cuda,-DLM_PRECISION=32)

$(B)/%.cu.64.o: %.cu $(B)/nvcc.flags
	$(call compile_cuda,-DLM_PRECISION=64)

PREFIX ?= /usr/local
LIBDIR ?= $(PREFIX)/lib

.PHONY: install uninstall
install: $(B)/larmor $(LIBRARY) ## Copies program, library, manual page and completion to PREFIX (/usr/local), below DESTDIR.
	@DESTDIR='$(DESTDIR)' PREFIX='$(PREFIX)' LIBDIR='$(LIBDIR)' tools/install.sh install $(B)

uninstall: ## Removes what `make install` has copied.
	@DESTDIR='$(DESTDIR)' PREFIX='$(PREFIX)' LIBDIR='$(LIBDIR)' tools/install.sh uninstall $(B)

# The program, the GPU tests, the profile and every shared library they need, to be carried to a machine that has a GPU and little else.
BUNDLE_TARGETS := -gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=[sm_90,compute_90]
BUNDLED = $(addprefix build/portable/,larmor tests/gpu/test_gpu $(if $(RANDOM),tests/random/random))
# MPI is not packed: it must fit the machine. `make bundle MPI_LIBS=` makes a program without it.
.PHONY: bundle
bundle: ## Packs the program, the GPU tests and their libraries into build/bundle for another machine.
	$(MAKE) VARIANT=portable MARCH=x86-64-v3 LDFLAGS="-Wl,--disable-new-dtags,-rpath,'\$$\$$ORIGIN/lib'" \
	    $(if $(filter command environment,$(firstword $(origin GPU_TARGETS))),,GPU_TARGETS='$(BUNDLE_TARGETS)') \
	    $(BUNDLED)
	rm -rf build/bundle && mkdir -p build/bundle/lib
	cp $(BUNDLED) build/bundle
	cp -r tests/cases tests/golden.txt tests/gpu/run.sh tests/gpu/ranks.sh tests/gpu/signals.sh tests/ranks.py build/bundle
	cp tools/profile.sh tools/profile_table.py tools/kernels.py config/thermal.ini build/bundle
	ldd build/bundle/larmor build/bundle/test_gpu | awk '$$3 ~ /^\// {print $$3}' | grep -vE '/(libc|libm|libdl|librt|libpthread|libresolv|libmpi|libopen-rte|libopen-pal|libhwloc|libevent.*)[-.]' | \
	    sort -u | xargs -I{} cp -L {} build/bundle/lib

# --- what a user calls; each re-reads this file after the set-up, so that it sees what was installed ---------------------

.PHONY: setup
setup: ## Installs the packages that are missing to build, run and draw (apt; needs root or sudo).
	@tools/setup.sh

##@ Run
# Without a card nothing would run on it: then the demo does not wait for nvcc.
.PHONY: demo
demo: setup ## Builds, runs the whistler and ion-cyclotron waves, and compares them with theory (two minutes).
	@$(MAKE) --no-print-directory all $(if $(GPU_CARDS),,NVCC=)
	@tools/python.sh examples/run.py waves --larmor $(B)/larmor

.PHONY: examples
examples: setup ## Runs all examples, checks their numbers and draws their pictures.
	@$(MAKE) --no-print-directory all
	@tools/python.sh examples/run.py all --larmor $(B)/larmor

.PHONY: verify
verify: setup ## Runs all examples and all cases of physics: a table, and out/verification.json (FORM=full: the large form, for a GPU; RANKS=N: on N of them; JOBS=N: N small runs of a case at a time).
	@$(MAKE) --no-print-directory all
	@tools/python.sh tools/verify.py --larmor $(B)/larmor $(if $(filter full,$(FORM)),--full) $(if $(RANKS),--ranks $(RANKS)) $(if $(JOBS),--jobs $(JOBS)) --results out/verification.json

include tests/checks.mk

# --- what takes long, and reports -----------------------------------------------------------------------------------------

##@ Test for longer
SEED ?= 1
COUNT ?= 40
JOBS ?= $(shell nproc)
WAYS ?= all
.PHONY: random
random: $(B)/tests/random/random ## Compares COUNT=40 random configurations over threads, tiles, sorts, restarts and the GPU (SEED=1).
	$(B)/tests/random/random --seed $(SEED) --count $(COUNT) --jobs $(JOBS) --ways $(WAYS)

.PHONY: ledger-long
ledger-long: $(B)/larmor ## Checks the ledger and the fingerprint of 10^5 steps with every way in and out.
	@tests/ledger_long.sh $(B)/larmor

.PHONY: ranks
ranks: $(B)/larmor $(B)/tests/random/random ## Runs on many ranks of MPI: COUNT=40 configurations, 20 killed ranks (SEED=1).
	tools/python.sh tests/ranks.py --larmor $(B)/larmor --random $(B)/tests/random/random --kills 20 --configurations $(COUNT) --seed $(SEED)

.PHONY: faults
faults: ## Injects faults one by one and says which test sees each (ONLY=text chooses by name).
	@tools/python.sh tests/faults/run.py --only '$(ONLY)' --output build/faults.md

.PHONY: kills
kills: $(B)/larmor $(B)/tests/test_cli_signals ## Ends runs by random signals at random times and restarts them (COUNT=200, SEED=1).
	@LARMOR_KILLS=$(or $(COUNT),200) LARMOR_KILLS_SEED=$(or $(SEED),1) CK_RUN_CASE=any LARMOR=$(abspath $(B)/larmor) $(B)/tests/test_cli_signals

.PHONY: physics
physics: $(B)/larmor ## Compares energy, momentum, noise, voids, thin plasma and budgets with fixed limits.
	@tools/python.sh tests/physics/run.py all --larmor $(B)/larmor

.PHONY: physics-long
physics-long: $(B)/larmor ## Does the same over 10^4 steps and more, for colder and warmer electrons and lower density floors too.
	@tools/python.sh tests/physics/run.py all --long --larmor $(B)/larmor

##@ Measure
PTX_ARCH ?= sm_$(firstword $(GPU_CARDS) 90)
# These two reports need Python alone, which a machine with nvcc may have without the packages of the diagnostics.
PTX_REPORT = python3 tools/ptx_report.py --build $(B) --arch $(PTX_ARCH) --tools $(dir $(NVCC)) --output build/ptx-report \
             $(filter-out $(CUDA_TWICE),$(CUDA_SRC)) $(foreach p,32 64,$(CUDA_TWICE:%=%:$(p)))

.PHONY: ptx-report
ptx-report: $(CUDA_OBJ) ## Lists registers, spills, code size and instructions of all CUDA kernels; fails on a spill.
	@test -n "$(NVCC)" || { echo "ptx-report: nvcc not found" >&2; exit 1; }
	@$(PTX_REPORT)

.PHONY: advect-report
advect-report: $(CUDA_OBJ) ## Lists code size and instructions of the kernels of `larmor bench advect`, way by way.
	@test -n "$(NVCC)" || { echo "advect-report: nvcc not found" >&2; exit 1; }
	@python3 tools/advect_sass.py --build $(B) --arch $(PTX_ARCH) --tools $(dir $(NVCC))

##@ Sources and documentation
.PHONY: docs
docs: ## Builds the manual as web pages: build/docs/html/index.html.
	@tools/setup.sh docs
	@tools/docs.sh build/docs

.PHONY: reference
reference: $(B)/larmor ## Writes config/reference.md from the table of keys.
	$(B)/larmor keys --markdown > config/reference.md

##@ Build
.PHONY: help clean
help: ## Shows this list.
	@awk '/^##@ / {group = substr($$0, 5); if (!(group in lines)) {order[++groups] = group; lines[group] = ""}} \
	      match($$0, /^[a-z%-]+:.*## /) {lines[group] = lines[group] sprintf("  %-14s %s\n", \
	                                     substr($$0, 1, index($$0, ":") - 1), substr($$0, RLENGTH + 1))} \
	      END {for (k = 1; k <= groups; k++) printf "%s%s\n%s", (k > 1 ? "\n" : ""), order[k], lines[order[k]]}' \
	     Makefile tests/checks.mk

##@ Clean
clean: ## Removes build/.
	@:

.SECONDARY:
-include $(shell find $(B) -name '*.d' 2>/dev/null)
