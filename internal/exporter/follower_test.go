package exporter

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/internal/exporter/config"
	"github.com/informer-exporter/informer-exporter/internal/exporter/exportertest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/await"
	"github.com/informer-exporter/informer-exporter/internal/testenv/logtest"
)

// cluster is an API server with discovery results that a test changes.
type cluster struct {
	mu     sync.Mutex
	groups []string
	err    error
}

func (c *cluster) discover(ctx context.Context) ([]*metav1.APIGroup, []*metav1.APIResourceList, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return nil, nil, c.err
	}
	return exportertest.Discovery(c.groups...)(ctx)
}

func (c *cluster) become(err error, groups ...string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.err, c.groups = err, groups
}

// The watched resources follow every discovery. Resources of groups for which it failed stay.
func TestFollower(t *testing.T) {
	t.Parallel()
	var written logtest.Recorder
	c := &cluster{err: errors.New("connection refused")}
	e := newFakeOf(t, Options{Logger: written.Logger(), Config: config.Config{Resources: []config.Resource{{Name: "pods"}, {Name: "*.example.com"}, {Name: "gadgets.example.org"}}}}, exportertest.MetadataClient(t), c.discover)
	if body := get(e, "/readyz").Body.String(); !strings.Contains(body, "[-]discovery failed: ") {
		t.Errorf("ready before the first discovery:\n%s", body)
	}
	start(t, e)
	results := func() map[string]float64 {
		return exportertest.Values(t, e.Gatherer(), catalog.ExporterDiscoveries.Name, "result")
	}
	have := func() (list []string) {
		for _, t := range e.informers.List() {
			list = append(list, t.Name()+"@"+t.Kind.Version)
		}
		return list
	}
	expect := func(what string, want ...string) {
		t.Helper()
		await.True(t, what, func() bool { return slices.Equal(have(), want) }, func() string { return fmt.Sprint(have()) })
	}
	asked := func(result string) {
		t.Helper()
		before := results()[result]
		e.follower.DefinitionsChanged()
		await.True(t, "a discovery that is "+result, func() bool { return results()[result] > before }, func() string { return fmt.Sprint(results()) })
	}

	await.True(t, "the first discovery", e.status.IsDiscovered)
	expect("named resources of known versions", "pods@v1")
	c.become(nil, "v1/pods", "example.com/v1,v2/widgets")
	asked("complete")
	expect("discovered and missing resources", "pods@v1", "gadgets.example.org@v1", "widgets.example.com@v1")
	c.become(nil, "v1/pods", "down:example.com/v1", "example.org/v3/gadgets")
	asked("partial")
	expect("resources of a failed group stay", "pods@v1", "gadgets.example.org@v3", "widgets.example.com@v1")
	c.become(errors.New("timeout"))
	asked("error")
	expect("all resources stay", "pods@v1", "gadgets.example.org@v3", "widgets.example.com@v1")
	c.become(nil, "v1/pods")
	asked("complete")
	expect("resources that are no longer served are removed, unless they are named", "pods@v1", "gadgets.example.org@v3")

	for part, want := range map[string]int{"discovery failed; informers": 2, "discovery failed for some groups": 1, "discovery succeeded again": 2} {
		if lines := written.Find(part); len(lines) != want {
			t.Errorf("%d log lines %q, want %d: %v", len(lines), part, want, lines)
		}
	}
	await.True(t, "no series of widgets", func() bool { return exportertest.SeriesOf(t, e.Gatherer(), "widgets.example.com") == 0 })
}
