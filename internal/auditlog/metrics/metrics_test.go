package metrics

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/internal/auditlog/clients"
	"github.com/informer-exporter/informer-exporter/internal/auditlog/webhook"
	"github.com/informer-exporter/informer-exporter/internal/reason"
)

// state is a Tracker with a given state.
type state struct{ now clients.Snapshot }

func (s *state) Latest() clients.Snapshot { return s.now }

// gather returns the samples of a collector, which must have valid metrics.
func gather(t *testing.T, c *Collector) map[string]float64 {
	t.Helper()
	registry := prometheus.NewPedanticRegistry()
	if err := registry.Register(c); err != nil {
		t.Fatal(err)
	}
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			var labels []string
			for _, l := range m.GetLabel() {
				labels = append(labels, l.GetName()+"="+l.GetValue())
			}
			name := f.GetName() + "{" + strings.Join(labels, ",") + "}"
			switch {
			case m.Counter != nil:
				got[name] = m.Counter.GetValue()
			case m.Gauge != nil:
				got[name] = m.Gauge.GetValue()
			case m.Summary != nil:
				got[name+" count"], got[name+" sum"] = float64(m.Summary.GetSampleCount()), m.Summary.GetSampleSum()
			case m.Histogram != nil:
				got[name+" count"], got[name+" sum"] = float64(m.Histogram.GetSampleCount()), m.Histogram.GetSampleSum()
				for _, b := range m.Histogram.GetBucket() {
					got[fmt.Sprintf("%s le=%v", name, b.GetUpperBound())] = float64(b.GetCumulativeCount())
				}
			}
		}
	}
	return got
}

// want compares samples; a value below 0 means that there is none.
func want(t *testing.T, got, want map[string]float64) {
	t.Helper()
	for name, v := range want {
		if value, ok := got[name]; v < 0 && ok || v >= 0 && (!ok || value != v) {
			t.Errorf("%s: got %v (%t), want %v", name, value, ok, v)
		}
	}
}

func histogramOf(seconds ...float64) (h clients.Histogram) {
	for _, s := range seconds {
		i, _ := slices.BinarySearch(clients.Bounds(), s)
		h.Counts[i]++
		h.Count++
		h.Sum += s
	}
	return h
}

// example is a client with two informers of one resource, which differ in their selector, and a client that only sends requests.
func example() clients.Snapshot {
	last := time.Unix(1000, 500e6)
	pods := func(selector string, n uint64) clients.Informer {
		return clients.Informer{
			Resource: "pods", Selector: selector, Open: 1, Opened: n, Ends: map[string]uint64{reason.ServerClose: n, "hostile": 9},
			Relists: map[string]uint64{reason.Initial: 1, reason.Expired: n}, Lists: map[string]uint64{clients.HowZero: n},
			Gaps: histogramOf(.05, 2), ListDurations: histogramOf(.5), UnwatchedFor: time.Duration(n) * time.Minute,
		}
	}
	return clients.Snapshot{Last: last, Events: 10, Duplicates: 2, Clients: []clients.Client{
		{
			User: "system:serviceaccount:shop:shop", Agent: "controller/v1.2.3", Informers: []clients.Informer{pods("", 3), pods("a=b", 4), {Resource: "secrets", Namespace: "shop", Lists: map[string]uint64{clients.HowUnset: 7}}},
			Requests:  map[clients.Request]uint64{{Verb: "get", Class: "2xx"}: 5, {Verb: "CONNECT", Class: "teapot"}: 1},
			Conflicts: map[clients.Object]uint64{{Resource: "pods"}: 2, {Resource: "pods", Subresource: "status"}: 3, {Resource: "pods", Subresource: "evil"}: 4},
			HotLoops:  []clients.HotLoop{{Object: clients.Object{Resource: "pods"}, Name: "secret", Writes: 90, Last: last}, {Object: clients.Object{Resource: "configmaps"}, Writes: 80, Last: last.Add(-3 * time.Minute)}},
		},
		{User: "\xffbad", Agent: "", Requests: map[clients.Request]uint64{{Verb: "list", Class: "4xx"}: 1}},
	}}
}

// Each metric has the value of the snapshot, summed over selectors, with the closed sets of the catalog.
func TestMetrics(t *testing.T) {
	c := New(&state{example()}, Series)
	c.Malformed.Add(3)
	c.Outcome(webhook.Busy)
	c.Outcome("hostile")
	const client = "client=system:serviceaccount:shop:shop/controller,"
	const pods = "{" + client + "informer_type=pods,watch_namespace=*}"
	reasoned := func(r string) string {
		return "{" + client + "informer_type=pods,reason=" + r + ",watch_namespace=*}"
	}
	want(t, gather(t, c), map[string]float64{
		"k8s_audit_watches_open" + pods: 2, "k8s_audit_watches_total" + pods: 7, "k8s_audit_unwatched_seconds" + pods: 240,
		"k8s_audit_watch_ends_total" + reasoned("server_close"): 7, "k8s_audit_watch_ends_total" + reasoned("hostile"): -1,
		"k8s_audit_relists_total" + reasoned("initial"): 2, "k8s_audit_relists_total" + reasoned("expired"): 7, "k8s_audit_relists_total" + reasoned("watch_failed"): 0,
		"k8s_audit_lists_total{" + client + "informer_type=pods,version=0,watch_namespace=*}":           7,
		"k8s_audit_lists_total{" + client + "informer_type=secrets,version=unset,watch_namespace=shop}": 7,
		"k8s_audit_watches_open{" + client + "informer_type=secrets,watch_namespace=shop}":              -1,
		"k8s_audit_coverage_gap_seconds" + pods + " count":                                              4, "k8s_audit_coverage_gap_seconds" + pods + " sum": 4.1,
		"k8s_audit_coverage_gap_seconds" + pods + " le=0.1": 2, "k8s_audit_coverage_gap_seconds" + pods + " le=1": 2, "k8s_audit_coverage_gap_seconds" + pods + " le=5": 4,
		"k8s_audit_list_duration_seconds" + pods + " sum": 1, "k8s_audit_first_event_duration_seconds" + pods + " sum": -1,
		"k8s_audit_requests_total{" + client + "code=2xx,verb=get}":                                         5,
		"k8s_audit_requests_total{client=system:serviceaccount:shop:shop/controller,code=other,verb=other}": 1,
		"k8s_audit_requests_total{client=?bad,code=4xx,verb=list}":                                          1,
		"k8s_audit_conflicts_total{" + client + "informer_type=pods,subresource=none}":                      2,
		"k8s_audit_conflicts_total{" + client + "informer_type=pods,subresource=status}":                    3,
		"k8s_audit_conflicts_total{" + client + "informer_type=pods,subresource=other}":                     4,
		"k8s_audit_hot_loop_writes{" + client + "informer_type=pods}":                                       90,
		"k8s_audit_hot_loop_writes{" + client + "informer_type=configmaps}":                                 -1,
		"k8s_audit_events_total{result=observed}":                                                           8, "k8s_audit_events_total{result=duplicated}": 2,
		"k8s_audit_events_total{result=malformed}": 3, "k8s_audit_events_total{result=dropped}": 0,
		"k8s_audit_webhook_requests_total{outcome=busy}": 1, "k8s_audit_webhook_requests_total{outcome=accepted}": 0,
		"k8s_audit_newest_event_timestamp_seconds{}": 1000.5,
	})
	problems, err := testutil.CollectAndLint(c)
	if err != nil || len(problems) > 0 {
		t.Errorf("%v, %v", problems, err)
	}
}

// The closed sets are those of the packages that produce them.
func TestClosedSets(t *testing.T) {
	for name, c := range map[string]struct{ got, want []string }{
		"ends":     {catalog.AuditWatchEnds.Values("reason"), reason.Ends()},
		"relists":  {catalog.AuditRelists.Values("reason"), reason.Relists()},
		"lists":    {catalog.AuditLists.Values("version"), clients.Hows()},
		"outcomes": {catalog.AuditWebhookRequests.Values("outcome"), webhook.Outcomes()},
	} {
		if !slices.Equal(c.got, c.want) {
			t.Errorf("%s: %v, want %v", name, c.got, c.want)
		}
	}
	if !slices.Equal(catalog.AuditCoverageGap.Buckets, gapBounds[:]) {
		t.Error("buckets of gaps")
	}
	for _, bound := range gapBounds {
		if !slices.Contains(clients.Bounds(), bound) {
			t.Errorf("%v is no bound of a tracker's histogram", bound)
		}
	}
}

// What the tracker knows from before the start is not counted again, and states are as they are.
func TestRebase(t *testing.T) {
	tracker := &state{example()}
	c := New(tracker, Series)
	c.Malformed.Add(3)
	c.Rebase()
	const pods = "client=system:serviceaccount:shop:shop/controller,informer_type=pods,"
	got := gather(t, c)
	for name, v := range got {
		if strings.Contains(name, "_total") && v != 0 || strings.Contains(name, "gap") && v != 0 {
			t.Errorf("%s is %v after the start", name, v)
		}
	}
	want(t, got, map[string]float64{"k8s_audit_watches_open{" + pods + "watch_namespace=*}": 2, "k8s_audit_unwatched_seconds{" + pods + "watch_namespace=*}": 240})
	tracker.now = example()
	tracker.now.Events += 2
	tracker.now.Clients[0].Informers[0].Relists[reason.Expired]++
	tracker.now.Clients[0].Informers[0].Gaps = histogramOf(.05, 2, 3)
	want(t, gather(t, c), map[string]float64{
		"k8s_audit_relists_total{" + pods + "reason=expired,watch_namespace=*}": 1, "k8s_audit_events_total{result=observed}": 2,
		"k8s_audit_coverage_gap_seconds{" + pods + "watch_namespace=*} count": 1, "k8s_audit_coverage_gap_seconds{" + pods + "watch_namespace=*} le=5": 1,
		"k8s_audit_coverage_gap_seconds{" + pods + "watch_namespace=*} le=1": 0,
	})
}

// many is a client with a number of informers.
func many(user string, informers int, n uint64) clients.Client {
	c := clients.Client{User: user, Requests: map[clients.Request]uint64{{Verb: "get", Class: "2xx"}: n}}
	for i := range informers {
		c.Informers = append(c.Informers, clients.Informer{Resource: fmt.Sprintf("r%04d", i), Opened: n, Gaps: histogramOf(.05)})
	}
	return c
}

// watches adds up the watches opened by a client, by the prefix of its name.
func watches(got map[string]float64, client string) (n float64) {
	for name, v := range got {
		if strings.HasPrefix(name, "k8s_audit_watches_total{client="+client) {
			n += v
		}
	}
	return n
}

// samples counts those of a client, by the prefix of its name.
func samples(got map[string]float64, client string) (n int) {
	for name := range got {
		if strings.Contains(name, "{client="+client) {
			n++
		}
	}
	return n
}

// A client with many informers is not cut while there is room: kube-controller-manager in a cluster with a hundred other clients.
func TestLargeClient(t *testing.T) {
	manager := many("kube-controller-manager", 55, 1)
	for n := range manager.Informers {
		i := &manager.Informers[n]
		i.Open, i.ListDurations, i.FirstEvents = 1, histogramOf(.5), histogramOf(.1)
		i.Ends, i.Relists, i.Lists = map[string]uint64{}, map[string]uint64{}, map[string]uint64{clients.HowZero: 1, clients.HowStreaming: 1}
		for _, r := range reason.Ends()[:4] {
			i.Ends[r] = 1
		}
		for _, r := range reason.Relists() {
			i.Relists[r] = 1
		}
	}
	tracker := &state{clients.Snapshot{Clients: []clients.Client{manager}}}
	for i := range 100 {
		tracker.now.Clients = append(tracker.now.Clients, many(fmt.Sprintf("operator-%03d", i), 2, 1))
	}
	got := gather(t, New(tracker, Series))
	if n := samples(got, "other"); n > 0 {
		t.Errorf("%d samples of clients in other, want none", n)
	}
	if all, large := samples(got, ""), samples(got, "kube-controller-manager"); all > Series || large < Series/4 {
		t.Errorf("%d samples, of these %d of the large client", all, large)
	}
}

// Series are limited, sums stay right, clients with many make room for others, and a series that others have replaced is counted on.
func TestLimit(t *testing.T) {
	const most, informers, late, other = 1000, 150, 10, "k8s_audit_watches_total{client=other,informer_type=other,watch_namespace=other}"
	tracker := &state{clients.Snapshot{Clients: []clients.Client{many("a-greedy", informers, 1), many("b-greedy", informers, 1)}}}
	c := New(tracker, most)
	first := gather(t, c)
	if n := samples(first, "a-greedy") - samples(first, "b-greedy"); n < -12 || n > 12 {
		t.Errorf("a client has %d samples more than another", n) // an informer has 12
	}
	if n := watches(first, ""); n != 2*informers {
		t.Errorf("%v watches, want %d", n, 2*informers)
	}
	for i := range late {
		tracker.now.Clients = append(tracker.now.Clients, many(fmt.Sprintf("late-%d", i), 1, 1))
	}
	tracker.now.Clients[0] = many("a-greedy", informers, 5)
	second := gather(t, c)
	if n := samples(second, ""); n > most+40 || n < most*9/10 {
		t.Errorf("%d samples, want about %d", n, most)
	}
	if n := watches(second, "late"); n != late {
		t.Errorf("%v watches of late clients, want %d", n, late)
	}
	ended := 0.0
	for name := range first {
		if _, ok := second[name]; ok {
			continue
		}
		if !strings.Contains(name, "-greedy") {
			t.Errorf("%s has ended", name)
		}
		if strings.HasPrefix(name, "k8s_audit_watches_total") {
			ended++
		}
	}
	// Watches are counted once: those of replaced series only from now on.
	if n := watches(second, ""); n != 5*informers+informers+late-ended {
		t.Errorf("%v watches with %v series replaced", n, ended)
	}
	third := gather(t, c)
	for name, v := range second {
		if third[name] != v {
			t.Errorf("%s was %v and is %v, although nothing happened", name, v, third[name])
		}
	}

	// The counters of other do not fall when a client ends.
	tracker.now.Clients = tracker.now.Clients[1:]
	if got := gather(t, c)[other]; got < second[other] || got == 0 {
		t.Errorf("%s fell from %v to %v", other, second[other], got)
	}
	for id := range c.limit.admitted {
		if strings.Contains(id, "a-greedy") {
			t.Fatalf("%s is kept", id)
		}
	}
}
