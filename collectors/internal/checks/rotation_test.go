package checks_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/watch"

	"github.com/informer-exporter/informer-exporter/collectors/internal/schedule"
)

// Without bookmarks, 100 informers share 20 checks a minute, and each has a turn every five minutes. A single one is
// checked every interval.
func TestSilentInformersTakeTurns(t *testing.T) {
	for n, perHour := range map[int][2]int{1: {100, 120}, 10: {110, 130}, 100: {1100, 1210}} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFleet(t, n)
				time.Sleep(time.Hour)
				requests, longest := f.requests(f.begun)
				if requests < perHour[0] || requests > perHour[1] || longest > round {
					t.Errorf("%d requests in an hour, %v without one", requests, longest)
				}
				if f.lagging() > 0 {
					t.Error("idle informers lag")
				}
			})
		})
	}
}

// Bookmarks are equivalent to checks. Two checks a minute remain, which show that the API server still accepts requests.
func TestBookmarksReplaceChecks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 100)
		go f.bookmarks(f.informers)
		time.Sleep(10 * time.Minute)
		if n, _ := f.requests(f.begun); n < 15 || n > 21 {
			t.Errorf("%d requests in ten minutes", n)
		}
	})
}

// Events that arrive without a pause may be old, and a bookmark that does not reach the store proves nothing. Such an informer
// has a turn after three intervals.
func TestReceiptsThatProveNothing(t *testing.T) {
	for name, c := range map[string]struct {
		event watch.EventType
		every time.Duration
		stuck bool
	}{
		"events without a pause": {watch.Modified, time.Second, false},
		"the store is stuck":     {watch.Bookmark, 50 * time.Second, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFleet(t, 20)
				inf := f.informers[0]
				inf.set(func() { inf.stuck = c.stuck })
				go func() {
					for t.Context().Err() == nil {
						inf.send(c.event)
						schedule.Sleep(t.Context(), c.every)
					}
				}()
				go f.bookmarks(f.informers[1:])
				time.Sleep(15 * time.Minute)
				one := fleet{informers: f.informers[:1]}
				if n, longest := one.requests(f.begun); n > 20 || longest > 4*interval {
					t.Errorf("%d checks in 15 minutes, %v without one", n, longest)
				}
			})
		})
	}
}
