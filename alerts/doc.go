// Package alerts has the Prometheus rules for informers and controllers, the runbook of each alert and the Alertmanager
// configuration. All thresholds come from the catalog's objectives. The PromQL is written out, so that rules can be pasted
// into Prometheus and found by the name of a metric.
//
// Files:
//
//	config.go        the configuration
//	rule.go          Group and Rule as Prometheus reads them; Rules, the whole rule file
//	alert.go         Alert: a rule with its runbook; All
//	controllers.go   objectives and labels of single controllers
//	text.go          numbers of objectives and recurring phrases for expressions and texts
//	sync.go          not synced, slow sync, list and watch errors
//	api.go           API server unreachable
//	watch.go         watch down, disconnects, gaps
//	lag.go           sync lag, and event lag by burn rates
//	days.go          windows of hours and days, from short recordings in a group of their own interval
//	audit.go         inconsistent caches, failed and missing audits, mutations
//	handlers.go      slow handlers, panics, lost events
//	consistency.go   resource version regressions, objects dropped by a transform, duplicate and orphaned informers
//	series.go        series limits, slow scrapes, histograms without buckets
//	exporter.go      the exporter itself
//	queues.go        blocked, slow and deep queues, stuck workers, dropped items
//	reconciles.go    reconcile errors and panics, exceeded cleanup deadlines
//	leaders.go       no leader, leader transitions, slow renewals
//	leases.go        expired Leases, lease transitions
//	objects.go       objects blocked by finalizers, terminating Namespaces, generation lag
//	client.go        request errors, client-side throttling
//	watchdog.go      the alert that always fires
//	fleet.go         recording rules by cluster, for the dashboard of all clusters
//	runbooks.go      a runbook as Markdown
//	commands.go      commands, matchers and contacts of several runbooks
//	variables.go     labels of the alert in commands and queries; links to Explore
//	alertmanager.go  routes, receivers, inhibitions
//
// To add an alert, define it in the file of its signal and add it to All. The runbook and its URL, the link to the dashboard and
// the tables of the documentation are generated. Each alert needs a promtool test under testdata in which it fires, does not fire
// just short of its threshold, and resolves.
//
// # Expressions that do not work
//
// Some obvious expressions for these alerts do not work; tests under testdata verify their replacements:
//
//   - a quantile over the rate of sync durations misses a single sync before the first scrape
//   - a quantile never exceeds the top bucket
//   - a sum of watch ends over many informers exceeds any threshold through planned timeouts alone
//   - the current queue depth exceeds its threshold during bursts
//   - an error rate without a minimum number of events fires for a single object
package alerts
