package informers

import (
	"context"
	"fmt"
	"log/slog"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/metadata"
	clienttesting "k8s.io/client-go/testing"

	"github.com/informer-exporter/informer-exporter/internal/exporter/exportertest"
	"github.com/informer-exporter/informer-exporter/internal/exporter/kinds"
)

// Informers end with their context while their reflectors wait before they repeat a streaming list, which client-go does not
// interrupt: at shutdown, when they are replaced, and without metrics.
func TestStopDuringBackoff(t *testing.T) {
	for name, failure := range map[string]error{
		"refused":           fmt.Errorf("dial: %w", syscall.ECONNREFUSED),
		"too many requests": apierrors.NewTooManyRequests("busy", 1),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cluster := exportertest.MetadataClient(t)
				requests := 0
				cluster.PrependWatchReactor("*", func(clienttesting.Action) (bool, watch.Interface, error) {
					requests++
					return true, nil, failure
				})
				streaming := struct{ metadata.Interface }{cluster} // the fake itself does not support streaming lists
				s := testSet{NewSet(newFactory(t, prometheus.NewRegistry(), streaming).New), nil}
				s.replace(t, "pods", "nodes")
				ctx, cancel := context.WithCancel(t.Context())
				s.Run(ctx)
				auxiliary, err := StartAuxiliary(ctx, kinds.Namespaces, streaming, func() {}, slog.New(slog.DiscardHandler))
				if err != nil {
					t.Fatal(err)
				}
				time.Sleep(10 * time.Minute) // the longest backoff
				synctest.Wait()
				ended := make(chan string, 3)
				stop := func(what string, stop func()) {
					t.Helper()
					go func() { stop(); ended <- what }()
					synctest.Wait() // no time passes
					if len(ended) == 0 {
						t.Errorf("%s waits for the backoff", what)
					}
					<-ended
				}
				sent := requests
				stop("the replacement of an informer", func() { s.replace(t, "nodes") })
				stop("the end of an informer without metrics", auxiliary.Stop)
				stop("the end of the set", func() { s.Stop(); cancel(); s.Wait() })
				time.Sleep(10 * time.Minute)
				if sent == 0 || requests != sent {
					t.Errorf("%d requests, then %d after the end", sent, requests-sent)
				}
			})
		})
	}
}

// A request that fails as the context ends does not start a wait either.
func TestStopDuringRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cluster := exportertest.MetadataClient(t)
		ctx, cancel := context.WithCancel(t.Context())
		cluster.PrependWatchReactor("*", func(clienttesting.Action) (bool, watch.Interface, error) {
			cancel()
			synctest.Wait() // runUntil sees the end
			return true, nil, syscall.ECONNREFUSED
		})
		s := testSet{NewSet(newFactory(t, prometheus.NewRegistry(), struct{ metadata.Interface }{cluster}).New), nil}
		s.replace(t, "pods")
		began := time.Now()
		s.Run(ctx)
		s.Stop()
		s.Wait()
		if waited := time.Since(began); waited > 0 {
			t.Errorf("waited %v for a backoff", waited)
		}
	})
}

// After a backoff, the end waits for requests again.
func TestStopAfterBackoff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cluster := exportertest.MetadataClient(t)
		requests, release := 0, make(chan struct{})
		cluster.PrependWatchReactor("*", func(clienttesting.Action) (bool, watch.Interface, error) {
			if requests++; requests == 2 {
				<-release
			}
			return true, nil, syscall.ECONNREFUSED
		})
		s := testSet{NewSet(newFactory(t, prometheus.NewRegistry(), struct{ metadata.Interface }{cluster}).New), nil}
		s.replace(t, "pods")
		ctx, cancel := context.WithCancel(t.Context())
		s.Run(ctx)
		time.Sleep(time.Minute)
		s.Stop()
		cancel()
		ended := make(chan struct{})
		go func() { defer close(ended); s.Wait() }()
		synctest.Wait()
		select {
		case <-ended:
			t.Error("ended during a request")
		default:
		}
		close(release)
		<-ended
	})
}
