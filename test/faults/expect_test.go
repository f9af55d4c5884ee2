package faults

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
)

const (
	// patience limits how long an expected change may take.
	patience = 5 * time.Minute
	// quiet is how long no other series may change afterwards.
	quiet = 200 * time.Millisecond
	// poll is the polling interval.
	poll = 10 * time.Millisecond
)

// now returns a snapshot of the registry.
func (r *rig) now() metricstest.Snapshot {
	r.Helper()
	return metricstest.Take(r, r.registry)
}

// waitFor waits until the condition holds for a snapshot of the registry. A scrape is not atomic: a histogram may lack what
// a gauge already shows. To compare changes, wait for them with expect, or settle before.
func (r *rig) waitFor(what string, condition func(metricstest.Snapshot) bool) metricstest.Snapshot {
	r.Helper()
	return metricstest.Eventually(r, r.registry, what, condition)
}

// startSynced runs the informer, and returns a snapshot of the registry once it is synced and connected and its handlers
// have received the initial list.
func (r *rig) startSynced() metricstest.Snapshot {
	r.Helper()
	r.start()
	r.waitFor("synced", func(s metricstest.Snapshot) bool {
		return s[prefix+"synced"] == 1 && isConnected(s) && s[lastSync] > 0 && calls(s) == float64(len(r.handlers))*s[objects]
	})
	return r.settle()
}

// startBusy is like startSynced, with an event on the watch: client-go treats a watch that ends within a second and without
// an event as a failure, and relists.
func (r *rig) startBusy() metricstest.Snapshot {
	r.Helper()
	before := r.startSynced()
	r.create("busy")
	r.waitFor("the first event", func(s metricstest.Snapshot) bool {
		return s[objects] == before[objects]+1 && s[eventLag] == before[eventLag]+float64(len(r.handlers))
	})
	return r.settle()
}

// calls returns the number of calls that handlers have returned from.
func calls(s metricstest.Snapshot) (n float64) {
	for series, value := range s {
		if strings.HasPrefix(series, prefix+"handler_duration_seconds_count{") {
			n += value
		}
	}
	return n
}

func isConnected(s metricstest.Snapshot) bool { return s[connected] == 1 }

func isDisconnected(s metricstest.Snapshot) bool { return s[connected] == 0 }

// settle waits until no series changes, except for those that change at random, and returns a snapshot of the registry.
func (r *rig) settle() metricstest.Snapshot {
	r.Helper()
	return r.await(r.now(), nil, func(_, step metricstest.Snapshot) (got, want metricstest.Snapshot) {
		return step, metricstest.Snapshot{}
	})
}

// expect waits until the changes are exactly as wanted, and stay so for a moment. Other series that may change are
// excepted by a prefix of their name.
func (r *rig) expect(before metricstest.Snapshot, want changes, except ...string) metricstest.Snapshot {
	r.Helper()
	return r.expectThat(before, func(metricstest.Snapshot) changes { return want }, except...)
}

// expectThat is like expect, for counts that depend on each other: want gets the changes by full name.
func (r *rig) expectThat(before metricstest.Snapshot, want func(metricstest.Snapshot) changes, except ...string) metricstest.Snapshot {
	r.Helper()
	var wanted changes
	after := r.await(before, except, func(changed, _ metricstest.Snapshot) (metricstest.Snapshot, metricstest.Snapshot) {
		wanted = want(changed)
		moved := wanted.moments()
		got := maps.Clone(changed)
		maps.DeleteFunc(got, func(series string, _ float64) bool { return slices.Contains(moved, series) })
		return got, wanted.snapshot()
	})
	for series, value := range wanted.snapshot() {
		shown(r, series, changedBy, value)
	}
	return after
}

// await compares the changes since before, and since the last poll, until compare has accepted them for a moment without
// interruption.
func (r *rig) await(before metricstest.Snapshot, except []string, compare func(changed, step metricstest.Snapshot) (got, want metricstest.Snapshot)) metricstest.Snapshot {
	r.Helper()
	end := time.Now().Add(patience)
	since, last := time.Now(), before
	for ; ; time.Sleep(poll) {
		s := r.now()
		left := append([]string{bookmarks, versions}, except...)
		if s[bookmarks] != before[bookmarks] {
			left = append(left, lastEvent)
		}
		got, want := compare(s.Since(before, left...), s.Since(last, left...))
		equal := maps.Equal(got, want)
		switch {
		case equal && time.Since(since) >= quiet:
			return s
		case !equal && time.Now().After(end):
			got.Equal(r, want)
			r.FailNow()
		case !equal:
			since = time.Now()
		}
		last = s
	}
}

// is fails unless a series has a value.
func (r *rig) is(s metricstest.Snapshot, series string, value float64) {
	r.Helper()
	if got, there := s[prefix+series]; !there || got != value {
		r.Errorf("%s is %v, want %v", series, got, value)
	}
	shown(r, prefix+series, isNow, value)
}

// exceeds fails unless a series has grown by more than a value since before.
func (r *rig) exceeds(before, after metricstest.Snapshot, series string, value float64) {
	r.Helper()
	if got := after[prefix+series] - before[prefix+series]; got <= value {
		r.Errorf("%s has grown by %v, want more than %v", series, got, value)
	}
	shown(r, prefix+series, isNow, after[prefix+series])
}

// waitUntilExceeds waits until a gauge is larger than a value.
func (r *rig) waitUntilExceeds(series string, value float64) metricstest.Snapshot {
	r.Helper()
	s := r.waitFor(series, func(s metricstest.Snapshot) bool { return s[prefix+series] > value })
	shown(r, prefix+series, isNow, s[prefix+series])
	return s
}
