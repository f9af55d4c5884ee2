package checks_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/collectors/internal/checks"
	"github.com/informer-exporter/informer-exporter/collectors/internal/core"
	"github.com/informer-exporter/informer-exporter/collectors/internal/rv"
	"github.com/informer-exporter/informer-exporter/collectors/internal/schedule"
	"github.com/informer-exporter/informer-exporter/collectors/internal/stream"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
)

const (
	// interval is the interval of freshness checks.
	interval = 30 * time.Second
	// round is the longest time between two turns of an informer, with jitter.
	round = 11 * interval
)

// fleet is a set of informers of one Observer and one API server, without any network.
type fleet struct {
	*testing.T
	obs       *core.Observer
	informers []*fakeInformer
	begun     time.Time
	dead      atomic.Bool
	// checking is the number of checks in progress, most the highest so far.
	checking, most atomic.Int64
}

// newFleet starts n informers with freshness checks. Their watches stay open.
func newFleet(t *testing.T, n int) *fleet {
	t.Helper()
	obs, _ := observertest.New(t)
	f := &fleet{T: t, obs: core.Of(obs), begun: time.Now()}
	shared, synced := checks.NewShared(), make(chan struct{})
	close(synced)
	for i := range n {
		f.informers = append(f.informers, f.start(fmt.Sprint("kind-", i), shared, synced))
	}
	return f
}

func (f *fleet) start(name string, shared *checks.Shared, synced chan struct{}) *fakeInformer {
	inf := &fakeInformer{own: watch.NewRaceFreeFake(), version: "1"}
	connection := stream.New(f.obs, stream.NewMetrics(f.obs.Metrics.Scope(name, "*"), name, "*"))
	ctx, cancel := context.WithCancel(context.Background())
	lw := connection.Decorate(&cache.ListWatch{WatchFuncWithContext: func(context.Context, metav1.ListOptions) (watch.Interface, error) {
		return inf.own, nil
	}})
	var w watch.Interface
	inf.open = func() {
		opened, err := lw.WatchWithContext(ctx, metav1.ListOptions{ResourceVersion: "1"})
		if err != nil {
			f.Fatal(err)
		}
		w = opened
		go inf.reflect(opened)
	}
	inf.open()
	inf.checks = checks.New(checks.Subject{
		Observer: f.obs, Shared: shared, Metrics: checks.NewMetrics(f.obs.Metrics.Scope(name, "*")), InformerType: name, WatchNamespace: "*",
		Intervals: core.Checks{Freshness: interval}, Connection: connection, Lister: apiServer{inf: inf, fleet: f}, Store: inf,
	})
	stop := inf.checks.Start(ctx, synced)
	inf.end = sync.OnceFunc(func() { cancel(); stop(); w.Stop() })
	f.Cleanup(inf.end)
	return inf
}

// fakeInformer is an informer with a store that has a version and no objects.
type fakeInformer struct {
	cache.Indexer // not called
	checks        *checks.Checks
	own           *watch.RaceFreeFakeWatcher
	open          func() // opens the informer's own watch
	end           func()

	mu       sync.Mutex
	version  string        // of the store
	stuck    bool          // the store no longer changes
	hangs    chan struct{} // the store hangs until it is closed
	dead     bool          // checks get no response
	refused  bool          // checks are rejected
	unseen   string        // the version of a change that the informer's own watch does not deliver
	received int
	requests []time.Time
}

// reopen ends the informer's own watch and opens another one.
func (inf *fakeInformer) reopen() {
	inf.own.Stop()
	synctest.Wait()
	inf.own = watch.NewRaceFreeFake()
	inf.open()
}

// reflect stores the events of the informer's own watch.
func (inf *fakeInformer) reflect(w watch.Interface) {
	for event := range w.ResultChan() {
		inf.set(func() {
			if !inf.stuck {
				inf.version = event.Object.(*metav1.PartialObjectMetadata).ResourceVersion
			}
		})
	}
}

func (inf *fakeInformer) set(change func()) {
	inf.mu.Lock()
	defer inf.mu.Unlock()
	change()
}

// send sends a bookmark or an event with the next version.
func (inf *fakeInformer) send(t watch.EventType) {
	inf.received++
	inf.own.Action(t, &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: "a", ResourceVersion: strconv.Itoa(1 + inf.received)}})
}

func (inf *fakeInformer) LastStoreSyncResourceVersion() string {
	inf.mu.Lock()
	hangs := inf.hangs
	inf.mu.Unlock()
	if hangs != nil {
		<-hangs
	}
	inf.mu.Lock()
	defer inf.mu.Unlock()
	return inf.version
}

// apiServer is the API server for the checks of an informer.
type apiServer struct {
	cache.ListerWatcherWithContext // not called
	inf                            *fakeInformer
	fleet                          *fleet
}

// secondWatch is the watch of a check.
type secondWatch struct {
	*watch.RaceFreeFakeWatcher
	end func()
}

// Stop implements watch.Interface.
func (w secondWatch) Stop() {
	w.end()
	w.RaceFreeFakeWatcher.Stop()
}

// WatchWithContext opens the second watch of a check.
func (s apiServer) WatchWithContext(_ context.Context, options metav1.ListOptions) (watch.Interface, error) {
	inf := s.inf
	inf.mu.Lock()
	defer inf.mu.Unlock()
	inf.requests = append(inf.requests, time.Now())
	if inf.refused {
		return nil, errors.New("forbidden")
	}
	n := s.fleet.checking.Add(1)
	for most := s.fleet.most.Load(); most < n && !s.fleet.most.CompareAndSwap(most, n); most = s.fleet.most.Load() {
	}
	w := secondWatch{watch.NewRaceFreeFake(), sync.OnceFunc(func() { s.fleet.checking.Add(-1) })}
	if inf.dead {
		return w, nil
	}
	if inf.unseen != "" {
		w.Modify(&metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: "a", ResourceVersion: inf.unseen}})
	}
	time.AfterFunc(time.Duration(*options.TimeoutSeconds)*time.Second, w.RaceFreeFakeWatcher.Stop)
	return w, nil
}

// lag returns the time for which the informer is known to be behind.
func (inf *fakeInformer) lag(f *fleet) time.Duration {
	now := f.obs.Now()
	inf.mu.Lock()
	stored, _ := rv.Parse(inf.version)
	inf.mu.Unlock()
	if since := inf.checks.StaleSince(now, stored); since != 0 {
		return time.Duration(now - since)
	}
	return 0
}

// bookmarks sends one bookmark a minute to each informer, at different seconds of the minute, until the test ends or the fleet is dead.
func (f *fleet) bookmarks(to []*fakeInformer) {
	for second := 0; !f.dead.Load(); second++ {
		for i, inf := range to {
			if (i+second)%60 == 0 {
				inf.send(watch.Bookmark)
			}
		}
		if !schedule.Sleep(f.Context(), time.Second) {
			return
		}
	}
}

// die makes the API server stop sending, without an error.
func (f *fleet) die() {
	f.dead.Store(true)
	for _, inf := range f.informers {
		inf.set(func() { inf.dead = true })
	}
}

// requests returns the number of requests since the given time, and the longest time that an informer had none.
func (f *fleet) requests(since time.Time) (n int, longest time.Duration) {
	for _, inf := range f.informers {
		inf.mu.Lock()
		times := append([]time.Time{since}, inf.requests[slices.IndexFunc(append(inf.requests, time.Now()), func(at time.Time) bool { return !at.Before(since) }):]...)
		inf.mu.Unlock()
		n += len(times) - 1
		for i, at := range append(times[1:], time.Now()) {
			longest = max(longest, at.Sub(times[i]))
		}
	}
	return n, longest
}

// lagging returns how many informers lag.
func (f *fleet) lagging() (n int) {
	for _, inf := range f.informers {
		if inf.lag(f) > 0 {
			n++
		}
	}
	return n
}
