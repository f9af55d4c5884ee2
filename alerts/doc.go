// Package alerts holds the Prometheus rules for informers and controllers, the runbook of each alert and the Alertmanager
// configuration that routes them. All thresholds come from the catalog's objectives; the PromQL is written out, so that a
// rule can be pasted into Prometheus and found by searching for a metric.
//
// The map:
//
//	config.go        what a user can change: Config
//	rule.go          Group and Rule as Prometheus reads them; Rules, the whole rule file
//	alert.go         Alert: a rule with its runbook; All
//	controllers.go   objectives and labels of single controllers
//	text.go          numbers of objectives and recurring phrases for expressions and texts
//	sync.go          full states: not synced, slow, failing
//	watch.go         watches: down, disconnecting, gaps
//	lag.go           sync lag, and event lag by burn rates with its recording rules
//	audit.go         caches that differ from the API server, cannot be compared with it, or are changed in place
//	handlers.go      slow handlers, panics, lost events
//	consistency.go   versions that go back, objects that a Transform drops
//	exporter.go      the exporter itself
//	queues.go        queues that are blocked, slow or deep, workers that hang, items given up
//	reconciles.go    reconciles that fail or panic, clean-ups that are late
//	leaders.go       no leader, leaders that change, slow renewals
//	leases.go        Leases of the cluster: nobody holds one, or its holder changes
//	objects.go       objects held in deletion, Namespaces that stay Terminating, changes that nobody deals with
//	client.go        requests that fail, or wait for the client's own limit
//	runbooks.go      a runbook as Markdown
//	alertmanager.go  routes, receivers, inhibitions
//
// To add an alert, write it in the file of its signal and list it in All. Everything else follows: the runbook and its
// address, the link to the dashboard, the tables of the documentation. A test insists on a promtool test under testdata
// that shows it firing, staying silent next to its threshold, and resolving.
//
// # Encodings that are wrong
//
// Some obvious ways to write these alerts do not work, and tests under testdata prove what replaces them:
// a quantile over the rate of sync durations is blind to a single sync before the first scrape; a quantile never
// exceeds the top bucket; a sum of watch ends over many informers exceeds any limit by planned ends alone; a depth
// that is compared as it is fires for bursts; and a share without a least number fires for a single object.
package alerts
