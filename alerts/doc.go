// Package alerts holds the Prometheus rules for informers and controllers, the runbook of each alert and the Alertmanager
// configuration that routes them. All thresholds come from the catalog's objectives; the PromQL is written out, so that a
// rule can be pasted into Prometheus and found by searching for a metric.
//
// The map:
//
//	config.go        the configuration
//	rule.go          Group and Rule as Prometheus reads them; Rules, the whole rule file
//	alert.go         Alert: a rule with its runbook; All
//	controllers.go   objectives and labels of single controllers
//	text.go          numbers of objectives and recurring phrases for expressions and texts
//	sync.go          not synced, slow sync, list and watch errors
//	watch.go         watch down, disconnects, gaps
//	lag.go           sync lag, and event lag by burn rates with its recording rules
//	audit.go         inconsistent caches, failed audits, mutations
//	handlers.go      slow handlers, panics, lost events
//	consistency.go   resource version regressions, objects dropped by a transform
//	exporter.go      the exporter itself
//	queues.go        blocked, slow and deep queues, stuck workers, dropped items
//	reconciles.go    reconcile errors and panics, overdue finalizer cleanups
//	leaders.go       no leader, leader transitions, slow renewals
//	leases.go        expired Leases, lease transitions
//	objects.go       objects blocked by finalizers, terminating Namespaces, generation lag
//	client.go        request errors, client-side throttling
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
