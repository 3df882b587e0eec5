# Atrium: `make run` to try it, `make test` to check it; `make` alone lists the rest.

PREFIX  ?= /usr/local
DESTDIR ?=
SWIFT   ?= swift
SHELL   := /bin/bash

# What the build links, and what the tests use on top of it.
BUILD_PACKAGES := ca-certificates git libsqlite3-dev libsystemd-dev pkg-config
# (Chromium: 133 MB to fetch, 440 MB on the disk, 17 s here.)
TEST_PACKAGES  := binutils chromium chromium-driver gzip procps python3 python3-aiohttp python3-venv strace util-linux

# `make run` starts from here: the same tree as an installed one.
STAGE   := $(CURDIR)/.build/atrium
# The clients of other languages that the tests talk through.
VENV    := .build/venv
SOURCES := Package.swift Sources plugins Tests Examples $(wildcard Benchmarks)

# What is installed brings its own Swift runtime along, in a directory of its own, and does not look for a
# toolchain: hence no run path to the toolchain's, and a path to it for the tools that run while building.
RUNTIME  = $(shell $(SWIFT) -print-target-info | sed -n '/"runtimeLibraryPaths"/{n;s/.*"\(.*\)".*/\1/p;}')
RELEASE  = LD_LIBRARY_PATH='$(RUNTIME)' $(SWIFT) build -c release -Xswiftc -no-toolchain-stdlib-rpath
PRODUCTS = $(CURDIR)/.build/release
PROGRAMS := atriumd atriumctl atrium-worker
# One after the other: a test that computes for long would keep others from the two threads of a small machine.
# Workers are tested in a process of their own: Swift Testing's exit tests trip over children that are not theirs.
RUN_TESTS = $(SWIFT) test --skip-build --disable-xctest --no-parallel
# A module may import what it declares to depend on, and nothing that merely happens to be there.
CHECKED := --explicit-target-dependency-import-check error

BIN     = $(DESTDIR)$(PREFIX)/bin
LIB     = $(DESTDIR)$(PREFIX)/lib/atrium
SHARE   = $(DESTDIR)$(PREFIX)/share/atrium
SYSTEM  = $(DESTDIR)$(PREFIX)/lib

.DEFAULT_GOAL := help
.PHONY: help run test fuzz bench lint format docs install release stage deps test-deps clean

help: ## what there is to do
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1@\2/p' $(MAKEFILE_LIST) | column -t -s @

run: deps stage ## start the daemon with an example container, and say what to type next
	@Examples/run '$(STAGE)'

test: test-deps lint ## check the format, build everything, run all tests
	$(SWIFT) build --build-tests $(CHECKED)
	$(RUN_TESTS) --skip WorkersTests
	$(RUN_TESTS) --filter WorkersTests
	SWIFT='$(SWIFT)' FUZZ_SECONDS=15 FUZZ_SEED=1 Tests/Fuzz/run

fuzz: test-deps ## make up texts for what reads foreign bytes; FUZZ_SECONDS=60 for each of json, idl, frames, or FUZZ=idl
	SWIFT='$(SWIFT)' Tests/Fuzz/run $(FUZZ)

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

install: deps release lay-down ## install below PREFIX (/usr/local), within DESTDIR if given

.PHONY: lay-down
lay-down: lay-down-units
	@install -d '$(BIN)' '$(LIB)' '$(SHARE)/examples'
	@cd '$(PRODUCTS)' && install -C -m 755 $(PROGRAMS) '$(BIN)'
	@cd '$(PRODUCTS)' && install -C -m 644 libAtriumKit.so '$(LIB)'
	@value() { sed -n "/^ *\"$$1\": *\"\([^\"]*\)\".*/{s//\1/p;q;}" "$$2"; }; \
	for manifest in plugins/*/manifest.json; do \
		home="$(LIB)/plugins/$$(value id $$manifest)"; \
		install -d "$$home" && install -C -m 644 $$manifest \
			"$(PRODUCTS)/$$(value library $$manifest)" "$$home" || exit; \
	done
	@cd '$(PRODUCTS)' && LD_LIBRARY_PATH='$(RUNTIME)' ldd $(PROGRAMS) lib*.so | \
		sed -n 's,.* => \($(RUNTIME)/[^ ]*\) .*,\1,p' | sort -u | xargs install -C -m 644 -t '$(LIB)'
	@for kit in AtriumKit AtriumKitTesting; do \
		rm -rf "$(SHARE)/$$kit" && install -d "$(SHARE)/$$kit" && \
		cp -R Sources/$$kit/Package.swift Sources/$$kit/Sources "$(SHARE)/$$kit" || exit; \
	done
	@install -C -m 644 Examples/*.yaml Examples/*.ndjson '$(SHARE)/examples'
	@install -C -m 644 LICENSE '$(SHARE)'
	@install -C -m 755 Examples/debian-index '$(SHARE)/examples'
	@install -d '$(SHARE)/examples/web' && \
		install -C -m 755 Examples/web/gateway.py '$(SHARE)/examples/web' && \
		install -C -m 644 Examples/web/index.html '$(SHARE)/examples/web'

.PHONY: lay-down-units
lay-down-units:
	@install -d '$(SYSTEM)/systemd/system' '$(SYSTEM)/systemd/user' '$(SYSTEM)/sysusers.d' '$(SYSTEM)/tmpfiles.d'
	@# What all services share goes into each one's drop-in folder; the walls are the system's to put up.
	@for file in systemd/system/*.* systemd/user/*.*; do \
		unit="$(SYSTEM)/$$file" shared=; case $$file in \
			systemd/system/atriumd*.service) shared='10-life 20-calls 30-walls';; \
			systemd/user/atriumd*.service) shared='10-life 20-calls';; \
		esac; \
		sed 's,/usr/local/,$(PREFIX)/,g' "$$file" >"$$unit" || exit; \
		for part in $$shared; do \
			install -d "$$unit.d" && \
			sed 's,/usr/local/,$(PREFIX)/,g' systemd/shared/$$part.conf >"$$unit.d/$$part.conf" || exit; \
		done; \
	done
	@install -C -m 644 systemd/sysusers.conf '$(SYSTEM)/sysusers.d/atrium.conf'
	@install -C -m 644 systemd/tmpfiles.conf '$(SYSTEM)/tmpfiles.d/atrium.conf'

deps:
	@.ci/deps $(BUILD_PACKAGES)

test-deps:
	@.ci/deps $(BUILD_PACKAGES) $(TEST_PACKAGES)
	@[ -x $(VENV)/bin/python3 ] || /usr/bin/python3 -m venv $(VENV)
	@$(VENV)/bin/python3 -c 'import asyncvarlink, varlink' 2>/dev/null || \
		$(VENV)/bin/pip install --quiet --disable-pip-version-check varlink==31.0.0 asyncvarlink==0.3.3

clean: ## remove what was built
	rm -rf .build
