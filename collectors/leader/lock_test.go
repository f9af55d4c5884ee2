package leader_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/leader"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
)

// newLock decorates a lock under the name l.
func newLock(obs *collectors.Observer, inner resourcelock.Interface) resourcelock.Interface {
	return leader.NewLock(obs, inner, leader.Options{Name: "l"})
}

func unixSeconds(t time.Time) float64 {
	if t.IsZero() {
		return 0
	}
	return float64(t.UnixNano()) / 1e9
}

// leadership returns the reported transitions of a lock by event.
func leadership(t *testing.T, g prometheus.Gatherer, lock string) (acquired, lost, released float64) {
	t.Helper()
	s := metricstest.Take(t, g)
	series := func(event string) float64 {
		return s[fmt.Sprintf("controller_leader_transitions_total{event=%s,lock=%s}", event, lock)]
	}
	return series("acquired"), series("lost"), series("released")
}

// TestLockCounts covers S10: sequences of requests and their results.
func TestLockCounts(t *testing.T) {
	type step func(context.Context, resourcelock.Interface, *fakeLock)
	var (
		create  step = func(ctx context.Context, l resourcelock.Interface, _ *fakeLock) { _ = l.Create(ctx, held("me")) }
		update  step = func(ctx context.Context, l resourcelock.Interface, _ *fakeLock) { _ = l.Update(ctx, held("me")) }
		release step = func(ctx context.Context, l resourcelock.Interface, _ *fakeLock) { _ = l.Update(ctx, held("")) }
		get     step = func(ctx context.Context, l resourcelock.Interface, _ *fakeLock) { _, _, _ = l.Get(ctx) }
		stopped step = func(_ context.Context, l resourcelock.Interface, _ *fakeLock) { l.RecordEvent("stopped leading") }
		became  step = func(_ context.Context, l resourcelock.Interface, _ *fakeLock) { l.RecordEvent("became leader") }
		cut     step = func(_ context.Context, _ resourcelock.Interface, f *fakeLock) { f.err, f.written = errNetwork, false }
		deaf    step = func(_ context.Context, _ resourcelock.Interface, f *fakeLock) { f.err, f.written = errNetwork, true }
		mended  step = func(_ context.Context, _ resourcelock.Interface, f *fakeLock) { f.err = nil }
		deleted step = func(_ context.Context, _ resourcelock.Interface, f *fakeLock) { f.record = nil; f.version++ }
		touched step = func(_ context.Context, _ resourcelock.Interface, f *fakeLock) { f.version++ }
		freed   step = func(_ context.Context, _ resourcelock.Interface, f *fakeLock) {
			r := held("")
			f.record = &r
			f.version++
		}
		stolen step = func(_ context.Context, _ resourcelock.Interface, f *fakeLock) {
			r := held("other")
			f.record = &r
			f.version++
		}
	)
	for name, c := range map[string]struct {
		steps                      []step
		acquired, lost, released   float64
		renewed, conflicts, errors float64
		leader                     float64
	}{
		"nothing":                    {},
		"created":                    {steps: []step{create}, acquired: 1, leader: 1},
		"created by another":         {steps: []step{stolen, create, get}},
		"taken over":                 {steps: []step{freed, get, update}, acquired: 1, leader: 1},
		"found held by itself":       {steps: []step{create, get, update}, acquired: 1, renewed: 1, leader: 1},
		"created, no response":       {steps: []step{deaf, create, mended, get}},
		"created, no response, then": {steps: []step{deaf, create, mended, get, update}, acquired: 1, leader: 1},
		"renewed":                    {steps: []step{create, became, update, update}, acquired: 1, renewed: 2, leader: 1},
		"renewed, no response":       {steps: []step{create, deaf, update, mended, get, update}, acquired: 1, renewed: 1, errors: 1, leader: 1},
		"changed by another client":  {steps: []step{create, touched, update, get, update}, acquired: 1, renewed: 1, conflicts: 1, leader: 1},
		"released":                   {steps: []step{create, get, release, stopped}, acquired: 1, released: 1},
		"release failed":             {steps: []step{create, cut, get, release, stopped}, acquired: 1, lost: 1},
		"release conflicted":         {steps: []step{create, touched, release, get, release, stopped}, acquired: 1, released: 1},
		"never released":             {steps: []step{create, stopped}, acquired: 1, lost: 1},
		"released and again":         {steps: []step{create, release, update}, acquired: 2, released: 1, leader: 1},
		"stolen":                     {steps: []step{create, stolen, update, get, get, stopped}, acquired: 1, lost: 1, conflicts: 1},
		"stolen, then released":      {steps: []step{create, stolen, get, release, stopped}, acquired: 1, lost: 1},
		"stolen and taken back":      {steps: []step{create, stolen, get, update}, acquired: 2, lost: 1, leader: 1},
		"freed by an operator":       {steps: []step{create, freed, get, update}, acquired: 2, lost: 1, leader: 1},
		"deleted":                    {steps: []step{create, deleted, update, get, create}, acquired: 2, lost: 1, conflicts: 1, leader: 1},
		"cut off":                    {steps: []step{create, cut, update, get, update, get}, acquired: 1, errors: 2, leader: 1},
		"cut off, then given up":     {steps: []step{create, cut, update, get, stopped}, acquired: 1, lost: 1, errors: 1},
		"gave up before it led":      {steps: []step{stolen, get, stopped}},
		"a failure before it leads":  {steps: []step{freed, get, cut, update}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				obs, reg := observertest.New(t)
				inner := &fakeLock{fakeLease: &fakeLease{}, identity: "me"}
				l := newLock(obs, inner)
				for _, step := range c.steps {
					step(t.Context(), l, inner)
				}
				got := metricstest.Take(t, reg).Counts()
				delete(got, "controller_leader_last_renew_timestamp_seconds{lock=l}")
				got.Equal(t, metricstest.Snapshot{
					"controller_leader{lock=l}":                                              c.leader,
					"controller_leader_transitions_total{event=acquired,lock=l}":             c.acquired,
					"controller_leader_transitions_total{event=lost,lock=l}":                 c.lost,
					"controller_leader_transitions_total{event=released,lock=l}":             c.released,
					"controller_leader_renew_duration_seconds_count{lock=l,result=success}":  c.renewed,
					"controller_leader_renew_duration_seconds_count{lock=l,result=conflict}": c.conflicts,
					"controller_leader_renew_duration_seconds_count{lock=l,result=error}":    c.errors,
					"controller_leader_slow_renewals_total{lock=l}":                          0,
				})
			})
		})
	}
}

// TestLockChangesNothing: arguments and results are those of the decorated lock.
func TestLockChangesNothing(t *testing.T) {
	obs, reg := observertest.New(t)
	if newLock(obs, nil) != nil {
		t.Error("a nil lock became one that client-go accepts")
	}
	inner := &fakeLock{fakeLease: &fakeLease{}, identity: "me"}
	l := newLock(obs, newLock(obs, inner))
	if l.Identity() != "me" || l.Describe() != inner.Describe() {
		t.Errorf("it is %q, %q", l.Identity(), l.Describe())
	}
	if _, _, err := l.Get(t.Context()); err != error(errNotFound) { //nolint:errorlint // the same object
		t.Error(err)
	}
	if err := l.Create(t.Context(), held("me")); err != nil || inner.record.HolderIdentity != "me" {
		t.Error(err)
	}
	if err := l.Create(t.Context(), held("me")); err != error(errConflict) { //nolint:errorlint // the same object
		t.Error(err)
	}
	inner.err = errNetwork
	if err := l.Update(t.Context(), held("me")); err != errNetwork { //nolint:errorlint // the same object
		t.Error(err)
	}
	inner.err = nil
	record, raw, err := l.Get(t.Context())
	if err != nil || record.HolderIdentity != "me" || len(raw) == 0 {
		t.Errorf("got %+v, %q, %v", record, raw, err)
	}
	l.RecordEvent("became leader")
	l.RecordEvent("stopped leading")
	if fmt.Sprint(inner.events) != "[became leader stopped leading]" {
		t.Errorf("the lock recorded the events %v", inner.events)
	}
	if acquired, lost, released := leadership(t, reg, "l"); acquired != 1 || lost != 1 || released != 0 {
		t.Errorf("acquired %v, lost %v, released %v: wrapped twice, counted twice?", acquired, lost, released)
	}
}

// TestLeaderUntilExpiry covers S10: a candidate that hangs is the leader until its lease expires, counted from the request,
// because the time at which the server handled it is unknown.
func TestLeaderUntilExpiry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		obs, reg := observertest.New(t)
		inner := &fakeLock{fakeLease: &fakeLease{}, identity: "me"}
		l := newLock(obs, inner)
		check := func(leader float64, renewed time.Time) {
			t.Helper()
			s := metricstest.Take(t, reg)
			if got := s["controller_leader{lock=l}"]; got != leader {
				t.Errorf("controller_leader is %v, want %v", got, leader)
			}
			// To the microsecond, the precision of a float64.
			if got, want := s["controller_leader_last_renew_timestamp_seconds{lock=l}"], unixSeconds(renewed); got < want-1e-6 || got > want+1e-6 {
				t.Errorf("the last renewal was at %f, want %f", got, want)
			}
		}
		check(0, time.Time{})
		inner.takes = 5 * time.Second
		created := time.Now()
		if err := l.Create(t.Context(), held("me")); err != nil {
			t.Fatal(err)
		}
		check(1, created)
		time.Sleep(10*time.Second - time.Millisecond)
		check(1, created)
		time.Sleep(time.Millisecond)
		check(0, created)
		inner.takes = 0
		renewed := time.Now()
		if err := l.Update(t.Context(), held("me")); err != nil {
			t.Fatal(err)
		}
		check(1, renewed)
		inner.takes = 5 * time.Second
		time.Sleep(time.Second)
		renewed = time.Now()
		if err := l.Update(t.Context(), held("me")); err != nil {
			t.Fatal(err)
		}
		check(1, renewed)
		time.Sleep(10*time.Second - time.Millisecond)
		check(1, renewed)
		time.Sleep(time.Millisecond)
		check(0, renewed)
		inner.takes = 0
		renewed = time.Now()
		if err := l.Update(t.Context(), held("me")); err != nil {
			t.Fatal(err)
		}
		check(1, renewed)
		inner.err = errNetwork
		if err := l.Update(t.Context(), held("me")); err == nil {
			t.Fatal("no error")
		}
		time.Sleep(time.Hour)
		check(0, renewed)
		if acquired, lost, released := leadership(t, reg, "l"); acquired != 1 || lost != 0 || released != 0 {
			t.Errorf("acquired %v, lost %v, released %v: no other candidate held the lock", acquired, lost, released)
		}
	})
}

// TestPendingRelease: a candidate that releases the lock is not the leader while it waits for the response, because its successor
// may already be the leader.
func TestPendingRelease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		obs, reg := observertest.New(t)
		inner := &fakeLock{fakeLease: &fakeLease{}, identity: "me"}
		l := newLock(obs, inner)
		_ = l.Create(t.Context(), held("me"))
		inner.takes, inner.err = time.Second, errNetwork
		done := make(chan struct{})
		go func() { defer close(done); _ = l.Update(t.Context(), held("")) }()
		synctest.Wait()
		if s := metricstest.Take(t, reg); s["controller_leader{lock=l}"] != 0 {
			t.Errorf("during the release:\n%s", s)
		}
		<-done
		if acquired, lost, released := leadership(t, reg, "l"); acquired != 1 || lost != 0 || released != 0 {
			t.Errorf("acquired %v, lost %v, released %v: the result is not known yet", acquired, lost, released)
		}
		l.RecordEvent("stopped leading")
		if _, lost, released := leadership(t, reg, "l"); lost != 1 || released != 0 {
			t.Errorf("lost %v, released %v", lost, released)
		}
	})
}

// TestSlowRenewals covers S10: renewals that take longer than the retry period are slow, with or without an error.
func TestSlowRenewals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		obs, reg := observertest.New(t)
		slow := func(name string, retryPeriod time.Duration) float64 {
			inner := &fakeLock{fakeLease: &fakeLease{}, identity: "me"}
			l := leader.NewLock(obs, inner, leader.Options{Name: name, RetryPeriod: retryPeriod})
			_ = l.Create(t.Context(), held("me"))
			for _, inner.takes = range []time.Duration{time.Second, 2 * time.Second, 3 * time.Second} {
				inner.err = nil
				_ = l.Update(t.Context(), held("me"))
				inner.err = errNetwork
				_ = l.Update(t.Context(), held("me"))
			}
			return metricstest.Take(t, reg)["controller_leader_slow_renewals_total{lock="+name+"}"]
		}
		if got := slow("default", 0); got != 2 {
			t.Errorf("%v renewals were slow by default, want 2", got)
		}
		if got := slow("given", time.Second); got != 4 {
			t.Errorf("%v renewals were slow with a period of a second, want 4", got)
		}
		s := metricstest.Take(t, reg)
		if sum := s["controller_leader_renew_duration_seconds_sum{lock=given,result=success}"]; sum != 6 {
			t.Errorf("the renewals took %v s, want 6", sum)
		}
	})
}

// TestLocksShareSeries: candidates with the same name share their series, and the number of names is limited.
func TestLocksShareSeries(t *testing.T) {
	const limit = 7
	obs, reg := observertest.New(t, func(o *collectors.Options) { o.Limits.Locks = limit })
	lease := &fakeLease{}
	a := newLock(obs, &fakeLock{fakeLease: lease, identity: "a"})
	b := newLock(obs, &fakeLock{fakeLease: lease, identity: "b"})
	check := func(want float64) {
		t.Helper()
		if got := metricstest.Take(t, reg)["controller_leader{lock=l}"]; got != want {
			t.Errorf("controller_leader is %v, want %v", got, want)
		}
	}
	check(0)
	_ = a.Create(t.Context(), held("a"))
	check(1)
	_ = a.Update(t.Context(), held(""))
	check(0)
	_, _, _ = b.Get(t.Context())
	_ = b.Update(t.Context(), held("b"))
	check(1)
	b.RecordEvent("stopped leading")
	check(0)
	if acquired, lost, released := leadership(t, reg, "l"); acquired != 2 || lost != 1 || released != 1 {
		t.Errorf("acquired %v, lost %v, released %v", acquired, lost, released)
	}
	for n := range limit + 5 {
		l := leader.NewLock(obs, &fakeLock{fakeLease: &fakeLease{}, identity: "me"}, leader.Options{Name: fmt.Sprint("lock-", n)})
		_ = l.Create(t.Context(), held("me"))
	}
	s := metricstest.Take(t, reg)
	if got := s.Family("controller_leader"); len(got) != limit+1 || got["controller_leader{lock=other}"] != 1 {
		t.Errorf("%d locks are reported", len(got))
	}
	if acquired, _, _ := leadership(t, reg, "other"); acquired != 6 {
		t.Errorf("%v acquisitions of other locks, want 6", acquired)
	}
}

// TestLockNames: the label defaults to the description of the lock, and is always valid.
func TestLockNames(t *testing.T) {
	obs, reg := observertest.New(t)
	lease := &resourcelock.LeaseLock{LeaseMeta: metav1.ObjectMeta{Namespace: "shop", Name: "controller"}}
	leader.NewLock(obs, lease, leader.Options{})
	leader.NewLock(obs, lease, leader.Options{Name: "given\xff"})
	metricstest.Take(t, reg).Family("controller_leader").Equal(t, metricstest.Snapshot{
		"controller_leader{lock=shop/controller}": 0,
		"controller_leader{lock=given\uFFFD}":     0,
	})
}

// TestElectors covers S10 with client-go's own elector, and verifies that it still records on its lock that it has stopped:
// each leadership is counted once when it begins and once when it ends.
func TestElectors(t *testing.T) {
	for name, c := range map[string]struct {
		release        bool
		end            func(*fakeLock, context.CancelFunc)
		lost, released float64
	}{
		"canceled, released":       {release: true, end: func(_ *fakeLock, cancel context.CancelFunc) { cancel() }, released: 1},
		"canceled, not released":   {end: func(_ *fakeLock, cancel context.CancelFunc) { cancel() }, lost: 1},
		"cannot renew":             {release: true, end: func(l *fakeLock, _ context.CancelFunc) { l.err = errNetwork }, lost: 1},
		"cannot renew, no release": {end: func(l *fakeLock, _ context.CancelFunc) { l.err = errNetwork }, lost: 1},
		"requests hang":            {release: true, end: func(l *fakeLock, _ context.CancelFunc) { l.takes = time.Hour }, lost: 1},
		"canceled, release fails":  {release: true, end: func(l *fakeLock, cancel context.CancelFunc) { l.err = errNetwork; cancel() }, lost: 1},
		"another holder": {release: true, end: func(l *fakeLock, _ context.CancelFunc) {
			r := held("other")
			r.LeaseDurationSeconds = 3600
			l.record = &r
			l.version++
		}, lost: 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				obs, reg := observertest.New(t)
				inner := &fakeLock{fakeLease: &fakeLease{}, identity: "me"}
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
					Lock: newLock(obs, inner), LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: 2 * time.Second,
					ReleaseOnCancel: c.release,
					Callbacks: leaderelection.LeaderCallbacks{
						OnStartedLeading: func(context.Context) {},
						OnStoppedLeading: func() {},
					},
				})
				if err != nil {
					t.Fatal(err)
				}
				done := make(chan struct{})
				go func() { defer close(done); elector.Run(ctx) }()
				time.Sleep(time.Minute + time.Second)
				if s := metricstest.Take(t, reg); s["controller_leader{lock=l}"] != 1 ||
					s["controller_leader_renew_duration_seconds_count{lock=l,result=success}"] != 31 {
					t.Errorf("after a minute:\n%s", s)
				}
				inner.mu.Lock()
				c.end(inner, cancel)
				inner.mu.Unlock()
				<-done
				if acquired, lost, released := leadership(t, reg, "l"); acquired != 1 || lost != c.lost || released != c.released {
					t.Errorf("acquired %v, lost %v, released %v", acquired, lost, released)
				}
				if s := metricstest.Take(t, reg); s["controller_leader{lock=l}"] != 0 {
					t.Errorf("after the end:\n%s", s)
				}
			})
		})
	}
}
