// Package alerts generates the Prometheus rules for informers and controllers, a runbook for each alert, and the Alertmanager
// configuration. Programs that generate their own rules can add to the groups of Rules, or write the files of RuleFile and
// AlertmanagerFile. Thresholds come from the catalog's objectives; Config changes them.
//
// The PromQL is written out, so that a search for a metric finds its rules.
//
// # Adding an alert
//
// Define the alert in the file of its signal, and add it to All. Its runbook, its links and the tables of the documentation are
// generated. Each alert needs a promtool test under testdata in which it fires, does not fire just short of its threshold, and
// resolves. Tests there also show why some obvious expressions do not work:
//
//   - a quantile over the rate of sync durations misses a single sync before the first scrape
//   - a quantile never exceeds the top bucket
//   - a sum of watch ends over many informers exceeds any threshold through planned timeouts alone
//   - the current queue depth exceeds its threshold during bursts
//   - an error rate without a minimum number of events fires for a single object
package alerts
