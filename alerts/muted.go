package alerts

import "strings"

// recordMuted has the labels of each alert, firing or pending, that the generated Alertmanager configuration mutes. Dashboards subtract
// it from ALERTS, so that they count what Alertmanager sends.
const recordMuted = "alert:informer_exporter_alerts:muted"

// mutedAlerts returns an expression for the alerts that an inhibition mutes, or mutes once they fire. As in Alertmanager, an alert that is
// itself muted mutes others, and labels that both alerts lack are equal.
func mutedAlerts(c Config) string {
	list := inhibitions(c)
	terms := make([]string, len(list))
	for i, r := range list { // Alertmanager's matchers are also PromQL's
		terms[i] = `ALERTS{` + strings.Join(r.TargetMatchers, ", ") + `} and on (` + strings.Join(r.Equal, ", ") + `) ALERTS{alertstate="firing", ` + strings.Join(r.SourceMatchers, ", ") + `}`
	}
	return strings.Join(terms, "\nor\n")
}
