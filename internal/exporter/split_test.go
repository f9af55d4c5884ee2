package exporter

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/metadata/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
)

// An API server that does not answer holds up the decisions once, and not for each resource.
func TestSilentServerIsAskedOnce(t *testing.T) {
	client := fake.NewSimpleMetadataClient(fake.NewTestScheme())
	requests := 0
	client.PrependReactor("list", "*", func(clienttesting.Action) (bool, runtime.Object, error) {
		requests++
		return true, nil, context.DeadlineExceeded
	})
	p := splits{shard: Shard{0, 2}, client: client, log: slog.New(slog.DiscardHandler), selecting: map[string]bool{}, ways: map[string]string{}}
	tooLate, cancel := context.WithCancel(t.Context())
	cancel()
	for round := 1; round <= 2; round++ {
		p.ask()
		p.begin()
		for _, kind := range DefaultKinds() {
			subjects := p.subjects(tooLate, Config{SplitResources: []string{"*"}}, kind, nil)
			if len(subjects) != 1 || subjects[0].part != p.shard {
				t.Errorf("%s is watched as %+v, want its part", kind.Type(), subjects)
			}
		}
		if requests != round {
			t.Errorf("%d requests in %d rounds", requests, round)
		}
	}
}

// Without shardSelector and before it is known which namespaces there are, a shard does not know what it is to watch, and is
// not ready.
func TestNotReadyBeforeNamespacesAreKnown(t *testing.T) {
	e := newFake(t, Options{Shard: Shard{0, 2}, Config: Config{Resources: []Resource{{Name: "pods"}}, SplitResources: []string{"pods"}}})
	var known atomic.Bool
	all := []string{"blog", "pay", "shop", "test"}
	e.follower.client.(*fake.FakeMetadataClient).PrependReactor("list", "namespaces", func(clienttesting.Action) (bool, runtime.Object, error) {
		if !known.Load() {
			return true, nil, errors.New("etcd is slow")
		}
		list := &metav1.List{ListMeta: metav1.ListMeta{ResourceVersion: "7"}}
		for _, name := range all {
			list.Items = append(list.Items, runtime.RawExtension{Object: &metav1.PartialObjectMetadata{
				TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"}, ObjectMeta: metav1.ObjectMeta{Name: name, ResourceVersion: "7"},
			}})
		}
		return true, list, nil
	})
	e.follower.discover = (&cluster{groups: []string{"v1/pods,namespaces"}}).discover
	run(t, e)
	discoveries := func() float64 {
		return values(t, e.Gatherer(), catalog.ExporterDiscoveries.Name, "result")[catalog.DiscoveryComplete]
	}
	eventually(t, "a discovery", func() bool { return discoveries() >= 1 }, func() string { return "" })
	e.follower.definitionsChanged()
	eventually(t, "another one, before which the first has had its effect", func() bool { return discoveries() >= 2 }, func() string { return "" })
	if response := get(e, "/readyz"); response.Code == http.StatusOK || !strings.Contains(response.Body.String(), "[-]discovery failed: the API server has not told yet") {
		t.Errorf("before namespaces are known: %d\n%s", response.Code, response.Body)
	}
	known.Store(true)
	waitReady(t, e)
	var want []string
	for _, namespace := range all {
		if ownerOf("pods", namespace, 2) == 0 {
			want = append(want, namespace+"/pods")
		}
	}
	if have := names(e.targets.list()); !slices.Equal(have, want) || len(want) == 0 || len(want) == len(all) {
		t.Errorf("watched are %v, want %v", have, want)
	}
}

// If a new configuration does not split what could not be decided, there is nothing left to wait for.
func TestReadyWithoutTheNamespacesThatNobodyNeeds(t *testing.T) {
	split := Config{Resources: []Resource{{Name: "pods"}}, SplitResources: []string{"pods"}}
	e := newFake(t, Options{Shard: Shard{0, 2}, Config: split})
	asked := make(chan struct{}, 1)
	e.follower.client.(*fake.FakeMetadataClient).PrependReactor("list", "namespaces", func(clienttesting.Action) (bool, runtime.Object, error) {
		notify(asked)
		return true, nil, errors.New("etcd is slow")
	})
	e.follower.discover = (&cluster{groups: []string{"v1/pods,namespaces"}}).discover
	run(t, e)
	eventually(t, "namespaces are asked for, after the only discovery for some minutes", func() bool { return len(asked) > 0 }, func() string { return "" })
	if e.follower.done() {
		t.Error("done before namespaces are known")
	}
	split.SplitResources = nil
	e.follower.reconfigure(split)
	waitReady(t, e)
}

// Which way objects are spread: what the configuration says, without a request, else what an object shows, in whatever namespace
// there is one.
func TestWayOfSpreading(t *testing.T) {
	pods, _ := knownKind("pods")
	namespaces := []string{"a", "b", "c"}
	for name, tc := range map[string]struct {
		splitBy string
		server  string // "selects", "ignores", or "empty"
		want    bool
		known   bool
		asked   []string
	}{
		"found out: it selects":        {"", "selects", true, true, []string{"a", "b", "b"}},
		"found out: it does not":       {"", "ignores", false, true, []string{"a", "b", "b"}},
		"nothing to find out from":     {"", "empty", false, false, namespaces},
		"by UID, whatever it does":     {SplitByUID, "ignores", true, true, nil},
		"by namespaces, whatever else": {SplitByNamespaces, "selects", false, true, nil},
	} {
		t.Run(name, func(t *testing.T) {
			client := fake.NewSimpleMetadataClient(fake.NewTestScheme())
			var asked []string
			client.PrependReactor("list", "pods", func(action clienttesting.Action) (bool, runtime.Object, error) {
				again := slices.Contains(asked, action.GetNamespace())
				asked = append(asked, action.GetNamespace())
				list := &metav1.List{ListMeta: metav1.ListMeta{ResourceVersion: "7"}}
				if tc.server != "empty" && action.GetNamespace() != "a" && (!again || tc.server == "ignores") {
					list.Items = []runtime.RawExtension{{Object: &metav1.PartialObjectMetadata{
						TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}, ObjectMeta: metav1.ObjectMeta{Name: "one", Namespace: action.GetNamespace(), UID: "u"},
					}}}
				}
				return true, list, nil
			})
			p := splits{shard: Shard{0, 2}, client: client, log: slog.New(slog.DiscardHandler), selecting: map[string]bool{}, ways: map[string]string{}}
			p.ask()
			got, known := p.selects(t.Context(), Config{SplitBy: tc.splitBy, Namespaces: namespaces}, pods, namespaces)
			if got != tc.want || known != tc.known || !slices.Equal(asked, tc.asked) {
				t.Errorf("%t, known %t, asked in %v; want %t, %t, %v", got, known, asked, tc.want, tc.known, tc.asked)
			}
		})
	}
}

// That a part was ignored is looked into once in a while, and only if that may change something.
func TestIgnoredPartsAreLookedIntoOnce(t *testing.T) {
	f := newFollower(Config{SplitBy: SplitByUID}, Shard{0, 2}, nil, nil, slog.New(slog.DiscardHandler))
	f.partIgnored()
	if len(f.changed) != 0 {
		t.Error("looked into although the configuration names the way")
	}
	f.config.SplitBy = ""
	f.partIgnored()
	if len(f.changed) != 1 {
		t.Error("not looked into")
	}
	<-f.changed
	f.partIgnored()
	if len(f.changed) != 0 {
		t.Error("looked into again at once")
	}
	f.ignored = f.ignored.Add(-ignoredPeriod)
	f.partIgnored()
	if len(f.changed) != 1 {
		t.Error("not looked into later")
	}
}
