# Targets for development and CI. `make help` lists them.

SHELL       := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

GO       ?= go
# Paths of tools. Tools have modules of their own, which a workspace does not allow.
LINT     = $$(GOWORK=off $(GO) tool -modfile=$(CURDIR)/tools/golangci-lint/go.mod -n golangci-lint)
VULN     = $$(GOWORK=off $(GO) tool -modfile=$(CURDIR)/tools/govulncheck/go.mod -n govulncheck)
SERVERS  := $(GO) run ./internal/testenv/cmd/servers
# Modules of this repository.
MODULES  := . integrations/controllerruntime examples/controller-runtime test/e2e
# Tests that take minutes, because faults last that long.
FAULTS   := ./test/faults ./test/chaos ./test/demo
RACE     ?= -race
# Packages tested in parallel. Tests with servers wait more than they compute.
PARALLEL ?= 4
# What `make generate` writes.
GENERATED := deploy/alertmanager deploy/configuration.md deploy/grafana deploy/kubernetes deploy/metrics.md deploy/prometheus deploy/runbooks docs/chaos.md docs/faults.md
VERSION  ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
REVISION ?= $(shell git rev-parse HEAD 2>/dev/null || echo unknown)
BRANCH   ?= $(shell git rev-parse --abbrev-ref HEAD 2>/dev/null || echo unknown)
STAMP    := github.com/prometheus/common/version
LDFLAGS  := -s -w -X $(STAMP).Version=$(VERSION) -X $(STAMP).Revision=$(REVISION) -X $(STAMP).Branch=$(BRANCH)

.PHONY: help
help: ## List the targets
	@awk 'BEGIN {FS = ":.*## "} /^[a-z0-9-]+:.*## / {printf "  %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: build
build: ## Build the exporter into bin/
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o bin/exporter ./cmd/exporter

.PHONY: generate
generate: ## Generate dashboards, rules, runbooks and manifests from the catalog
	$(GO) run ./cmd/exporter generate --out deploy
	$(GO) run ./internal/testenv/cmd/tables

.PHONY: check
check: generate ## Fail if generated files are stale, a module is not tidy, or promtool or amtool report errors
	@git status --porcelain -- $(GENERATED) | { ! grep . ; } || { echo 'Generated files are stale: run `make generate` and commit the result.'; exit 1; }
	@for m in $(MODULES); do (cd $$m && $(GO) mod tidy -diff) || { echo "$$m: run go mod tidy"; exit 1; }; done
	promtool=$$($(SERVERS) promtool) && $$promtool check rules --lint=all deploy/prometheus/rules.yaml && $$promtool test rules alerts/testdata/*.test.yaml
	amtool=$$($(SERVERS) amtool) && $$amtool check-config deploy/alertmanager/alertmanager.yaml

.PHONY: lint
lint: vuln words ## Run gofmt, go vet, golangci-lint, govulncheck and the word list
	@for m in $(MODULES); do echo "lint $$m"; (cd $$m && $(GO) vet ./... && $(LINT) run --config $(CURDIR)/.golangci.yml ./...); done

.PHONY: vuln
vuln: ## Check for known vulnerabilities, if the database is reachable
	@for m in $(MODULES); do echo "vuln $$m"; \
	  out=$$(cd $$m && $(VULN) ./... 2>&1) && echo "$$out" || { \
	    grep -q 'fetching vulnerabilities' <<<"$$out" && echo 'SKIPPED: the vulnerability database is not reachable' || { echo "$$out"; exit 1; }; }; \
	done

.PHONY: words
words: ## Check the language of comments, messages and pages
	@$(GO) test -count=1 -run TestWords ./test/docs

.PHONY: servers
servers: ## Build the servers for tests and demo if they are missing (about ten minutes on two cores)
	@$(SERVERS) >/dev/null

.PHONY: test
test: servers ## Run unit and integration tests with a real API server; RACE= disables the race detector
	$(GO) test $(RACE) -p $(PARALLEL) -parallel 8 -timeout 15m $$($(GO) list ./... | grep -vxF "$$($(GO) list $(FAULTS))")
	@for m in integrations/controllerruntime examples/controller-runtime; do echo "test $$m"; (cd $$m && $(GO) test $(RACE) -timeout 10m ./...); done

.PHONY: test-faults
test-faults: servers ## Run the tests of faults: the fault table, the exporter under faults, the faults of the demo
	$(GO) test $(RACE) -count=1 -timeout 25m $(FAULTS)

.PHONY: e2e
e2e: servers ## Test the whole chain, from a fault to its alert at a receiver and back
	cd test/e2e && $(GO) test -count=1 -timeout 25m -v ./...

.PHONY: compat
compat: servers ## Compile and test the library with each supported client-go and controller-runtime; ONLY=v0.36 tests one
	$(GO) run ./internal/testenv/cmd/compat $(if $(ONLY),--only=$(ONLY))

.PHONY: bench
bench: ## Measure the decorators, as ratios to undecorated code in the same run
	$(GO) test -run '^$$' -bench . -benchtime 1x -timeout 20m ./collectors/...

.PHONY: bench-check
bench-check: ## Fail if a decorator exceeds its budget
	$(GO) run ./internal/testenv/cmd/benchcheck

.PHONY: bench-exporter
bench-exporter: servers ## Measure the exporter with 100,000 objects and 100 custom resources, beside kube-state-metrics
	$(GO) test -run '^$$' -bench 'Exporter$$' -benchtime 1x -timeout 58m ./cmd/exporter

.PHONY: demo
demo: ## Run the whole stack on this machine; FAULT=name injects a fault, FOR=2m ends it
	$(GO) run ./internal/testenv/cmd/demo $(if $(FAULT),--fault=$(FAULT)) $(if $(FOR),--for=$(FOR))

.PHONY: soak
soak: servers ## Run the whole stack under random faults for DURATION (30m), and compare before and after
	$(GO) run ./internal/testenv/cmd/soak --duration=$(or $(DURATION),30m) $(if $(SEED),--seed=$(SEED))

.PHONY: chaos
chaos: servers ## Test the exporter under long outages of servers, credentials and permissions: OUTAGE (5m)
	OUTAGE=$(or $(OUTAGE),5m) $(GO) test -count=1 -timeout 60m -v ./test/chaos

.PHONY: record
record: servers ## Record the metrics of programs under each fault of docs/faults.md (half an hour); ONLY=TestName records one row
	cd test/e2e && $(GO) run ./record $(if $(ONLY),--only='$(ONLY)')

.PHONY: fuzz
fuzz: ## Run each fuzz test for half a minute
	$(GO) test -run '^$$' -fuzz FuzzRing -fuzztime 30s ./collectors/internal/ring
	$(GO) test -run '^$$' -fuzz FuzzParse -fuzztime 30s ./collectors/internal/rv
	$(GO) test -run '^$$' -fuzz FuzzBacklog -fuzztime 30s ./collectors/internal/audit
	$(GO) test -run '^$$' -fuzz FuzzCompare -fuzztime 30s ./collectors/internal/audit
	$(GO) test -run '^$$' -fuzz FuzzParse -fuzztime 30s ./collectors/internal/apipath
	$(GO) test -run '^$$' -fuzz FuzzErrorType -fuzztime 30s ./collectors/internal/errclass
	$(GO) test -run '^$$' -fuzz FuzzDecode -fuzztime 30s ./internal/configfile
	$(GO) test -run '^$$' -fuzz FuzzConfig -fuzztime 30s ./internal/exporter/discovery
	$(GO) test -run '^$$' -fuzz FuzzParseConfig -fuzztime 30s ./internal/generate
	$(GO) test -run '^$$' -fuzz 'FuzzPrune$$' -fuzztime 30s ./internal/exporter/client
	$(GO) test -run '^$$' -fuzz FuzzPruneWhole -fuzztime 30s ./internal/exporter/client
