package discovery

import (
	"context"
	"log/slog"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/metadata/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/informer-exporter/informer-exporter/internal/exporter/config"
	"github.com/informer-exporter/informer-exporter/internal/exporter/kinds"
	"github.com/informer-exporter/informer-exporter/internal/exporter/sharding"
)

// An API server that does not respond delays the decision once, not for each resource.
func TestSilentServerIsAskedOnce(t *testing.T) {
	client := fake.NewSimpleMetadataClient(fake.NewTestScheme())
	requests := 0
	client.PrependReactor("list", "*", func(clienttesting.Action) (bool, runtime.Object, error) {
		requests++
		return true, nil, context.DeadlineExceeded
	})
	p := splitter{shard: sharding.Shard{Ordinal: 0, Total: 2}, client: client, log: slog.New(slog.DiscardHandler), selecting: map[string]bool{}, strategies: map[string]string{}}
	tooLate, cancel := context.WithCancel(t.Context())
	cancel()
	for round := 1; round <= 2; round++ {
		p.ask()
		p.begin()
		for _, kind := range kinds.Default() {
			specs := p.specs(tooLate, config.Config{SplitResources: []string{"*"}}, kind, nil)
			if len(specs) != 1 || specs[0].Shard != p.shard {
				t.Errorf("%s is watched as %+v, want its part", kind.Type(), specs)
			}
		}
		if requests != round {
			t.Errorf("%d requests in %d rounds", requests, round)
		}
	}
}

// If splitBy is configured, no request is sent. Otherwise, the method is detected with the first object that is found in any
// namespace.
func TestWayOfSpreading(t *testing.T) {
	pods, _ := kinds.Known("pods")
	namespaces := []string{"a", "b", "c"}
	for name, tc := range map[string]struct {
		splitBy string
		server  string // "selects", "ignores", or "empty"
		want    bool
		known   bool
		asked   []string
	}{
		"found out: it selects":    {"", "selects", true, true, []string{"a", "b", "b"}},
		"found out: it does not":   {"", "ignores", false, true, []string{"a", "b", "b"}},
		"nothing to find out from": {"", "empty", false, false, namespaces},
		"by UID, always":           {config.SplitByUID, "ignores", true, true, nil},
		"by namespaces, always":    {config.SplitByNamespaces, "selects", false, true, nil},
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
			p := splitter{shard: sharding.Shard{Ordinal: 0, Total: 2}, client: client, log: slog.New(slog.DiscardHandler), selecting: map[string]bool{}, strategies: map[string]string{}}
			p.ask()
			got, known := p.selects(t.Context(), config.Config{SplitBy: tc.splitBy, Namespaces: namespaces}, pods, namespaces)
			if got != tc.want || known != tc.known || !slices.Equal(asked, tc.asked) {
				t.Errorf("%t, known %t, asked in %v; want %t, %t, %v", got, known, asked, tc.want, tc.known, tc.asked)
			}
			again, still := p.selects(t.Context(), config.Config{SplitBy: tc.splitBy, Namespaces: namespaces}, pods, namespaces)
			if again != got || still != known || len(asked) != len(tc.asked) {
				t.Errorf("later in the round: %t, known %t, asked in %v; want %t, %t, and no request", again, still, asked, got, known)
			}
		})
	}
}

// An ignored selector triggers a discovery only at intervals, and only if that may change the method.
func TestIgnoredPartsAreLookedIntoOnce(t *testing.T) {
	f := New(Options{Config: config.Config{SplitBy: config.SplitByUID}, Shard: sharding.Shard{Ordinal: 0, Total: 2}, Logger: slog.New(slog.DiscardHandler)})
	f.UnselectedReceived()
	if len(f.changed) != 0 {
		t.Error("discovery triggered although splitBy is configured")
	}
	f.config.SplitBy = ""
	f.UnselectedReceived()
	if len(f.changed) != 1 {
		t.Error("discovery not triggered")
	}
	<-f.changed
	f.UnselectedReceived()
	if len(f.changed) != 0 {
		t.Error("discovery triggered again immediately")
	}
	f.unselectedAt = f.unselectedAt.Add(-ignoredPeriod)
	f.UnselectedReceived()
	if len(f.changed) != 1 {
		t.Error("discovery not triggered after the interval")
	}
}
