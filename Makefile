# kasoku: `make help` lists the targets.
SHELL      := /bin/bash
GO         ?= go
FUZZTIME   ?= 20s
VERSION    ?= $(shell git describe --tags --always --dirty 2>/dev/null)
LDFLAGS    := -s -w $(if $(filter v%,$(VERSION)),-X github.com/kasoku/kasoku/cmd/kasoku/internal/cli.version=$(VERSION:v%=%))
# The flags of a release for builds, tests and linters alike: what one of them has compiled,
# the others take from the cache.
export CGO_ENABLED ?= 0
export GOFLAGS     ?= -trimpath
# Where tools/setup puts Go when there is none, or an old one; and servers, which Debian's users have not on theirs.
export PATH        := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/kasoku-go/current/bin:$(PATH):/usr/sbin:/sbin

# Tests wait for servers, clocks and disks most of their time, so more packages than
# there are cores run at once, and of each as many tests that allow it. `go vet` does more than the vet
# of `go test`; nothing in a test binary reads DWARF, which takes long to link.
AT_ONCE    ?= $(shell n=$$(nproc 2>/dev/null || echo 4); echo $$((n < 4 ? 4 : n)))
TESTFLAGS  := -count=1 -vet=off -ldflags=-w -p $(AT_ONCE) -parallel $(AT_ONCE)

# Where each user has a group of their own the umask is 002, and kasoku runs no hub, and root no nginx.conf, that a
# group may change.
WRITE      := umask 022

.PHONY: help
help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sort | awk -F ':.*## ' '{printf "  %-11s %s\n", $$1, $$2}'

.PHONY: build
build: ## build bin/kasoku, and bin/kasoku-hub for fleets
	@tools/setup go
	$(WRITE); $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o bin/ ./cmd/kasoku ./cmd/kasoku-hub

# As other Makefiles have them: PREFIX=$HOME/.local needs no root, DESTDIR is for packages.
PREFIX     ?= /usr/local
DESTDIR    ?=

# Under sudo who called it builds, where the checkout is theirs: from the cache that make demo filled, and
# nothing in bin becomes root's, over which the next build would stumble.
CALLER     := $(filter-out root,$(SUDO_USER))
CALLER     := $(if $(CALLER),$(shell [[ $$(id -u) == 0 && $$(stat -c %U . bin 2>/dev/null | sort -u) == '$(CALLER)' ]] && echo '$(CALLER)'))
BUILDER    := $(if $(CALLER),sudo -H -u $(CALLER)) $(MAKE) --no-print-directory GO='$(GO)' VERSION='$(VERSION)'

.PHONY: install
install: ## build and install kasoku, its manual pages and its completions for bash, zsh and fish (PREFIX=/usr/local, DESTDIR=)
	@if command -v $(GO) >/dev/null || [[ ! -x bin/kasoku ]]; then $(BUILDER) build; fi
	install -D -m 755 bin/kasoku $(DESTDIR)$(PREFIX)/bin/kasoku
	install -D -m 755 bin/kasoku-hub $(DESTDIR)$(PREFIX)/bin/kasoku-hub
	@set -e; while read -r shell file; do \
	  bin/kasoku completion $$shell | install -D -m 644 /dev/stdin $(DESTDIR)$(PREFIX)/share/$$file; \
	  echo "completion of $$shell: $(DESTDIR)$(PREFIX)/share/$$file"; \
	done <<<$$'bash bash-completion/completions/kasoku\nzsh zsh/site-functions/_kasoku\nfish fish/vendor_completions.d/kasoku.fish'
	@if command -v $(GO) >/dev/null; then pages=$$(mktemp -d) && $(if $(CALLER),chown $(CALLER) "$$pages" &&) \
	  $(BUILDER) pages PAGES="$$pages" && \
	  install -D -m 644 -t $(DESTDIR)$(PREFIX)/share/man/man1 "$$pages"/* && rm -rf "$$pages" && \
	  echo "manual pages: $(DESTDIR)$(PREFIX)/share/man/man1/kasoku*.1"; fi

.PHONY: pages
pages:
	@$(GO) run tools/man/main.go bin/kasoku $(PAGES)

.PHONY: uninstall
uninstall: ## remove what make install put there (PREFIX=/usr/local, DESTDIR=)
	rm -f $(DESTDIR)$(PREFIX)/bin/kasoku $(DESTDIR)$(PREFIX)/bin/kasoku-hub $(DESTDIR)$(PREFIX)/share/man/man1/kasoku.1 $(DESTDIR)$(PREFIX)/share/man/man1/kasoku-*.1 \
	  $(DESTDIR)$(PREFIX)/share/bash-completion/completions/kasoku $(DESTDIR)$(PREFIX)/share/zsh/site-functions/_kasoku \
	  $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/kasoku.fish

.PHONY: demo
demo: ## set up all it needs and show the whole story: load, diagnosis, fix, proof
	tools/setup demo
	$(MAKE) --no-print-directory build
	bin/kasoku demo --dir demo

# The packages whose tests take longest begin, so that none of them is left for the end.
LONGEST    := ./cmd/kasoku ./labs/isuumo/faults ./record ./labs/isuumo/app ./diagnose/rules ./internal/test/attack

# Of the long tests make test runs a quarter (internal/test/turn), chosen by the commit; TURN=all: all.
TURN       ?= $(shell commit=$$(git rev-parse --short=7 HEAD 2>/dev/null) && echo $$((0x$$commit % 4)) || echo all)

# Compilers and linkers collect their garbage less often, for an eighth less CPU; the tests do not,
# some of which judge memory.
.PHONY: test
test: ## set up all it needs and run the tests against the real servers; of the long ones a quarter, by the commit (TURN=all: all)
	tools/setup test
	@set -euo pipefail; $(WRITE); \
	if [[ -e .mysql97-unavailable ]]; then \
	  export KASOKU_NO_MYSQL97=1; echo "not tested: MySQL 9.7 ($$(cat .mysql97-unavailable))"; fi; \
	GOGC=400 KASOKU_TURN=$(TURN) $(GO) test -exec 'env -u GOGC' $(TESTFLAGS) -timeout 15m $(LONGEST) ./...

# How long make test-long records.
LONG       ?= 30m

.PHONY: test-long
test-long: ## the tests of make test, the ones that take minutes, and a recording of LONG=30m
	tools/setup long
	KASOKU_RECORD=$(LONG) $(GO) test -count=1 -v -run '^TestRecording$$' -timeout 24h ./observe/sources
	KASOKU_LONG=1 $(GO) test -count=1 -timeout 60m ./...

# APP, and what tools/field/field reads: LOG=default, RATE or SESSIONS, RUNS, FOR, FIELD.
APP        ?= oscar

.PHONY: field
field: ## a real application under kasoku: APP=mediawiki, redmine, oscar, ghost, gitea, keycloak, wordpress, vendure or zabbix
	tools/field/field $(APP)

.PHONY: check
check: ## format, vet, staticcheck, floors and quick tests; offline but for the pinned tools
	@$(MAKE) --no-print-directory -j3 -k -Otarget check-format check-vet check-staticcheck check-tests

# Left to make test: packages whose tests need servers or the tools that they imitate, or few of
# which are quick, and tests of seconds of CPU in others.
UNCHECKED  := /(labs|bench|internal/test|compat)/|/diagnose/(pasted|probe)$$|/cmd/(kasoku/internal/|mackerel-|check-)
SLOW       := TestTruth|TestDocs|TestPlanted.*|TestAwait.*|TestSameAsTransport|TestWriteKeepsEverything|TestMemory|TestKeptSchemas
SLOW       := $(SLOW)|TestSampled|TestCommandScore|TestOpenLeavesNothing|TestLogIsBounded|TestManualStatements
SLOW       := $(SLOW)|TestExportLiveProjects|TestGuardCommand|TestLiars|TestNoDescriptors|TestNoAllocationsPerRequest

# The parts of check run at once, and each prints what it has when it ends.
.PHONY: check-format check-vet check-staticcheck check-tests
check-format:
	@test -z "$$(gofmt -l $$(git ls-files '*.go'))" || { gofmt -l $$(git ls-files '*.go'); exit 1; }
check-vet:
	$(GO) vet ./...
check-staticcheck:
	$(GO) tool -modfile=tools/go.mod staticcheck ./...
check-tests:
	@GO=$(GO) tools/quick '$(SLOW)' ./cmd/kasoku ./record ./store ./load/... $$($(GO) list ./... | grep -vE '$(UNCHECKED)')

.PHONY: lint
lint: ## golangci-lint with the pinned version
	$(GO) tool -modfile=tools/go.mod golangci-lint run ./...

.PHONY: attack
attack: ## attack kasoku: local liars, hostile servers, logs, files, full disks, kills; 15 minutes at most (as root: all of it)
	tools/setup test
	@if [[ -e .mysql97-unavailable ]]; then \
	  export KASOKU_NO_MYSQL97=1; echo "not attacked: MySQL 9.7 ($$(cat .mysql97-unavailable))"; fi; \
	KASOKU_ATTACK=1 $(GO) test -count=1 -v -parallel 6 -timeout 15m ./internal/test/attack ./internal/test/bounds

# SHARED are the packages whose goroutines share memory, for a race that CI has time for.
SHARED     := ./checkpoint/capture ./internal/command ./wire/graphite ./checkpoint/guard ./internal/histogram ./logs/lines ./load ./load/engine ./load/epollhttp \
  ./load/loadtest ./load/nethttp ./record ./record/handover ./wire/mackerel ./observe ./observe/profile ./load/scenario ./load/scenario/agent ./export ./sqltag ./watch
RACE       ?= ./...

.PHONY: race
race: ## quick tests under the race detector, whose own memory is not judged (needs a C compiler; RACE= some packages)
	@command -v "$${CC:-gcc}" >/dev/null || { echo "race: no C compiler here; install it: sudo apt-get install gcc libc6-dev" >&2; exit 3; }
	CGO_ENABLED=1 $(GO) test -short -race -vet=off -ldflags=-w -timeout 30m -skip '^TestRecorderMemory$$' $(RACE)

.PHONY: race-shared
race-shared: RACE = $(SHARED)
race-shared: race ## the race detector on the packages whose goroutines share memory

.PHONY: figures
figures: ## print the figures of the house with their bounds (CHECK=-check: fail where one is passed)
	@$(GO) run tools/figures/main.go $(CHECK)

.PHONY: fuzz
fuzz: ## fuzz every parser for FUZZTIME each; tools/fuzz has groups, a tenth, and keeps the corpus
	GO=$(GO) tools/fuzz each $(FUZZTIME)

.PHONY: bench
bench: ## the Go benchmarks and the side-by-side scripts
	$(GO) test -run '^$$' -bench . -benchmem ./...
	@set -e; for script in bench/*.sh; do echo "$$script"; $$script; done

.PHONY: labs
labs: build ## run every lab with all defects, each alone and none, and count what is found (long; LABS=, ONLY=, DIR=; AGAINST=: other runs; TIMES=: runs of each; NEIGHBOURS=1: on a shared host)
	$(if $(NEIGHBOURS),$(GO) run tools/neighbours/main.go) bin/kasoku lab truth --keep $(or $(DIR),truth) --by-id $(if $(LABS),--labs $(LABS)) $(if $(ONLY),--only $(ONLY)) $(if $(TIMES),--times $(TIMES)) $(if $(AGAINST),--against $(AGAINST))

.PHONY: golden
golden: ## rewrite the golden files; read the diff before you commit it
	@set -euo pipefail; $(GO) run tools/golden/main.go | while read -r package tests; do \
	  $(GO) test -vet=off -run "$$tests" "$$package" -update </dev/null; done

.PHONY: dist
dist: ## archives for linux amd64 and arm64 as the plugin installer of Mackerel expects them, with checksums
	GO=$(GO) VERSION=$(VERSION) tools/dist dist
	KASOKU_DIST=dist $(GO) test -count=1 -run TestDist .

.PHONY: packages
packages: ## deb and rpm packages of the archives in dist, by dpkg-deb and the pinned nfpm
	$(GO) build -modfile=tools/packaging/go.mod -o bin/nfpm github.com/goreleaser/nfpm/v2/cmd/nfpm
	GO=$(GO) NFPM=$(CURDIR)/bin/nfpm tools/packages dist

.PHONY: clean
clean: ## remove what the targets made
	rm -rf bin dist demo .mysql97-unavailable
