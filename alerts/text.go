package alerts

import (
	"regexp"
	"strings"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
)

var labelName = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_]*$`)

// Phrases of summaries and descriptions, as Prometheus templates. Cluster, namespace and Pod appear only if the alert has these
// labels: targets outside of Kubernetes have neither namespace nor Pod.
const (
	inCluster    = `{{ with $labels.@cluster }} in cluster {{ . }}{{ end }}` // after the API and the exporter
	cluster      = `{{ with $labels.@cluster }} (cluster {{ . }}){{ end }}`  // after the name of anything else
	pod          = `{{ with $labels.@namespace }}{{ . }}/{{ end }}{{ . }}`   // within {{ with $labels.@pod }}
	thisProcess  = `{{ with $labels.@pod }}Pod ` + pod + `{{ else }}{{ $labels.@instance }}{{ end }}`
	ofJob        = ` (job {{ $labels.@job }}{{ with $labels.@cluster }}, cluster {{ . }}{{ end }})`
	inProcess    = `{{ with $labels.@pod }} in Pod ` + pod + `{{ else }}{{ with $labels.@instance }} on {{ . }}{{ end }}{{ end }}`
	program      = `{{ with $labels.@namespace }}{{ . }}/{{ end }}{{ $labels.name }}` + cluster
	thisJob      = `job {{ with $labels.@namespace }}{{ . }}/{{ end }}{{ $labels.@job }}` + cluster
	thisQueue    = `queue {{ $labels.name }} in ` + thisJob
	controllerIn = `{{ $labels.controller }} in ` + program
	informerIn   = `informer {{ $labels.informer_type }} in ` + program
	thisLock     = `lock {{ $labels.lock }}{{ with $labels.name }} of {{ . }}{{ end }}` + cluster
	thisLease    = `Lease {{ $labels.lease_namespace }}/{{ $labels.lease }}` + cluster
	inNamespace  = `{{ if ne $labels.namespace "*" }} in namespace {{ $labels.namespace }}{{ end }}` + cluster // for objects
	someInformer = `Informer {{ $labels.informer_type }} of ` + program
)

// fill puts an objective's numbers into an expression or a text:
//
//	$threshold  the threshold as a number
//	$objective  the threshold with its unit
//	$quantile   such as 0.99
//	$window     such as 5m
//	$seconds    the window in seconds, for comparisons with time()
//	$count      the minimum number of events
//	$outlier       the first bucket of at least three times the threshold
//	$for        how long the condition must hold
func fill(o catalog.Objective, text string) string {
	return strings.NewReplacer(
		"$threshold", catalog.FormatNumber(o.Threshold),
		"$objective", o.Amount(),
		"$quantile", catalog.FormatNumber(o.Quantile),
		"$window", catalog.FormatDuration(o.Window),
		"$seconds", catalog.FormatNumber(o.Window.Seconds()),
		"$count", catalog.FormatNumber(o.MinCount),
		"$outlier", longBucket(o),
		"$for", catalog.FormatDuration(o.For),
	).Replace(text)
}

// longBucket returns the first bucket of at least three times the threshold.
func longBucket(o catalog.Objective) string {
	for _, b := range o.Metric.Buckets {
		if b >= 3*o.Threshold {
			return catalog.FormatNumber(b)
		}
	}
	return "+Inf"
}
