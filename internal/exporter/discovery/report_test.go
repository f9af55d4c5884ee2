package discovery

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"

	"github.com/informer-exporter/informer-exporter/internal/exporter/config"
	"github.com/informer-exporter/informer-exporter/internal/exporter/exportertest"
	"github.com/informer-exporter/informer-exporter/internal/exporter/informers"
	"github.com/informer-exporter/informer-exporter/internal/exporter/kinds"
	"github.com/informer-exporter/informer-exporter/internal/exporter/sharding"
	"github.com/informer-exporter/informer-exporter/internal/testenv/logtest"
)

// Every discovery is counted by its result. A result is logged when it changes: the failure, the groups that failed, the recovery.
func TestDiscoveriesAreReported(t *testing.T) {
	var written logtest.Recorder
	f := New(Options{Logger: written.Logger()})
	lines := 0
	report := func(what string, s *served, err error, message string, attrs ...string) {
		t.Helper()
		for range 2 {
			f.report(s, err)
		}
		lines++
		if all := written.Find(""); len(all) != lines || len(written.Find(message, attrs...)) != 1 {
			t.Errorf("%s: log lines %+v, want %d, the last one with %q %v", what, all, lines, message, attrs)
		}
	}
	report("nothing", nil, errors.New("refused"), "discovery failed; informers stay unchanged", "err", "refused")
	one := servedBy(t, "v1/pods", "down:example.com/v1", "down:example.com/v2")
	report("one group is down", one, nil, "discovery failed for some groups", "groups", "[example.com]", "errors", "map[example.com/v1:down example.com/v2:down]")
	report("two groups are down", servedBy(t, "v1/pods", "down:example.org/v1", "down:example.com/v1"), nil, "discovery failed for some groups", "groups", "[example.com example.org]")
	report("all are up", servedBy(t, "v1/pods"), nil, "discovery succeeded again")
	complete, partial, failed := testutil.ToFloat64(f.Count.WithLabelValues(complete)), testutil.ToFloat64(f.Count.WithLabelValues(partial)), testutil.ToFloat64(f.Count.WithLabelValues(failed))
	if complete != 2 || partial != 4 || failed != 2 {
		t.Errorf("%v complete, %v partial and %v failed discoveries, want 2, 4 and 2", complete, partial, failed)
	}
}

// A change of the watched kinds is one log line with their sorted names. A new version is logged as a start and a stop.
func TestChangesAreLogged(t *testing.T) {
	byType := func(list ...kinds.Kind) map[string]kinds.Kind {
		all := map[string]kinds.Kind{}
		for _, k := range list {
			all[k.Type()] = k
		}
		return all
	}
	pods, nodes := kinds.Kind{Version: "v1", Resource: "pods"}, kinds.Kind{Version: "v1", Resource: "nodes"}
	newer := kinds.Kind{Version: "v2", Resource: "pods"}
	for name, tc := range map[string]struct {
		before, now      map[string]kinds.Kind
		started, stopped string
	}{
		"one more":      {byType(pods), byType(pods, nodes), "nodes", ""},
		"one less":      {byType(pods, nodes), byType(nodes), "", "pods"},
		"two at once":   {nil, byType(pods, nodes), "nodes,pods", ""},
		"a new version": {byType(pods, nodes), byType(newer, nodes), "pods", "pods"},
	} {
		var written logtest.Recorder
		f := New(Options{Logger: written.Logger()})
		f.logChange(tc.now, tc.now)
		f.logChange(tc.before, tc.now)
		if all := written.Find(""); len(all) != 1 || all[0].Attrs["started"] != tc.started || all[0].Attrs["stopped"] != tc.stopped {
			t.Errorf("%s: %+v, want one line with %q started and %q stopped", name, all, tc.started, tc.stopped)
		}
	}
}

// Forbidden kinds are logged once, together and sorted, and counted once for all of their namespaces.
func TestForbiddenKindsAreLoggedOnce(t *testing.T) {
	var written logtest.Recorder
	f := New(Options{Logger: written.Logger()})
	spec := func(resource, namespace string) informers.Spec {
		return informers.Spec{Kind: kinds.Kind{Group: "example.com", Version: "v1", Resource: resource, Namespaced: true}, Namespace: namespace}
	}
	widgets := map[informers.Spec]bool{spec("widgets", "b"): true, spec("widgets", "a"): true}
	f.forbid(widgets)
	f.forbid(widgets)
	if n := f.CountForbidden(); n != 1 {
		t.Errorf("%d kinds are forbidden, want 1", n)
	}
	both := map[informers.Spec]bool{spec("widgets", "b"): true, spec("widgets", "a"): true, spec("gadgets", "a"): true}
	f.forbid(both)
	if n := f.CountForbidden(); n != 2 {
		t.Errorf("%d kinds are forbidden, want 2", n)
	}
	f.forbid(nil)
	var got []string
	for _, line := range written.Find("skipping forbidden resources") {
		got = append(got, line.Attrs["resources"])
	}
	if want := []string{spec("widgets", "a").Name() + "," + spec("widgets", "b").Name(), spec("gadgets", "a").Name()}; !slices.Equal(got, want) || f.CountForbidden() != 0 {
		t.Errorf("logged %q, want %q; %d are still forbidden", got, want, f.CountForbidden())
	}
}

// The method of splitting a resource is logged once, and again when it changes. If it cannot be split, a warning has the cause.
func TestSplitsAreLogged(t *testing.T) {
	pods, nodes := kinds.Kind{Version: "v1", Resource: "pods", Namespaced: true}, kinds.Kind{Version: "v1", Resource: "nodes"}
	for _, tc := range []struct {
		kind    kinds.Kind
		way     string
		known   bool
		splitBy string
		level   slog.Level
		message string
	}{
		{pods, byUID, true, "", slog.LevelInfo, "objects are split by UID; the API server filters them"},
		{pods, byUID, false, "", slog.LevelInfo, "objects are split by UID; whether the API server filters them is unknown until the first object"},
		{pods, byNamespace, true, "", slog.LevelInfo, "objects are split by namespace; the API server ignores shardSelector (feature gate ShardedListAndWatch)"},
		{pods, byNamespace, true, config.SplitByNamespaces, slog.LevelInfo, "objects are split by the configured splitBy"},
		{nodes, byUID, true, config.SplitByUID, slog.LevelInfo, "objects are split by the configured splitBy"},
		{pods, notSplit, true, "", slog.LevelWarn, "objects cannot be split between shards; one shard watches all of them: the API server ignores shardSelector, and listing namespaces is forbidden"},
		{pods, notSplit, true, config.SplitByNamespaces, slog.LevelWarn, "objects cannot be split between shards; one shard watches all of them: splitBy is namespaces, and listing namespaces is forbidden"},
		{nodes, notSplit, true, "", slog.LevelWarn, "objects cannot be split between shards; one shard watches all of them: the API server ignores shardSelector, and they have no namespace"},
	} {
		var written logtest.Recorder
		p := splitter{shard: sharding.Shard{Ordinal: 1, Total: 2}, log: written.Logger(), strategies: map[string]string{}}
		p.report(tc.kind, tc.way, tc.known, tc.splitBy)
		p.report(tc.kind, tc.way, tc.known, tc.splitBy)
		all := written.Find("", "resource", tc.kind.Type(), "by", tc.way, "shard", "1/2")
		if len(all) != 1 || all[0].Level != tc.level || all[0].Message != tc.message {
			t.Errorf("%+v, want once: %v %q", all, tc.level, tc.message)
		}
		p.report(tc.kind, "another way", tc.known, tc.splitBy)
		if n := len(written.Find("")); n != 2 {
			t.Errorf("%d lines after a change, want 2", n)
		}
	}
}

// Auxiliary informers run while they are wanted. Creating one is retried after an error.
func TestAuxiliariesRunWhileWanted(t *testing.T) {
	definitions := kinds.Kind{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	var asked []string
	fails := true
	start := func(kind kinds.Kind) *informers.Auxiliary {
		asked = append(asked, kind.Resource)
		if fails {
			return nil
		}
		a, err := informers.StartAuxiliary(t.Context(), kind, exportertest.MetadataClient(t), func() {}, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	all := auxiliaries{}
	expect := func(what string, wanted map[kinds.Kind]bool, want ...string) {
		t.Helper()
		asked = nil
		all.update(wanted, start)
		if !slices.Equal(asked, want) {
			t.Errorf("%s: started %v, want %v", what, asked, want)
		}
	}
	namespaces := map[kinds.Kind]bool{kinds.Namespaces: true}
	expect("fails", namespaces, "namespaces")
	if len(all) != 0 {
		t.Errorf("%v run", all)
	}
	fails = false
	expect("tried again", namespaces, "namespaces")
	expect("still wanted", namespaces)
	expect("another one", map[kinds.Kind]bool{definitions: true}, "customresourcedefinitions")
	if len(all) != 1 || all[definitions] == nil {
		t.Errorf("%v run, want that of definitions", all)
	}
	expect("none", nil)
	if len(all) != 0 {
		t.Errorf("%v run", all)
	}
}

// Without permission to list namespaces, one shard watches all objects of a resource that is to be split by namespace. Until the
// API server responds, the informers stay unchanged.
func TestNamespacesThatMayNotBeListed(t *testing.T) {
	pods, _ := kinds.Known("pods")
	client := exportertest.MetadataClient(t)
	client.PrependReactor("list", "namespaces", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, errNotAllowed })
	configured := config.Config{Resources: []config.Resource{{Name: "pods"}}, SplitResources: []string{"pods"}, SplitBy: config.SplitByNamespaces}
	watching := 0
	for ordinal := range 2 {
		var written logtest.Recorder
		p := splitter{shard: sharding.Shard{Ordinal: ordinal, Total: 2}, client: client, log: written.Logger(), selecting: map[string]bool{}, strategies: map[string]string{}, auxiliaries: auxiliaries{}}
		ctx, cancel := context.WithCancel(t.Context())
		changed := make(chan struct{}, 1)
		p.ask()
		p.begin()
		if specs := p.specs(ctx, configured, pods, nil); len(specs) != 0 || !p.waiting {
			t.Errorf("before the response: %+v, waiting %t", specs, p.waiting)
		}
		p.end(ctx, func(kinds.Kind) func() { return func() { notify(changed) } })
		<-changed
		p.begin()
		specs := p.specs(ctx, configured, pods, nil)
		if len(specs) == 1 && specs[0].Namespace == "" && !specs[0].Shard.Partial() {
			watching++
		} else if len(specs) != 0 {
			t.Errorf("shard %d watches %+v", ordinal, specs)
		}
		if p.waiting || len(written.Find("listing namespaces is forbidden", "fix", "grant list and watch on namespaces")) != 1 {
			t.Errorf("waiting: %t, log %+v", p.waiting, written.Find(""))
		}
		if lines := written.Find("cannot create an informer"); len(lines) != 0 {
			t.Errorf("log %+v", lines)
		}
		p.auxiliaries.update(nil, nil)
		cancel()
	}
	if watching != 1 {
		t.Errorf("%d shards watch all pods, want 1", watching)
	}
}
