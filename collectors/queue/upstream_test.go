package queue_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"maps"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/util/workqueue"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/collectors/internal/core"
	"github.com/informer-exporter/informer-exporter/collectors/queue"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
)

// onlyWorkqueue returns client-go's own metrics of work queues.
func onlyWorkqueue(s metricstest.Snapshot) metricstest.Snapshot {
	found := metricstest.Snapshot{}
	for series, value := range s {
		if strings.HasPrefix(series, "workqueue_") {
			found[series] = value
		}
	}
	return found
}

// TestUpstreamQueueMetrics covers S7 and S8: the seven metrics have the values that a plain queue reports to the same
// provider, and end with the queue.
func TestUpstreamQueueMetrics(t *testing.T) {
	work := func(t *testing.T, reg prometheus.Gatherer, q limitingQueue) (working, ended metricstest.Snapshot) {
		q.Add("a")
		q.Add("a")
		q.Add("b")
		q.AddAfter("c", time.Minute)
		q.AddRateLimited("d")
		time.Sleep(2 * time.Second)
		item, _ := q.Get()
		time.Sleep(2800 * time.Millisecond)
		q.Add(item)
		time.Sleep(100 * time.Millisecond)
		q.Done(item)
		time.Sleep(100 * time.Millisecond)
		_, _ = q.Get()
		time.Sleep(time.Second)
		synctest.Wait() // client-go updates work in progress every 500 ms, and does so now
		working = onlyWorkqueue(metricstest.Take(t, reg))
		q.Done("b")
		finish(q)
		return working, onlyWorkqueue(metricstest.Take(t, reg))
	}
	var plain, decorated, ended metricstest.Snapshot
	synctest.Test(t, func(t *testing.T) {
		obs, reg := observertest.New(t, observertest.Upstream)
		plain, ended = work(t, reg, workqueue.NewTypedRateLimitingQueueWithConfig(backoffs(), workqueue.TypedRateLimitingQueueConfig[string]{
			Name: "c", MetricsProvider: queue.NewMetricsProvider(obs),
		}))
		if len(ended) != len(plain) {
			t.Errorf("the series of a plain queue ended:\n%s", ended)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		obs, reg := observertest.New(t, observertest.Upstream)
		decorated, ended = work(t, reg, newQueue(obs, "c"))
		ended.Equal(t, metricstest.Snapshot{})
	})
	decorated.Equal(t, plain)
	decorated.Equal(t, metricstest.Snapshot{ // without the label name
		"workqueue_depth":                             2, // d, and a again
		"workqueue_adds_total":                        4,
		"workqueue_retries_total":                     2,
		"workqueue_queue_duration_seconds_count":      2,
		"workqueue_queue_duration_seconds_sum":        7, // a 2 s, b 5 s
		"workqueue_work_duration_seconds_count":       1,
		"workqueue_work_duration_seconds_sum":         2.9,
		"workqueue_unfinished_work_seconds":           1,
		"workqueue_longest_running_processor_seconds": 1,
	})
}

// The metrics have the names, labels and buckets of the catalog, and each queue has a name.
func TestUpstreamQueueMetricsOfTheCatalog(t *testing.T) {
	obs, reg := observertest.New(t, observertest.Upstream)
	a, b := newQueue(obs, "a"), newQueue(obs, "b")
	a.Add("x")
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, f := range families {
		if !strings.HasPrefix(f.GetName(), "workqueue_") {
			continue
		}
		found++
		m, ok := catalog.ByName(f.GetName())
		if !ok || m.Help != f.GetHelp() || strings.ToLower(f.GetType().String()) != string(m.Type) || len(f.GetMetric()) != 2 {
			t.Errorf("%v is a %v of %d queues with help %q", f.GetName(), f.GetType(), len(f.GetMetric()), f.GetHelp())
		}
		for i, series := range f.GetMetric() {
			if l := series.GetLabel(); len(l) != 1 || l[0].GetName() != "name" || l[0].GetValue() != []string{"a", "b"}[i] {
				t.Errorf("%s has the labels %v", f.GetName(), l)
			}
			if buckets := series.GetHistogram().GetBucket(); len(buckets) != len(m.Buckets) {
				t.Errorf("%s has %d buckets", f.GetName(), len(buckets))
			}
		}
	}
	if found != 7 {
		t.Errorf("%d metrics", found)
	}
	finish(a)
	finish(b)
}

// TestUpstreamQueueLimit: names beyond the limit share the series other. Observed queues and those that are created
// elsewhere have separate limits.
func TestUpstreamQueueLimit(t *testing.T) {
	const limit = 250 // more than the default
	obs, reg := observertest.New(t, observertest.Upstream, func(o *collectors.Options) { o.Limits.Controllers = limit })
	got, want := map[string]float64{}, map[string]float64{"other": 4}
	for n := range limit + 2 {
		observed, elsewhere := fmt.Sprint("observed-", n), fmt.Sprint("elsewhere-", n)
		q := newQueue(obs, observed)
		defer q.ShutDown()
		q.Add("a")
		queue.NewMetricsProvider(obs).NewAddsMetric(elsewhere).Inc()
		if n < limit {
			want[observed], want[elsewhere] = 1, 1
		}
	}
	for _, s := range metricstest.Gather(t, reg) {
		if s.Name == "workqueue_adds_total" {
			got[s.Labels["name"]] += s.Value
		}
	}
	if !maps.Equal(got, want) {
		t.Errorf("%d names, want %d, and %v adds of other, want %v", len(got), len(want), got["other"], want["other"])
	}
}

// TestUpstreamQueueMetricsOfOthers: if the registry has workqueue_* from another library, the first queue logs that, and
// queues report to the provider of the process.
func TestUpstreamQueueMetricsOfOthers(t *testing.T) {
	reg := prometheus.NewPedanticRegistry()
	m := catalog.UpstreamQueueDepth // as controller-runtime has it: the same name, but other labels and another help
	others := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: m.Name, Help: "Current depth of workqueue."}, []string{"name", "controller", "priority"})
	if err := reg.Register(others); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	obs, err := collectors.New(reg, collectors.Options{Name: "a", UpstreamMetrics: true, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	if core.Of(obs).Informers == nil {
		t.Error("informer_* were skipped as well")
	}
	process := processProvider()
	before := process.String()
	q := newQueue(obs, "reports to the process")
	q.Add("a")
	q.AddAfter("a", 0)
	if s := strings.TrimPrefix(strings.TrimPrefix(process.String(), before), ", "); s != "adds +1, depth +1, retries +1" {
		t.Errorf("the provider of the process received: %s", s)
	}
	if s := onlyWorkqueue(metricstest.Take(t, reg)); len(s) != 0 {
		t.Errorf("reported:\n%s", s)
	}
	finish(q)
	finish(newQueue(obs, "another"))
	if n := strings.Count(log.String(), "\n"); n != 1 || !strings.Contains(log.String(), "workqueue_*") {
		t.Errorf("the log says:\n%s", &log)
	}

	// Without Options.UpstreamMetrics, the provider of the process receives everything, and nothing is registered.
	before = process.String()
	without, withoutReg := observertest.New(t)
	q = newQueue(without, "reports to the process")
	q.Add("a")
	if s := strings.TrimPrefix(strings.TrimPrefix(process.String(), before), ", "); s != "adds +1, depth +1" {
		t.Errorf("the provider of the process received: %s", s)
	}
	if s := onlyWorkqueue(metricstest.Take(t, withoutReg)); len(s) != 0 {
		t.Errorf("reported as well:\n%s", s)
	}
	finish(q)

	// With an Observer's own metrics, or Options.MetricsProvider, the provider of the process receives nothing.
	before = process.String()
	obs, _ = observertest.New(t, observertest.Upstream)
	q = newQueue(obs, "reports to the process")
	q.Add("a")
	finish(q)
	given := &queueRecorder{}
	q = queue.NewTypedRateLimitingQueue(obs, "reports to the process", backoffs(), queue.Options[string]{MetricsProvider: given})
	q.Add("a")
	q.AddAfter("a", 0)
	if s := given.String(); s != "adds +1, depth +1, retries +1" {
		t.Errorf("Options.MetricsProvider received: %s", s)
	}
	finish(q)
	if s := process.String(); s != before {
		t.Errorf("the provider of the process received: %s", s)
	}
}

// processProvider is the one provider that client-go accepts in a process.
var processProvider = sync.OnceValue(func() *queueRecorder {
	r := &queueRecorder{}
	workqueue.SetProvider(r)
	return r
})

// queueRecorder is a provider that records changes of the counters and the depth of one queue.
type queueRecorder struct {
	mu    sync.Mutex
	calls []string
}

func (r *queueRecorder) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Join(r.calls, ", ")
}

type recordedMetric struct {
	*queueRecorder
	name string
}

func (m recordedMetric) note(what string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.name != "" {
		m.calls = append(m.calls, fmt.Sprintf("%s %s", m.name, what))
	}
}

func (m recordedMetric) Inc()            { m.note("+1") }
func (m recordedMetric) Dec()            { m.note("-1") }
func (m recordedMetric) Set(float64)     {}
func (m recordedMetric) Observe(float64) {}

func (r *queueRecorder) of(queue, metric string) recordedMetric {
	if queue != "reports to the process" {
		metric = ""
	}
	return recordedMetric{r, metric}
}

func (r *queueRecorder) NewDepthMetric(q string) workqueue.GaugeMetric     { return r.of(q, "depth") }
func (r *queueRecorder) NewAddsMetric(q string) workqueue.CounterMetric    { return r.of(q, "adds") }
func (r *queueRecorder) NewRetriesMetric(q string) workqueue.CounterMetric { return r.of(q, "retries") }
func (r *queueRecorder) NewLatencyMetric(q string) workqueue.HistogramMetric {
	return r.of(q, "latency")
}
func (r *queueRecorder) NewWorkDurationMetric(q string) workqueue.HistogramMetric {
	return r.of(q, "work")
}
func (r *queueRecorder) NewUnfinishedWorkSecondsMetric(q string) workqueue.SettableGaugeMetric {
	return r.of(q, "unfinished")
}
func (r *queueRecorder) NewLongestRunningProcessorSecondsMetric(q string) workqueue.SettableGaugeMetric {
	return r.of(q, "longest")
}
