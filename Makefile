# Atrium: `make run` to try it, `make test` to check it; `make` alone lists the rest.

PREFIX  ?= /usr/local
DESTDIR ?=
# Below what folder systemd finds units, if not $(PREFIX)/lib/systemd.
SYSTEMD_DIR ?=
# Leaves the symbols for debuggers out of what is installed, three quarters of it; STRIP= keeps them.
STRIP   ?= strip
SWIFT   ?= swift
SHELL   := /bin/bash

# What the build links, and what the tests use on top of it.
BUILD_PACKAGES := binutils ca-certificates git libcurl4-openssl-dev libncurses-dev libsqlite3-dev libsystemd-dev \
	libtag1-dev libxxhash-dev pkg-config python3 tzdata zlib1g-dev
# (Chromium: 133 MB to fetch, 440 MB on the disk, 17 s here.)
TEST_PACKAGES  := chromium chromium-driver dbus fish gzip libnss-systemd man-db mandoc procps python3-aiohttp \
	python3-markdown-it python3-venv sqlite3 strace systemd tmux util-linux zsh
# What `make deb` makes a package with, and what tries it.
DEB_PACKAGES          := debhelper dpkg-dev fakeroot lintian
PACKAGE_TEST_PACKAGES := debootstrap

# `make run` starts from here: the same tree as an installed one.
STAGE   := $(CURDIR)/.build/atrium
# The clients of other languages that the tests talk through.
VENV    := .build/venv
SOURCES := Package.swift Sources plugins Tests Examples $(wildcard Benchmarks)

# What is installed brings its own Swift runtime along, in a directory of its own, and does not look for a
# toolchain: hence no run path to the toolchain's, and a path to it for the tools that run while building.
RUNTIME  = $(shell $(SWIFT) -print-target-info | sed -n '/"runtimeLibraryPaths"/{n;s/.*"\(.*\)".*/\1/p;}')
# Exclusive access is checked as things run in the tests' builds; here these checks were a twelfth of a vote.
RELEASE  = LD_LIBRARY_PATH='$(RUNTIME)' $(SWIFT) build -c release -Xswiftc -no-toolchain-stdlib-rpath \
	-Xswiftc -enforce-exclusivity=unchecked
PRODUCTS = $(CURDIR)/.build/release
# What the scripts of packaging/ want to know.
PLACE    = PREFIX='$(PREFIX)' DESTDIR='$(DESTDIR)' SYSTEMD_DIR='$(SYSTEMD_DIR)' \
	PRODUCTS='$(PRODUCTS)' RUNTIME='$(RUNTIME)'
# One after the other: a test that computes for long would keep others from the two threads of a small machine.
# Workers are tested in a process of their own: Swift Testing's exit tests trip over children that are not theirs.
RUN_TESTS = Tests/say-failures $(SWIFT) test --skip-build --disable-xctest --no-parallel
# A module may import what it declares to depend on, and nothing that merely happens to be there.
CHECKED := --explicit-target-dependency-import-check error
# The benchmarks' programs, which nothing else builds.
BUILD_BENCHMARKS := $(SWIFT) build -c release --package-path Benchmarks --scratch-path .build/benchmarks $(CHECKED) && \
	$(SWIFT) build -c release --package-path Benchmarks/index --scratch-path .build/index-benchmark $(CHECKED)

.DEFAULT_GOAL := help
.PHONY: help run test fuzz mutants soak soak-daemon soak-store bench lint format docs install uninstall lay-down \
	lay-down-units release stage deb test-package deps test-deps clean

help: ## what there is to do
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1@\2/p' $(MAKEFILE_LIST) | column -t -s @

run: deps stage ## start the daemon with an example container, and say what to type next
	@Examples/run '$(STAGE)'

test: test-deps lint ## check the format, build everything, the benchmarks too, run all tests
	$(SWIFT) build --build-tests $(CHECKED)
	$(if $(wildcard Benchmarks),$(BUILD_BENCHMARKS))
	$(RUN_TESTS) --skip WorkersTests
	$(RUN_TESTS) --filter WorkersTests
	SWIFT='$(SWIFT)' FUZZ_SECONDS=15 FUZZ_SEED=1 Tests/Fuzz/run json idl frames
	SOAK_SECONDS=20 SOAK_SEED=1 $(MAKE) --no-print-directory soak-daemon
	$(MAKE) --no-print-directory test-package

fuzz: test-deps ## make up what the daemon reads; FUZZ_SECONDS=60 for each of json, idl, frames, calls, or FUZZ=idl
	SWIFT='$(SWIFT)' Tests/Fuzz/run $(FUZZ)

soak: soak-daemon soak-store ## all that can happen, for long: to a daemon under 200 clients (as root), and to its store's files

mutants: test-deps ## break the built-in plugins; 95 % have to fail their conformance suite; MUTANTS='--count 0 Stars'
	$(SWIFT) build --build-tests $(CHECKED)
	Tests/Mutants/run --least 0.95 $(MUTANTS)

# SOAK_CLIENTS=200 SOAK_SECONDS=300
soak-daemon: test-deps
	@Tests/Soak/run check || exit 0; $(MAKE) --no-print-directory release && Tests/Soak/run '$(PRODUCTS)'

# What `make test` does for a minute: each call of FAULT_SEEDS workloads, and of erasures, backups, restores and migrations, fails in
# six ways, OPENING_CASES files are broken, MODEL_SEEDS runs are compared with a model, KILLS processes killed. Half an hour on two
# quiet cores, half of it the workloads. From new seeds, which are printed: FAULT_SEED=, OPENING_SEED=, MODEL_SEED= and KILL_SEED= run
# one again.
soak-store: test-deps
	$(SWIFT) build --build-tests $(CHECKED)
	@seed=$$((RANDOM * 1000)); export FAULT_SEEDS=$${FAULT_SEEDS:-10} FAULT_SEED=$${FAULT_SEED:-$$seed} \
		OPENING_CASES=$${OPENING_CASES:-20000} OPENING_SEED=$${OPENING_SEED:-$$seed} \
		MODEL_SEEDS=$${MODEL_SEEDS:-600} MODEL_SEED=$${MODEL_SEED:-$$seed} \
		KILLS=$${KILLS:-60} KILL_SEED=$${KILL_SEED:-$$seed} TEST_SECONDS=$${TEST_SECONDS:-7200}; \
	echo "FAULT_SEED=$$FAULT_SEED OPENING_SEED=$$OPENING_SEED MODEL_SEED=$$MODEL_SEED KILL_SEED=$$KILL_SEED"; \
	$(RUN_TESTS) \
		--filter 'StoreTests.(FaultTests|FaultStepTests|OpeningFuzzTests|ModelTests|KillTests)|HostTests.HostModelTests'

bench: deps stage ## measure a release build beside its peers; BENCH=calls for a part
	@.ci/deps python3 python3-venv
	@Benchmarks/peers/bench.py --stage '$(STAGE)' $(BENCH)

lint:
	$(SWIFT) format lint --strict --parallel --recursive $(SOURCES)

format: ## lay the sources out as .swift-format says
	$(SWIFT) format format --in-place --parallel --recursive $(SOURCES)

docs: deps ## write the documentation of the public libraries to .build/docs
	@mkdir -p .build/docs
	$(foreach target,AtriumKit Varlink JSONCodec,$(call document,$(target)))

define document
$(SWIFT) package --allow-writing-to-directory .build/docs generate-documentation \
	--target $(1) --warnings-as-errors --output-path .build/docs/$(1)

endef

release:
	$(RELEASE)

stage: release
	@$(MAKE) --no-print-directory lay-down DESTDIR= PREFIX='$(STAGE)'

install: deps release ## install below PREFIX (/usr/local), within DESTDIR if given
	@$(PLACE) STRIP='$(STRIP)' packaging/as-root packaging/lay-down
	@$(PLACE) packaging/next

uninstall: ## take away what `make install` put there; settings and data stay
	@$(PLACE) packaging/as-root packaging/uninstall

# What install and stage do with what is built already; tests do it with what was built for them.
lay-down:
	@$(PLACE) packaging/lay-down

# The same of the units alone.
lay-down-units:
	@$(PLACE) packaging/lay-down units

deb: deps release ## make a Debian package in .build/deb, and have lintian look at it
	@.ci/deps $(DEB_PACKAGES)
	@$(PLACE) packaging/deb
	@lintian --fail-on error --suppress-tags initial-upload-closes-no-bugs .build/deb/atrium_*.deb

test-package: ## make the package, and install, upgrade and purge it in a Debian of its own (as root)
	@Tests/Package/run check || exit 0; $(MAKE) --no-print-directory deb COMPRESSION='-Zgzip -z1' && \
		.ci/deps $(PACKAGE_TEST_PACKAGES) && Tests/Package/run

deps:
	@.ci/deps $(BUILD_PACKAGES)

test-deps:
	@.ci/deps $(BUILD_PACKAGES) $(TEST_PACKAGES)
	@[ -x $(VENV)/bin/python3 ] || /usr/bin/python3 -m venv $(VENV)
	@$(VENV)/bin/python3 -c 'import asyncvarlink, prometheus_client, varlink' 2>/dev/null || \
		$(VENV)/bin/pip install --quiet --disable-pip-version-check varlink==31.0.0 asyncvarlink==0.3.3 \
			prometheus_client==0.26.0
	@[ -f $(VENV)/share/axe.min.js ] || { mkdir -p $(VENV)/share && $(VENV)/bin/pip download --quiet \
		--disable-pip-version-check --no-deps --dest $(VENV)/share axe-playwright-python==0.1.8 && \
		cd $(VENV)/share && ../bin/python3 -m zipfile -e axe_playwright_python-*.whl axe && \
		mv axe/axe_playwright_python/axe.min.js . && rm -r axe axe_playwright_python-*.whl; }

clean: ## remove what was built
	rm -rf .build
