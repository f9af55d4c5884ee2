package main

import (
	"cmp"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"text/tabwriter"
	"time"

	"github.com/informer-exporter/informer-exporter/internal/testenv/chain"
)

// queries are examples for Prometheus.
var queries = []struct {
	what, query string
	controllers bool // needs the controllers, which the lite demo does not have
}{
	{"synced informers", `k8s_informer_synced`, false},
	{"sync lag", `k8s_informer_sync_lag_seconds`, false},
	{"cache hits", `rate(k8s_informer_cache_hits_total[1m])`, false},
	{"connected watches", `k8s_informer_watch_connected`, false},
	{"event lag, 99th percentile", `histogram_quantile(0.99, sum by (le, name, informer_type) (rate(k8s_informer_event_lag_seconds_bucket[1m])))`, false},
	{"leader of the demo controller", `controller_leader`, true},
	{"reconciles by result", `sum by (name, controller, result) (rate(controller_reconcile_total[1m]))`, true},
	{"queue depth, of three kinds of controllers", `sum by (job, name) (workqueue_depth)`, true},
	{"firing and pending alerts", `ALERTS`, false},
}

// printGuide prints URLs, example queries and faults.
func printGuide(out io.Writer, c *chain.Chain, lite bool, took time.Duration) {
	fmt.Fprintf(out, "\nReady after %v.\n\n", took.Round(100*time.Millisecond))
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	row := func(cells ...any) {
		for i, cell := range cells {
			if i > 0 {
				fmt.Fprint(w, "\t")
			}
			fmt.Fprint(w, cell)
		}
		fmt.Fprintln(w)
	}
	row("OPEN")
	row("  exporter", c.ExporterURL, "table of informers at /, metrics at /metrics")
	row("  load generator", c.LoadURL+"/metrics", "a program with the library")
	for _, r := range c.Replicas {
		row("  demo controller "+r.Identity, r.URL+"/metrics", "a replica of a controller on client-go, see examples/controller")
	}
	for _, r := range c.OwnerLabels {
		row("  operator "+r.Identity, r.URL+"/metrics", "a replica of an operator on controller-runtime, see examples/controller-runtime")
	}
	if c.Tiers != nil {
		row("  operator tiers", c.Tiers.URL+"/metrics", "an operator on controller-runtime without the library")
	}
	row("  Prometheus", c.Prometheus.URL+"/api/v1/rules", "API only; this build has no web UI")
	if c.Alertmanager != nil {
		row("  Alertmanager", c.Alertmanager.URL, "notifications are logged here")
	}
	if c.Jaeger != nil {
		row("  Jaeger", c.Jaeger.URL+"/api/traces?service=widgets", "API only; services widgets, owner-labels, load and informer-exporter")
	}
	row("  dashboards", filepath.Join(c.Generated, "grafana", "dashboards"), "import into Grafana")
	row("  kubectl", "--kubeconfig="+c.Kubeconfig, "administrator, bypasses the fault proxy")
	row("  check", "--kubeconfig="+c.ExporterKubeconfig()+" --config.file="+c.ExporterConfig(), "for informer-exporter check, through the fault proxy")
	row("  logs", c.Dir())
	row()
	row("QUERIES")
	for _, q := range queries {
		if lite && q.controllers {
			continue
		}
		row("  "+q.what, "", q.query)
	}
	row()
	row("FAULTS: type a name here, \"restore\" ends it", "ALERT, within minutes")
	faults := chain.Faults()
	if lite {
		faults = chain.LiteFaults()
	}
	for _, f := range faults {
		row("  "+f.Name, cmp.Or(f.Alert, "none"), f.Does)
	}
	w.Flush()
	if lite {
		fmt.Fprintln(out, "\nWithout a controller manager, the observed generations of Deployments lag: after five minutes, ClusterGenerationLag fires.")
	}
	fmt.Fprintf(out, "\nExample: curl -s '%s/api/v1/query?query=%s'\nCtrl-C stops everything.\n\n",
		c.Prometheus.URL, url.QueryEscape(queries[0].query))
}
