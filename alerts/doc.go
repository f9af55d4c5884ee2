// Package alerts holds the Prometheus rules for informers, the runbook of each alert and the Alertmanager configuration
// that routes them. All thresholds come from the catalog's objectives; the PromQL is written out, so that a rule can be
// pasted into Prometheus and found by searching for a metric.
//
// The map:
//
//	config.go        what a user can change: Config
//	rule.go          Group and Rule as Prometheus reads them; Rules, the whole rule file
//	alert.go         Alert: a rule with its runbook; All
//	text.go          numbers of objectives and recurring phrases for expressions and texts
//	sync.go          full states: not synced, slow, failing
//	watch.go         watches: down, disconnecting, gaps
//	lag.go           sync lag, and event lag by burn rates with its recording rules
//	handlers.go      slow handlers, panics, lost events
//	exporter.go      the exporter itself
//	runbooks.go      a runbook as Markdown
//	alertmanager.go  routes, receivers, inhibitions
//
// To add an alert, write it in the file of its signal and list it in All. Everything else follows: the runbook and its
// address, the link to the dashboard, the tables of the documentation. A test insists on a promtool test under testdata
// that shows it firing, staying silent next to its threshold, and resolving.
//
// # Encodings that are wrong
//
// Three obvious ways to write these alerts do not work, and tests under testdata prove what replaces them:
// a quantile over the rate of sync durations is blind to a single sync before the first scrape; a quantile never
// exceeds the top bucket; and a sum of watch ends over many informers exceeds any limit by planned ends alone.
package alerts
