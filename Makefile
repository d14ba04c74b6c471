# Targets only call tools; logic belongs in Swift. `make` lists them.

PREFIX ?= /usr/local
DESTDIR ?=
SYSCONFDIR ?= /etc
CONFIGURATION ?= release

# Debian's own Swift uses GNU ld, which leaves Swift's code writable; LLVM's linker makes the program three times as large.
DEBIAN_SWIFT := $(wildcard /usr/libexec/swift/bin/swift)
LINKER := $(if $(DEBIAN_SWIFT),-Xswiftc -use-ld=gold)

# Debian packages that build, tests, bench and Swift's own programs need, in addition to Swift 6.3.
APT_PACKAGES := dbus dpkg-dev g++ git jq libcurl4 libelf1 libncurses6 libsystemd-dev libxml2 libyaml-dev libzstd-dev make netcat-openbsd procps python3-pip python3-venv rt-tests tmux $(if $(DEBIAN_SWIFT),binutils-gold)

# Packages for building and testing airframe-eyes; the other programs do not need these packages.
EYES_PACKAGES := ffmpeg gstreamer1.0-plugins-bad gstreamer1.0-plugins-base gstreamer1.0-plugins-good gstreamer1.0-plugins-ugly gstreamer1.0-tools libgstreamer-plugins-base1.0-dev libgstreamer1.0-dev libgstrtspserver-1.0-dev libturbojpeg0-dev pkg-config python3-pip
# Package.swift contains the targets of airframe-eyes if this is not empty.
EYES_FLAGS = $(shell pkg-config --cflags-only-I gstreamer-rtsp-server-1.0 gstreamer-app-1.0 2>/dev/null)

# Package for testing airframe-web's page; airframe-web itself needs no package.
WEB_PACKAGES := chromium

SWIFT_SOURCES := Sources Tests Package.swift
BIN = .build/$(CONFIGURATION)
# A static Swift runtime: one file to copy, less memory to lock, faster to start.
# The programs need no symbol table for lookups by name.
RELEASE_FLAGS := -c release --static-swift-stdlib -Xlinker --no-export-dynamic $(LINKER)
# Larger recordings for `make bench`; figures that need them report a missing folder.
IMU_DATA ?= ../shared/data/imu
# Recordings of people who walk, for `make bench-pointing`.
GAIT_DATA ?= ../shared/data/gait
# A systemd service that runs the tests would pass its folder to every airframed: each would find the emergency stops of the others.
unexport RUNTIME_DIRECTORY

# Peers from PyPI, never committed.
PEERS := .build/peers

.DEFAULT_GOAL := help
.PHONY: help deps deps-eyes deps-web build build-web run-web bench-web build-eyes run-eyes bench-eyes documents counter packages packages-eyes build-tests run test test-computing test-waiting test-daemon test-companions test-machines test-system test-arm64 soak fuzz sanitize lab lint format bench bench-pointing bench-estimator bench-peers lockstep-mujoco mavlink-peer mcp-peer check airframe install install-eyes uninstall deb deb-eyes install-web deb-web install-python deb-python clean

help: ## list the targets
	@grep -hE '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 18

# Newer versions of Debian provide some names with other packages: libcurl4 with libcurl4t64.
define install_missing
	@present=" $$(dpkg-query -W -f='$${db:Status-Status} $${Package}, $${Provides}\n' 2>/dev/null | \
	    sed -n 's/([^)]*)//g; s/^installed //p' | tr -s ', \n' ' ') "; \
	missing=""; for p in $(1); do \
	    case "$$present" in *" $$p "*) ;; *) missing="$$missing $$p" ;; esac; done; \
	if [ -n "$$missing" ]; then echo "installing:$$missing"; \
	    sudo=$$([ "$$(id -u)" = 0 ] || echo sudo); \
	    $$sudo apt-get update -qq && \
	    $$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $$missing; fi
endef

deps: ## install missing Debian packages, without questions
	$(call install_missing,$(APT_PACKAGES))
	@command -v swift >/dev/null || { echo "Swift 6.3 is missing: install it from https://www.swift.org/install/linux"; exit 1; }

deps-eyes: ## install missing Debian packages of airframe-eyes (GStreamer), and fetch its models into .build/eyes-models
	$(call install_missing,$(EYES_PACKAGES))
	@etc/fetch-eyes-models .build/eyes-models || \
	    echo "SKIPPED: airframe-eyes will not find people, because the models cannot be fetched here (see above)"

deps-web: ## install missing Debian packages for the tests of airframe-web's page (Chromium)
	$(call install_missing,$(WEB_PACKAGES))

build: ## build airframed and airframectl, optimised
	swift build $(RELEASE_FLAGS) --product airframed
	swift build $(RELEASE_FLAGS) --product airframectl

run: deps build build-web ## start the simulated gimbal, its monitor and its page for browsers; Ctrl-C stops all of them
	@etc/run-simulated $(BIN)

build-web: ## build airframe-web, optimised
	swift build $(RELEASE_FLAGS) --product airframe-web

run-web: deps build build-web ## start the simulated gimbal and its page for browsers; Ctrl-C stops both
	@etc/run-web $(BIN)

bench-web: deps-web build build-web ## measure the page in Chromium, and the cost of 20 pages for the loop; print each figure with its limit
	AIRFRAME_BIN=$(CURDIR)/$(BIN) swift test --no-parallel --filter "FigureTests|LoopCostTests"

build-eyes: export AIRFRAME_EYES = $(EYES_FLAGS)
build-eyes: deps-eyes ## build airframe-eyes, optimised
	swift build $(RELEASE_FLAGS) --product airframe-eyes

run-eyes: deps build build-eyes ## start the simulated gimbal and a video stream of its view; Ctrl-C stops both
	@etc/run-eyes $(BIN)

bench-eyes: build-eyes ## measure the latency of the video stream; print it with its limit
	@etc/bench-eyes $(BIN)

documents: export AIRFRAME_EYES = $(EYES_FLAGS)
documents: ## write the documents that are generated from the code: etc/airframed.toml and the manual pages
	AIRFRAME_WRITE_DOCUMENTS=1 swift test --filter 'ManualPageTests|SampleFileTests|EyesConfigurationTests|WebConfigurationTests|PictureTests|FollowFeelTests'

# Test targets without threads, sockets, clocks and time limits.
COMPUTING_TESTS := '^(GimbalCore|Simulation|Identification|Calibration|Configuration|Shots|Persistence|Wire|Recording|Bench)Tests\.'
# Test targets of the companions: web page, camera, people, Aerie's server and the assistant.
COMPANION_TESTS := '^(Aerie|Assistant|Eyes|Fuzz|People|Web|WebServing)Tests\.'

# Not before the other programs: two builds in one folder wait for each other.
counter: | build
	swift build $(RELEASE_FLAGS) --product MallocCounter

# Readers and SDKs from PyPI, for the tests.
TEST_PEERS := mcap mavlink gyroflow mcp prometheus mypy

# Packages of optional tests: without a package, its tests are skipped. Those of airframe-eyes come first, because the build needs them.
packages-eyes:
	@$(MAKE) --no-print-directory deps-eyes || \
	    echo "SKIPPED: airframe-eyes is neither built nor tested, because GStreamer cannot be installed here (see above)"

packages: packages-eyes
	@$(MAKE) --no-print-directory deps-web || \
	    echo "SKIPPED: airframe-web's page is not tested, because Chromium cannot be installed here (see above)"
	@for peer in $(TEST_PEERS); do $(MAKE) --no-print-directory $(PEERS)/venv/$$peer || \
	    echo "SKIPPED: the tests with $$peer from PyPI, because it cannot be installed here (see above)"; done
	@Tests/Lab/install --kmod || true

# All programs and all tests are one optimised build. The tests see internal declarations, so `make install` installs another build.
TEST_BUILD := .build/tests
TEST_FLAGS := -c release --scratch-path $(TEST_BUILD) -Xswiftc -enable-testing $(LINKER)

test build-tests: export AIRFRAME_EYES = $(EYES_FLAGS)
build-tests: packages-eyes
	swift build $(TEST_FLAGS) --build-tests

test: test-waiting test-machines ## run every test, including the short tests in the virtual machine

# Tests that only compute use all cores. The others wait for threads, sockets and clocks, so they run one after the other. With
# `make --jobs 3`, those of the daemon and those of the companions run side by side; nothing is built, so neither needs SwiftPM's lock.
test-computing: build-tests packages
	swift test $(TEST_FLAGS) --skip-build --filter $(COMPUTING_TESTS)

test-waiting: test-daemon test-companions

test-daemon: test-computing
	swift test $(TEST_FLAGS) --skip-build --ignore-lock --no-parallel --skip $(COMPUTING_TESTS) --skip $(COMPANION_TESTS)

test-companions: test-computing
	swift test $(TEST_FLAGS) --skip-build --ignore-lock --no-parallel --filter $(COMPANION_TESTS)

# The machines have a clock of their own. With `make --jobs 3` they use the time that the tests above wait, and never delay them.
test-machines: test-computing
	@if Tests/Lab/install --kmod; then BIN=$(TEST_BUILD)/release chrt --idle 0 Tests/System/run; else \
	    echo "SKIPPED: the system tests, because their virtual machine cannot be installed here (see above)"; fi

test-system: lab build counter ## run all tests in a virtual machine, with the real BlueZ and emulated chips
	Tests/System/run --long

test-arm64: ## compare the core's results on the boards' instruction set with those on this computer, bit for bit (qemu-user)
	Tests/Arm64/run

soak: lab build counter deb ## test an hour of simulated time with restarts, phones that go out of range, and 10^6 requests
	swift build $(RELEASE_FLAGS) --product airframe-bench
	$(BIN)/airframe-bench soak soak-links --gate --daemon $(BIN)/airframed
	Tests/System/run --soak
	AIRFRAME_WRITES=1000000 swift test --no-parallel --filter BlueZBusTests

# Executions of each fuzzer; eight of them make 1.4 * 10^7.
FUZZ_RUNS ?= 1700000
# Fuzzers, for example FUZZERS=Web.
FUZZERS ?= Diagnostics AirOS RBL MAVLink Rider Recording Web Motors IIO

# Swift's own backtrace would end the process before libFuzzer has written the input.
fuzz: ## fuzz every decoder of received bytes with libFuzzer; FUZZERS=Web selects one; new inputs go to .build/fuzz-found
	@for t in $(FUZZERS); do \
	    AIRFRAME_FUZZ=1 swift build -c release --sanitize fuzzer --product Fuzz$$t --scratch-path .build/fuzz && \
	    mkdir -p .build/fuzz-found/$$t && \
	    SWIFT_BACKTRACE=enable=no .build/fuzz/release/Fuzz$$t -runs=$(FUZZ_RUNS) -max_len=4096 -verbosity=0 -print_final_stats=1 \
	        -artifact_prefix=.build/fuzz-found/ .build/fuzz-found/$$t Tests/Fuzz/Corpora/$$t || exit 1; done

# The library tells ThreadSanitizer about locks that it does not see; it needs Swift's clang, for Swift's calling convention. The option
# removes ThreadSanitizer's pause of a second at exit.
sanitize: ## run all tests under ThreadSanitizer, then under AddressSanitizer
	swift build --build-tests --sanitize thread --scratch-path .build/thread
	clang -shared -fPIC -O1 -Wall -Werror -o .build/thread/futex.so Tests/Sanitizers/futex.c -ldl
	TSAN_OPTIONS=atexit_sleep_ms=0 LD_PRELOAD=$(CURDIR)/.build/thread/futex.so \
	    swift test --skip-build --no-parallel --sanitize thread --scratch-path .build/thread
	ASAN_OPTIONS=detect_leaks=0 swift test --no-parallel --sanitize address --scratch-path .build/address

lab: ## install the virtual machine of the system tests (Tests/Lab) into ~/.cache/airframe-lab
	Tests/Lab/install --kmod --video

lint: ## check formatting, doc comments and the style of all text
	swift format lint --strict --recursive $(SWIFT_SOURCES)
	Tests/Prose/run

format: ## correct the formatting
	swift format --in-place --recursive $(SWIFT_SOURCES)

bench: counter ## measure every figure, and print it with its limit
	swift build $(RELEASE_FLAGS) --product SlowDisk
	swift build $(RELEASE_FLAGS) --product airframed
	swift build $(RELEASE_FLAGS) --product airframe-bench
	@# A figure over its limit does not prevent the measurement of the page.
	@status=0; $(BIN)/airframe-bench all --data $(IMU_DATA) --daemon $(BIN)/airframed || status=$$?; \
	if make --no-print-directory deps-web; then make --no-print-directory bench-web || status=$$?; else \
	    echo "SKIPPED: the figures of airframe-web's page, because Chromium cannot be installed here (see above)"; fi; \
	exit $$status

bench-pointing: ## measure the camera's shake and attitude error with each motor type, compared with an ideal controller
	swift build $(RELEASE_FLAGS) --product airframe-bench
	$(BIN)/airframe-bench pointing actuators
	$(BIN)/airframe-bench pointing --recorded $(GAIT_DATA)

bench-estimator: $(PEERS)/vqf_cost ## compare the estimator with VQF (from PyPI) on the recorded trials
	swift build $(RELEASE_FLAGS) --product airframectl
	swift build $(RELEASE_FLAGS) --product airframe-bench
	$(PEERS)/venv/bin/python Tests/Peers/compare.py --data $(IMU_DATA) --sample Tests/Fixtures/broad \
	    --bin $(BIN) --work $(PEERS)

$(PEERS)/venv/made: Tests/Peers/requirements.txt
	python3 -m venv $(PEERS)/venv
	$(PEERS)/venv/bin/pip install --quiet --requirement $<
	touch $@

# Options for the gimbal in MuJoCo, for example MUJOCO="--motion running --inertia 2"; --help lists them.
MUJOCO ?=

lockstep-mujoco: $(PEERS)/venv/mujoco ## drive a gimbal in MuJoCo in lockstep; MUJOCO="--help" lists its options
	swift build $(RELEASE_FLAGS) --product airframed
	$(PEERS)/venv/bin/python Tests/Peers/mujoco_gimbal.py --airframed $(BIN)/airframed $(MUJOCO)

# Options, for example POINTING="--seeds 12:36 --jobs 2"; --help lists them.
POINTING ?=

bench-peers: $(PEERS)/venv/mujoco ## compare the pointing with that of a tuned PID cascade, on random gimbals in MuJoCo; POINTING="--help" lists options
	swift build $(RELEASE_FLAGS) --product airframed
	$(PEERS)/venv/bin/python Tests/Peers/pointing.py --airframed $(BIN)/airframed --data $(GAIT_DATA) \
	    --cache $(PEERS)/pointing.json $(POINTING)

mavlink-peer: $(PEERS)/venv/mavlink ## install pymavlink for the tests of MAVLink

$(PEERS)/venv/mavlink: Tests/Peers/requirements-mavlink.txt
	[ -x $(PEERS)/venv/bin/pip ] || python3 -m venv $(PEERS)/venv
	$(PEERS)/venv/bin/pip install --quiet --requirement $<
	touch $@

mcp-peer: $(PEERS)/venv/mcp ## install the SDK of the Model Context Protocol for the tests of airframectl mcp

$(PEERS)/venv/mcp: Tests/Peers/requirements-mcp.txt
	[ -x $(PEERS)/venv/bin/pip ] || python3 -m venv $(PEERS)/venv
	$(PEERS)/venv/bin/pip install --quiet --requirement $<
	touch $@

# Prometheus's parser, which the tests check metrics with.
$(PEERS)/venv/prometheus: Tests/Peers/requirements-prometheus.txt
	[ -x $(PEERS)/venv/bin/pip ] || python3 -m venv $(PEERS)/venv
	$(PEERS)/venv/bin/pip install --quiet --requirement $<
	touch $@

# Type checker, which the tests check the Python client with.
$(PEERS)/venv/mypy: Tests/Peers/requirements-mypy.txt
	[ -x $(PEERS)/venv/bin/pip ] || python3 -m venv $(PEERS)/venv
	$(PEERS)/venv/bin/pip install --quiet --requirement $<
	touch $@

$(PEERS)/venv/mujoco: Tests/Peers/requirements-mujoco.txt
	[ -x $(PEERS)/venv/bin/pip ] || python3 -m venv $(PEERS)/venv
	$(PEERS)/venv/bin/pip install --quiet --requirement $<
	touch $@

# The reader that the tests check recordings with.
$(PEERS)/venv/mcap: Tests/Peers/requirements-mcap.txt
	[ -x $(PEERS)/venv/bin/pip ] || python3 -m venv $(PEERS)/venv
	$(PEERS)/venv/bin/pip install --quiet --requirement $<
	touch $@

# Gyroflow's reader, which the tests check .gcsv files with.
$(PEERS)/venv/gyroflow: Tests/Peers/requirements-gyroflow.txt
	[ -x $(PEERS)/venv/bin/pip ] || python3 -m venv $(PEERS)/venv
	$(PEERS)/venv/bin/pip install --quiet --requirement $<
	touch $@

# VQF's C++ core from its source package, for the comparison of cost.
$(PEERS)/vqf_cost: Tests/Peers/vqf_cost.cpp $(PEERS)/venv/made
	rm -rf $(PEERS)/source && mkdir -p $(PEERS)/source
	$(PEERS)/venv/bin/pip download --quiet --no-deps --no-binary vqf --dest $(PEERS)/source \
	    "$$(grep ^vqf== Tests/Peers/requirements.txt)"
	tar -xzf $(PEERS)/source/vqf-*.tar.gz -C $(PEERS)/source --strip-components=1
	g++ -O3 -I $(PEERS)/source/vqf/cpp -o $@ $< $(PEERS)/source/vqf/cpp/vqf.cpp

check: lint test build ## run every check that a commit must pass

airframe:
	swift build $(RELEASE_FLAGS) --product airframe

install: airframe ## install programs, configuration, unit, manual and completions below PREFIX (and DESTDIR), and create the user
	etc/install-tree $(BIN) "$(DESTDIR)" $(PREFIX) $(SYSCONFDIR)

uninstall: ## stop the services, and remove the installed files, except the configuration and the saved tuning
	etc/uninstall-tree "$(DESTDIR)" $(PREFIX)

deb: airframe ## build .build/airframe_VERSION_ARCH.deb for this computer
	etc/debian/build $(BIN) .build

install-eyes: build-eyes ## install airframe-eyes below PREFIX (and DESTDIR)
	etc/install-tree-eyes $(BIN) "$(DESTDIR)" $(PREFIX) $(SYSCONFDIR)

deb-eyes: build-eyes ## build .build/airframe-eyes_VERSION_ARCH.deb for this computer
	etc/debian/build $(BIN) .build airframe-eyes

install-web: build-web ## install airframe-web below PREFIX (and DESTDIR)
	etc/install-tree-web $(BIN) "$(DESTDIR)" $(PREFIX) $(SYSCONFDIR)

deb-web: build-web ## build .build/airframe-web_VERSION_ARCH.deb for this computer
	etc/debian/build $(BIN) .build airframe-web

install-python: ## install the Python client below PREFIX (and DESTDIR)
	etc/install-tree-python "$(DESTDIR)" $(PREFIX)

deb-python: ## build .build/python3-airframe_VERSION_all.deb
	etc/debian/build $(BIN) .build python3-airframe

clean: ## remove all build products
	swift package clean
	rm -rf $(TEST_BUILD) .build/fuzz .build/thread .build/address
