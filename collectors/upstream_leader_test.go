package collectors

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/tools/leaderelection"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/collectors/internal/series"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
)

// byLock returns client-go's own metrics of leader election as metric/lock, since snapshots leave the label name out.
func byLock(t *testing.T, g prometheus.Gatherer) metricstest.Snapshot {
	t.Helper()
	families, err := g.Gather()
	if err != nil {
		t.Fatal(err)
	}
	found := metricstest.Snapshot{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if name, ok := strings.CutPrefix(f.GetName(), "leader_election_"); ok {
				found[name+"/"+m.GetLabel()[0].GetValue()] = m.GetGauge().GetValue() + m.GetCounter().GetValue()
			}
		}
	}
	return found
}

// TestUpstreamLeaderMetrics covers S10 with what client-go itself tells.
func TestUpstreamLeaderMetrics(t *testing.T) {
	obs, reg := newObserver(t, withUpstream)
	metric := obs.LeaderMetricsProvider().NewLeaderMetric()
	metric.Off("")
	metric.Off("a")
	metric.On("a")
	metric.SlowpathExercised("a")
	obs.LeaderMetricsProvider().NewLeaderMetric().SlowpathExercised("a")
	byLock(t, reg).Equal(t, metricstest.Snapshot{
		"master_status/": 0, "master_status/a": 1,
		"slowpath_total/": 0, "slowpath_total/a": 2,
	})
	for n := range maxLocks {
		metric.On(fmt.Sprint("lock-", n))
	}
	if s := byLock(t, reg); len(s) != maxLocks+3 || s["master_status/other"] != 1 {
		t.Errorf("%d series:\n%s", len(s), s)
	}
}

// TestUpstreamLimits: client-go's own metrics have room for as many names as the library's.
func TestUpstreamLimits(t *testing.T) {
	const limit = maxControllers + 50
	obs, reg := newObserver(t, withUpstream, func(o *Options) { o.Limits = Limits{Controllers: limit, Locks: limit} })
	queues, locks := obs.WorkqueueMetricsProvider(), obs.LeaderMetricsProvider().NewLeaderMetric()
	for n := range limit + 2 {
		q := NewQueue(obs, fmt.Sprint("own-", n), backoffs())
		defer q.ShutDown()
		q.Add("a")
		queues.NewAddsMetric(fmt.Sprint("elsewhere-", n)).Inc()
		locks.SlowpathExercised(fmt.Sprint("lock-", n))
	}
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		want := map[string]int{"workqueue_adds_total": 2*limit + 1, "leader_election_slowpath_total": limit + 1}[f.GetName()]
		if want == 0 {
			continue
		}
		if n := len(f.GetMetric()); n != want {
			t.Errorf("%s has %d series, want %d", f.GetName(), n, want)
		}
		for _, m := range f.GetMetric() {
			value := 1.0
			if m.GetLabel()[0].GetValue() == series.Other {
				value = float64(want / limit * 2) // two of each kind
			}
			if got := m.GetCounter().GetValue(); got != value {
				t.Errorf("%s of %s is %v, want %v", f.GetName(), m.GetLabel()[0].GetValue(), got, value)
			}
		}
	}
}

// Whoever registered the metrics first keeps them, and nothing breaks.
func TestUpstreamLeaderMetricsStayOut(t *testing.T) {
	for _, m := range []catalog.Metric{catalog.UpstreamLeaderStatus.Metric, catalog.UpstreamLeaderSlowpath.Metric} {
		reg := prometheus.NewPedanticRegistry()
		others := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: m.Name, Help: "[ALPHA] Somebody else's."}, m.LabelNames())
		reg.MustRegister(others)
		others.WithLabelValues("theirs").Set(7)
		var log bytes.Buffer
		obs, err := New(reg, Options{Name: "test", UpstreamMetrics: true, Logger: slog.New(slog.NewTextHandler(&log, nil))})
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(log.String(), "leader_election_*") {
			t.Errorf("the log says %q", &log)
		}
		metric := obs.LeaderMetricsProvider().NewLeaderMetric()
		metric.On("ours")
		metric.SlowpathExercised("ours")
		byLock(t, reg).Equal(t, metricstest.Snapshot{strings.TrimPrefix(m.Name, "leader_election_") + "/theirs": 7})
	}
	obs, reg := newObserver(t)
	obs.LeaderMetricsProvider().NewLeaderMetric().On("ours")
	byLock(t, reg).Equal(t, metricstest.Snapshot{})
}

// ofTheProcess is the Observer whose provider client-go has, which takes only one in a process.
var ofTheProcess = sync.OnceValue(func() *prometheus.Registry {
	reg := prometheus.NewPedanticRegistry()
	obs, err := New(reg, Options{Name: "process", UpstreamMetrics: true})
	if err != nil {
		panic(err)
	}
	leaderelection.SetProvider(obs.LeaderMetricsProvider())
	return reg
})

// TestUpstreamLeaderMetricsOfAnElector covers S10: client-go's elector reports to the provider, with a renewal that meets a
// conflict, which is its slow path.
func TestUpstreamLeaderMetricsOfAnElector(t *testing.T) {
	reg := ofTheProcess()
	const name = "elector"
	before := byLock(t, reg)["slowpath_total/"+name]
	synctest.Test(t, func(t *testing.T) {
		inner := &fakeLock{fakeLease: &fakeLease{}, identity: "me"}
		elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
			Name: name, Lock: inner, LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: 2 * time.Second,
			Callbacks: leaderelection.LeaderCallbacks{OnStartedLeading: func(context.Context) {}, OnStoppedLeading: func() {}},
		})
		if err != nil {
			t.Fatal(err)
		}
		status := func(want float64) {
			t.Helper()
			if got, ok := byLock(t, reg)["master_status/"+name]; !ok || got != want {
				t.Errorf("the status is %v (%t), want %v", got, ok, want)
			}
		}
		status(0)
		done := make(chan struct{})
		go func() { defer close(done); elector.Run(t.Context()) }()
		time.Sleep(time.Second)
		status(1)
		inner.mu.Lock()
		inner.version++
		inner.mu.Unlock()
		time.Sleep(2 * time.Second)
		if got := byLock(t, reg)["slowpath_total/"+name] - before; got != 1 {
			t.Errorf("%v renewals took the slow path, want 1", got)
		}
		inner.mu.Lock()
		inner.err = errNetwork
		inner.mu.Unlock()
		<-done
		status(0)
	})
}
