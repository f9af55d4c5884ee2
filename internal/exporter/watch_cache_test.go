package exporter

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/informer-exporter/informer-exporter/internal/exporter/config"
	"github.com/informer-exporter/informer-exporter/internal/testenv/await"
	"github.com/informer-exporter/informer-exporter/internal/testenv/faultproxy"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

// TestFrozenWatchCache has two API servers on one etcd, and withholds the events of etcd from one of them: only the exporter of that
// one reports a stale watch cache, on resources that do not change,
// until events arrive again (Z2).
func TestFrozenWatchCache(t *testing.T) {
	t.Parallel()
	plane := stacktest.ControlPlane(t)
	proxy, err := faultproxy.StartEtcd(plane.Etcd.URL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(proxy.Close)
	second, err := plane.AddAPIServer(t.Context(), proxy.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := second.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	quiet := config.Config{Resources: []config.Resource{{Name: "runtimeclasses.node.k8s.io"}, {Name: "ingressclasses.networking.k8s.io"}}}
	exporters := map[string]*Exporter{}
	for name, rest := range map[string]Options{"first": {Config: quiet, REST: plane.Config()}, "second": {Config: quiet, REST: second.Config()}} {
		e, err := New(rest)
		if err != nil {
			t.Fatal(err)
		}
		start(t, e)
		if err := e.status.Settled(t.Context()); err != nil {
			t.Fatal(err)
		}
		exporters[name] = e
	}
	stale := func(names ...string) {
		t.Helper()
		await.Within(t, time.Minute, "stale watch caches", func(ctx context.Context) error {
			var got []string
			for name, e := range exporters {
				e.watchCache.Check(ctx)
				families, err := e.registry.Gather()
				if err != nil {
					return err
				}
				for _, f := range families {
					if f.GetName() == "informer_exporter_watch_cache_stale_seconds" && f.GetMetric()[0].GetGauge().GetValue() > 0 {
						got = append(got, name)
					}
				}
			}
			if !slices.Equal(got, names) {
				return fmt.Errorf("stale: %v, want %v", got, names)
			}
			return nil
		})
	}
	stale()
	proxy.Freeze()
	stacktest.Namespace(t) // etcd has a new version
	stale("second")
	proxy.Thaw()
	stale()
}
