package checks_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/watch"
)

// When the shared connection dies, the first check that fails makes all informers due. A single informer lags within 95 seconds
// of the fault, and each of 100 within 135. None lags before three intervals without a proof.
func TestDeadConnection(t *testing.T) {
	for _, bookmarks := range []bool{true, false} {
		for n, within := range map[int]time.Duration{1: 95 * time.Second, 100: 135 * time.Second} {
			t.Run(fmt.Sprint(n, bookmarks), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					f := newFleet(t, n)
					if bookmarks {
						go f.bookmarks(f.informers)
					}
					time.Sleep(10 * time.Minute)
					died := time.Now()
					f.die()
					for f.lagging() < n && time.Since(died) < 10*time.Minute {
						for _, inf := range f.informers {
							if lag := inf.lag(f); lag != 0 && lag < 3*interval {
								t.Fatalf("a lag of %v, %v after the fault", lag, time.Since(died))
							}
						}
						time.Sleep(time.Second)
					}
					if took := time.Since(died); took > within {
						t.Errorf("all lag after %v", took)
					}
					for _, inf := range f.informers {
						inf.set(func() { inf.dead = false })
					}
					time.Sleep(2 * interval)
					if n := f.lagging(); n > 0 {
						t.Errorf("%d informers still lag", n)
					}
					restored := time.Now()
					time.Sleep(10 * time.Minute)
					if requests, _ := f.requests(restored); requests > max(22, 2*n+n/4) {
						t.Errorf("%d requests in ten minutes after the fault", requests)
					}
				})
			})
		}
	}
}

// When every informer is due, because the first check has failed, 16 are checked at a time.
func TestConcurrentChecks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 100)
		f.die()
		time.Sleep(20 * time.Minute)
		if most := f.most.Load(); most != 16 {
			t.Errorf("%d checks at a time, want 16", most)
		}
	})
}

// A single check without a response does not count as lag, however old the last proof is.
func TestOneFailedCheck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 100)
		for range 10 {
			time.Sleep(2 * time.Minute)
			for second := range 60 {
				for _, inf := range f.informers {
					inf.set(func() { inf.dead = second < 20 })
				}
				time.Sleep(time.Second)
				if n := f.lagging(); n > 0 {
					t.Fatalf("%d informers lag after %d s", n, second)
				}
			}
		}
	})
}

// Informers that end during a check do not keep others from being checked.
func TestInformersThatEndDuringACheck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 100)
		for _, inf := range f.informers[1:] {
			inf.set(func() { inf.dead = true })
		}
		time.Sleep(10 * time.Minute)
		for _, inf := range f.informers[1:] {
			inf.end()
		}
		f.informers = f.informers[:1]
		since := time.Now()
		time.Sleep(10 * time.Minute)
		if n, longest := f.requests(since); n < 15 || longest > 2*interval {
			t.Errorf("%d requests in ten minutes, %v without one", n, longest)
		}
	})
}

// A single watch that no longer delivers is detected within a round if the API server sends no bookmarks, and after three
// intervals if it does. All others are then checked within an interval.
func TestStalledKind(t *testing.T) {
	for bookmarks, within := range map[bool]time.Duration{true: 110 * time.Second, false: round + 5*time.Second} {
		t.Run(fmt.Sprint(bookmarks), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFleet(t, 100)
				if bookmarks {
					go f.bookmarks(f.informers[1:])
				}
				time.Sleep(10 * time.Minute)
				stalled := f.informers[0]
				stalled.set(func() { stalled.unseen = "1000" })
				begin := time.Now()
				for stalled.lag(f) == 0 && time.Since(begin) < 20*time.Minute {
					time.Sleep(time.Second)
				}
				if took := time.Since(begin); took > within {
					t.Errorf("detected after %v", took)
				}
				found := time.Now()
				time.Sleep(interval + interval/2)
				if _, longest := f.requests(found.Add(-interval)); longest > 2*interval {
					t.Errorf("others were not checked for %v", longest)
				}
				if n := f.lagging(); n != 1 {
					t.Errorf("%d informers lag", n)
				}
				stalled.send(watch.Modified)
				stalled.set(func() { stalled.version, stalled.unseen = "1001", "" })
				if n := f.lagging(); n != 0 {
					t.Errorf("%d informers still lag", n)
				}
			})
		})
	}
}

// A watch that delivers has no lag, even if new requests are rejected.
func TestRejectedChecksBesideAWatchThatDelivers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 20)
		for _, inf := range f.informers {
			inf.set(func() { inf.refused = true })
		}
		go f.bookmarks(f.informers)
		for range 20 {
			time.Sleep(time.Minute)
			if n := f.lagging(); n > 0 {
				t.Fatalf("%d informers lag", n)
			}
		}
		if n, _ := f.requests(f.begun); n > 600 {
			t.Errorf("%d requests in 20 minutes", n)
		}
	})
}

// While the watch is down, checks make no requests.
func TestNoRequestsWhileTheWatchIsDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 1)
		f.informers[0].own.Stop()
		time.Sleep(time.Hour)
		if n, _ := f.requests(f.begun); n > 0 {
			t.Errorf("%d requests", n)
		}
	})
}

// An established watch is a response: an informer that reconnects while checks fail no longer lags, lags again only three
// intervals later, and is not due for another check before others.
func TestReconnectWhileChecksFail(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 2)
		f.die()
		time.Sleep(10 * time.Minute)
		if n := f.lagging(); n != 2 {
			t.Fatalf("%d informers lag, want both", n)
		}
		inf := f.informers[0]
		inf.reopen()
		reopened := time.Now()
		time.Sleep(time.Second) // then it has shown that it is up
		for time.Since(reopened) < 3*interval {
			if lag := inf.lag(f); lag != 0 || f.informers[1].lag(f) == 0 {
				t.Fatalf("%v after it reconnected, its lag is %v and that of the other %v", time.Since(reopened), lag, f.informers[1].lag(f))
			}
			time.Sleep(time.Second)
		}
		if lag := inf.lag(f); lag != 3*interval {
			t.Errorf("three intervals after it reconnected, its lag is %v", lag)
		}
		// A check may be due before it has shown that it is up; checks are at least 90 % of the interval apart.
		next := slices.IndexFunc(inf.requests, func(at time.Time) bool { return at.Sub(reopened) > time.Second })
		if next < 0 || inf.requests[next].Sub(reopened) < interval*9/10 {
			t.Errorf("checked at %v, want none within an interval after %v", inf.requests[max(next, 0):], reopened)
		}
	})
}

// Stores that hang do not keep other informers from being checked, even if more of them hang than checks may run at a time. Their own
// checks fail, so that they count as stale until they respond (S12).
func TestStoresThatHang(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const hanging = 20
		f := newFleet(t, hanging+5)
		time.Sleep(round)
		hangs := make(chan struct{})
		for _, inf := range f.informers[:hanging] {
			inf.set(func() { inf.hangs, inf.stuck = hangs, true })
			inf.send(watch.Added)
		}
		begin := time.Now()
		time.Sleep(4 * round)
		for i, inf := range f.informers[hanging:] {
			inf.mu.Lock()
			last := inf.requests[len(inf.requests)-1]
			inf.mu.Unlock()
			if last.Before(begin.Add(2 * round)) {
				t.Errorf("informer %d was last checked %v after the others began to hang", i, last.Sub(begin))
			}
			if lag := inf.lag(f); lag != 0 {
				t.Errorf("informer %d lags by %v", i, lag)
			}
		}
		for i, inf := range f.informers[:hanging] {
			if inf.lag(f) == 0 {
				t.Errorf("hanging informer %d does not lag", i)
			}
		}
		for _, inf := range f.informers[:hanging] {
			inf.set(func() { inf.stuck, inf.version = false, strconv.Itoa(1+inf.received) })
		}
		close(hangs)
		time.Sleep(2 * round)
		if n := f.lagging(); n != 0 {
			t.Errorf("%d informers lag although all stores respond", n)
		}
	})
}

// A store that hangs delays only the first reader, and is read again once it responds.
func TestVerifyAStoreThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 1)
		inf, hangs := f.informers[0], make(chan struct{})
		inf.set(func() { inf.hangs = hangs })
		verify := func(want time.Duration) error {
			t.Helper()
			begin := time.Now()
			err := inf.checks.Verify(t.Context(), true, false)
			if took := time.Since(begin); took != want {
				t.Errorf("took %v, want %v: %v", took, want, err)
			}
			return err
		}
		for _, patience := range []time.Duration{time.Second, 0, 0} {
			if err := verify(patience); err == nil || !strings.Contains(err.Error(), "does not respond") {
				t.Errorf("the store hangs: %v", err)
			}
		}
		close(hangs)
		synctest.Wait()
		if err := verify(time.Second); err != nil { // the second watch
			t.Errorf("the store answers: %v", err)
		}
	})
}

// A change that the second watch has received is late until the end of the grace period, and missing from then on.
func TestVerifyALateChange(t *testing.T) {
	for name, c := range map[string]struct {
		received, took time.Duration
		fails          bool
	}{
		"within the grace period": {1450 * time.Millisecond, 1500 * time.Millisecond, false},
		"after it":                {3050 * time.Millisecond, 3 * time.Second, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFleet(t, 1)
				inf := f.informers[0]
				inf.set(func() { inf.unseen = "2" })
				time.AfterFunc(c.received, func() { inf.send(watch.Modified) })
				begin := time.Now()
				err := inf.checks.Verify(t.Context(), true, false)
				if took := time.Since(begin); took != c.took || (err != nil) != c.fails || c.fails && !strings.Contains(err.Error(), "lacks changes") {
					t.Errorf("%v after %v, want %v", err, took, c.took)
				}
				synctest.Wait()
			})
		})
	}
}
