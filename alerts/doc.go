// Package alerts has the Prometheus rules for informers and controllers, the runbook of each alert and the Alertmanager
// configuration. All thresholds come from the catalog's objectives. The PromQL is written out, so that rules can be pasted
// into Prometheus and found by the name of a metric.
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
