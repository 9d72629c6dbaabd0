# SPDX-License-Identifier: Apache-2.0
# A thin front: what a newcomer types. The work is done by CMake (CMakePresets.json) and scripts/.
# Every target first installs what is missing of the Debian packages that it needs, and says so.
.DEFAULT_GOAL := build
.PHONY: build console console-if-possible axe pictures test demo picture bench fuzz-long soak crash powercut model model-all sim \
    test-db crash-db chaos demo-cluster deps-database \
    sim-long mutants format lint structure install uninstall deb install-deps clean help deps-build deps-console deps-test deps-browser

PYTHON := /usr/bin/python3
FUZZ_SECONDS ?= 600
SOAK ?= 60
ROUNDS ?= 100
CUTS ?= 200
SEEDS ?= 1..50000
PREFIX ?= /usr/local

build: deps-build ## the optimised binary, build/peal
	@cmake --preset release >build/release.log 2>&1 || { cat build/release.log; exit 1; }
	@cmake --build build/release
	@if [ -x build/release/peal ]; then ln -sfn release/peal build/peal; fi
	@[ -f web/dist/packed/sources ] || \
	    echo "built without the console (the web pages): \`make console\`, then \`make\` again, puts it in"

console: deps-console ## build the console; the next `make` puts it into the binary
	@scripts/console.sh

test: deps-test ## build and run all tests
	@$(PYTHON) scripts/run-tests.py $(or $(STAGES),test) $(if $(RESULTS),--save $(RESULTS))

test-db: deps-database ## the store's suite on MariaDB and PostgreSQL, which it starts
	@cmake --preset dev >build/dev.log 2>&1 || { cat build/dev.log; exit 1; }
	@cmake --build build/dev
	@$(PYTHON) scripts/test-db.py $(if $(QUICK),--quick)

axe: deps-browser console ## the console's flows, and each screen by axe in all themes, widths and languages
	@PEAL_AXE=all $(PYTHON) scripts/run-tests.py build console-flows

pictures: deps-browser console ## the console's flows, which keep their pictures in docs/pictures
	@PEAL_PICTURES=$(CURDIR)/docs/pictures $(PYTHON) scripts/run-tests.py build console-flows

console-if-possible:
	@scripts/console.sh --if-possible

demo: ## a center, an executor and sample jobs, followed in this terminal
	@scripts/demo.sh

demo-cluster: build deps-database ## three nodes on a database, to be killed by a key while the others take over
	@PEAL_BIN=build/release/peal $(PYTHON) scripts/demo-cluster.py $(DB)

picture: build ## run the demo and draw what it prints: docs/demo.svg
	@$(PYTHON) scripts/picture.py build/peal

bench: deps-browser console build ## the benchmarks; tables at the end, also in build/bench*.md
	@$(PYTHON) bench/run.py
	@$(PYTHON) bench/executor.py
	@$(PYTHON) bench/viewers.py
	@$(PYTHON) bench/alarms.py
	@$(PYTHON) bench/floods.py
	@$(PYTHON) bench/pages.py --jobs 100000 --rows 1000000
	@$$($(PYTHON) scripts/run-tests.py --python) bench/console.py

fuzz-long: deps-test ## each fuzzer for FUZZ_SECONDS (600); goes on where it stopped
	@$(PYTHON) scripts/fuzz.py --seconds $(FUZZ_SECONDS) --keep

soak: build ## SOAK minutes (60) under load, with kill -9, and as many with rows that grow too old
	@$(PYTHON) bench/soak.py --minutes $(SOAK)
	@$(PYTHON) bench/soak.py --minutes $(SOAK) --rate 2000 --retention

crash: build deps-test ## kill -9 of an executor under load, ROUNDS (100) times
	@PEAL_BIN=build/release/peal $(PYTHON) scripts/crash.py --rounds $(ROUNDS)

powercut: build deps-test ## power cuts under load: CUTS (200) of a center, a quarter as many of an executor
	@PEAL_BIN=build/release/peal $(PYTHON) scripts/powercut.py --rounds $(CUTS)
	@PEAL_BIN=build/release/peal $(PYTHON) scripts/crash.py --power --rounds $$(( ($(CUTS) + 3) / 4 ))

crash-db: build deps-database ## kill -9 of the center, of its database server, of both, ROUNDS (100) times each
	@PEAL_BIN=build/release/peal $(PYTHON) scripts/crash-db.py --rounds $(ROUNDS)

chaos: build deps-database ## three nodes, and all that can break does: 2 minutes a database; LONG=1: 30, 200 executors
	@PEAL_BIN=build/release/peal $(PYTHON) scripts/chaos.py $(if $(LONG),--long) $(DB)

model: deps-test ## search the quick configurations of the protocol's models
	@$(PYTHON) scripts/model.py

model-all: deps-test ## search all of them (a few minutes)
	@$(PYTHON) scripts/model.py --all

sim: deps-test ## simulate 5,000 seeds of each kind from a start that moves, and those that have failed once
	@$(PYTHON) scripts/sim.py --moving 5000 --kept
	@$(PYTHON) scripts/sim.py --nodes --moving 5000
	@$(PYTHON) scripts/sim.py --cluster --moving 5000 --kept

sim-long: deps-test ## simulate SEEDS (1..50000); goes on where it stopped
	@$(PYTHON) scripts/sim.py --seeds $(SEEDS) --resume

mutants: deps-test ## plant mistakes in a copy, and see each found by a test (two hours); goes on where it stopped
	@nice $(PYTHON) scripts/mutants.py

format: deps-test ## write the C files as .clang-format says
	@$(PYTHON) scripts/run-tests.py --format

lint: deps-test ## clang-tidy, and the checks of the house's structure
	@$(PYTHON) scripts/run-tests.py lint

install: deps-console console-if-possible build ## the binary, libpeal, pages and units under PREFIX (/usr/local), in DESTDIR
	@cmake --install build/release --prefix $(abspath $(PREFIX)) >build/install.log || { cat build/install.log; exit 1; }
	@cp build/release/install_manifest.txt build/installed
	@[ -n "$(DESTDIR)" ] || [ "$$(id -u)" -ne 0 ] || ldconfig
	@echo "installed under $(DESTDIR)$(abspath $(PREFIX)); make uninstall takes it away"

uninstall: ## what make install put there, with the same PREFIX and DESTDIR
	@scripts/uninstall.sh

deb: deps-build deps-console ## Debian packages, in build/deb
	@scripts/install-deps.sh package
	@scripts/deb.sh

install-deps: ## everything that building, testing and interop need
	@scripts/install-deps.sh build test console browser interop database package

clean: ## remove build/, but for what the long runs have gathered
	@if [ -d build ]; then find build -mindepth 1 -maxdepth 1 ! -name fuzz-corpus ! -name sim \
	    -exec rm -rf {} +; fi

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /  make \1\t/p' Makefile | expand -t 20

deps-build:
	@scripts/install-deps.sh build
	@mkdir -p build

deps-console:
	@scripts/install-deps.sh console

deps-browser: deps-test
	@scripts/install-deps.sh browser

deps-database: deps-test
	@scripts/install-deps.sh database

deps-test:
	@scripts/install-deps.sh build test
	@mkdir -p build
