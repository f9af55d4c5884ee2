package leader_test

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

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/collectors/leader"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
)

// byLock returns client-go's own metrics of leader election as metric/lock, since snapshots omit the label name.
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

// TestUpstreamLeaderMetrics covers S10 with client-go's own metrics. All providers of an Observer share their series.
func TestUpstreamLeaderMetrics(t *testing.T) {
	obs, reg := observertest.New(t, observertest.Upstream)
	metric := leader.NewMetricsProvider(obs).NewLeaderMetric()
	metric.Off("")
	metric.Off("a")
	metric.On("a")
	metric.SlowpathExercised("a")
	leader.NewMetricsProvider(obs).NewLeaderMetric().SlowpathExercised("a")
	byLock(t, reg).Equal(t, metricstest.Snapshot{
		"master_status/": 0, "master_status/a": 1,
		"slowpath_total/": 0, "slowpath_total/a": 2,
	})
}

// TestUpstreamLeaderLimit: names beyond the limit share the series other, regardless of the provider, and names that are
// not valid UTF-8 do not break a scrape.
func TestUpstreamLeaderLimit(t *testing.T) {
	const limit = 60 // more than the default
	obs, reg := observertest.New(t, observertest.Upstream, func(o *collectors.Options) { o.Limits.Locks = limit })
	for n := range limit + 4 {
		metric := leader.NewMetricsProvider(obs).NewLeaderMetric()
		metric.Off(fmt.Sprint("\xff", n))
		metric.On(fmt.Sprint("\xff", n))
		metric.SlowpathExercised(fmt.Sprint("\xff", n))
	}
	want := metricstest.Snapshot{"master_status/other": 1, "slowpath_total/other": 4}
	for n := range limit {
		want[fmt.Sprint("master_status/\uFFFD", n)], want[fmt.Sprint("slowpath_total/\uFFFD", n)] = 1, 1
	}
	byLock(t, reg).Equal(t, want)
}

// TestUpstreamLeaderMetricsStayOut: metrics that other code registered first are not replaced.
func TestUpstreamLeaderMetricsStayOut(t *testing.T) {
	for _, m := range []catalog.Metric{catalog.UpstreamLeaderStatus.Metric, catalog.UpstreamLeaderSlowpath.Metric} {
		reg := prometheus.NewPedanticRegistry()
		others := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: m.Name, Help: "[ALPHA] Another owner's."}, m.LabelNames())
		reg.MustRegister(others)
		others.WithLabelValues("theirs").Set(7)
		var log bytes.Buffer
		obs, err := collectors.New(reg, collectors.Options{Name: "test", UpstreamMetrics: true, Logger: slog.New(slog.NewTextHandler(&log, nil))})
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(log.String(), "leader_election_*") {
			t.Errorf("the log is %q", &log)
		}
		metric := leader.NewMetricsProvider(obs).NewLeaderMetric()
		metric.On("ours")
		metric.SlowpathExercised("ours")
		byLock(t, reg).Equal(t, metricstest.Snapshot{strings.TrimPrefix(m.Name, "leader_election_") + "/theirs": 7})
	}
	obs, reg := observertest.New(t)
	leader.NewMetricsProvider(obs).NewLeaderMetric().On("ours")
	byLock(t, reg).Equal(t, metricstest.Snapshot{})
}

// ofTheProcess returns the registry of the provider of this process: client-go accepts only one.
var ofTheProcess = sync.OnceValue(func() *prometheus.Registry {
	reg := prometheus.NewPedanticRegistry()
	obs, err := collectors.New(reg, collectors.Options{Name: "process", UpstreamMetrics: true})
	if err != nil {
		panic(err)
	}
	leaderelection.SetProvider(leader.NewMetricsProvider(obs))
	return reg
})

// TestUpstreamLeaderMetricsOfAnElector covers S10: client-go's elector reports to the provider, with a renewal that fails
// with a conflict, which is its slow path.
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
