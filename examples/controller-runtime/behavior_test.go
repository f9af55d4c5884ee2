package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

// TestBehavior runs the example and the same program without the library as two processes against a real API server.
// Requests, retries, Events, leader election, log messages and shutdown must be the same, and /metrics must have all
// series of the plain program. As in a Pod, each process finds the namespace of its Lease in a file of its service
// account (O4).
func TestBehavior(t *testing.T) {
	elect := true
	if out, err := inPod(t.Context(), "true").CombinedOutput(); err != nil {
		t.Logf("SKIPPED: leader election in the namespace of a service account, because this machine has no user namespaces: %v %s", err, out)
		elect = false
	}
	type outcome struct {
		*operator
		size     int64
		series   map[string]bool
		events   []string
		lease    string
		messages []string
		code     int
	}
	run := func(t *testing.T, plain bool) *outcome {
		binary := program(t, plain)
		info, err := os.Stat(binary)
		if err != nil {
			t.Fatal(err)
		}
		o := &outcome{operator: startOperator(t, binary, stacktest.Namespace(t), elect, "--metrics-secure=false"), size: info.Size(), series: map[string]bool{}}
		o.run()
		for _, s := range o.scrape() {
			o.series[o.normalize(fmt.Sprint(s.Name, s.Labels))] = true
		}
		o.code = o.end()
		o.events, o.lease, o.messages = o.operator.events(), o.operator.lease(elect), o.operator.messages()
		return o
	}
	var plain, decorated *outcome
	t.Run("processes", func(t *testing.T) {
		var both sync.WaitGroup
		defer both.Wait()
		both.Go(func() { t.Run("plain", func(t *testing.T) { plain = run(t, true) }) })
		both.Go(func() { t.Run("decorated", func(t *testing.T) { decorated = run(t, false) }) })
	})
	if t.Failed() {
		return
	}

	if want, got := plain.requests(), decorated.requests(); !maps.Equal(want, got) {
		t.Errorf("requests differ:\n%s", difference(want, got))
	}
	want, got := count(plain.messages), count(decorated.messages)
	for _, message := range []string{lostMessage, warmupMessage} {
		delete(want, message)
		delete(got, message)
	}
	maps.DeleteFunc(got, func(text string, _ int) bool { return strings.Contains(text, ownMessage) })
	if !maps.Equal(want, got) {
		t.Errorf("log messages differ:\n%s", difference(want, got))
	}
	if want, got := plain.shutdown(), decorated.shutdown(); len(want) < 5 || !slices.Equal(want, got) {
		t.Errorf("the steps of the shutdown are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	stopped := func(text string, _ int) bool { return strings.Contains(text, " stopped leading ") }
	want, got = count(plain.events), count(decorated.events)
	maps.DeleteFunc(want, stopped)
	maps.DeleteFunc(got, stopped)
	if len(want) == 0 || !maps.Equal(want, got) {
		t.Errorf("Events differ:\n%s", difference(want, got))
	}
	if plain.lease != decorated.lease {
		t.Errorf("the lease is %s, want %s", decorated.lease, plain.lease)
	}
	if plain.code != decorated.code {
		t.Errorf("the exit code is %d, want %d", decorated.code, plain.code)
	}
	for _, o := range []*outcome{plain, decorated} {
		at := o.attempts()
		for n, delay := 1, 5*time.Millisecond; n < attempts; n, delay = n+1, 2*delay {
			if gap := at[n].Sub(at[n-1]); gap < delay {
				t.Errorf("retry %d is %v after the one before, want at least %v", n, gap, delay)
			}
		}
	}
	added := map[string]int{}
	for s := range decorated.series {
		if !plain.series[s] {
			name, _, _ := strings.Cut(s, "map[")
			added[name]++
			if !strings.Contains(s, "name:owner-labels") {
				t.Errorf("%s is not a series of the library", s)
			}
		}
	}
	for s := range plain.series {
		if !decorated.series[s] {
			t.Errorf("%s is missing", s)
		}
	}
	for _, name := range []string{"k8s_informer_synced", "controller_reconcile_total", "controller_backoff_seconds_count", "k8s_client_requests_total"} {
		if added[name] == 0 {
			t.Errorf("%s is missing", name)
		}
	}
	if elect && added["controller_leader"] != 1 {
		t.Errorf("the lock has %d series, want 1", added["controller_leader"])
	}
	t.Logf("plain: %d requests, %d series, %d bytes; decorated: %d requests, %d series, %d bytes",
		len(plain.api.requests()), len(plain.series), plain.size, len(decorated.api.requests()), len(decorated.series), decorated.size)
}

// ownMessage is the only message of the library that the fault of this test causes: it names an item above the objective of
// retries, and how many of its retries fit in the run depends on time.
const ownMessage = `"msg":"item keeps being retried"`

// lostMessage and the Event "stopped leading" are the last that a manager writes, and a race within controller-runtime: it
// ends its election as the last step of its shutdown, and exits whether or not the error was read and the Event was sent.
const lostMessage = `{"error":"leader election lost","level":"error","msg":"error received after stop sequence was engaged"}`

// warmupMessage is written by a goroutine that the manager does not wait for: a process may end before.
const warmupMessage = `{"level":"info","msg":"Stopping and waiting for warmup runnables"}`

// rediscovery is a request of controller-runtime's RESTMapper for one group version. It follows the first discovery only
// when two goroutines need the mapper at once: the second misses, waits for the first, and asks for its group again.
var rediscovery = regexp.MustCompile(`^GET (/api/v1|/apis/[^/]+/[^/]+) `)

// requests counts the requests. Requests that are repeated depending on time, such as retries, count as one.
func (o *operator) requests() map[string]int {
	seen := map[string]int{}
	for _, r := range o.api.requests() {
		line := o.normalize(fmt.Sprint(r.line, " ", r.code))
		if rediscovery.MatchString(line) {
			continue
		}
		seen[line]++
		if !strings.HasPrefix(line, "GET") || strings.Contains(line, "/leases/") {
			seen[line] = 1
		}
	}
	return seen
}

// shutdown returns the steps of the manager's shutdown in their order.
func (o *operator) shutdown() (steps []string) {
	for _, message := range o.messages() {
		if message == warmupMessage {
			continue
		}
		if strings.Contains(message, "topping and waiting") || strings.Contains(message, "Wait completed") {
			steps = append(steps, message)
		}
	}
	return steps
}

// lease returns the relevant fields of the lease.
func (o *operator) lease(elect bool) string {
	o.t.Helper()
	if !elect {
		return ""
	}
	lease, err := o.client.CoordinationV1().Leases(o.namespace).Get(context.Background(), "owner-labels.example.com", metav1.GetOptions{})
	if err != nil {
		o.t.Fatal(err)
	}
	return o.normalize(fmt.Sprint(lease.Labels, *lease.Spec.HolderIdentity, *lease.Spec.LeaseDurationSeconds, *lease.Spec.LeaseTransitions))
}

// varying are parts of requests, Events and messages that differ between two processes or two runs.
var varying = []struct {
	pattern     *regexp.Regexp
	replacement string
}{
	{regexp.MustCompile(`[\w.-]+_[0-9a-f]{8}-[0-9a-f-]{27}`), "IDENTITY"},
	{regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`), "UUID"},
	{regexp.MustCompile(`127\.0\.0\.1:\d+`), "ADDRESS"},
	{regexp.MustCompile(`timeoutSeconds=\d+`), "timeoutSeconds=N"},
	{regexp.MustCompile(`timeout=[5-9]m\d+s`), "timeout=N"},
	{regexp.MustCompile(`resourceVersion=\d+`), "resourceVersion=N"},
	{regexp.MustCompile(`/events/[\w.-]+`), "/events/NAME"},
}

func (o *operator) normalize(text string) string {
	text = strings.ReplaceAll(text, o.namespace, "NAMESPACE")
	for _, v := range varying {
		text = v.pattern.ReplaceAllString(text, v.replacement)
	}
	return text
}

// count counts messages. Messages that are logged for each retry count as one.
func count(texts []string) map[string]int {
	counts := map[string]int{}
	for _, text := range texts {
		counts[text]++
		if strings.Contains(text, "Reconciler error") {
			counts[text] = 1
		}
	}
	return counts
}

// difference returns the differences between two counts.
func difference(want, got map[string]int) string {
	var lines []string
	for text, n := range want {
		if got[text] != n {
			lines = append(lines, fmt.Sprintf("%d instead of %d: %s", got[text], n, text))
		}
	}
	for text, n := range got {
		if want[text] == 0 {
			lines = append(lines, fmt.Sprintf("%d instead of 0: %s", n, text))
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}
