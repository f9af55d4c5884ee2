package queue_test

import (
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/util/workqueue"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/collectors/queue"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
)

// observed compares a histogram of the only controller with the values that must have been observed.
func observed(t *testing.T, reg prometheus.Gatherer, d catalog.Definition, want ...float64) {
	t.Helper()
	m, sum := d.Define(), 0.0
	for _, v := range want {
		sum += v
	}
	s := metricstest.Take(t, reg)
	count, total := s[m.Name+"_count{controller=c}"], s[m.Name+"_sum{controller=c}"]
	if diff := total - sum; count != float64(len(want)) || diff > 1e-9 || diff < -1e-9 {
		t.Errorf("%s: %v observations with the sum %v, want %d with %v", m.Name, count, total, len(want), sum)
	}
}

// TestBackoff covers S8 and O6: the backoff of an item that fails twenty times and then succeeds, with client-go's default of
// 5 ms to 1000 s. The item becomes ready at these times.
func TestBackoff(t *testing.T) {
	want := []float64{
		.005, .01, .02, .04, .08, .16, .32, .64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92, 163.84, 327.68, 655.36, 1000, 1000,
	}
	synctest.Test(t, func(t *testing.T) {
		obs, reg := observertest.New(t)
		q := queue.NewTypedRateLimitingQueue(obs, "c",
			workqueue.NewTypedItemExponentialFailureRateLimiter[string](5*time.Millisecond, 1000*time.Second), queue.Options[string]{})
		q.Add("fails")
		q.Add("succeeds")
		failures := 0
		for failures <= len(want) {
			failed := time.Now()
			item, _ := q.Get()
			if item == "succeeds" {
				q.Forget(item)
			} else {
				if waited := time.Since(failed).Seconds(); failures > 0 && waited != want[failures-1] {
					t.Errorf("failure %d: %v s until the next attempt, want %v", failures, waited, want[failures-1])
				}
				if failures++; failures <= len(want) {
					q.AddRateLimited(item)
				} else {
					q.Forget(item)
				}
			}
			q.Done(item)
		}
		observed(t, reg, catalog.ControllerBackoff, want...)
		observed(t, reg, catalog.ControllerItemRetries, 0, 20)
		finish(q)
	})
}

// TestLimiterIsCalledOnce: each call takes a token from a bucket, so a second one would double the backoff.
func TestLimiterIsCalledOnce(t *testing.T) {
	for name, decorate := range map[string]func(obs *collectors.Observer, l workqueue.TypedRateLimiter[string]) (retry func(string), end func()){
		"NewTypedRateLimiter": func(obs *collectors.Observer, l workqueue.TypedRateLimiter[string]) (func(string), func()) {
			decorated := queue.NewTypedRateLimiter(obs, "c", l)
			return func(item string) { decorated.When(item) }, func() { runtime.KeepAlive(decorated) }
		},
		"NewTypedRateLimiter twice": func(obs *collectors.Observer, l workqueue.TypedRateLimiter[string]) (func(string), func()) {
			decorated := queue.NewTypedRateLimiter(obs, "c", queue.NewTypedRateLimiter(obs, "c", l))
			return func(item string) { decorated.When(item) }, func() { runtime.KeepAlive(decorated) }
		},
		"queue": func(obs *collectors.Observer, l workqueue.TypedRateLimiter[string]) (func(string), func()) {
			q := queue.NewTypedRateLimitingQueue(obs, "c", l, queue.Options[string]{})
			return q.AddRateLimited, q.ShutDown
		},
		"queue with NewTypedRateLimiter": func(obs *collectors.Observer, l workqueue.TypedRateLimiter[string]) (func(string), func()) {
			q := queue.NewTypedRateLimitingQueue(obs, "c", queue.NewTypedRateLimiter(obs, "c", l), queue.Options[string]{})
			return q.AddRateLimited, q.ShutDown
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				obs, reg := observertest.New(t)
				retry, end := decorate(obs, backoffs())
				for _, item := range []string{"a", "a", "a", "b", "c", "d", "a"} {
					retry(item)
				}
				// The backoff is that of item a while the bucket has its first three tokens, and then that of the bucket, which grows
				// by 100 ms each time.
				observed(t, reg, catalog.ControllerBackoff, .005, .01, .02, .1, .2, .3, .4)
				end()
			})
		})
	}
}

// A rate limiter has its own series, without those of a queue, as long as it is reachable.
func TestRateLimiterAlone(t *testing.T) {
	obs, reg := observertest.New(t)
	l, second := queue.NewTypedRateLimiter(obs, "c", backoffs()), queue.NewTypedRateLimiter(obs, "c", backoffs())
	controllerMetrics(metricstest.Take(t, reg)).Equal(t, metricstest.Snapshot{backoffN: 0, retriesN: 0, retriesMax: 0})
	l.When("a")
	l.When("a")
	second.When("a")
	if n := l.NumRequeues("a"); n != 2 {
		t.Errorf("%d requeues", n)
	}
	l.Forget("a")
	if n := l.NumRequeues("a"); n != 0 {
		t.Errorf("%d requeues after Forget", n)
	}
	observed(t, reg, catalog.ControllerItemRetries, 2)
	controllerMetrics(metricstest.Take(t, reg)).Equal(t, metricstest.Snapshot{backoffN: 3, retriesN: 1, retriesMax: 1})
	runtime.KeepAlive(l)
	for range 3 {
		runtime.GC()
	}
	runtime.KeepAlive(second)
	awaitNoSeries(t, reg)
}

// A queue with the rate limiter of another controller reports both.
func TestRateLimiterOfAnotherController(t *testing.T) {
	obs, reg := observertest.New(t)
	q := queue.NewTypedRateLimitingQueue(obs, "c", queue.NewTypedRateLimiter(obs, "other controller", backoffs()), queue.Options[string]{})
	q.AddRateLimited("a")
	s := metricstest.Take(t, reg)
	for _, controller := range []string{"c", "other controller"} {
		if n := s["controller_backoff_seconds_count{controller="+controller+"}"]; n != 1 {
			t.Errorf("%s: %v", controller, n)
		}
	}
	q.ShutDown()
}
