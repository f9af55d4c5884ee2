package collectors

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/util/workqueue"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
)

// onlyWorkqueue leaves client-go's own metrics of work queues.
func onlyWorkqueue(s metricstest.Snapshot) metricstest.Snapshot {
	found := metricstest.Snapshot{}
	for series, value := range s {
		if strings.HasPrefix(series, "workqueue_") {
			found[series] = value
		}
	}
	return found
}

// TestUpstreamQueueMetrics covers S7 and S8: the seven metrics, as a plain queue reports them to the same provider, and
// their end.
func TestUpstreamQueueMetrics(t *testing.T) {
	work := func(t *testing.T, reg prometheus.Gatherer, q limitingQueue) (working, ended metricstest.Snapshot) {
		q.Add("a")
		q.Add("a")
		q.Add("b")
		q.AddAfter("c", time.Minute)
		q.AddRateLimited("d")
		time.Sleep(2 * time.Second)
		item, _ := q.Get()
		q.Add(item)
		time.Sleep(3 * time.Second)
		q.Done(item)
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
		obs, reg := newObserver(t, withUpstream)
		plain, ended = work(t, reg, workqueue.NewTypedRateLimitingQueueWithConfig(backoffs(), workqueue.TypedRateLimitingQueueConfig[string]{
			Name: "c", MetricsProvider: obs.WorkqueueMetricsProvider(),
		}))
		if len(ended) != len(plain) {
			t.Errorf("the series of a queue that was made elsewhere are gone:\n%s", ended)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		obs, reg := newObserver(t, withUpstream)
		decorated, ended = work(t, reg, NewQueue(obs, "c", backoffs()))
		if len(ended) != 0 {
			t.Errorf("after the end:\n%s", ended)
		}
	})
	decorated.Equal(t, plain)
	decorated.Equal(t, metricstest.Snapshot{ // the label name is left out
		"workqueue_depth":                             2, // d, and a again
		"workqueue_adds_total":                        4,
		"workqueue_retries_total":                     2,
		"workqueue_queue_duration_seconds_count":      2,
		"workqueue_queue_duration_seconds_sum":        7, // a 2 s, b 5 s
		"workqueue_work_duration_seconds_count":       1,
		"workqueue_work_duration_seconds_sum":         3,
		"workqueue_unfinished_work_seconds":           1,
		"workqueue_longest_running_processor_seconds": 1,
	})
}

// What is reported has the names, labels and buckets of the catalog, and a name of its own for each queue.
func TestUpstreamQueueMetricsAreThoseOfTheCatalog(t *testing.T) {
	obs, reg := newObserver(t, withUpstream)
	a, b := NewQueue(obs, "a", backoffs()), NewQueue(obs, "b", backoffs())
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
			t.Errorf("%v is a %v of %d queues with the help %q", f.GetName(), f.GetType(), len(f.GetMetric()), f.GetHelp())
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

// TestUpstreamQueueMetricsOfOthers: where somebody else reports workqueue_* in the registry, New says so and leaves it at
// that, and queues report to the provider of the process.
func TestUpstreamQueueMetricsOfOthers(t *testing.T) {
	reg := prometheus.NewPedanticRegistry()
	m := catalog.UpstreamQueueDepth // as controller-runtime has it: the same name, but other labels and another help
	others := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: m.Name, Help: "Current depth of workqueue."}, []string{"name", "controller", "priority"})
	if err := reg.Register(others); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	obs, err := New(reg, Options{Name: "a", UpstreamMetrics: true, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(log.String(), "\n"); n != 1 || !strings.Contains(log.String(), "workqueue_*") {
		t.Errorf("the log says:\n%s", &log)
	}
	if obs.upstream == nil {
		t.Error("there was room for informer_*")
	}
	process := queuesOfTheProcess()
	before := process.String()
	q := NewQueue(obs, "reports to the process", backoffs())
	q.Add("a")
	q.AddAfter("a", 0)
	if s := strings.TrimPrefix(strings.TrimPrefix(process.String(), before), ", "); s != "adds +1, depth +1, retries +1" {
		t.Errorf("the provider of the process was told: %s", s)
	}
	if s := onlyWorkqueue(metricstest.Take(t, reg)); len(s) != 0 {
		t.Errorf("reported:\n%s", s)
	}
	finish(q)

	// With an Observer's own metrics, or a provider of the caller's, that of the process is told nothing.
	before = process.String()
	obs, _ = newObserver(t, withUpstream)
	q = NewQueue(obs, "reports to the process", backoffs())
	q.Add("a")
	finish(q)
	given := &queueRecorder{}
	q = NewQueue(obs, "reports to the process", backoffs(), QueueOptions[string]{MetricsProvider: given})
	q.Add("a")
	q.AddAfter("a", 0)
	if s := given.String(); s != "adds +1, depth +1, retries +1" {
		t.Errorf("the provider that was given was told: %s", s)
	}
	finish(q)
	if s := process.String(); s != before {
		t.Errorf("the provider of the process was told: %s", s)
	}
	// One without room, and one that was not asked, still have a provider, which reports nowhere.
	plain, plainReg := newObserver(t)
	plain.WorkqueueMetricsProvider().NewAddsMetric("x").Inc()
	if s := metricstest.Take(t, plainReg); len(s) != 0 {
		t.Errorf("reported without being asked for:\n%s", s)
	}
}

// queuesOfTheProcess is the provider that client-go has, which takes only one in a process. What it is told of other
// queues does no harm.
var queuesOfTheProcess = sync.OnceValue(func() *queueRecorder {
	r := &queueRecorder{}
	workqueue.SetProvider(r)
	return r
})

// queueRecorder is a provider of metrics that remembers what counters and depths it was told, of one queue.
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
