# photospool: `make` prints what there is to make. Every target works as root and as a user with sudo, from any path.
SHELL := /bin/bash
.DEFAULT_GOAL := help
.PHONY: help deps build demo test tsan check bench fuzz soak rigs nas bare deb install uninstall clean

SWIFT ?= $(shell command -v swift 2>/dev/null || ls -d /opt/swift/usr/bin/swift 2>/dev/null || echo swift)
PREFIX ?= /usr
DESTDIR ?=
# Release binaries carry Swift's library, for Debian has none; they look for no library beside themselves, and their
# tables of functions are read-only once they run. Swift's own linker is the faster one. One product after another:
# without a name, what only the tests use would be built too.
RELEASE := -c release --static-swift-stdlib --disable-local-rpath -Xswiftc -use-ld=lld \
	-Xlinker -z -Xlinker relro -Xlinker -z -Xlinker now --product
PROGRAMS := photospoold photospool photospool-decoder photospool-decoder-av

help: ## what there is to make
	@awk -F ':.*## ' '/^[a-z]+:.*## /{printf "  make %-9s %s\n", $$1, $$2}' Makefile

deps: ## install what building and testing need (apt; does nothing when all is there)
	@Tests/Tools/deps.sh build test

build: ## the programs, optimised, in .build/release
	@Tests/Tools/deps.sh build
	@for program in $(PROGRAMS); do "$(SWIFT)" build $(RELEASE) $$program || exit 1; done

demo: build ## import the bundled sample photos on temporary folders, and show it
	@Tests/Demo/demo.sh

test: ## all tests, with the real programs
	@Tests/Tools/deps.sh build test
	@# Not all at once: many run daemons, and a machine of two cores would let all of them wait for each other.
	@SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=8 "$(SWIFT)" test

tsan: ## the tests under ThreadSanitizer
	@Tests/Tools/deps.sh build test
	@"$(SWIFT)" build --scratch-path .build/tsan --build-tests --sanitize=thread
	@"$$(dirname "$(SWIFT)")/clang" -O1 -Wall -Wextra -shared -fPIC -o .build/tsan/libtsan-mutex.so Tests/Tools/tsan-mutex.c
	@# The rigs that try every call try every twentieth.
	@# A decoder limits its own memory, which the sanitizer cannot live with: it is the plain one. The real programs are
	@# ten times slower so, and a machine of two cores runs their tests one after the other.
	@for program in photospool-decoder photospool-decoder-av; do "$(SWIFT)" build --product $$program || exit 1; done
	@mkdir -p .build/tsan/programs
	@cp .build/tsan/debug/photospoold .build/tsan/debug/photospool .build/debug/photospool-decoder{,-av} .build/tsan/programs/
	@# LD_PRELOAD knows no path with a space.
	@plain=$$(mktemp -d) && trap 'rm -rf "$$plain"' EXIT && cp .build/tsan/libtsan-mutex.so "$$plain/" && \
		export PHOTOSPOOL_THIN=20 LD_PRELOAD="$$plain/libtsan-mutex.so" PHOTOSPOOL_PROGRAMS="$(CURDIR)/.build/tsan/programs" && \
		"$(SWIFT)" test --scratch-path .build/tsan --skip-build --sanitize=thread \
			--skip EndToEndTests --skip SandboxTests --skip ProcessTests && \
		"$(SWIFT)" test --scratch-path .build/tsan --skip-build --sanitize=thread --filter EndToEndTests --no-parallel

check: ## format, house rules, units, and the tests
	@Tests/Tools/deps.sh build test
	@SWIFT="$(SWIFT)" Tests/Tools/check.sh
	@$(MAKE) --no-print-directory test

bench: build ## speed against other programs, in one run (OPTIONS=detect: of detection alone)
	@Tests/Tools/deps.sh bench
	@"$(SWIFT)" build $(RELEASE) preview-bench
	@Benchmarks/run.sh $(OPTIONS)

# libFuzzer and AddressSanitizer want a build of their own; of two --sanitize the package manager keeps the one or the
# other, so the compiler is told of both. Testing is enabled for what is not public; with it and optimised
# across modules, the compiler of Swift 6.3 ends in an assertion.
fuzz: build ## FILES (5000) damaged files through the daemon; then each of our parsers for DURATION (600 s) under ASan
	@Tests/Tools/deps.sh test
	@python3 Tests/Rigs/fuzz.py $(or $(FILES),5000)
	@PHOTOSPOOL_FUZZ=1 "$(SWIFT)" build -c release --scratch-path .build/fuzz --sanitize fuzzer \
		-Xswiftc -sanitize=address,fuzzer -Xcc -fsanitize=address -Xcxx -fsanitize=address -Xswiftc -enable-testing \
		-Xswiftc -disable-cmo --product photospool-fuzz
	@python3 Tests/Fuzz/run.py .build/fuzz/release/photospool-fuzz $(or $(DURATION),600) $(PARSERS)

soak: build ## deaths, failing calls and power cuts in full (KILLS=, DEATHS=, CUTS= say how many); slow and many arrivals
	@Tests/Tools/deps.sh test
	@python3 Tests/Rigs/soak.py $(KILLS)
	@python3 Tests/Rigs/detect.py
	@python3 Tests/Rigs/memory.py
	@python3 Tests/Rigs/flood.py 200000 2000
	@PHOTOSPOOL_RECOVERIES=400 python3 Tests/Rigs/powercut.py 60000
	@for disk in ext4 xfs btrfs; do python3 Tests/Rigs/blocks.py $$disk $(or $(CUTS),1000) || exit 1; done
	@python3 Tests/Rigs/deaths.py $(or $(DEATHS),200)
	@python3 Tests/Rigs/kills.py 1500 20
	@python3 Tests/Rigs/errors.py all
	@Tests/Rigs/faults.sh

rigs: deb ## the package in a bare Debian under a real systemd (root; not part of test)
	@Tests/Tools/deps.sh test rigs
	@Tests/Rigs/systemd.sh

nas: build ## the daemon on NFS and SMB shares, in a kernel of its own (root; not part of test)
	@Tests/Tools/deps.sh test rigs
	@Tests/Rigs/nas.sh

bare: ## make demo and make test in a bare Debian that has only Swift (root; takes long)
	@Tests/Tools/deps.sh rigs
	@Tests/Rigs/bare.sh

deb: build ## a Debian package in build/
	@Tests/Tools/deps.sh deb
	@Tests/Tools/deb.sh

install: build ## into $(DESTDIR)$(PREFIX), with units and the default configuration
	@DESTDIR="$(DESTDIR)" PREFIX="$(PREFIX)" Tests/Tools/install.sh

uninstall: ## what install put there; photos, state and configuration stay
	@DESTDIR="$(DESTDIR)" PREFIX="$(PREFIX)" Tests/Tools/install.sh --remove

clean: ## what was built
	@rm -rf .build build
