package exporter

import (
	"fmt"
	"testing"
	"time"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/internal/exporter/config"
	"github.com/informer-exporter/informer-exporter/internal/exporter/exportertest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/await"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

// The exporter reports its requests to the API server, and sends no more than documented: one watch per resource, and the
// requests of the checks.
func TestOwnRequestsAreReported(t *testing.T) {
	admin, namespace := stacktest.Config(t), stacktest.Namespace(t)
	account := newLimited(t, namespace)
	account.Grant(t, "", mayWatch("pods", "nodes"))
	off := every(0)
	e := newReal(t, Options{REST: account.Config, Config: config.Config{
		Resources: []config.Resource{{Name: "pods"}, {Name: "nodes"}, {Name: "secrets"}}, Checks: config.Checks{Freshness: off, Audit: every(time.Second)},
	}})
	run(t, e, admin)
	waitReady(t, e)
	requests := func(label string) map[string]float64 {
		return exportertest.Values(t, e.Gatherer(), catalog.ClientRequests.Name, label)
	}
	await.True(t, "requests of the informers and their audits", func() bool {
		codes, verbs, resources := requests("code"), requests("verb"), requests("resource")
		return verbs["watch"] >= 2 && verbs["list"] >= 2 && codes["403"] >= 1 && codes["200"] >= 4 &&
			resources["pods"] >= 2 && resources["nodes"] >= 2 && resources["secrets"] >= 1
	}, func() string { return fmt.Sprint(requests("code"), requests("verb"), requests("resource")) })
	for verb := range requests("verb") {
		if verb != "list" && verb != "watch" && verb != "get" { // get: discovery
			t.Errorf("requests with the verb %s", verb)
		}
	}
	families, err := e.Gatherer().Gather()
	if err != nil {
		t.Fatal(err)
	}
	waited := uint64(0)
	for _, family := range families {
		if family.GetName() == catalog.ClientThrottleWait.Name {
			waited = family.GetMetric()[0].GetHistogram().GetSampleCount()
		}
	}
	if waited < 2 { // the audits' lists: client-go does not limit watches
		t.Errorf("%d requests passed the rate limiter according to its metric, want at least 2", waited)
	}

	// Without audits an idle exporter sends no requests.
	quiet := newReal(t, Options{REST: account.Config, Config: config.Config{Resources: []config.Resource{{Name: "pods"}, {Name: "nodes"}}, Checks: config.Checks{Freshness: off, Audit: off}}})
	run(t, quiet, admin)
	waitReady(t, quiet)
	await.True(t, "two watches", func() bool {
		return exportertest.Values(t, quiet.Gatherer(), catalog.InformerWatchConnected.Name, "informer_type")["pods"] == 1 &&
			exportertest.Values(t, quiet.Gatherer(), catalog.InformerWatchConnected.Name, "informer_type")["nodes"] == 1
	}, func() string { return get(quiet, "/").Body.String() })
	if n := exportertest.Values(t, quiet.Gatherer(), catalog.ClientRequests.Name, "verb"); n["watch"] != 2 || n["list"] != 0 {
		t.Errorf("requests of two informers: %v, want one watch each", n)
	}
}
