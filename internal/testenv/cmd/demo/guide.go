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

// queries are what to try first in Prometheus.
var queries = []struct{ what, query string }{
	{"which caches are filled", `k8s_informer_synced`},
	{"how far each cache trails the API server", `k8s_informer_sync_lag_seconds`},
	{"reads that the cache answers", `rate(k8s_informer_cache_hits_total[1m])`},
	{"watches that are up", `k8s_informer_watch_connected`},
	{"from event to handled, 99th percentile", `histogram_quantile(0.99, sum by (le, name, informer_type) (rate(k8s_informer_event_lag_seconds_bucket[1m])))`},
	{"which replica of the demo controller leads", `controller_leader`},
	{"reconciles by result", `sum by (name, controller, result) (rate(controller_reconcile_total[1m]))`},
	{"queues, of controllers of three kinds", `sum by (job, name) (workqueue_depth)`},
	{"alerts now", `ALERTS`},
}

// printGuide says what to open and what to try.
func printGuide(out io.Writer, c *chain.Chain, took time.Duration) {
	fmt.Fprintf(out, "\nEverything is ready after %v.\n\n", took.Round(100*time.Millisecond))
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
	row("  exporter", c.ExporterURL, "metrics at /metrics, a table of its informers at /")
	row("  load generator", c.LoadURL+"/metrics", "a program that uses the library")
	for _, r := range c.Replicas {
		row("  demo controller "+r.Identity, r.URL+"/metrics", "a replica of a controller on client-go, see examples/controller")
	}
	row("  owner labels", c.OwnerLabelsURL+"/metrics", "a controller on controller-runtime, see examples/controller-runtime")
	row("  Prometheus", c.Prometheus.URL+"/api/v1/rules", "its API; this build has no pages")
	row("  Alertmanager", c.Alertmanager.URL, "what it sends is logged here")
	row("  dashboards", filepath.Join(c.Generated, "grafana", "dashboards"), "to import into a Grafana")
	row("  kubectl", "--kubeconfig="+c.Kubeconfig, "the administrator, past the proxy")
	row("  logs", c.Dir())
	row()
	row("ASK PROMETHEUS")
	for _, q := range queries {
		row("  "+q.what, "", q.query)
	}
	row()
	row("BREAK: write a name here, \"restore\" ends it", "ALERT, after some minutes")
	for _, f := range chain.Faults() {
		row("  "+f.Name, cmp.Or(f.Alert, "none"), f.Does)
	}
	w.Flush()
	fmt.Fprintf(out, "\nFor example: curl -s '%s/api/v1/query?query=%s'\nCtrl-C stops everything.\n\n",
		c.Prometheus.URL, url.QueryEscape(queries[0].query))
}
