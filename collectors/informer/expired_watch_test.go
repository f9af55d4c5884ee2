package informer_test

import (
	"context"
	"net"
	"net/http"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/collectors/informer"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
)

// pipes is a listener without a network, so that a server and its clients can use a fake clock.
type pipes chan net.Conn

func (p pipes) Accept() (net.Conn, error) {
	if c, ok := <-p; ok {
		return c, nil
	}
	return nil, net.ErrClosed
}

func (pipes) Close() error   { return nil }
func (pipes) Addr() net.Addr { return &net.TCPAddr{} }

// noStreamingLists is a client of a server without streaming lists.
type noStreamingLists struct{ *cache.ListWatch }

func (noStreamingLists) IsWatchListSemanticsUnSupported() bool { return true }

// An API server that has restarted refuses connections, then answers the watch of an idle resource with 200 and the event ERROR 410
// while its lists still fail. All that is one loss: sync lag goes on, and one coverage gap ends with the watch after the list (S5, S14).
func TestLagOfAWatchThatOpensAndIsExpired(t *testing.T) {
	const (
		healthy = iota
		stopped
		starting
	)
	synctest.Test(t, func(t *testing.T) {
		obs, reg := observertest.New(t)
		var state, expired atomic.Int32
		restarted := make(chan struct{})
		server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			isWatch := r.URL.Query().Get("watch") != ""
			switch {
			case state.Load() == starting && isWatch:
				expired.Add(1)
				_, _ = w.Write([]byte(`{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Expired","message":"too old resource version","code":410}}`))
			case state.Load() == starting:
				http.Error(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"etcdserver: leader changed","code":500}`, http.StatusInternalServerError)
			case isWatch:
				w.WriteHeader(http.StatusOK)
				w.(http.Flusher).Flush()
				if expired.Load() > 0 {
					<-r.Context().Done()
					return
				}
				select {
				case <-restarted:
					panic(http.ErrAbortHandler) // the connection is closed
				case <-r.Context().Done():
				}
			default:
				_, _ = w.Write([]byte(`{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"10"},"items":[]}`))
			}
		})}
		listener := make(pipes)
		served := make(chan struct{})
		go func() { defer close(served); _ = server.Serve(listener) }()
		config := &rest.Config{Host: "http://api", QPS: -1, Dial: func(context.Context, string, string) (net.Conn, error) {
			if state.Load() == stopped {
				return nil, &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}
			}
			near, far := net.Pipe()
			listener <- far
			return near, nil
		}}
		httpClient, err := rest.HTTPClientFor(config)
		if err != nil {
			t.Fatal(err)
		}
		client, err := kubernetes.NewForConfigAndClient(config, httpClient)
		if err != nil {
			t.Fatal(err)
		}
		lw := noStreamingLists{cache.NewListWatchFromClient(client.CoreV1().RESTClient(), "pods", "", fields.Everything())}
		inf := informer.NewSharedIndexInformer(obs, pods, lw, &corev1.Pod{}, cache.SharedIndexInformerOptions{})
		// client-go's own handler compares the fake clock with times of other tests.
		if err := inf.SetWatchErrorHandlerWithContext(func(context.Context, *cache.Reflector, error) {}); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { defer close(ended); inf.RunWithContext(ctx) }()

		state.Store(healthy)
		time.Sleep(time.Minute)
		lost := time.Now()
		state.Store(stopped)
		httpClient.CloseIdleConnections()
		close(restarted)
		for since := time.Duration(0); since < 2*time.Minute; since = time.Since(lost) {
			if since >= 20*time.Second {
				state.Store(starting)
			}
			synctest.Wait()
			s := metricstest.Take(t, reg)
			if lag := s["k8s_informer_sync_lag_seconds"]; lag != since.Seconds() || s["k8s_informer_watch_connected"] != 0 {
				t.Errorf("%v after the loss: sync lag %v s, connected %v", since, lag, s["k8s_informer_watch_connected"])
				break
			}
			time.Sleep(100 * time.Millisecond)
		}
		if expired.Load() == 0 {
			t.Error("no watch was answered with 410")
		}
		state.Store(healthy)
		time.Sleep(2 * time.Minute)
		s := metricstest.Take(t, reg)
		check(t, s, metricstest.Snapshot{
			"k8s_informer_sync_lag_seconds": 0, "k8s_informer_watch_connected": 1, "k8s_informer_coverage_gap_seconds_count": 1,
			"k8s_informer_relists_total{reason=expired}": 1,
		})
		if gap, opened := s["k8s_informer_coverage_gap_seconds_sum"], informer.Statuses(obs)[0].WatchOpened; gap != opened.Sub(lost).Seconds() {
			t.Errorf("a gap of %v s, want %v", gap, opened.Sub(lost))
		}

		cancel()
		<-ended
		httpClient.CloseIdleConnections()
		close(listener)
		<-served
		_ = server.Close()
	})
}
