package e2e_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/informer-exporter/informer-exporter/alerts"
	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/dashboards"
	"github.com/informer-exporter/informer-exporter/internal/testenv/await"
	"github.com/informer-exporter/informer-exporter/internal/testenv/chain"
	"github.com/informer-exporter/informer-exporter/internal/testenv/receiver"
)

// told are the labels that the alert of each fault must have.
var told = map[string]map[string]string{
	"half-open":            {"name": exporterName, "informer_type": "pods"},
	"reset":                {"name": "load", "informer_type": "pods"},
	"mid-event":            {"informer_type": "pods"}, // of either program, depending on the connection
	"apiserver-kill":       {"severity": "page"},
	"apiserver-pause":      {"severity": "page"},
	"etcd-compact":         {"name": exporterName, "informer_type": "pods"},
	"etcd-restore":         {"name": exporterName, "informer_type": "configmaps"},
	"slow-handlers":        {"name": "load", "informer_type": "pods"},
	"blocked-drain":        {"name": "load"},
	"stuck-finalizer":      {"informer_type": "configmaps"},
	"failing-reconciles":   {"name": "widgets", "controller": "widgets"},
	"panicking-reconciles": {"name": "widgets", "controller": "widgets"},
	"hanging-cleanup":      {"name": "widgets", "controller": "widgets", "finalizer": "example.com/config-map"},
	"exporter-kill":        {},
	"unknown-kind":         {"job": exporterName, "informer_type": "gadgets.example.com"},
	"broken-configuration": {"job": exporterName},
}

// instead is an alert that may fire first and inhibit the alert of the fault, if failed scrapes on a busy machine restart the wait
// of every alert. HTTP/2 detects a dead connection after 45 seconds.
var instead = map[string]string{"half-open": "InformerWatchDown"}

// TestControllerFaults, TestConnectionFaults and TestServerFaults inject every fault of the demo that has an alert, and follow the alert to
// the webhook until it is resolved. Faults of different parts last at the same time.
func TestControllerFaults(t *testing.T) {
	c := theChain(t)
	handlers, drain := begin(t, c, "slow-handlers"), begin(t, c, "blocked-drain")
	others := beginAll(t, c, "stuck-finalizer", "unknown-kind")
	consequence(t, others[0], "ClusterNamespaceStuck")
	endAll(t, others...)
	drain.fires(t)
	drain.end(t) // failures on a dead connection count like rejected requests
	// Pending events of handlers do not decrease while nothing arrives.
	await.Within(t, patience, "handlers are behind by more than two minutes", func(ctx context.Context) error {
		return some(ctx, c, `2 * k8s_informer_handler_pending_events{name="load", informer_type="pods"} > 120`)
	})
	connection := begin(t, c, "half-open")
	endAll(t, beginAll(t, c, "failing-reconciles", "panicking-reconciles", "broken-configuration")...)
	endAll(t, begin(t, c, "hanging-cleanup"))
	endAll(t, handlers, connection, drain)
}

func TestConnectionFaults(t *testing.T) {
	c := theChain(t)
	endAll(t, beginAll(t, c, "reset", "exporter-kill")...)
	endAll(t, begin(t, c, "mid-event"))
}

func TestServerFaults(t *testing.T) {
	c := theChain(t)
	endAll(t, begin(t, c, "apiserver-kill"))
	endAll(t, begin(t, c, "apiserver-pause"))
	// Caches that are stale after etcd's restore recover with a relist, which a compaction causes.
	restored := begin(t, c, "etcd-restore")
	restored.fires(t)
	restored.end(t)
	endAll(t, restored, begin(t, c, "etcd-compact"))
}

// consequence waits until the alert of a fault has arrived, and another alert is inhibited by it.
func consequence(t *testing.T, b *broken, alert string) {
	t.Helper()
	b.fires(t)
	namespace := b.fired.Labels["namespace"]
	await.Within(t, fireTimeout, alert+" is inhibited", func(ctx context.Context) error {
		return inhibited(ctx, b.chain, 1, `alertname="`+alert+`"`, `namespace="`+namespace+`"`)
	})
	for _, a := range b.chain.Receiver.Alerts() {
		if a.Name == alert && a.Labels["namespace"] == namespace {
			t.Errorf("the consequence was sent in addition to the cause: %+v", a)
		}
	}
}

// broken is an active fault.
type broken struct {
	chain     *chain.Chain
	fault     chain.Fault
	since     time.Time
	fired     receiver.Alert // empty until it fires
	muted     bool           // the alert was inhibited instead of being sent
	ended     time.Time      // zero while it lasts
	inhibited bool           // before it was resolved
	resolved  bool
	restore   func(context.Context) error
}

func beginAll(t *testing.T, c *chain.Chain, names ...string) (all []*broken) {
	t.Helper()
	for _, name := range names {
		all = append(all, begin(t, c, name))
	}
	return all
}

// begin injects a fault once its symptoms are absent.
func begin(t *testing.T, c *chain.Chain, name string) *broken {
	t.Helper()
	fault, err := chain.FaultByName(name)
	if err != nil {
		t.Fatal(err)
	}
	b := &broken{chain: c, fault: fault}
	await.Within(t, resolveTimeout, "before "+name, b.silent)
	b.since = time.Now()
	b.restore = inject(t, c, name)
	return b
}

// silent returns an error if the alert fires in Prometheus.
func (b *broken) silent(ctx context.Context) error {
	samples, err := b.chain.Prometheus.Query(ctx, firing(b.fault))
	if err == nil && len(samples) > 0 {
		err = fmt.Errorf("there are alerts: %v", samples)
	}
	return err
}

// firing selects the alert of a fault in Prometheus.
func firing(f chain.Fault) string {
	selected := append(matchers(told[f.Name]), `alertname="`+f.Alert+`"`, `alertstate="firing"`)
	return "ALERTS{" + strings.Join(selected, ", ") + "}"
}

// endAll waits for the alerts of all faults, ends the faults, and waits until all alerts are resolved.
func endAll(t *testing.T, all ...*broken) {
	t.Helper()
	for _, b := range all {
		b.fires(t)
	}
	for _, b := range all {
		b.end(t)
	}
	// Together: what Alertmanager has of each is seen only until it is resolved.
	await.Within(t, resolveTimeout, "all alerts are resolved", func(ctx context.Context) error {
		var errs []error
		for _, b := range all {
			errs = append(errs, b.resolves(ctx, t))
		}
		return errors.Join(errs...)
	})
}

// resolves returns an error until the alert is resolved, and then logs the times of the fault.
func (b *broken) resolves(ctx context.Context, t *testing.T) error {
	if b.resolved {
		return nil
	}
	if err := b.isResolved(ctx); err != nil {
		return fmt.Errorf("%s: %s: %w", b.fault.Name, b.fault.Alert, err)
	}
	b.resolved = true
	if !b.muted {
		t.Logf("%-20s %s: %s after %v, and resolved %v after the end", b.fault.Name, b.fired.Name, b.fired.Receiver,
			b.fired.Arrived.Sub(b.since).Round(time.Second), time.Since(b.ended).Round(time.Second))
	}
	return nil
}

// isResolved returns an error until the alert no longer fires in Prometheus and the last notification reports it as resolved.
// That may precede the end of the fault, if the alert flaps.
func (b *broken) isResolved(ctx context.Context) error {
	if b.muted {
		return b.silent(ctx)
	}
	if err := errors.Join(b.isGone(ctx), b.silent(ctx)); err != nil {
		return err
	}
	var last receiver.Alert
	sent := b.chain.Receiver.Alerts()
	for _, a := range sent {
		if maps.Equal(a.Labels, b.fired.Labels) {
			last = a
		}
	}
	if last.Status == "resolved" || b.inhibited && groupEnded(sent, b.fired) {
		return nil
	}
	return fmt.Errorf("the status of the last notification is %s: %+v", last.Status, last)
}

// groupEnded reports whether the last notification of an alert's group has no firing alert.
func groupEnded(sent []receiver.Alert, of receiver.Alert) bool {
	last, ended := 0, false
	for _, a := range sent {
		if a.Receiver != of.Receiver || a.Name != of.Name || a.Labels["name"] != of.Labels["name"] { // there is one cluster
			continue
		}
		if a.Notification != last {
			last, ended = a.Notification, true
		}
		ended = ended && a.Status == "resolved"
	}
	return ended
}

// TestGroupEnds verifies the rule of isResolved for alerts with a notification that is never sent.
func TestGroupEnds(t *testing.T) {
	in := func(notification int, kind, status string) receiver.Alert {
		return receiver.Alert{Receiver: "ticket", Name: "A", Status: status, Notification: notification, Labels: map[string]string{"name": "load", "informer_type": kind}}
	}
	pods := in(1, "pods", "firing")
	ofOther := in(3, "pods", "firing")
	ofOther.Labels = map[string]string{"name": "other"}
	for name, tc := range map[string]struct {
		sent []receiver.Alert
		want bool
	}{
		"nothing was sent":               {nil, false},
		"it fires":                       {[]receiver.Alert{pods}, false},
		"another one's end, in the same": {[]receiver.Alert{pods, in(1, "nodes", "resolved")}, false},
		"another one still fires":        {[]receiver.Alert{pods, in(2, "nodes", "resolved"), in(2, "jobs", "firing")}, false},
		"all others have ended":          {[]receiver.Alert{pods, in(2, "nodes", "resolved"), in(2, "jobs", "resolved")}, true},
		"and another group fires":        {[]receiver.Alert{pods, in(2, "nodes", "resolved"), ofOther}, true},
		"and one fires again":            {[]receiver.Alert{pods, in(2, "nodes", "resolved"), in(4, "nodes", "firing")}, false},
	} {
		if got := groupEnded(tc.sent, pods); got != tc.want {
			t.Errorf("%s: got %v, want %v", name, got, tc.want)
		}
	}
}

// isGone returns an error while Alertmanager has the alert, and remembers whether it was inhibited. Alertmanager never reports the end of an
// alert that was sent and is inhibited while the others of its group are resolved: its notification log then has no firing alert of the
// group (notify.DedupStage). Of a dead connection, InformerSyncLagHigh is sent, and half a minute later inhibited by InformerWatchDown.
func (b *broken) isGone(ctx context.Context) error {
	alerts, err := active(ctx, b.chain, matchers(b.fired.Labels)...)
	if err != nil || len(alerts) == 0 {
		return err
	}
	b.inhibited = b.inhibited || alerts[0].inhibited()
	return fmt.Errorf("Alertmanager has %v", alerts)
}

// matchers returns a matcher of PromQL and Alertmanager for each label.
func matchers(labels map[string]string) (all []string) {
	for _, label := range slices.Sorted(maps.Keys(labels)) {
		all = append(all, fmt.Sprintf("%s=%q", label, labels[label]))
	}
	return all
}

// end ends the fault, if it is active.
func (b *broken) end(t *testing.T) {
	t.Helper()
	if !b.ended.IsZero() {
		return
	}
	b.ended = time.Now()
	if err := b.restore(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// fires waits for the alert and checks its annotations.
func (b *broken) fires(t *testing.T) {
	t.Helper()
	if b.fired.Name != "" || b.muted {
		return
	}
	if b.fault.Name == "etcd-compact" && b.isMuted(t) {
		b.muted = true
		b.fillsPanels(t)
		return
	}
	a := awaitAlert(t, b.chain, fireTimeout, b.fault.Name+": "+firing(b.fault), b.tells)
	if !slices.Contains(severities(a.Name), a.Receiver) || a.Labels["severity"] != a.Receiver || a.Labels["cluster"] != chain.Cluster {
		t.Errorf("%s went to the receiver %q with the labels %v", a.Name, a.Receiver, a.Labels)
	}
	for _, text := range []string{"summary", "description", "dashboard_url"} {
		if s := a.Annotations[text]; s == "" || strings.Contains(s, "{{") || strings.Contains(s, "<no value>") || strings.Contains(s, "<error") {
			t.Errorf("%s: %s is %q", a.Name, text, s)
		}
	}
	if err := runbookExists(a.Annotations["runbook_url"], a.Name); err != nil {
		t.Error(err)
	}
	b.fillsPanels(t)
	b.isPrinted(t)
	b.fired = a
}

// tells reports whether an alert is that of the fault.
func (b *broken) tells(a receiver.Alert) bool {
	if a.Name != b.fault.Alert && a.Name != instead[b.fault.Name] || a.Status != "firing" || a.StartsAt.Before(b.since) {
		return false
	}
	for label, value := range told[b.fault.Name] {
		if a.Labels[label] != value {
			return false
		}
	}
	return true
}

// isMuted waits until the alert is sent, or inhibited by an outage that has paged, and reports whether it is inhibited. On a
// busy machine, the restart of the API server is such an outage.
func (b *broken) isMuted(t *testing.T) (muted bool) {
	t.Helper()
	selected := append(matchers(told[b.fault.Name]), `alertname="`+b.fault.Alert+`"`)
	// Tickets stay muted for less than a minute after an outage, which may have begun before the fault.
	outage := func(all []receiver.Alert) (paged bool) {
		for _, a := range all {
			if a.Name == "KubernetesAPIUnreachable" && (a.Status == "firing" || a.Arrived.Before(b.since.Add(-time.Minute))) {
				paged = a.Status == "firing"
			}
		}
		return paged
	}
	await.Within(t, fireTimeout, b.fault.Name+": "+firing(b.fault)+" is sent, or muted by an outage", func(ctx context.Context) error {
		sent := b.chain.Receiver.Alerts()
		if slices.ContainsFunc(sent, b.tells) {
			return nil
		}
		if !outage(sent) {
			return errors.New("it was not sent, and there was no outage")
		}
		err := inhibited(ctx, b.chain, 1, selected...)
		muted = err == nil
		return err
	})
	if muted {
		t.Logf("%-20s %s is muted: the restart of the API server was an outage", b.fault.Name, b.fault.Alert)
	}
	return muted
}

// isPrinted verifies that `informer-exporter check` detects the fault.
func (b *broken) isPrinted(t *testing.T) {
	t.Helper()
	if b.fault.Check == "" {
		return
	}
	output, code, err := b.fault.RunCheck(t.Context(), b.chain, "--older-than=1s")
	if err != nil || code == 0 || !strings.Contains(output, b.fault.Check) {
		t.Errorf("%s: informer-exporter check exits with %d and prints %q, want %q; %v", b.fault.Name, code, output, b.fault.Check, err)
	}
}

// severities returns the severities of an alert's rules.
func severities(name string) (all []string) {
	for _, g := range alerts.Rules(alerts.Config{}) {
		for _, r := range g.Rules {
			if r.Alert == name {
				all = append(all, r.Labels["severity"])
			}
		}
	}
	return all
}

// fillsPanels waits until the panels of the fault have data.
func (b *broken) fillsPanels(t *testing.T) {
	t.Helper()
	for _, d := range boards(t, dashboards.Config{}) {
		for _, q := range d.Queries {
			// Informers list in pages only after a streaming list has failed.
			if faultPanels[q.Panel] != b.fault.Name || strings.Contains(q.Expr, catalog.InformerListPages.Name) {
				continue
			}
			await.Within(t, patience, b.fault.Name+" fills the panel "+q.Panel, func(ctx context.Context) error {
				return some(ctx, b.chain, q.Plain())
			})
		}
	}
}

// awaitAlert waits until the webhook has received an alert.
func awaitAlert(t *testing.T, c *chain.Chain, patience time.Duration, what string, match func(receiver.Alert) bool) receiver.Alert {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	a, err := c.Receiver.Wait(ctx, match)
	if err != nil {
		state, _ := c.Prometheus.Query(context.WithoutCancel(ctx), `ALERTS`)
		t.Fatalf("%s: %v\nPrometheus has %v", what, err, state)
	}
	return a
}

func some(ctx context.Context, c *chain.Chain, query string) error {
	samples, err := c.Prometheus.Query(ctx, query)
	if err == nil && !slices.ContainsFunc(samples, isNumber) {
		err = fmt.Errorf("no result of %s", query)
	}
	return err
}

// TestEveryFaultIsFollowed verifies that every fault of the demo with an alert is tested here.
func TestEveryFaultIsFollowed(t *testing.T) {
	for _, f := range chain.Faults() {
		_, followed := told[f.Name]
		switch f.Name {
		case "cut": // TestFaultReachesTheReceiver
			followed = true
		case "delay": // takes as long as half-open and leads to the same alert
			continue
		}
		if followed != (f.Alert != "") {
			t.Errorf("%s has the alert %q; followed: %v", f.Name, f.Alert, followed)
		}
	}
}
