package exporter

import (
	"context"
	"log/slog"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/metadata/fake"
	clienttesting "k8s.io/client-go/testing"
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
