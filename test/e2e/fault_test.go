package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/informer-exporter/informer-exporter/internal/testenv/await"
	"github.com/informer-exporter/informer-exporter/internal/testenv/chain"
	"github.com/informer-exporter/informer-exporter/internal/testenv/receiver"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stack"
)

// Alerts wait a minute by default; client-go may wait another one before it retries, and a failed scrape, of which there are some on a busy
// machine, restarts the wait.
const (
	fireTimeout    = 10 * time.Minute
	resolveTimeout = 10 * time.Minute
)

// TestFaultReachesTheReceiver cuts the informers off from the API server and follows the alert through Prometheus and
// Alertmanager to the webhook, until it is resolved after the connection is back (O3).
func TestFaultReachesTheReceiver(t *testing.T) {
	c := theChain(t)
	awaitKinds(t, c, `k8s_informer_watch_connected{name="informer-exporter"} == 1`, defaultKinds())

	restore := inject(t, c, "cut")
	cut := time.Now()
	fired := map[string]receiver.Alert{}
	for _, kind := range defaultKinds() {
		fired[kind] = awaitWatchDown(t, c, cut, "firing", kind)
		checkAlert(t, c, fired[kind], kind)
	}
	// Sync lag is a consequence: its alert fires as well, and Alertmanager inhibits it.
	await.Within(t, fireTimeout, "InformerSyncLagHigh is inhibited", func(ctx context.Context) error {
		return inhibited(ctx, c, len(defaultKinds()), `alertname="InformerSyncLagHigh"`, `name="`+exporterName+`"`)
	})
	sent := c.Receiver.Alerts()
	for _, a := range sent {
		if a.Name == "InformerSyncLagHigh" && a.Labels["name"] == exporterName && a.Status == "firing" && a.StartsAt.After(cut) &&
			caused(sent, a) {
			t.Errorf("the consequence was sent in addition to the cause: %+v", a)
		}
	}

	// An alert that a failed scrape has resolved would not fire again. Those that fire now keep firing for longer than
	// restoring takes.
	await.Within(t, fireTimeout, "all alerts at once", func(ctx context.Context) error {
		firing, err := kindsOf(ctx, c, `ALERTS{alertname="InformerWatchDown", alertstate="firing", name="`+exporterName+`"} and on (name, informer_type) k8s_informer_watch_connected == 0`)
		if err == nil && !slices.Equal(firing, defaultKinds()) {
			err = fmt.Errorf("InformerWatchDown fires for %v", firing)
		}
		return err
	})
	restored := time.Now()
	if err := restore(t.Context()); err != nil {
		t.Fatal(err)
	}
	var last time.Time
	for _, kind := range defaultKinds() {
		a := awaitWatchDown(t, c, restored, "resolved", kind)
		if a.Arrived.After(last) {
			last = a.Arrived
		}
	}
	pods := fired["pods"]
	t.Logf("connection cut      %s", cut.Format(time.RFC3339))
	t.Logf("alert fired         %s (%s)", pods.StartsAt.Local().Format(time.RFC3339), pods.Annotations["summary"])
	t.Logf("arrived at webhook  %s, %v after the cut", pods.Arrived.Format(time.RFC3339), pods.Arrived.Sub(cut).Round(time.Second))
	t.Logf("connection restored %s", restored.Format(time.RFC3339))
	t.Logf("all resolved        %s, %v after it was back", last.Format(time.RFC3339), last.Sub(restored).Round(time.Second))
	awaitKinds(t, c, `k8s_informer_watch_connected{name="load"} == 1`, loadKinds)
}

// caused reports whether InformerWatchDown fired for an alert's informer when the alert was sent. Alertmanager inhibits once it has the
// cause: on a busy machine a consequence may be evaluated before, and be on its way until the next group interval. A failed scrape resolves
// both, and the same holds when they fire again.
func caused(sent []receiver.Alert, a receiver.Alert) (fires bool) {
	for _, cause := range sent {
		if cause.Name != "InformerWatchDown" || cause.Labels["name"] != a.Labels["name"] || cause.Labels["informer_type"] != a.Labels["informer_type"] {
			continue
		}
		switch {
		case cause.Status == "firing" && a.Arrived.Sub(cause.Arrived) > 5*time.Second:
			fires = true
		case cause.Status == "resolved" && cause.EndsAt.Before(a.Arrived):
			fires = false
		}
	}
	return fires
}

// TestConsequenceIsSeen verifies the rule of TestFaultReachesTheReceiver with notifications in all orders.
func TestConsequenceIsSeen(t *testing.T) {
	at := func(seconds int) time.Time { return time.Unix(int64(seconds), 0) }
	pods := map[string]string{"name": exporterName, "informer_type": "pods"}
	fires := func(seconds int) receiver.Alert {
		return receiver.Alert{Name: "InformerWatchDown", Status: "firing", Labels: pods, Arrived: at(seconds)}
	}
	ends := func(end, arrived int) receiver.Alert {
		return receiver.Alert{Name: "InformerWatchDown", Status: "resolved", Labels: pods, EndsAt: at(end), Arrived: at(arrived)}
	}
	lag := receiver.Alert{Name: "InformerSyncLagHigh", Status: "firing", Labels: pods, Arrived: at(100)}
	ofNodes := fires(10)
	ofNodes.Labels = map[string]string{"name": exporterName, "informer_type": "nodes"}
	for name, tc := range map[string]struct {
		sent []receiver.Alert
		want bool
	}{
		"after the cause":              {[]receiver.Alert{fires(10), lag}, true},
		"before the cause":             {[]receiver.Alert{lag, fires(106)}, false},
		"with the cause":               {[]receiver.Alert{fires(95), lag}, false},
		"another informer's cause":     {[]receiver.Alert{ofNodes, lag}, false},
		"after the cause has ended":    {[]receiver.Alert{fires(10), ends(90, 95), lag}, false},
		"and the end arrived later":    {[]receiver.Alert{fires(10), lag, ends(90, 105)}, false},
		"the cause ended later":        {[]receiver.Alert{fires(10), lag, ends(110, 111)}, true},
		"the cause ended and is back":  {[]receiver.Alert{fires(10), ends(30, 35), fires(90), lag}, true},
		"the cause comes back with it": {[]receiver.Alert{fires(10), ends(30, 35), lag, fires(100)}, false},
	} {
		if got := caused(tc.sent, lag); got != tc.want {
			t.Errorf("%s: got %v, want %v", name, got, tc.want)
		}
	}
}

const exporterName = "informer-exporter"

// inject injects a fault and returns the function that ends it; the end of the test ends it in any case.
func inject(t *testing.T, c *chain.Chain, name string) (restore func(context.Context) error) {
	t.Helper()
	fault, err := chain.FaultByName(name)
	if err != nil {
		t.Fatal(err)
	}
	end, err := fault.Inject(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	ended := false
	restore = func(ctx context.Context) error {
		if ended {
			return nil
		}
		ended = true
		return end(ctx)
	}
	t.Cleanup(func() {
		if err := restore(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return restore
}

// awaitWatchDown waits until the webhook is notified that the exporter's watch of a resource is down, or resolved.
func awaitWatchDown(t *testing.T, c *chain.Chain, after time.Time, status, kind string) receiver.Alert {
	t.Helper()
	patience := fireTimeout
	if status == "resolved" {
		patience = resolveTimeout
	}
	return awaitAlert(t, c, patience, "InformerWatchDown for "+kind+", "+status, func(a receiver.Alert) bool {
		if status == "resolved" && a.EndsAt.Before(after.Add(-time.Second)) {
			return false // the notification of an earlier end
		}
		return a.Name == "InformerWatchDown" && a.Status == status && a.Arrived.After(after) &&
			a.Labels["name"] == exporterName && a.Labels["informer_type"] == kind
	})
}

// checkAlert checks the annotations of an alert.
func checkAlert(t *testing.T, c *chain.Chain, a receiver.Alert, kind string) {
	t.Helper()
	instance := strings.TrimPrefix(c.ExporterURL, "http://")
	want := map[string]string{
		"alertname": "InformerWatchDown", "severity": "ticket", "cluster": chain.Cluster, "job": exporterName, "instance": instance,
		"name": exporterName, "informer_type": kind, "watch_namespace": "*",
	}
	if fmt.Sprint(a.Labels) != fmt.Sprint(want) {
		t.Errorf("got the labels  %v\nwant the labels %v", a.Labels, want)
	}
	if a.Receiver != "ticket" {
		t.Errorf("it went to the receiver %q, want ticket", a.Receiver)
	}
	summary := "Informer " + kind + " of informer-exporter (cluster local) has no watch."
	if a.Annotations["summary"] != summary {
		t.Errorf("summary %q, want %q", a.Annotations["summary"], summary)
	}
	if d := a.Annotations["description"]; !strings.Contains(d, instance) || strings.Contains(d, "{{") {
		t.Errorf("description %q", d)
	}
	if link := a.Annotations["dashboard_url"]; !strings.Contains(link, "var-informer_type="+kind+"&") {
		t.Errorf("dashboard_url %q does not choose the informer", link)
	}
	if err := runbookExists(a.Annotations["runbook_url"], a.Name); err != nil {
		t.Error(err)
	}
}

// runbookExists fails unless a URL leads to a file of this repository about the alert.
func runbookExists(address, alert string) error {
	_, path, ok := strings.Cut(address, "/blob/")
	_, path, _ = strings.Cut(path, "/") // after the branch or tag
	if !ok {
		return fmt.Errorf("runbook_url %q is not a file of the repository", address)
	}
	root, err := stack.Root()
	if err != nil {
		return err
	}
	page, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(path)))
	if err != nil {
		return err
	}
	if !slices.Contains(strings.Split(string(page), "\n"), "# "+alert) {
		return fmt.Errorf("%s is not about %s", path, alert)
	}
	return nil
}

func TestDeadRunbookIsSeen(t *testing.T) {
	const base = "https://github.com/informer-exporter/informer-exporter/blob/main/deploy/runbooks/"
	if err := runbookExists(base+"InformerWatchDown.md", "InformerWatchDown"); err != nil {
		t.Error(err)
	}
	for _, bad := range []string{"", "InformerWatchDown.md", base + "Nope.md", base + "InformerSyncSlow.md"} {
		if runbookExists(bad, "InformerWatchDown") == nil {
			t.Errorf("%q should be rejected", bad)
		}
	}
}

// inhibited returns an error unless Alertmanager has exactly want matching alerts, all of them inhibited.
func inhibited(ctx context.Context, c *chain.Chain, want int, matchers ...string) error {
	alerts, err := active(ctx, c, matchers...)
	if err != nil {
		return err
	}
	if len(alerts) != want {
		return fmt.Errorf("Alertmanager has %d alerts with %s, want %d", len(alerts), matchers, want)
	}
	for _, a := range alerts {
		if !a.inhibited() {
			return fmt.Errorf("%v is %s", a.Labels, a.Status.State)
		}
	}
	return nil
}

// activeAlert is an alert in the API of Alertmanager, which does not list resolved ones.
type activeAlert struct {
	Labels map[string]string
	Status struct {
		State       string
		InhibitedBy []string
	}
}

func (a activeAlert) inhibited() bool {
	return a.Status.State == "suppressed" && len(a.Status.InhibitedBy) > 0
}

// active returns the matching alerts of Alertmanager that are not resolved.
func active(ctx context.Context, c *chain.Chain, matchers ...string) (alerts []activeAlert, err error) {
	query := url.Values{"filter": matchers}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.Alertmanager.URL+"/api/v2/alerts?"+query.Encode(), nil)
	if err != nil {
		return nil, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(&alerts); err != nil {
		return nil, fmt.Errorf("%s: %w", resp.Status, err)
	}
	return alerts, nil
}
