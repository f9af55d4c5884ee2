package report

import (
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/informer-exporter/informer-exporter/internal/auditlog/clients"
	"github.com/informer-exporter/informer-exporter/internal/auditlog/event"
	"github.com/informer-exporter/informer-exporter/internal/testenv/budget"
)

// mix writes a realistic log of many clients: each opens its watches, and then ends and opens some, lists, reads and writes.
type mix struct {
	clients, watches int
	now              time.Time
	n                int
	open             []string // audit IDs
	opened           []time.Time
}

func (m *mix) write(w io.Writer, id, verb, stage, uri, ref string, client, code int, received time.Time) {
	m.now = m.now.Add(50 * time.Microsecond)
	fmt.Fprintf(w, `{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"Metadata","auditID":%q,"stage":%q,"requestURI":%q,"verb":%q,"user":{"username":"system:serviceaccount:ns-%d:operator","uid":"d2a1b0c9-4a5b-4f3e-8d1c-1f2e3d4c5b6a","groups":["system:serviceaccounts","system:serviceaccounts:ns-%d","system:authenticated"],"extra":{"authentication.kubernetes.io/credential-id":["JTI=3f2504e0-4f89-11d3-9a0c-0305e82c3301"]}},"sourceIPs":["10.0.%d.%d"],"userAgent":"operator/v1.2.3 (linux/amd64) kubernetes/$Format/shared-informers","objectRef":%s,"responseStatus":{"metadata":{},"code":%d},"requestReceivedTimestamp":%q,"stageTimestamp":%q,"annotations":{"authorization.k8s.io/decision":"allow","authorization.k8s.io/reason":"RBAC: allowed by ClusterRoleBinding \"operator\" of ClusterRole \"operator\" to ServiceAccount \"operator/ns\""}}`+"\n",
		id, stage, uri, verb, client, client, client/250, client%250, ref, code, received.Format(time.RFC3339Nano), m.now.Format(time.RFC3339Nano))
}

func (m *mix) watch(w io.Writer, i int, stage string) {
	client, resource := i%m.clients, i/m.clients
	uri := fmt.Sprintf("/apis/example.com/v1/r%d?allowWatchBookmarks=true&resourceVersion=%d&timeoutSeconds=400&watch=true", resource, 1000+m.n)
	ref := fmt.Sprintf(`{"resource":"r%d","apiGroup":"example.com","apiVersion":"v1"}`, resource)
	m.write(w, m.open[i], "watch", stage, uri, ref, client, 200, m.opened[i])
}

func (m *mix) begin(w io.Writer, i int) {
	m.n++
	m.open[i], m.opened[i] = fmt.Sprintf("%08x-0b9a-4f8c-9d60-7a0a4d1f6c11", m.n), m.now
	m.watch(w, i, event.StageStarted)
}

// start opens all watches.
func (m *mix) start(w io.Writer) {
	m.open, m.opened = make([]string, m.watches), make([]time.Time, m.watches)
	for i := range m.watches {
		m.begin(w, i)
	}
}

// some writes the events of some requests: a tenth are ends of watches with their successors.
func (m *mix) some(w io.Writer, requests int) {
	for range requests {
		m.n++
		client := m.n * 7 % m.clients
		id := fmt.Sprintf("%08x-1b9a-4f8c-9d60-7a0a4d1f6c11", m.n)
		ref := fmt.Sprintf(`{"resource":"configmaps","namespace":"ns-%d","name":"c-%d","apiVersion":"v1"}`, client, m.n%1000)
		uri := fmt.Sprintf("/api/v1/namespaces/ns-%d/configmaps/c-%d", client, m.n%1000)
		switch m.n % 10 {
		case 0:
			i := m.n * 13 % m.watches
			m.watch(w, i, event.StageComplete)
			m.begin(w, i)
		case 1:
			m.write(w, id, "list", event.StageComplete, "/apis/example.com/v1/r1?limit=500&resourceVersion=0", `{"resource":"r1","apiGroup":"example.com","apiVersion":"v1"}`, client, 200, m.now)
		case 2, 3, 4, 5:
			m.write(w, id, "update", event.StageComplete, uri, ref, client, 200+209*(m.n%11/10), m.now)
		default:
			m.write(w, id, "get", event.StageComplete, uri, ref, client, 200, m.now)
		}
	}
}

// BenchmarkEvents decodes and observes the events of 500 clients with 10,000 open watches.
func BenchmarkEvents(b *testing.B) {
	const requests = 20_000
	m := &mix{clients: 500, watches: 10_000, now: start}
	var before, after runtime.MemStats
	var text strings.Builder
	runtime.GC()
	runtime.ReadMemStats(&before)
	m.start(&text)
	tracker := clients.New(clients.Options{Clients: 500, Informers: 20_000})
	take := func() (n int) {
		lines := event.NewLines(strings.NewReader(text.String()))
		var e event.Event
		for {
			line, _, err := lines.Next()
			if err != nil {
				return n
			}
			if ok, malformed := event.DecodeLine(line, &e); !ok || malformed {
				b.Fatalf("malformed: %s", line)
			}
			tracker.Observe(&e)
			n++
		}
	}
	take()
	events, size := 0, 0
	var cpu time.Duration
	for b.Loop() {
		text.Reset()
		m.some(&text, requests)
		size += text.Len()
		begin := budget.CPUTime(b)
		events += take()
		cpu += budget.CPUTime(b) - begin
	}
	text.Reset()
	runtime.GC()
	runtime.ReadMemStats(&after)
	open := 0
	for _, c := range tracker.Snapshot(time.Time{}).Clients {
		for _, i := range c.Informers {
			open += i.Open
		}
	}
	if open != m.watches {
		b.Fatalf("%d open watches, want %d", open, m.watches)
	}
	b.ReportMetric(float64(cpu.Microseconds())/float64(events), "cpu-us/event")
	b.ReportMetric(cpu.Seconds()/float64(size)*(1<<30), "cpu-s/GiB")
	b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/(1<<20), "heap-MiB")
}
