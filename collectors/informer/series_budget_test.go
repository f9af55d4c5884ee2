package informer_test

import (
	"slices"
	"strings"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/collectors/informer"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

// An informer with one handler, after events, reads, two disconnects and a relist, stays within its budget of series.
func TestSeriesOfAnInformer(t *testing.T) {
	for _, c := range []struct {
		detail collectors.Detail
		form   collectors.Histograms
		budget int
	}{
		{collectors.Full, collectors.ClassicHistograms, 90},
		{collectors.Essential, collectors.ClassicHistograms, 30},
		{collectors.Full, collectors.NativeHistograms, 55},
		{collectors.Essential, collectors.NativeHistograms, 25},
	} {
		t.Run(string(c.detail)+" "+string(c.form), func(t *testing.T) {
			testSeriesOfAnInformer(t, func(o *collectors.Options) { o.Detail, o.Histograms = c.detail, c.form }, c.budget)
		})
	}
}

func testSeriesOfAnInformer(t *testing.T, options func(*collectors.Options), budget int) {
	config := rest.CopyConfig(stacktest.Config(t))
	proxy := proxied(t, config)
	r := newRig(t, config, options)
	inf := r.factory.Core().V1().ConfigMaps().Informer()
	if _, err := inf.AddEventHandler(informer.NamedHandler("h", cache.ResourceEventHandlerFuncs{})); err != nil {
		t.Fatal(err)
	}
	r.start()
	r.waitFor("synced", synced)
	r.create("one")
	for n := range 2 {
		proxy.Reset()
		r.waitFor("reconnected", func(s metricstest.Snapshot) bool { // not until it counts as up, which takes a second
			return s["k8s_informer_watches_total"] > float64(n+1)
		})
	}
	watches := 0.0
	r.waitFor("relisted", func(s metricstest.Snapshot) bool {
		if n := s["k8s_informer_watches_total"]; n > watches && s["k8s_informer_list_duration_seconds_count"] == 1 {
			watches = n
			proxy.Reset() // a watch of less than a second without an event is followed by a list
		}
		return synced(s) && s["k8s_informer_list_duration_seconds_count"] > 1 && s["k8s_informer_handler_duration_seconds_count{handler=h}"] > 0
	})
	_ = inf.GetIndexer().List()
	_, _, _ = inf.GetIndexer().GetByKey("none")
	families, err := r.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	families = slices.DeleteFunc(families, func(f *dto.MetricFamily) bool {
		return !strings.HasPrefix(f.GetName(), "k8s_informer_") || f.GetName() == catalog.InformerLabelOverflow.Name // shared by all informers
	})
	if n := metricstest.Series(families); n > budget || n < budget/2 {
		t.Errorf("an informer has %d series, want at most %d:\n%s", n, budget, metricstest.Take(t, r.registry))
	} else {
		t.Logf("%d series", n)
	}
}
