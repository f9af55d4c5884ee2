package auditlog

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/informer-exporter/informer-exporter/alerts"
	"github.com/informer-exporter/informer-exporter/internal/auditlog/report"
	"github.com/informer-exporter/informer-exporter/internal/reason"
	"github.com/informer-exporter/informer-exporter/internal/testenv/await"
	"github.com/informer-exporter/informer-exporter/internal/testenv/promtool"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stack"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

// The faults, in the order in which programs have them. The last one does not end.
const (
	watchCut  = "its watch is cut"
	expired   = "its version expires"
	writeLoop = "it writes one object over and over"
	starved   = "it gets no watch"
)

// fault is a fault of a program.
type fault struct {
	name, file string
	// alert must fire for each program that has the fault, and for no other.
	alert string
	// length and lasts are how what was recorded is stretched and repeated, until the alert is due.
	length, lasts time.Duration
	// reported reports whether the report shows the fault.
	reported func(report.Client) bool
	inject   func(context.Context, *testing.T, []*member)
}

var matrix = []fault{
	{
		name: watchCut, file: "cut", alert: "ClusterClientWatchDisconnects", lasts: 9 * time.Minute, inject: cutAll,
		reported: func(c report.Client) bool { return c.EarlyEnds[reason.ServerClose] > 100 && c.LongestGap > 0 },
	},
	{
		name: expired, file: "relist", alert: "ClusterClientRelists", length: 10 * time.Second, lasts: time.Minute, inject: expireAll,
		reported: func(c report.Client) bool { return c.Relists >= 5 },
	},
	{
		name: writeLoop, file: "loop", alert: "ClusterClientHotLoop", length: 50 * time.Second, lasts: 8 * time.Minute, inject: spinAll,
		reported: func(c report.Client) bool { return len(c.HotLoops) == 1 && c.HotLoops[0].PerMinute > 60 },
	},
	{
		name: starved, file: "starve", alert: "ClusterClientWatchLost", length: 8 * time.Minute, lasts: 8 * time.Minute, inject: starveAll,
		reported: func(c report.Client) bool { return c.Lost == 1 },
	},
}

const recorded = "testdata/faults/"

// Each program that is not changed has each fault. The report and the alerts show it, and name the right client.
func TestFaultsOfPrograms(t *testing.T) {
	t.Parallel()
	policy, err := filepath.Abs(auditFiles + "policy.yaml")
	if err != nil {
		t.Fatal(err)
	}
	log := filepath.Join(t.TempDir(), "audit.log")
	plane := stacktest.Private(t, stack.Options{APIServerArgs: []string{"--audit-policy-file=" + policy, "--audit-log-path=" + log}})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	env := &fleetEnv{ctx: ctx, dir: t.TempDir(), admin: kubernetes.NewForConfigOrDie(plane.Config())}
	if _, err := env.admin.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	running := startFleet(t, env, plane)
	read := 0
	next := func(file string) part {
		text, err := os.ReadFile(log)
		if err != nil {
			t.Fatal(err)
		}
		text = text[read : bytes.LastIndexByte(text, '\n')+1]
		read += len(text)
		p := parsePart(t, text)
		if os.Getenv("UPDATE") != "" {
			writePart(t, file, p)
		}
		return p
	}
	start := next("start")
	for _, f := range matrix {
		f.inject(ctx, t, running)
		verifyFault(t, running, f, next(f.file).after(start, f.length, f.lasts))
	}
}

// The recording of TestFaultsOfPrograms has all programs.
func TestRecordedFaults(t *testing.T) {
	t.Parallel()
	start := readPart(t, "start")
	for _, f := range matrix {
		t.Run(f.file, func(t *testing.T) {
			t.Parallel()
			verifyFault(t, fleet(), f, readPart(t, f.file).after(start, f.length, f.lasts))
		})
	}
}

// Which alert names each program with each fault, or why the program cannot have it. UPDATE=1 writes the table.
func TestFaultTable(t *testing.T) {
	t.Parallel()
	table, rule := "| Program |", "|---|"
	for _, f := range matrix {
		table += " " + f.name + " |"
		rule += "---|"
	}
	table += "\n" + rule + "\n"
	for _, m := range fleet() {
		table += "| " + m.agent + " |"
		for _, f := range matrix {
			cell := f.alert
			if why := m.without[f.name]; why != "" {
				cell = "none: " + why
			}
			table += " " + cell + " |"
		}
		table += "\n"
	}
	const file = "testdata/faults.md"
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(file, []byte(table), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != table {
		t.Errorf("%s is not current (%v):\n%s", file, err, table)
	}
}

// verifyFault verifies that the report and the alerts show a fault of all programs, and of no other client.
func verifyFault(t *testing.T, programs []*member, f fault, log part) {
	t.Helper()
	text := log.text(t)
	path := filepath.Join(t.TempDir(), "audit.log")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	files, err := report.Open([]string{path}, nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := report.Of(t.Context(), files, report.Options{})
	if err != nil {
		t.Fatal(err)
	}
	has := map[string]*member{}
	var firing []promtool.Sample
	for _, m := range programs {
		if m.without[f.name] != "" {
			continue
		}
		has[m.client()] = m
		labels := fmt.Sprintf("ALERTS{alertname=%q, alertstate=\"firing\", client=%q, cluster=\"eu\", informer_type=%q, namespace=%q, severity=\"ticket\"", f.alert, m.client(), m.resource, namespace)
		if f.name != writeLoop {
			labels += fmt.Sprintf(", watch_namespace=%q", m.namespace)
		}
		firing = append(firing, promtool.Sample{Labels: labels + "}", Value: 1})
	}
	found := 0
	for _, c := range r.Clients {
		m := has[c.User+"/"+c.Agent]
		if m != nil {
			found++
		}
		if (m != nil) != f.reported(c) {
			t.Errorf("%s: the report has %+v", f.name, c)
		}
	}
	if found != len(has) {
		t.Errorf("%s: the report has %d of %d programs", f.name, found, len(has))
	}
	all, lasts := series(t, text)
	test := promtool.Test{Name: f.name, Interval: scrapes.String(), Series: all, Queries: []promtool.Query{{
		Expr: fmt.Sprintf("ALERTS{alertname=%q, alertstate=\"firing\"}", f.alert), At: lasts.String(), Samples: firing,
	}}}
	for _, other := range []string{"ClusterClientHotLoop", "ClusterClientWatchLost"} { // the other faults have relists and disconnects
		if other != f.alert {
			test.Queries = append(test.Queries, promtool.Query{Expr: fmt.Sprintf("ALERTS{alertname=%q}", other), At: lasts.String()})
		}
	}
	groups := slices.DeleteFunc(alerts.Rules(alerts.Config{}), func(g alerts.Group) bool { return !strings.HasSuffix(g.Name, ".clients") })
	if output, ok := promtool.Run(t, scrapes.String(), []promtool.Test{test}, groups); !ok {
		t.Errorf("%s: %s", f.name, output)
	}
}

// cutAll cuts watches over and over.
func cutAll(_ context.Context, t *testing.T, programs []*member) {
	t.Helper()
	left := slices.Repeat([]int{8}, len(programs)) // each program at its own pace
	await.Within(t, 8*await.Timeout, "all watches are cut", func(context.Context) error {
		for i, m := range programs {
			if left[i] > 0 && m.gateway.steady() {
				m.gateway.cut()
				left[i]--
			}
		}
		if slices.Max(left) > 0 {
			return fmt.Errorf("left to cut: %v", left)
		}
		return nil
	})
	awaitSteady(t, programs)
}

// expireAll makes each program list again once.
func expireAll(_ context.Context, t *testing.T, programs []*member) {
	t.Helper()
	for _, m := range programs {
		m.gateway.expire()
	}
	awaitSteady(t, programs)
}

// spinAll makes programs write.
func spinAll(ctx context.Context, t *testing.T, programs []*member) {
	t.Helper()
	var all sync.WaitGroup
	for _, m := range programs {
		if m.spin == nil {
			if m.without[writeLoop] == "" {
				t.Errorf("%s cannot write, for no reason", m.agent)
			}
			continue
		}
		all.Go(func() {
			if err := m.spin(ctx); err != nil {
				t.Errorf("%s: %v", m.agent, err)
			}
		})
	}
	all.Wait()
}

// starveAll takes the watches away, while programs go on with what else they do: for so long that, stretched, less than a minute passes
// between two renewals of a Lease. After a minute without a request, a client counts as stopped.
func starveAll(_ context.Context, t *testing.T, programs []*member) {
	t.Helper()
	for _, m := range programs {
		m.gateway.starve()
	}
	for range 10 {
		since := time.Now()
		await.True(t, "programs live on", func() bool { return time.Since(since) > 2*lasting })
		for _, m := range programs {
			m.gateway.cutAnother()
		}
	}
}

func awaitSteady(t *testing.T, programs []*member) {
	t.Helper()
	for _, m := range programs {
		await.True(t, m.agent+" watches", m.gateway.steady)
	}
}

func writePart(t *testing.T, file string, p part) {
	t.Helper()
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err == nil {
		_, err = w.Write(p.text(t))
		err = errors.Join(err, w.Close(), os.MkdirAll(recorded, 0o755), os.WriteFile(recorded+file+".log.gz", b.Bytes(), 0o644))
	}
	if err != nil {
		t.Fatal(err)
	}
}

func readPart(t *testing.T, file string) part {
	t.Helper()
	raw, err := os.Open(recorded + file + ".log.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close() // only read
	r, err := gzip.NewReader(raw)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return parsePart(t, text)
}
