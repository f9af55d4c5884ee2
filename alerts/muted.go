package alerts

import "strings"

// recordMuted has the labels of each firing alert that the generated Alertmanager configuration mutes. Dashboards subtract it from
// ALERTS, so that they count what Alertmanager sends.
const recordMuted = "alert:informer_exporter_alerts:muted"

// mutedAlerts returns an expression for the firing alerts that an inhibition mutes. As in Alertmanager, an alert that is itself muted
// mutes others, and labels that both alerts lack are equal.
func mutedAlerts(c Config) string {
	list := inhibitions(c)
	terms := make([]string, len(list))
	for i, r := range list {
		terms[i] = firing(r.TargetMatchers) + ` and on (` + strings.Join(r.Equal, ", ") + `) ` + firing(r.SourceMatchers)
	}
	return strings.Join(terms, "\nor\n")
}

// firing selects firing alerts. Alertmanager's matchers are also PromQL's.
func firing(matchers []string) string {
	return `ALERTS{alertstate="firing", ` + strings.Join(matchers, ", ") + `}`
}
