package exporter

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/internal/exporter/check"
	"github.com/informer-exporter/informer-exporter/internal/exporter/config"
	"github.com/informer-exporter/informer-exporter/internal/exporter/exportertest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/await"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stack"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

// A resource with a status but no status subresource has a series and a note of the check, until its definition has the
// subresource (S47).
func TestWithoutStatusSubresource(t *testing.T) {
	t.Parallel()
	admin := stacktest.Config(t)
	const group, without, with = "statusless.example.com", "gears.statusless.example.com", "wheels.statusless.example.com"
	version := func(subresource bool) stack.Version {
		v := stack.Version{Name: "v1", Status: map[string]any{"phase": map[string]any{"type": "string"}}}
		if subresource {
			v.Subresources = map[string]any{"status": map[string]any{}}
		}
		return v
	}
	stacktest.Define(t, admin, stack.Definition(group, "Gear", version(false)))
	stacktest.Define(t, admin, stack.Definition(group, "Wheel", version(true)))
	// Otherwise the first lists may not wait long enough for the description on a busy machine, and the next ones follow after minutes.
	await.NoError(t, "the API server describes both", func() error {
		paths, err := discovery.NewDiscoveryClientForConfigOrDie(admin).OpenAPIV3().Paths()
		if err != nil {
			return err
		}
		described, ok := paths["apis/"+group+"/v1"]
		if !ok {
			return errors.New("the group is not described")
		}
		document, err := described.Schema(runtime.ContentTypeJSON)
		if err == nil && (!bytes.Contains(document, []byte("/gears")) || !bytes.Contains(document, []byte("/wheels"))) {
			err = errors.New("a resource is not described")
		}
		return err
	})
	e := newReal(t, Options{REST: admin, Config: config.Config{Resources: []config.Resource{
		{Name: without}, {Name: with}, {Name: "nodes"}, {Name: "deployments.apps"}, {Name: "customresourcedefinitions.apiextensions.k8s.io"},
	}}})
	start(t, e)
	series := func() map[string]float64 {
		return exportertest.Values(t, e.Gatherer(), catalog.ExporterKindWithoutStatusSubresource.Name, "informer_type")
	}
	await.True(t, "the series of gears", func() bool { return series()[without] == 1 }, func() string { return get(e, "/metrics").Body.String() })
	await.True(t, "synced informers", func() bool { complete, all := e.Progress(); return complete == all }, func() string { return get(e, "/readyz?verbose").Body.String() })
	if got := series(); len(got) != 1 {
		t.Errorf("series of %v, want gears only", got)
	}
	notes := func() (found []string) {
		for _, n := range e.Check(check.Options{}).Notes {
			if strings.Contains(n, "status subresource") {
				found = append(found, n)
			}
		}
		return found
	}
	if got := notes(); len(got) != 1 || !strings.HasPrefix(got[0], without+" ") || !strings.Contains(got[0], "metadata.generation") {
		t.Errorf("notes %q", got)
	}
	crds := dynamic.NewForConfigOrDie(admin).Resource(stack.Definitions)
	mended := stack.Definition(group, "Gear", version(true))
	await.True(t, "the definition has the subresource", func() bool {
		_, err := crds.Apply(t.Context(), mended.GetName(), mended, metav1.ApplyOptions{FieldManager: "test", Force: true})
		return err == nil
	})
	await.True(t, "no series", func() bool { return len(series()) == 0 }, func() string { return get(e, "/metrics").Body.String() })
	if got := notes(); len(got) != 0 {
		t.Errorf("notes %q with the subresource", got)
	}
}
