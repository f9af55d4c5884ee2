package collectors

import (
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"k8s.io/client-go/util/workqueue"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
)

// distribution returns the histogram of the controller c.
func distribution(t *testing.T, reg prometheus.Gatherer, m catalog.Histogram) *dto.Histogram {
	t.Helper()
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() == m.Name {
			return f.GetMetric()[0].GetHistogram()
		}
	}
	t.Fatalf("there is no %s", m.Name)
	return nil
}

// observed compares a histogram with what must have been observed.
func observed(t *testing.T, reg prometheus.Gatherer, m catalog.Histogram, want ...float64) {
	t.Helper()
	h := distribution(t, reg, m)
	sum := 0.0
	for _, v := range want {
		sum += v
	}
	if diff := h.GetSampleSum() - sum; h.GetSampleCount() != uint64(len(want)) || diff > 1e-9 || diff < -1e-9 {
		t.Errorf("%s: %d observations with the sum %v, want %d with %v", m.Name, h.GetSampleCount(), h.GetSampleSum(), len(want), sum)
	}
	for _, b := range h.GetBucket() {
		n := 0
		for _, v := range want {
			if v <= b.GetUpperBound() {
				n++
			}
		}
		if b.GetCumulativeCount() != uint64(n) {
			t.Errorf("%s: %d observations up to %v, want %d", m.Name, b.GetCumulativeCount(), b.GetUpperBound(), n)
		}
	}
}

// TestBackoffIsThatOfTheLimiter covers S8 and O6: what client-go's default, 5 ms to 1000 s, makes an item wait that fails
// twenty times, and succeeds then. The item is ready at these times.
func TestBackoffIsThatOfTheLimiter(t *testing.T) {
	want := []float64{
		.005, .01, .02, .04, .08, .16, .32, .64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92, 163.84, 327.68, 655.36, 1000, 1000,
	}
	synctest.Test(t, func(t *testing.T) {
		obs, reg := newObserver(t)
		q := NewQueue(obs, "c", workqueue.NewTypedItemExponentialFailureRateLimiter[string](5*time.Millisecond, 1000*time.Second))
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

// TestLimiterIsAskedOnce: a bucket gives a token for each question, so that asking twice would double the back-off.
func TestLimiterIsAskedOnce(t *testing.T) {
	for name, decorate := range map[string]func(obs *Observer, l workqueue.TypedRateLimiter[string]) (retry func(string), end func()){
		"RateLimiter": func(obs *Observer, l workqueue.TypedRateLimiter[string]) (func(string), func()) {
			decorated := RateLimiter(obs, "c", l)
			return func(item string) { decorated.When(item) }, func() {}
		},
		"RateLimiter of a RateLimiter": func(obs *Observer, l workqueue.TypedRateLimiter[string]) (func(string), func()) {
			decorated := RateLimiter(obs, "c", RateLimiter(obs, "c", l))
			return func(item string) { decorated.When(item) }, func() {}
		},
		"NewQueue": func(obs *Observer, l workqueue.TypedRateLimiter[string]) (func(string), func()) {
			q := NewQueue(obs, "c", l)
			return q.AddRateLimited, q.ShutDown
		},
		"NewQueue with a RateLimiter": func(obs *Observer, l workqueue.TypedRateLimiter[string]) (func(string), func()) {
			q := NewQueue(obs, "c", RateLimiter(obs, "c", l))
			return q.AddRateLimited, q.ShutDown
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				obs, reg := newObserver(t)
				retry, end := decorate(obs, backoffs())
				for _, item := range []string{"a", "a", "a", "b", "c", "d", "a"} {
					retry(item)
				}
				// a's own back-off while there are the bucket's first three tokens, then the bucket's, each 100 ms later.
				observed(t, reg, catalog.ControllerBackoff, .005, .01, .02, .1, .2, .3, .4)
				end()
			})
		})
	}
}

// A rate limiter has series of its own, without those of a queue, for as long as something refers to it.
func TestRateLimiterAlone(t *testing.T) {
	obs, reg := newObserver(t)
	l, second := RateLimiter(obs, "c", backoffs()), RateLimiter(obs, "c", backoffs())
	controllerMetrics(metricstest.Take(t, reg)).Equal(t, metricstest.Snapshot{backoffN: 0, retriesN: 0})
	l.When("a")
	l.When("a")
	second.When("a")
	if n := l.NumRequeues("a"); n != 2 {
		t.Errorf("%d requeues", n)
	}
	l.Forget("a")
	if n := l.NumRequeues("a"); n != 0 {
		t.Errorf("%d requeues of what is forgotten", n)
	}
	observed(t, reg, catalog.ControllerItemRetries, 2)
	controllerMetrics(metricstest.Take(t, reg)).Equal(t, metricstest.Snapshot{backoffN: 3, retriesN: 1})
	runtime.KeepAlive(l)
	for range 3 {
		runtime.GC()
	}
	runtime.KeepAlive(second)
	metricstest.Eventually(t, reg, "no series", func(s metricstest.Snapshot) bool {
		runtime.GC()
		return len(s) == 0
	})
}

// A queue with a rate limiter of another controller's reports both.
func TestRateLimiterOfAnotherController(t *testing.T) {
	obs, reg := newObserver(t)
	q := NewQueue(obs, "c", RateLimiter(obs, "other controller", backoffs()))
	q.AddRateLimited("a")
	s := metricstest.Take(t, reg)
	for _, controller := range []string{"c", "other controller"} {
		if n := s["controller_backoff_seconds_count{controller="+controller+"}"]; n != 1 {
			t.Errorf("%s: %v", controller, n)
		}
	}
	q.ShutDown()
}
