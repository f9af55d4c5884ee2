// Package alerts generates the Prometheus rules for informers and controllers, a runbook for each alert, and the Alertmanager
// configuration. Programs that generate their own rules can add to the groups of Rules, or write the files of RuleFile and
// AlertmanagerFile. Thresholds come from the catalog's objectives; Config changes them.
//
// Experimental: the API may change in any release.
//
// Rules, runbooks and inhibitions are files. A rule is PromQL as it runs, apart from a few marks:
//
//	{@}, @cluster               the matchers and the names of labels of the configuration; see the package internal/prom
//	<<threshold>>, <<window>>   numbers of the rule's objective; the function values has all
//	<<program>>                 a text or a part of a query of fragments.yaml
//	<<occurred `x{@}` 15m>>     the increase of a counter, with its first value; without a range, in the objective's window
//	<<or_upstream `rate(x)`>>   or upstream's metric, for programs without the library; <<occurred_or_upstream>> is both
//	[5m], <<range 5m>>          ranges in minutes span at least four scrapes
//
// An alert waits and has the severity of its objective, unless the rule sets for or severity. A recording rule is generated if an alert
// reads it, with the objective of the first that does.
//
// Each alert needs a promtool test under testdata in which it fires, does not fire just short of its threshold, and resolves. Tests
// there also show why some obvious expressions do not work:
//
//   - a quantile over the rate of sync durations misses a single sync before the first scrape
//   - a quantile never exceeds the top bucket
//   - a sum of watch ends over many informers exceeds any threshold through planned timeouts alone
//   - the current queue depth exceeds its threshold during bursts
//   - an error rate without a minimum number of events fires for a single object
package alerts
