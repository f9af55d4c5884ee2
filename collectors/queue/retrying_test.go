package queue_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/time/rate"
	"k8s.io/client-go/util/workqueue"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/collectors/queue"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
)

const retriesMax = "controller_item_retries_max{controller=c}"

// itemLimiter returns a limiter that counts retries, with a backoff of one second.
func itemLimiter() workqueue.TypedRateLimiter[string] {
	return workqueue.NewTypedItemFastSlowRateLimiter[string](time.Second, time.Second, 0)
}

// S43: the highest number of retries of an item that is still retried, in a queue and with a limiter alone.
func TestItemsThatAreRetried(t *testing.T) {
	for name, make := range map[string]func(obs *collectors.Observer) (retry, forget func(string), end func()){
		"queue": func(obs *collectors.Observer) (func(string), func(string), func()) {
			q := queue.NewTypedRateLimitingQueue(obs, "c", itemLimiter(), queue.Options[string]{})
			return q.AddRateLimited, q.Forget, func() { finish(q) }
		},
		"limiter": func(obs *collectors.Observer) (func(string), func(string), func()) {
			l := queue.NewTypedRateLimiter(obs, "c", itemLimiter())
			return func(item string) { l.When(item) }, l.Forget, func() { runtime.KeepAlive(l) }
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				obs, reg := observertest.New(t)
				retry, forget, end := make(obs)
				expect := func(when string, want float64) {
					t.Helper()
					if got, ok := metricstest.Take(t, reg)[retriesMax]; got != want || !ok {
						t.Errorf("%s: %v (exists: %t), want %v", when, got, ok, want)
					}
				}
				expect("no item", 0)
				forget("succeeds")
				expect("success without a retry", 0)
				for range 3 {
					retry("a")
				}
				retry("b")
				expect("a has 3, b has 1", 3)
				forget("a")
				expect("a is forgotten", 1)
				retry("b")
				expect("b is retried again", 2)
				forget("b")
				expect("b is forgotten", 0)
				retry("c")
				forget("c")
				expect("c is forgotten after one retry", 0)
				for range 100 {
					retry("b")
				}
				expect("b fails forever", 100)
				time.Sleep(time.Second + 30*time.Minute)
				expect("30 minutes after its backoff", 100)
				time.Sleep(time.Nanosecond)
				expect("later", 0)
				retry("b")
				expect("b is retried once more", 101)
				end()
			})
		})
	}
}

// Limiters of one controller are reported together, and a queue's items leave with it.
func TestItemsOfSeveralQueues(t *testing.T) {
	obs, reg := observertest.New(t)
	a, b := newQueue(obs, "c"), newQueue(obs, "c")
	for range 5 {
		a.AddRateLimited("x")
	}
	for range 2 {
		b.AddRateLimited("x")
	}
	check(t, metricstest.Take(t, reg), metricstest.Snapshot{retriesMax: 5})
	finish(a)
	check(t, metricstest.Take(t, reg), metricstest.Snapshot{retriesMax: 2})
	finish(b)
	if _, ok := metricstest.Take(t, reg)[retriesMax]; ok {
		t.Error("the series exists after the end")
	}
}

// A limiter that does not count retries has none.
func TestLimiterWithoutRetries(t *testing.T) {
	obs, reg := observertest.New(t)
	l := queue.NewTypedRateLimiter[string](obs, "c", &workqueue.TypedBucketRateLimiter[string]{Limiter: rate.NewLimiter(10, 3)})
	for range 10 {
		l.When("a")
	}
	check(t, metricstest.Take(t, reg), metricstest.Snapshot{retriesMax: 0, backoffN: 10})
	l.Forget("a")
}

// S43: items above the objective are named in the log, one of a controller in a minute and each in ten, and in no label.
func TestItemInTheLog(t *testing.T) {
	testItemInTheLog(t, 0, int(catalog.Objectives.ItemRetries.Threshold))
	testItemInTheLog(t, 2, 2)
}

func testItemInTheLog(t *testing.T, option, objective int) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		obs, reg := observertest.New(t, func(o *collectors.Options) {
			o.Logger, o.Objectives.ItemRetries = slog.New(slog.NewTextHandler(&log, nil)), option
		})
		a, b := queue.NewTypedRateLimiter(obs, "a", itemLimiter()), queue.NewTypedRateLimiter(obs, "b", itemLimiter())
		retry := func(l workqueue.TypedRateLimiter[string], item string, times int) {
			for range times {
				l.When(item)
			}
			synctest.Wait()
		}
		var want []string
		expect := func(when string, more ...string) {
			t.Helper()
			want = append(want, more...)
			var got []string
			for line := range strings.Lines(log.String()) {
				_, attrs, _ := strings.Cut(strings.TrimSpace(line), "level=WARN ")
				got = append(got, attrs)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s: logged %q, want %q", when, got, want)
			}
		}
		retry(a, "shop/web", objective)
		expect("at the objective")
		retry(a, "shop/web", 1)
		line := func(controller, item string, retries int) string {
			return fmt.Sprintf(`msg="item keeps being retried" controller=%s item=%s retries=%d`, controller, item, retries)
		}
		expect("above it", line("a", "shop/web", objective+1))
		retry(a, "shop/web", 20)
		retry(a, "shop/db", 20)
		expect("again, and another item")
		retry(b, "shop/db", objective+1)
		expect("another controller", line("b", "shop/db", objective+1))
		time.Sleep(time.Minute - 1)
		retry(a, "shop/db", 1)
		expect("before a minute")
		time.Sleep(time.Nanosecond)
		retry(a, "shop/web", 1)
		expect("after a minute, the item that was not named", line("a", "shop/db", 21))
		time.Sleep(9*time.Minute - 1)
		retry(a, "shop/web", 1)
		expect("before ten minutes")
		time.Sleep(time.Minute)
		retry(a, "shop/web", 1)
		expect("after ten minutes, the item with the most retries", line("a", "shop/web", objective+1+23))
		time.Sleep(time.Minute)
		retry(a, "shop/web", 1)
		expect("an item that was dropped without a call of Forget")
		for series := range metricstest.Take(t, reg) {
			if strings.Contains(series, "shop") {
				t.Errorf("a label names an item: %s", series)
			}
		}
	})
}
