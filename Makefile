# Targets for development and CI. `make help` lists them.

SHELL       := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

GO       ?= go
# Paths of tools. Tools have separate modules, which are not part of the workspace.
LINT     = $$(GOWORK=off $(GO) tool -modfile=$(CURDIR)/tools/golangci-lint/go.mod -n golangci-lint)
GOVULN   = $$(GOWORK=off $(GO) tool -modfile=$(CURDIR)/tools/govulncheck/go.mod -n govulncheck)
ACTIONS  = $$(GOWORK=off $(GO) tool -modfile=$(CURDIR)/tools/actionlint/go.mod -n actionlint)
APIDIFF  = $$(GOWORK=off $(GO) tool -modfile=$(CURDIR)/tools/apidiff/go.mod -n apidiff)
SERVERS  := $(GO) run ./internal/testenv/cmd/servers
# Modules of this repository.
MODULES  := . cmd/exporter integrations/controllerruntime lint examples/controller-runtime test/e2e test/deploy
ROOT     := github.com/informer-exporter/informer-exporter
# Tests that take minutes, because faults last that long.
FAULTS   := ./test/faults ./test/chaos ./test/otlp ./test/hostile ./test/bugs
# The same, with programs that are processes without the race detector.
PLAIN    := ./test/demo ./test/auditlog
# CI sets -race.
RACE     ?=
# golangci-lint runs govet.
TEST     := $(GO) test -vet=off
# Suites with servers use about half of two cores, so they run beside each other. `make -j3` decides for all of its targets.
JOBS     = $(if $(findstring -j,$(MAKEFLAGS)),,-j2)
# Number of packages tested in parallel: tests with servers mostly wait.
PARALLEL ?= 4
# Packages that start first, because they wait for most of their minute or two.
LONGEST  := ./internal/exporter ./cmd/exporter ./collectors/leader
# Data, text and PromQL without a goroutine, for which the race detector takes minutes.
NO_RACES := ./alerts ./dashboards ./internal/generate ./internal/prom ./collectors/catalog ./test/docs
# A test of responses of hundreds of megabytes, which takes fourteen times as long under the race detector.
HUGE     := ^TestEveryResponseIsBounded$$
# End-to-end tests without the chain that take longest: recordings, and tests with servers of their own.
REPLAYS  := ^Test(BornWithTheFault|HealthyClusterIsQuiet|OperationsAreQuiet|OutageMutes|RecordedFaults|RunbookCommandsWork|StaleCaches)
# Packages with kill rates in docs/dev/testing.md.
MUTATED  := $(addprefix ./collectors/,internal/ring internal/rv internal/series internal/errclass internal/audit internal/stream internal/checks objects informer queue controllers leader apiclient) ./alerts ./dashboards \
            ./internal/exporter $(addprefix ./internal/exporter/,availability check client config cost discovery election informers kinds sharding status watchcache web)
# Packages with an API that docs/versioning.md covers.
PUBLIC   := /(collectors|integrations|tracing|alerts|dashboards)(/|$$)
# Files that `make generate` writes.
GENERATED := deploy/alertmanager deploy/configuration.md deploy/grafana deploy/kubernetes deploy/metrics.md deploy/prometheus deploy/runbooks deploy/thresholds.md docs/dev/chaos.md docs/dev/requirements.md docs/detection.md docs/faults.md
# Names under which the exporter is a kubectl plugin, and completes the plugin's arguments.
PLUGIN   := kubectl-informers kubectl_complete-informers
# Nested modules have tags of their own on the same commit.
VERSION  ?= $(shell git describe --tags --match='v*' --always --dirty 2>/dev/null || echo unknown)
# The release before this commit: a release is compared with the one before it.
LAST     = $$(git describe --tags --match='v*' --abbrev=0 HEAD^ 2>/dev/null || true)
REVISION ?= $(shell git rev-parse HEAD 2>/dev/null || echo unknown)
BRANCH   ?= $(shell git rev-parse --abbrev-ref HEAD 2>/dev/null || echo unknown)
STAMP    := github.com/prometheus/common/version
LDFLAGS  := -s -w -X $(STAMP).Version=$(VERSION) -X $(STAMP).Revision=$(REVISION) -X $(STAMP).Branch=$(BRANCH)

.PHONY: help
help: ## List the targets
	@awk 'BEGIN {FS = ":.*## "} /^[a-z0-9-]+:.*## / {printf "  %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: build
build: plugin ## Build the exporter into bin/, also as the kubectl plugin kubectl-informers
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o bin/informer-exporter ./cmd/exporter

# Also the archives of a release have these links.
.PHONY: plugin
plugin:
	@mkdir -p bin && for name in $(PLUGIN); do ln -sf informer-exporter bin/$$name; done

# Two builds of one commit, in folders with different names and without a cache, are equal.
.PHONY: reproducible
reproducible: ## Build the program twice, in different folders, and compare
	@dir=$$(mktemp -d); trap 'rm -rf '$$dir EXIT; for n in 1 folder-2; do git clone -q . $$dir/$$n; \
	  (cd $$dir/$$n && GOCACHE=$$dir/cache-$$n $(MAKE) -s build VERSION=$(VERSION) REVISION=$(REVISION) BRANCH=$(BRANCH)) || exit 1; done; \
	sha256sum $$dir/*/bin/informer-exporter && cmp $$dir/{1,folder-2}/bin/informer-exporter

.PHONY: architectures
architectures: ## Compile the program for each architecture of a release
	@for arch in amd64 arm64 arm ppc64le s390x; do echo "build $$arch"; CGO_ENABLED=0 GOARCH=$$arch $(GO) build -o /dev/null ./cmd/exporter || exit 1; done

.PHONY: generate
generate: ## Generate dashboards, rules, runbooks and manifests from the catalog
	$(GO) run ./cmd/exporter generate --out deploy
	$(GO) run ./internal/testenv/cmd/tables

.PHONY: release-links
release-links: ## Point generated links to REF: a tag in its release commit, main in the next commit
	sed -i -E 's|^const ref = ".*"|const ref = "$(REF)"|' internal/generate/release.go
	sed -i -E 's|(runbook_url: .*/blob/)[^/]+/|\1$(REF)/|' alerts/testdata/*.test.yaml
	sed -i -E 's|(informer-exporter/blob/)[^/]+/|\1$(REF)/|' alerts/runbooks.go test/e2e/fault_test.go
	@[ '$(REF)' = main ] || for m in $(filter-out . lint,$(MODULES)); do (cd $$m && GOWORK=off $(GO) mod edit -require=$(ROOT)@$(REF)) || exit 1; done
	@# go install rejects modules with replacements.
	cd cmd/exporter && GOWORK=off $(GO) mod edit $(if $(filter main,$(REF)),-replace=$(ROOT)=../..,-dropreplace=$(ROOT))
	$(MAKE) generate

.PHONY: check
check: generate ## Fail if generated files are stale, a module is not tidy, or promtool or amtool report errors
	@git status --porcelain -- $(GENERATED) | { ! grep . ; } || { echo 'Generated files are stale: run `make generate` and commit the result.'; exit 1; }
	@for m in $(MODULES); do (cd $$m && $(GO) mod tidy -diff) || { echo "$$m: run go mod tidy"; exit 1; }; done
	promtool=$$($(SERVERS) promtool) && $$promtool check rules --lint=all deploy/prometheus/rules.yaml && $$promtool check config --syntax-only deploy/compose/prometheus.yml
	amtool=$$($(SERVERS) amtool) && $$amtool check-config deploy/alertmanager/alertmanager.yaml

# The modules of the workspace are linted together, because their dependencies are then read once.
.PHONY: lint
lint: VULN ?= skip
lint: vuln words score ## Run golangci-lint with govet, gofmt and gosec, informerlint, govulncheck, actionlint, kube-score and the word list
	$(ACTIONS) -shellcheck= -pyflakes=
	$(GO) build -o bin/informerlint ./lint/cmd/informerlint
	@lint() { echo "lint $$*" && $(CURDIR)/bin/informerlint "$$@" && $(LINT) run --config $(CURDIR)/.golangci.yml "$$@"; }; \
	lint $(patsubst %,./%/...,$(filter-out test/%,$(MODULES))) && for m in $(filter test/%,$(MODULES)); do (cd $$m && lint ./...) || exit 1; done

# Not checked: tools/servers/kubernetes-*, the API servers that make compat runs on loopback. Older ones have known vulnerabilities.
.PHONY: vuln
vuln: ## Check for known vulnerabilities, in the database VULNDB (vuln.go.dev); VULN=skip, the default of lint, skips the check if the database is not reachable
	@check() { \
	  echo "vuln $$1"; \
	  out=$$(cd $$1 && shift && $(GOVULN) $(if $(VULNDB),-db='$(VULNDB)') "$$@" 2>&1) && echo "$$out" && return; \
	  grep -qE 'creating client|fetching vulnerabilities' <<<"$$out" || { echo "$$out"; return 1; }; \
	  [ "$(VULN)" = skip ] && echo 'SKIPPED: the vulnerability database is not reachable' && exit; \
	  echo "$$out"; echo 'the vulnerability database is not reachable: set VULN=skip to skip the check'; return 1; }; \
	for m in $(MODULES); do check $$m ./... || exit 1; done; \
	for m in $(filter-out tools/servers/kubernetes-%,$(sort $(dir $(wildcard tools/*/go.sum tools/*/*/go.sum)))); do GOWORK=off check $$m -scan package tool || exit 1; done

# Which known vulnerabilities of dependencies the program calls, as OpenVEX. A release has it beside the SBOMs.
.PHONY: vex
vex:
	@mkdir -p bin && cd cmd/exporter && $(GOVULN) $(if $(VULNDB),-db='$(VULNDB)') -format openvex ./... >$(CURDIR)/bin/informer-exporter.openvex.json

.PHONY: score
score: ## Check the manifests of the Helm chart with kube-score
	@cd test/deploy && $(GO) test -count=1 -run 'TestKubeScore$$' .

.PHONY: words
words: ## Check the language of comments, messages and pages
	@$(GO) test -count=1 -run TestWords ./test/docs

.PHONY: apidiff
apidiff: ## Print incompatible changes of the Go API since REF (the last tag); fails from v1.0.0 on
	@ref=$(or $(REF),$(LAST)); [ -n "$$ref" ] || { echo 'no release to compare with'; exit 0; }; \
	old=$$(mktemp -d); trap 'git worktree remove --force '$$old'/tree; rm -rf '$$old EXIT; git worktree add -q --detach $$old/tree $$ref; \
	apidiff=$(APIDIFF); changes=; \
	for m in . integrations/controllerruntime; do \
	  for p in $$(cd $$old/tree/$$m && $(GO) list ./... | grep -E '$(PUBLIC)' | grep -v /internal/); do \
	    (cd $$old/tree/$$m && $$apidiff -w $$old/export $$p); \
	    found=$$(cd $$m && $$apidiff -incompatible $$old/export $$p); \
	    [ -z "$$found" ] || { echo "$$p"; echo "$$found"; changes=yes; }; \
	  done; \
	done; \
	case "$$ref$$changes" in v0.*|*[!s]) ;; *yes) echo "incompatible with $$ref: see docs/versioning.md"; exit 1;; esac

.PHONY: metricdiff
metricdiff: ## Print metrics that were added, removed, renamed or changed since REF (the last tag); fails if a stable one breaks
	@ref=$(or $(REF),$(LAST)); [ -n "$$ref" ] || { echo 'no release to compare with'; exit 0; }; \
	git show $$ref:deploy/metrics.md | $(GO) run ./internal/testenv/cmd/metricdiff deploy/metrics.md

.PHONY: servers
servers: ## Build the servers for tests and demo if they are missing (about twelve minutes on two cores)
	@$(SERVERS) >/dev/null

.PHONY: test
test: servers ## Run unit and integration tests with a real API server; RACE=-race runs them under the race detector, as CI does
	@$(MAKE) --no-print-directory -j2 test-root test-modules

.PHONY: test-root
test-root:
	$(TEST) -skip '^TestWords$$' -timeout 25m $(NO_RACES)
	$(TEST) -run '$(HUGE)' ./internal/exporter/client
	$(TEST) $(RACE) -skip '$(HUGE)' -p $(PARALLEL) -parallel 8 -timeout 25m $(LONGEST) $$($(GO) list ./... | grep -vxF "$$($(GO) list $(FAULTS) $(PLAIN) $(LONGEST) $(NO_RACES))")

# Analyzers have no goroutines and no state.
.PHONY: test-modules
test-modules:
	cd lint && $(TEST) -timeout 10m ./...
	@for m in integrations/controllerruntime examples/controller-runtime; do (cd $$m && $(TEST) $(RACE) -timeout 10m ./...) || exit 1; done

.PHONY: test-faults
test-faults: servers ## Run the fault tests: fault table, exporter, demo, trace receivers, hostile API server
	@$(MAKE) --no-print-directory $(JOBS) test-race test-demo test-auditlog

.PHONY: test-race
test-race:
	$(TEST) $(RACE) -count=1 -timeout 25m $(FAULTS)

.PHONY: test-demo test-auditlog
test-demo test-auditlog:
	$(TEST) -count=1 -timeout 25m ./$(subst -,/,$@)

.PHONY: e2e
e2e: servers e2e.test ## Test the whole chain, from a fault to its alert at a receiver and back
	@$(MAKE) --no-print-directory $(JOBS) test-chain cost test-replays test-deploy

.PHONY: e2e.test
e2e.test:
	cd test/e2e && $(TEST) -c -ldflags '-s -w' -o $(CURDIR)/bin/e2e.test .

# The tests of the chain mostly wait, one after the other, so the other tests of the same program run beside them. Each begins with
# e2e.test, which takes a second if the program is current, and not as a prerequisite, after which make may start the chain last.
.PHONY: test-chain
test-chain:
	@$(MAKE) --no-print-directory e2e.test
	cd test/e2e && $(CURDIR)/bin/e2e.test -test.timeout 55m -test.v -test.skip '$(REPLAYS)'

.PHONY: test-replays
test-replays:
	@$(MAKE) --no-print-directory e2e.test
	cd test/e2e && $(CURDIR)/bin/e2e.test -test.timeout 25m -test.v -test.run '$(REPLAYS)' && $(TEST) ./recording

.PHONY: test-deploy
test-deploy: servers ## Test the Helm chart, the image and the compose file; part of e2e
	cd test/deploy && $(TEST) -count=1 -timeout 20m ./...

.PHONY: cost
cost: servers ## Print the samples that rules and dashboards read in 300 clusters; part of e2e
	cd test/e2e && $(TEST) -count=1 -v ./cost

.PHONY: compat
compat: servers ## Test each supported client-go, controller-runtime and API server; ONLY=v0.36 or ONLY=1.35 tests one
	$(GO) run ./internal/testenv/cmd/compat $(if $(ONLY),--only=$(ONLY))

.PHONY: bench
bench: ## Measure the decorators, as ratios to undecorated code in the same run
	$(GO) test -run '^$$' -bench . -benchtime 1x -timeout 20m ./collectors/...

.PHONY: bench-check
bench-check: ## Fail if a decorator exceeds its budget
	$(GO) run ./internal/testenv/cmd/benchcheck

.PHONY: bench-report
bench-report: servers ## Run the benchmarks of budgets and load figures, and write docs/benchmarks.md and docs/dev/decisions.md (20 minutes on two cores); ONLY='budgets|B1' selects rows
	$(GO) run ./internal/testenv/cmd/benchreport $(if $(ONLY),--only='$(ONLY)')

.PHONY: bench-exporter
bench-exporter: servers ## Compare the exporter with kube-state-metrics, with 100,000 objects and 100 custom resources
	$(GO) test -run '^$$' -bench 'Exporter$$$(if $(BENCH),/^($(BENCH))$$)' -benchtime 1x -timeout 58m ./cmd/exporter

.PHONY: bench-shards
bench-shards: ## Measure one exporter and three shards with a million objects
	$(GO) test -run '^$$' -bench 'Shards$$' -benchtime 1x -timeout 58m ./cmd/exporter

.PHONY: bench-scale
bench-scale: ## Compare the exporter with plain metadata informers, from 10,000 to a million objects and from 10 to 500 resources
	$(GO) test -run '^$$' -bench 'Scale$$' -benchtime 1x -timeout 58m ./cmd/exporter

.PHONY: demo
demo: ## Run the whole stack on this machine; FAULT=name injects a fault, FOR=2m ends it; CHURN=1 adds routine operations; TRACES=0 runs without Jaeger; LITE=1 runs only etcd, API server, exporter and Prometheus
	@echo "Compiling. The first start takes about twelve minutes on two cores, seven with LITE=1, and later ones one or two minutes."
	@$(GO) build -o bin/demo ./internal/testenv/cmd/demo
	@# As a job of its own, only the demo is interrupted by Ctrl-C, and make ends as the demo does.
	@[ ! -t 0 ] || set -m; bin/demo $(if $(FAULT),--fault=$(FAULT)) $(if $(FOR),--for=$(FOR)) $(if $(CHURN),--churn) $(if $(filter 0,$(TRACES)),--no-traces) $(if $(filter 1,$(LITE)),--lite) || exit

.PHONY: soak
soak: servers ## Run the whole stack under random faults for DURATION (30m) at SPEED (10) times the usual rate of checks, and compare every hour
	$(GO) run ./internal/testenv/cmd/soak --duration=$(or $(DURATION),30m) --speed=$(or $(SPEED),10) $(if $(SEED),--seed=$(SEED))

.PHONY: chaos
chaos: servers ## Test the exporter under long outages of servers, credentials and permissions: OUTAGE (5m)
	OUTAGE=$(or $(OUTAGE),5m) $(GO) test -count=1 -timeout 60m -v ./test/chaos

.PHONY: bugs
bugs: servers ## Reproduce published bugs, with and without their faults, and verify which alerts fire (ten minutes); UPDATE=1 records it in docs/detection.md
	cd test/bugs && BUGS=$(or $(BUGS),all) UPDATE=$(UPDATE) $(GO) test -count=1 -timeout 30m -v .
	$(GO) run ./internal/testenv/cmd/tables

.PHONY: hostile
hostile: servers ## Run the exporter, and a program with the library, against an API server that returns false data, each case for FOR (1m); prints the alert and the peak memory of each
	FOR=$(or $(FOR),1m) $(GO) test -count=1 -timeout 60m -parallel 4 -v -run 'TestExporter|TestProgram' ./test/hostile

.PHONY: record
record: servers ## Record the metrics of programs under each fault of docs/faults.md (half an hour); ONLY=TestName records one row
	cd test/e2e && $(GO) run ./record $(if $(ONLY),--only='$(ONLY)')

.PHONY: record-healthy
record-healthy: servers ## Record the metrics of a healthy cluster and its operations (49 minutes)
	cd test/e2e && $(GO) run ./record --healthy=48m30s --thin=testdata/healthy.yaml.gz

.PHONY: mutate
mutate: servers ## Apply N (200) mutations to PKG (all packages of the table), one at a time, and print those that no test detects; SEED (1)
	$(GO) run ./internal/testenv/cmd/mutate --n=$(or $(N),200) --seed=$(or $(SEED),1) --doc=docs/dev/testing.md $(or $(PKG),$(MUTATED))

.PHONY: fuzz
fuzz: ## Run each fuzz test for half a minute
	$(GO) test -run '^$$' -fuzz FuzzRing -fuzztime 30s ./collectors/internal/ring
	$(GO) test -run '^$$' -fuzz FuzzParse -fuzztime 30s ./collectors/internal/rv
	$(GO) test -run '^$$' -fuzz FuzzBacklog -fuzztime 30s ./collectors/internal/audit
	$(GO) test -run '^$$' -fuzz FuzzCompare -fuzztime 30s ./collectors/internal/audit
	$(GO) test -run '^$$' -fuzz FuzzParse -fuzztime 30s ./collectors/internal/apipath
	$(GO) test -run '^$$' -fuzz FuzzErrorType -fuzztime 30s ./collectors/internal/errclass
	$(GO) test -run '^$$' -fuzz FuzzScanner -fuzztime 30s ./internal/bounded
	$(GO) test -run '^$$' -fuzz FuzzDecode -fuzztime 30s ./internal/configfile
	$(GO) test -run '^$$' -fuzz FuzzConfig -fuzztime 30s ./internal/exporter/discovery
	$(GO) test -run '^$$' -fuzz FuzzParseConfig -fuzztime 30s ./internal/generate
	$(GO) test -run '^$$' -fuzz 'FuzzPrune$$' -fuzztime 30s ./internal/exporter/client
	$(GO) test -run '^$$' -fuzz FuzzPruneWhole -fuzztime 30s ./internal/exporter/client
	$(GO) test -run '^$$' -fuzz FuzzTracker -fuzztime 30s -fuzzminimizetime 20x ./internal/auditlog/clients
	$(GO) test -run '^$$' -fuzz FuzzDecode -fuzztime 30s -fuzzminimizetime 20x ./internal/auditlog/event
