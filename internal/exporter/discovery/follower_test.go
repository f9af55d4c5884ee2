package discovery

import (
	"context"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/metadata/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/informer-exporter/informer-exporter/internal/exporter/config"
	"github.com/informer-exporter/informer-exporter/internal/exporter/exportertest"
	"github.com/informer-exporter/informer-exporter/internal/exporter/informers"
)

// A CustomResourceDefinition that changes all the time does not cause a discovery every second, and a later change is again
// detected within seconds.
func TestDefinitionThatFlaps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var discoveries atomic.Int32
		served := exportertest.Discovery("apps/v1/deployments")
		f := New(Options{
			Config: config.Config{Resources: []config.Resource{{Name: "*.example.com"}}}, Informers: informers.NewSet(nil), Logger: slog.New(slog.DiscardHandler),
			Discover: func(ctx context.Context) ([]*metav1.APIGroup, []*metav1.APIResourceList, error) {
				discoveries.Add(1)
				return served(ctx)
			},
		})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			f.Run(ctx)
		}()
		synctest.Wait()
		discoveries.Store(0)
		for range 20 * 60 { // ten minutes
			f.DefinitionsChanged()
			time.Sleep(500 * time.Millisecond)
		}
		if n := discoveries.Load(); n > 100 || n < 50 {
			t.Errorf("%d discoveries in ten minutes, want about one every ten seconds", n)
		}
		time.Sleep(15 * time.Second)
		before := discoveries.Load()
		time.Sleep(30 * time.Second)
		if n := discoveries.Load() - before; n != 1 {
			t.Errorf("%d discoveries from 15 to 45 seconds after the last change, want 1: the API server may be late", n)
		}
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		discoveries.Store(0)
		f.DefinitionsChanged()
		time.Sleep(1500 * time.Millisecond)
		if n := discoveries.Load(); n != 1 {
			t.Errorf("%d discoveries a second after a change, want 1", n)
		}
		cancel()
		<-done
	})
}

// Kinds that were found to be forbidden are probed again every five minutes, also while definitions change, and not with every discovery.
func TestForbiddenKindsAreProbedPeriodically(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var probes atomic.Int32
		client := fake.NewSimpleMetadataClient(fake.NewTestScheme())
		client.PrependReactor("list", "widgets", func(clienttesting.Action) (bool, runtime.Object, error) {
			probes.Add(1)
			return true, nil, errNotAllowed
		})
		f := New(Options{
			Config: config.Config{Resources: []config.Resource{{Name: "*.example.com"}}}, Informers: informers.NewSet(nil), Logger: slog.New(slog.DiscardHandler),
			Client: client, Discover: exportertest.Discovery("example.com/v1/widgets"),
		})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			f.Run(ctx)
		}()
		check := func(when string, least, most int32) {
			t.Helper()
			synctest.Wait()
			if n := probes.Load(); n < least || n > most {
				t.Errorf("%s: %d probes, want %d to %d", when, n, least, most)
			}
		}
		check("at the start", 1, 1)
		for range 4 {
			f.DefinitionsChanged()
			time.Sleep(time.Minute)
		}
		check("after the discoveries that follow four changes", 1, 1)
		for range 30 {
			f.DefinitionsChanged()
			time.Sleep(time.Minute)
		}
		check("while definitions change", 6, 7)
		time.Sleep(2 * discoveryPeriod)
		check("without a change", 7, 9)
		cancel()
		<-done
	})
}
