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
var queries = []struct{ what, query string }{
	{"synced informers", `k8s_informer_synced`},
	{"sync lag", `k8s_informer_sync_lag_seconds`},
	{"cache hits", `rate(k8s_informer_cache_hits_total[1m])`},
	{"connected watches", `k8s_informer_watch_connected`},
	{"event lag, 99th percentile", `histogram_quantile(0.99, sum by (le, name, informer_type) (rate(k8s_informer_event_lag_seconds_bucket[1m])))`},
	{"leader of the demo controller", `controller_leader`},
	{"reconciles by result", `sum by (name, controller, result) (rate(controller_reconcile_total[1m]))`},
	{"queue depth, of three kinds of controllers", `sum by (job, name) (workqueue_depth)`},
	{"firing and pending alerts", `ALERTS`},
}

// printGuide prints URLs, example queries and faults.
func printGuide(out io.Writer, c *chain.Chain, took time.Duration) {
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
	row("  owner labels", c.OwnerLabelsURL+"/metrics", "a controller on controller-runtime, see examples/controller-runtime")
	row("  Prometheus", c.Prometheus.URL+"/api/v1/rules", "API only; this build has no web UI")
	row("  Alertmanager", c.Alertmanager.URL, "notifications are logged here")
	row("  dashboards", filepath.Join(c.Generated, "grafana", "dashboards"), "import into Grafana")
	row("  kubectl", "--kubeconfig="+c.Kubeconfig, "administrator, bypasses the fault proxy")
	row("  logs", c.Dir())
	row()
	row("QUERIES")
	for _, q := range queries {
		row("  "+q.what, "", q.query)
	}
	row()
	row("FAULTS: type a name here, \"restore\" ends it", "ALERT, within minutes")
	for _, f := range chain.Faults() {
		row("  "+f.Name, cmp.Or(f.Alert, "none"), f.Does)
	}
	w.Flush()
	fmt.Fprintf(out, "\nExample: curl -s '%s/api/v1/query?query=%s'\nCtrl-C stops everything.\n\n",
		c.Prometheus.URL, url.QueryEscape(queries[0].query))
}
