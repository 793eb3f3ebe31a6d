# Thin names for the commands; the work is in CMake's presets and scripts/. JOBS=N limits parallel jobs.
JOBS ?= $(shell nproc)
CMAKE = .venv/bin/cmake

.PHONY: setup build test demo bench lint format fuzz clean

setup:
	@scripts/setup

build: setup
	@scripts/build release -j $(JOBS)

test: build
	@scripts/run_tests release -j $(JOBS)

demo: build
	@scripts/demo

bench: setup
	@scripts/build bench -j $(JOBS)
	@scripts/run_benchmarks

lint: setup
	@scripts/lint -j $(JOBS)

format: setup
	@scripts/lint --fix

fuzz: build
	@scripts/build fuzz --target fuzzers -j $(JOBS)
	@scripts/run_fuzz
	@scripts/run_laws

clean:
	@rm -rf build
