# SPDX-License-Identifier: Apache-2.0
# `make help` lists the targets. CMake and Ninja do the work; this file only names it.

prefix ?= /usr/local
DESTDIR ?=
FUZZ_SECONDS ?= 20
ONLY ?=
JOBS ?= 2
ENGINE ?= docker
# Tests wait more than they compute; those that measure take the room of several.
TEST_JOBS ?= 6

python := /usr/bin/python3
assay := build/release/bin/assay
ctest := ctest --output-on-failure -j $(TEST_JOBS) --test-dir
pytest_kubernetes := $(python) -m pytest tests/e2e/kubernetes -o cache_dir=$(CURDIR)/build/release/pytest-kubernetes

.NOTPARALLEL:
.PHONY: build run test test-again lint asan tsan fuzz test-kubernetes test-kubernetes-again image bench arm64-agent install generate format clean help
.DEFAULT_GOAL := build

build: setup-build build/release/build.ninja  ## Build everything (the default)
	@ninja -C build/release

run: setup-build build/release/build.ninja  ## Build, profile the example app, print its footprint and report
	@ninja -C build/release assay
	$(assay) run examples/objcounter/sage.yaml

test: setup-test build/release/build.ninja  ## Build and run every test but those with a real Kubernetes
	@ninja -C build/release
	$(ctest) build/release --output-junit junit.xml
	@echo "Not run: the tests with a real Kubernetes, make test-kubernetes."

test-again:  ## Run once more, one at a time, what failed in make test
	$(ctest) build/release -j 1 --rerun-failed --output-junit junit-again.xml

lint: setup-lint build/clang/build.ninja  ## Format, clang-tidy, shellcheck, and a clang build without warnings
	@ninja -C build/clang
	@$(python) tools/lint.py --build build/clang --jobs $(JOBS)

asan: setup-test build/asan/build.ninja  ## Unit tests and command-line cases under AddressSanitizer and UBSan
	@ninja -C build/asan
	$(ctest) build/asan -LE 'e2e|rooms'

tsan: setup-test build/tsan/build.ninja  ## Unit tests under ThreadSanitizer
	@ninja -C build/tsan
	$(ctest) build/tsan -LE 'e2e|rooms|cli'

fuzz: setup-fuzz build/fuzz/build.ninja  ## Run each fuzzer for FUZZ_SECONDS (20)
	@ninja -C build/fuzz
	@tools/fuzz.sh build/fuzz $(FUZZ_SECONDS)

test-kubernetes: setup-kubernetes build/release/build.ninja  ## Test with a real Kubernetes, built here at the first call
	@tests/e2e/kubernetes/can_run.sh
	@ninja -C build/release assay assay-agent assay-infer known_load frames_load
	@tests/e2e/kubernetes/build.sh
	$(pytest_kubernetes) --junitxml build/release/junit-kubernetes.xml

test-kubernetes-again:  ## Run once more what failed in make test-kubernetes
	$(pytest_kubernetes) --last-failed --last-failed-no-failures none --junitxml build/release/junit-kubernetes-again.xml

image: build  ## Make a container image of assay and assay-agent with Docker (ENGINE=podman for Podman)
	@ENGINE="$(ENGINE)" tools/image.sh

bench: setup-bench build/bench/build.ninja  ## Measure; ONLY=session for one part; a rerun goes on where it stopped
	@ninja -C build/bench assay assay-agent bench_programs
	@$(python) bench/run.py --build build/bench $(if $(ONLY),--only $(ONLY))

arm64-agent: setup-arm64  ## Build assay-agent for arm64 boards; unit tests of its rooms under qemu
	@tools/arm64_sysroot.sh build/arm64-sysroot
	@$(MAKE) --no-print-directory build/arm64/build.ninja
	@ninja -C build/arm64 assay-agent
	@CTEST_PARALLEL_LEVEL=$(JOBS) ninja -C build/arm64 agent_tests
	@tools/arm64_size.sh build/arm64/bin/assay-agent

install: build  ## Install under DESTDIR and prefix (/usr/local)
	DESTDIR="$(DESTDIR)" cmake --install build/release --prefix "$(prefix)"

generate:  ## Write the committed files that come from catalog/metrics.yaml
	$(python) catalog/generate.py python catalog/metrics.yaml > clients/python/assay/catalog.py
	$(python) catalog/generate.py docs catalog/metrics.yaml > docs/metrics.md

format: setup-lint  ## Format all C++ files in place
	@$(python) tools/lint.py --fix-format

clean:  ## Remove everything built
	rm -rf build

help:  ## This list
	@sed -nE 's/^([a-z0-9-]+):.*## (.*)/  make \1\t\2/p' Makefile | expand -t 24

# Ninja reconfigures by itself when a CMake file changes; only the presets need a look from here.
build/%/build.ninja: CMakePresets.json
	cmake --preset $*
	@touch $@

setup-%:
	@tools/setup.sh $*
