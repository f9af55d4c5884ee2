package collectors

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/collectors/audit"
)

// Checks are comparisons of caches with the API server and with themselves, which cost requests or CPU time and are
// therefore off unless an interval is given. Those that make requests are made for informers whose connection is decorated
// too, that is, not for those of Observer.Informer. They only report, and repair nothing.
//
// Intervals vary by a tenth at random, so that the replicas of a program do not ask at the same time. Checks of one
// Observer wait for one another: see each field. The requests go through the informer's own ListerWatcher, with its
// selectors, namespace, permissions (list and watch) and client-side rate limit, and are not counted among the lists and
// watches of the informer.
type Checks struct {
	// Freshness is the interval of freshness checks: a watch of one second beside the informer's own, which shows what the
	// store should have and has not. The cost is one watch request per informer and interval, and as much traffic as there
	// are changes in that second or since the store was last fresh, 256 at most; it does not depend on the number of
	// objects. At most 4 checks of an Observer are made at a time, so that it never makes more than 4 such requests a
	// second. 30 seconds is a good value.
	Freshness time.Duration
	// Audit is the interval of audits: the whole cache is compared with the API server at the cache's own resourceVersion,
	// object by object, and every index with the objects. The cost is a LIST of everything the informer holds, in pages of
	// 500, answered from etcd or from a snapshot of the API server's watch cache; in this process 16 bytes per object for
	// as long as that takes, and about 0.2 s of CPU time per 100,000 objects, and 0.1 s for each index. One audit of an Observer is made at a time.
	// What an audit finds is looked at again after 30 seconds at most. 10 minutes is a good value. Replicas that are not the
	// leader need none: see Observer.PauseAudits.
	Audit time.Duration
	// Mutations is the interval at which 10 objects of each cache, chosen at random, are added to the 100 whose content is
	// looked at again: one that changes in place, while address and resourceVersion stay, was changed by a consumer. No
	// request is made; it takes some milliseconds of CPU time. One cache of an Observer is read at a time. A minute is
	// a good value.
	//
	// It reads objects without a lock, as every consumer does. With -race it can therefore report a data race: exactly
	// where the bug is. And a map of an object that is written at the moment of the read ends the process, as it would
	// under every other reader, a DeepCopy for example. Programs without the bug are not at risk.
	Mutations time.Duration
}

// How many checks of an Observer are made at the same time.
const (
	freshnessAtOnce = 4
	auditsAtOnce    = 1
	mutationsAtOnce = 1
)

func (c Checks) validate() error {
	for _, interval := range []struct {
		name  string
		value time.Duration
	}{{"Freshness", c.Freshness}, {"Audit", c.Audit}, {"Mutations", c.Mutations}} {
		if interval.value < 0 {
			return fmt.Errorf("collectors: Options.Checks.%s is %v: give the time between two checks, or 0 for none", interval.name, interval.value)
		}
	}
	return nil
}

// slots limits how many checks of a kind are made at a time.
type slots chan struct{}

// do calls f when there is a free slot, unless ctx ends before.
func (s slots) do(ctx context.Context, f func()) {
	select {
	case s <- struct{}{}:
		defer func() { <-s }()
		f()
	case <-ctx.Done():
	}
}

// firstCheck is the longest time after the first sync until a check is made for the first time.
const firstCheck = 30 * time.Second

// every calls check in turns until ctx ends, beginning when the informer has synced. It returns how long to wait until the
// next time, 0 for the interval.
func (inf *informer) every(ctx context.Context, interval time.Duration, synced cache.DoneChecker, check func() time.Duration) {
	select {
	case <-synced.Done():
	case <-ctx.Done():
		return
	}
	wait := time.Duration(rand.Int64N(int64(min(interval, firstCheck)) + 1))
	for sleep(ctx, wait) {
		next := check()
		if next == 0 {
			next = interval
		}
		wait = jitter(next)
	}
}

// jitter returns d, a tenth more or less.
func jitter(d time.Duration) time.Duration {
	return d - d/10 + time.Duration(rand.Int64N(int64(d/5)+1))
}

// sleep waits, and returns false if ctx ended before.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// startChecks starts the checks that are asked for. The function that it returns ends them and waits for that.
func (inf *informer) startChecks(ctx context.Context, synced cache.DoneChecker) (stop func()) {
	if inf.indexer == nil {
		return func() {}
	}
	checks := inf.checks
	ctx, cancel := context.WithCancel(ctx)
	var done []<-chan struct{}
	start := func(interval time.Duration, check func()) {
		if interval == 0 {
			return
		}
		ended := make(chan struct{})
		done = append(done, ended)
		go func() {
			defer close(ended)
			check()
		}()
	}
	if inf.listed {
		start(checks.Freshness, func() {
			inf.every(ctx, checks.Freshness, synced, func() time.Duration { inf.checkFreshness(ctx); return 0 })
		})
		start(checks.Audit, func() { inf.auditUnlessPaused(ctx, synced) })
	}
	start(checks.Mutations, func() {
		sampler := &audit.Sampler{PerRound: mutationSamples}
		inf.every(ctx, checks.Mutations, synced, func() time.Duration {
			inf.obs.mutationSlots.do(ctx, func() { inf.checkMutations(sampler) })
			return 0
		})
	})
	return func() {
		cancel()
		for _, ended := range done {
			<-ended
		}
	}
}

// within calls f and returns its result, or an error if ctx ends before or f panics: a client of the caller's that knows
// no contexts must not keep an informer from ending. What comes too late is handed to discard, which may be nil.
func within[T any](ctx context.Context, f func() (T, error), discard func(T)) (T, error) {
	type result struct {
		value T
		err   error
	}
	results := make(chan result)
	go func() {
		var r result
		returned := false
		defer func() {
			if !returned {
				r = result{err: fmt.Errorf("panic: %v", recover())}
			}
			select {
			case results <- r:
			case <-ctx.Done():
				if discard != nil && r.err == nil {
					discard(r.value)
				}
			}
		}()
		r.value, r.err = f()
		returned = true
	}()
	select {
	case r := <-results:
		return r.value, r.err
	case <-ctx.Done():
		var none T
		return none, context.Cause(ctx)
	}
}
