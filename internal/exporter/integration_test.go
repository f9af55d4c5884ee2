package exporter

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/internal/exporter/availability"
	"github.com/informer-exporter/informer-exporter/internal/exporter/config"
	"github.com/informer-exporter/informer-exporter/internal/exporter/exportertest"
	"github.com/informer-exporter/informer-exporter/internal/exporter/kinds"
	"github.com/informer-exporter/informer-exporter/internal/testenv/await"
	"github.com/informer-exporter/informer-exporter/internal/testenv/logtest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stack"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

func newReal(t *testing.T, options Options) *Exporter {
	t.Helper()
	e, err := New(options)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// waitKindUp waits until informer_exporter_kind_up has the given values.
func waitKindUp(t *testing.T, e *Exporter, want map[string]float64) {
	t.Helper()
	var got map[string]float64
	await.True(t, fmt.Sprintf("kind_up %v", want), func() bool {
		got = exportertest.Values(t, e.Gatherer(), catalog.ExporterKindUp.Name, "informer_type")
		if len(got) != len(want) {
			return false
		}
		for kind, up := range want {
			if value, ok := got[kind]; !ok || value != up {
				return false
			}
		}
		return true
	}, func() string { return fmt.Sprint("have ", got) })
}

func waitReady(t *testing.T, e *Exporter) {
	t.Helper()
	await.True(t, "ready", func() bool { return get(e, "/readyz").Code == http.StatusOK },
		func() string { return get(e, "/readyz?verbose").Body.String() })
}

func TestDefaultKindsOnARealServer(t *testing.T) {
	cluster := stacktest.Config(t)
	var written logtest.Recorder
	e := newReal(t, Options{REST: cluster, Logger: written.Logger()})
	run(t, e, cluster)

	want := map[string]float64{}
	for _, k := range kinds.Default() {
		want[k.Type()] = 1
	}
	waitKindUp(t, e, want)
	waitReady(t, e)
	synced := exportertest.Values(t, e.Gatherer(), catalog.InformerSynced.Name, "informer_type")
	for kind := range want {
		if synced[kind] != 1 {
			t.Errorf("%s of %s is %v, want 1", catalog.InformerSynced.Name, kind, synced[kind])
		}
	}
	if len(synced) != len(want) {
		t.Errorf("%d informers report, want %d", len(synced), len(want))
	}

	// New objects arrive, and their names do not appear in the metrics.
	before := exportertest.Values(t, e.Gatherer(), catalog.InformerObjects.Name, "informer_type")["configmaps"]
	createConfigMap(t, cluster, stacktest.Namespace(t), "unmistakable")
	await.True(t, "one more ConfigMap", func() bool {
		return exportertest.Values(t, e.Gatherer(), catalog.InformerObjects.Name, "informer_type")["configmaps"] > before
	}, func() string { return get(e, "/").Body.String() })
	if body := get(e, "/metrics").Body.String(); strings.Contains(body, "unmistakable") {
		t.Error("the name of an object is in the metrics")
	}
	problems, err := testutil.GatherAndLint(e.Gatherer())
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
	for _, ln := range warnings(&written) {
		t.Errorf("logged on a healthy cluster: %+v", ln)
	}
}

// warnings returns warnings and errors, except about documents that a busy API server did not send in time.
func warnings(written *logtest.Recorder) []logtest.Line {
	return slices.DeleteFunc(written.Find(""), func(ln logtest.Line) bool {
		late := strings.HasPrefix(ln.Message, "cannot read the OpenAPI document") && strings.Contains(ln.Attrs["err"], context.DeadlineExceeded.Error())
		return late || ln.Level <= slog.LevelInfo
	})
}

// The default resources pass both checks on a real server, with the client that requests only metadata.
func TestChecksOfTheDefaultKinds(t *testing.T) {
	cluster := stacktest.Config(t)
	createConfigMap(t, cluster, stacktest.Namespace(t), "there")
	second := every(time.Second)
	var written logtest.Recorder
	e := newReal(t, Options{REST: cluster, Logger: written.Logger(), Config: config.Config{Checks: config.Checks{Freshness: second, Audit: second}}})
	run(t, e, cluster)
	for metric, good := range map[string]string{
		catalog.InformerFreshnessChecks.Name: "fresh", catalog.InformerAudits.Name: "consistent",
	} {
		await.True(t, metric+" of every kind", func() bool {
			return exportertest.Values(t, e.Gatherer(), metric, "result")[good] >= float64(2*len(kinds.Default()))
		}, func() string { return fmt.Sprint(exportertest.Values(t, e.Gatherer(), metric, "result")) })
		for _, bad := range []string{"lagging", "different"} {
			if n := exportertest.Values(t, e.Gatherer(), metric, "result")[bad]; n != 0 {
				t.Errorf("%s{result=%q} is %v", metric, bad, n)
			}
		}
	}
	for _, ln := range append(written.FindDebug("freshness check failed"), written.FindDebug("audit failed")...) {
		if !strings.Contains(ln.Attrs["err"], context.DeadlineExceeded.Error()) { // which a busy API server causes
			t.Errorf("failed: %+v", ln)
		}
	}
	lag := func() float64 {
		return exportertest.Values(t, e.Gatherer(), catalog.InformerSyncLag.Name, "watch_namespace")["*"]
	}
	await.True(t, "the lags add up to less than a second", func() bool { return lag() < 1 }, func() string { return fmt.Sprint(lag()) })
}

func TestForbiddenKindRecovers(t *testing.T) {
	t.Parallel()
	account := newLimited(t, stacktest.Namespace(t))
	account.Grant(t, "", mayWatch("pods"))

	var written logtest.Recorder
	e := newReal(t, Options{REST: account.Config, Logger: written.Logger(), Config: config.Config{Resources: []config.Resource{{Name: "pods"}, {Name: "secrets"}}}})
	start(t, e)
	waitKindUp(t, e, map[string]float64{"pods": 1, "secrets": 0})
	waitReady(t, e)

	// After several attempts the log still has one line.
	await.True(t, "several attempts", func() bool {
		return exportertest.Values(t, e.Gatherer(), catalog.InformerSyncErrors.Name, "informer_type")["secrets"] >= 6
	}, func() string {
		return fmt.Sprint(exportertest.Values(t, e.Gatherer(), catalog.InformerSyncErrors.Name, "informer_type"))
	})
	for _, part := range []string{"cannot watch the resource", ""} {
		if lines := written.Find(part, "informer_type", "secrets"); len(lines) != 1 || lines[0].Attrs["reason"] != availability.Forbidden {
			t.Errorf("log lines about secrets: %v, want one with the reason forbidden", lines)
		}
	}

	account.Grant(t, "", mayWatch("secrets"))
	waitKindUp(t, e, map[string]float64{"pods": 1, "secrets": 1})
	await.True(t, "secrets are synced", func() bool {
		return exportertest.Values(t, e.Gatherer(), catalog.InformerSynced.Name, "informer_type")["secrets"] == 1
	}, func() string { return get(e, "/readyz?verbose").Body.String() })
	if lines := written.Find("resource is available", "informer_type", "secrets"); len(lines) != 1 {
		t.Errorf("log lines that secrets are available: %v, want one", lines)
	}
	if lines := written.Find("", "informer_type", "secrets"); len(lines) != 2 {
		t.Errorf("%d log lines about secrets, want 2: %v", len(lines), lines)
	}
	if lines := written.Find("", "informer_type", "pods"); len(lines) != 0 {
		t.Errorf("log lines about pods, which were always available: %v", lines)
	}
	for _, ln := range warnings(&written) {
		if ln.Attrs["informer_type"] == "" {
			t.Errorf("client-go logged: %+v", ln)
		}
	}
}

func TestMissingKindAppearsAndGoes(t *testing.T) {
	t.Parallel()
	needKubectl(t)
	admin := stacktest.Config(t)
	var written logtest.Recorder
	e := newReal(t, Options{REST: admin, Logger: written.Logger(), Config: config.Config{
		Resources: []config.Resource{{Name: "pods"}, {Name: "widgets.example.com", Version: "v1"}},
	}})
	start(t, e)
	waitKindUp(t, e, map[string]float64{"pods": 1, "widgets.example.com": 0})
	waitReady(t, e)
	if body := get(e, "/readyz?verbose").Body.String(); !strings.Contains(body, "[+]widgets.example.com skipped: missing\n") {
		t.Errorf("readiness does not say that widgets are missing:\n%s", body)
	}

	kubectl(t, admin, widgets, "apply", "-f", "-")
	waitKindUp(t, e, map[string]float64{"pods": 1, "widgets.example.com": 1})

	// When the definition is deleted, the API server ends the watch; the next one gets 404.
	kubectl(t, admin, widgets, "delete", "--wait=false", "-f", "-")
	waitKindUp(t, e, map[string]float64{"pods": 1, "widgets.example.com": 0})

	await.True(t, "the last log line", func() bool { return len(written.Find("", "informer_type", "widgets.example.com")) >= 3 })
	var messages []string
	for _, ln := range written.Find("", "informer_type", "widgets.example.com") {
		messages = append(messages, strings.TrimSpace(ln.Message+" "+ln.Attrs["reason"]))
	}
	if want := []string{"cannot watch the resource missing", "resource is available", "cannot watch the resource missing"}; strings.Join(messages, "|") != strings.Join(want, "|") {
		t.Errorf("log lines %q, want %q", messages, want)
	}
}

const widgets = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, singular: widget, kind: Widget}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}
`

func TestNamespaces(t *testing.T) {
	admin, one, two := stacktest.Config(t), stacktest.Namespace(t), stacktest.Namespace(t)
	account := newLimited(t, one)
	account.Grant(t, one, mayWatch("configmaps"))

	var written logtest.Recorder
	e := newReal(t, Options{REST: account.Config, Logger: written.Logger(), Config: config.Config{
		Resources: []config.Resource{{Name: "configmaps"}}, Namespaces: []string{one, two},
	}})
	run(t, e, admin)
	// Allowed in one of two namespaces: the resource is not up.
	await.True(t, "one synced, the other refused", func() bool {
		body := get(e, "/readyz?verbose").Body.String()
		return strings.Contains(body, "[+]"+one+"/configmaps ok\n") && strings.Contains(body, "[+]"+two+"/configmaps skipped: forbidden\n")
	}, func() string { return get(e, "/readyz?verbose").Body.String() })
	waitKindUp(t, e, map[string]float64{"configmaps": 0})
	synced := exportertest.Values(t, e.Gatherer(), catalog.InformerSynced.Name, "watch_namespace")
	if len(synced) != 2 || synced[one] != 1 || synced[two] != 0 {
		t.Errorf("synced by namespace: %v, want 1 for %s and 0 for %s", synced, one, two)
	}
	if lines := written.Find("cannot watch the resource", "namespace", two); len(lines) != 1 {
		t.Errorf("log lines about %s: %v, want one", two, lines)
	}

	account.Grant(t, two, mayWatch("configmaps"))
	waitKindUp(t, e, map[string]float64{"configmaps": 1})
}

// An unreachable API server does not change kind_up, readiness or liveness.
func TestAPIServerOutage(t *testing.T) {
	t.Parallel()
	plane := stacktest.Private(t, stack.Options{})
	var written logtest.Recorder
	e := newReal(t, Options{REST: plane.Config(), Logger: written.Logger(), Config: config.Config{Resources: []config.Resource{{Name: "pods"}, {Name: "nodes"}}}})
	start(t, e)
	waitReady(t, e)

	if err := plane.APIServer.Kill(); err != nil {
		t.Fatal(err)
	}
	unread := func() int { // resources that the log names or counts
		n := len(written.Find("cannot read the resource;"))
		for _, line := range written.Find("cannot read resources;") {
			more, err := strconv.Atoi(line.Attrs["resources"])
			if err != nil {
				t.Fatal(err)
			}
			n += more
		}
		return n
	}
	await.True(t, "the log says that resources cannot be read", func() bool { return unread() == 2 }, func() string { return fmt.Sprint(written.Find("")) })
	await.True(t, "several attempts", func() bool {
		return exportertest.Values(t, e.Gatherer(), catalog.InformerSyncErrors.Name, "informer_type")["pods"] >= 3
	}, func() string { return fmt.Sprint(written.Find("")) })
	waitKindUp(t, e, map[string]float64{"pods": 1, "nodes": 1})
	for _, target := range []string{"/readyz", "/livez", "/healthz"} {
		if code := get(e, target).Code; code != http.StatusOK {
			t.Errorf("%s without an API server: %d, want 200", target, code)
		}
	}
	if body := get(e, "/").Body.String(); !strings.Contains(body, `<span class="state unreachable">`) {
		t.Error("the landing page does not show that the API server cannot be reached")
	}

	if err := plane.APIServer.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	await.True(t, "a log line that the API server is reachable again", func() bool {
		return len(written.Find("reachable again")) > 0
	}, func() string { return fmt.Sprint(written.Find("")) })
	if n := unread(); n != 2 {
		t.Errorf("the log says %d times that a resource cannot be read, want 2: %v", n, written.Find(""))
	}
}

func TestStopIsQuick(t *testing.T) {
	e := newReal(t, Options{REST: stacktest.Config(t)})
	run(t, e, stacktest.Config(t)) // verifies that no goroutine is left
	waitReady(t, e)
	began := time.Now()
	if err := e.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took > 30*time.Second { // without a bound, Stop waits minutes for watches to end
		t.Errorf("took %v", took)
	}
}
