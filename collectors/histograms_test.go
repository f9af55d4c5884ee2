//go:build !clientgo_before_0_36

package collectors_test

import (
	"strings"
	"testing"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
)

// All histograms of an Observer, including those of client-go, have the form that its options select.
func TestFormsOfHistograms(t *testing.T) {
	for form, want := range map[collectors.Histograms]struct{ classic, native bool }{
		"":                             {classic: true},
		collectors.ClassicHistograms:   {classic: true},
		collectors.NativeHistograms:    {native: true},
		collectors.BothHistograms:      {classic: true, native: true},
		collectors.Histograms("other"): {},
	} {
		t.Run(string(form), func(t *testing.T) {
			if !want.classic && !want.native {
				_, err := collectors.New(nil, collectors.Options{Name: "a", Histograms: form})
				if err == nil || !strings.Contains(err.Error(), `Options.Histograms: "other" is not a form`) {
					t.Errorf("error %v", err)
				}
				return
			}
			obs, registry := observertest.New(t, observertest.Upstream, func(o *collectors.Options) { o.Histograms = form })
			t.Cleanup(decorateAll(t, obs, "a"))
			families, err := registry.Gather()
			if err != nil {
				t.Fatal(err)
			}
			of := map[string]bool{}
			for _, f := range families {
				for _, m := range f.GetMetric() {
					h := m.GetHistogram()
					if h == nil {
						continue
					}
					name, _, _ := strings.Cut(f.GetName(), "_")
					of[name] = true
					if classic, native := len(h.GetBucket()) > 0, h.Schema != nil; classic != want.classic || native != want.native {
						t.Errorf("%s: classic %v, native %v, want %+v", f.GetName(), classic, native, want)
					}
					if wanted, _ := catalog.ByName(f.GetName()); want.classic && len(h.GetBucket()) != len(wanted.Buckets) {
						t.Errorf("%s has %d buckets, want %d", f.GetName(), len(h.GetBucket()), len(wanted.Buckets))
					}
					if n := metricstest.SeriesOf(m); !want.classic && n != 1 {
						t.Errorf("%s has %d series, want 1", f.GetName(), n)
					}
				}
			}
			for _, prefix := range []string{"k8s", "controller", "workqueue", "informer"} {
				if !of[prefix] {
					t.Errorf("no histogram of %s_*: %v", prefix, of)
				}
			}
		})
	}
}
