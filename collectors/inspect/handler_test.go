package inspect_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/inspect"
	"github.com/informer-exporter/informer-exporter/collectors/queue"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
)

// get decodes the response of a path.
func get[R any](t *testing.T, obs *collectors.Observer, path string) (response R) {
	t.Helper()
	w := httptest.NewRecorder()
	inspect.NewHandler(obs).ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, http.NoBody))
	if w.Code != http.StatusOK || w.Header().Get("Content-Type") != "application/json" {
		t.Fatalf("%s: %d %s", path, w.Code, w.Body)
	}
	if err := json.Unmarshal(w.Body.Bytes(), &response); err != nil {
		t.Fatal(err)
	}
	return response
}

type item struct {
	Item           string
	Retries        int
	AgeSeconds     float64
	BackoffSeconds float64
	BackoffUntil   *time.Time
}

type controllersResponse struct {
	Name        string
	Controllers []struct {
		Controller                  string
		Ready, Delayed, Retried     int
		RunningWorkers              *int
		MostRetries, LongestRetried []item
	}
}

// S43: a key that always fails, among a thousand that fail for a moment, is named within two minutes: in the log, and first in both lists
// of the API. No label names it. The limits are those of S43 and client-go's default.
func TestPoisonKeyAmongAThousand(t *testing.T) {
	for name, limiter := range map[string]workqueue.TypedRateLimiter[types.NamespacedName]{
		"100ms to 30s": workqueue.NewTypedItemExponentialFailureRateLimiter[types.NamespacedName](100*time.Millisecond, 30*time.Second),
		"default":      workqueue.NewTypedItemExponentialFailureRateLimiter[types.NamespacedName](5*time.Millisecond, 1000*time.Second),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var log bytes.Buffer
				obs, reg := observertest.New(t, func(o *collectors.Options) { o.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
				q := queue.NewTypedRateLimitingQueue(obs, "orders", limiter, queue.Options[types.NamespacedName]{})
				poison, begin := types.NamespacedName{Namespace: "shop", Name: "poison"}, time.Now()
				outage := 20 * time.Second // of a webhook: all items pass the objective
				go func() {
					for {
						key, shutdown := q.Get()
						if shutdown {
							return
						}
						if key == poison || time.Since(begin) < outage {
							q.AddRateLimited(key)
						} else {
							q.Forget(key)
						}
						q.Done(key)
					}
				}()
				for i := range 1000 {
					q.Add(types.NamespacedName{Namespace: "shop", Name: fmt.Sprintf("good-%d", i)})
				}
				q.Add(poison)
				time.Sleep(2 * time.Minute)
				synctest.Wait()
				if !strings.Contains(log.String(), "item=shop/poison") {
					t.Errorf("the log does not name the item: %s", log.String())
				}
				if lines := strings.Count(log.String(), "\n"); lines > 3 {
					t.Errorf("%d lines in two minutes", lines)
				}
				r := get[controllersResponse](t, obs, inspect.ControllersPath)
				if r.Name != "test" || len(r.Controllers) != 1 {
					t.Fatalf("%+v", r)
				}
				c := r.Controllers[0]
				if c.Controller != "orders" || c.Retried < 1 || c.RunningWorkers == nil || *c.RunningWorkers != 1 || c.Delayed < 1 {
					t.Errorf("%+v", c)
				}
				for _, list := range [][]item{c.MostRetries, c.LongestRetried} {
					if first := list[0]; first.Item != "shop/poison" || first.Retries < 10 || first.AgeSeconds < 119 || first.BackoffSeconds <= 0 {
						t.Errorf("%+v", list)
					}
				}
				for series := range metricstest.Take(t, reg) {
					if strings.Contains(series, "poison") {
						t.Errorf("a label names the item: %s", series)
					}
				}
				q.ShutDown()
			})
		})
	}
}

// The lists have the top ten of all rate limiters of a controller, which differ. A controller without retries has empty lists.
func TestTopTen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		obs, _ := observertest.New(t)
		slow := func() workqueue.TypedRateLimiter[string] {
			return workqueue.NewTypedItemFastSlowRateLimiter[string](time.Hour, time.Hour, 0)
		}
		a, b := queue.NewTypedRateLimiter(obs, "c", slow()), queue.NewTypedRateLimiter(obs, "c", slow())
		for i := range 12 {
			for range i + 1 {
				[]workqueue.TypedRateLimiter[string]{a, b}[i%2].When(fmt.Sprint("item-", i))
			}
			time.Sleep(time.Second)
		}
		a.When("gone")
		a.Forget("gone")
		quiet := queue.NewTypedRateLimitingQueue(obs, "quiet", slow(), queue.Options[string]{})
		quiet.Add("x")
		r := get[controllersResponse](t, obs, inspect.ControllersPath)
		c := r.Controllers[0]
		if c.Retried != 12 || len(c.MostRetries) != 10 || len(c.LongestRetried) != 10 {
			t.Fatalf("%+v", c)
		}
		for i := range 10 {
			if got := c.MostRetries[i]; got.Item != fmt.Sprint("item-", 11-i) || got.Retries != 12-i {
				t.Errorf("most retries: %+v", c.MostRetries)
			}
			if got := c.LongestRetried[i]; got.Item != fmt.Sprint("item-", i) || got.AgeSeconds != float64(12-i) || got.BackoffSeconds != float64(3600-12+i) {
				t.Errorf("longest: %+v", c.LongestRetried)
			}
		}
		if q := r.Controllers[1]; q.Controller != "quiet" || q.Ready != 1 || q.MostRetries == nil || q.LongestRetried == nil {
			t.Errorf("%+v", q)
		}
		quiet.ShutDown()
		a.Forget("")
		b.Forget("")
	})
}
