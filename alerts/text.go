package alerts

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
)

var labelName = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_]*$`)

// Phrases of summaries and descriptions, as Prometheus templates. The cluster appears only if the alert has the label.
const (
	inCluster    = `{{ with $labels.@cluster }} in cluster {{ . }}{{ end }}`
	thisQueue    = `queue {{ $labels.name }} of job {{ $labels.@job }}` + inCluster
	controllerOf = `{{ $labels.controller }} of {{ $labels.name }}` + inCluster
	thisLock     = `lock {{ $labels.lock }}{{ with $labels.name }} of {{ . }}{{ end }}` + inCluster
	thisLease    = `Lease {{ $labels.lease_namespace }}/{{ $labels.lease }}` + inCluster
	inNamespace  = `{{ if ne $labels.namespace "*" }} in namespace {{ $labels.namespace }}{{ end }}` + inCluster
	someInformer = `Informer {{ $labels.informer_type }} of {{ $labels.name }}` + inCluster
)

// bound returns a matcher for the bucket with the given upper bound. Prometheus 3 and OpenMetrics write 5 as 5.0, older
// servers and the text format write 5.
func bound(f float64) string {
	s := catalog.FormatNumber(f)
	if strings.Contains(s, ".") {
		return fmt.Sprintf(`le=%q`, s)
	}
	return fmt.Sprintf(`le=~"%s|%s\\.0"`, s, s)
}

// fill puts an objective's numbers into an expression or a text:
//
//	$threshold  the threshold as a number
//	$objective  the threshold with its unit
//	$quantile   such as 0.99
//	$window     such as 5m
//	$seconds    the window in seconds, for what is compared with time()
//	$count      the minimum number of events
//	$bound      the matcher of the bucket at the threshold
//	$for        how long the condition must hold
func fill(o catalog.Objective, text string) string {
	return strings.NewReplacer(
		"$threshold", catalog.FormatNumber(o.Threshold),
		"$objective", o.Amount(),
		"$quantile", catalog.FormatNumber(o.Quantile),
		"$window", catalog.FormatDuration(o.Window),
		"$seconds", catalog.FormatNumber(o.Window.Seconds()),
		"$count", catalog.FormatNumber(o.MinCount),
		"$bound", bound(o.Threshold),
		"$for", catalog.FormatDuration(o.For),
	).Replace(text)
}
