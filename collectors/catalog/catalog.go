package catalog

import "slices"

// Type is the type of a metric in the Prometheus exposition formats.
type Type string

// The types of metrics. Summaries have no quantiles, which could not be aggregated: only a count and a sum, for a mean.
const (
	TypeCounter   Type = "counter"
	TypeGauge     Type = "gauge"
	TypeHistogram Type = "histogram"
	TypeSummary   Type = "summary"
)

// Family is a group of metrics. The generated documentation has a table for each family.
type Family string

// The families, in reading order.
const (
	familyCache       Family = "Cache"
	familySync        Family = "Sync"
	familyWatch       Family = "Watch"
	familyLag         Family = "Lag"
	familyAudit       Family = "Audit"
	familyHandlers    Family = "Handlers"
	familyVersions    Family = "Versions"
	familyPollution   Family = "Pollution"
	familyQueues      Family = "Queues"
	familyControllers Family = "Controllers"
	familyFinalizers  Family = "Finalizers"
	familyLeader      Family = "Leader election"
	familyLeases      Family = "Leases"
	familyObjects     Family = "Objects"
	familyClient      Family = "API client"
	familyClients     Family = "Clients"
	familyUpstream    Family = "Upstream"
	familyForeign     Family = "Programs without the library"
	familyServer      Family = "API server"
	familyTracing     Family = "Tracing"
	familySeries      Family = "Series"
	familyExporter    Family = "Exporter"
)

// Families returns every family in reading order.
func Families() []Family {
	return []Family{
		familyCache, familySync, familyWatch, familyLag, familyAudit, familyHandlers, familyVersions, familyPollution,
		familyQueues, familyControllers, familyFinalizers, familyLeader, familyLeases, familyObjects, familyClient, familyClients, familyUpstream, familyForeign, familyServer, familyTracing, familySeries, familyExporter,
	}
}

// Label is a label of a metric.
type Label struct {
	// Name is the label's name.
	Name string
	// Help describes the values of the label.
	Help string
	// Values is the closed set of values, or nil if the values come from the program or from the cluster. The library
	// limits the number of open values and reports the rest as "other", see InformerLabelOverflow.
	Values []string
}

// closed returns a label with a closed set of values.
func closed(name, help string, values ...string) Label {
	return Label{Name: name, Help: help, Values: values}
}

// Metric describes one metric. It must not be modified.
type Metric struct {
	// Name is the full name, without the suffixes that the exposition formats add to histograms and summaries.
	Name string
	// Help is the help text: one sentence of at most 160 characters on what is measured, in which unit.
	Help string
	// Notes has definitions and caveats that are too long for Help. The generated documentation has both.
	Notes string
	// Type is the type of the metric.
	Type Type
	// Family is the group of the metric.
	Family Family
	// Labels are all labels, in the order in which the library passes their values.
	Labels []Label
	// Buckets are the upper bounds of a histogram's classic buckets, in the metric's unit; nil for other types.
	Buckets []float64
	// AtZero are the values of the last label that have a series before they occur: those of counters, so that a rule sees the
	// first increase, and one of a gauge, to distinguish 0 from no data. The other values of a closed set have a series once
	// they have occurred.
	AtZero []string
	// Essential marks the metrics that programs with little detail report: those that alerts of severity page and ticket read,
	// except those that need full detail, plus the number of objects.
	Essential bool
	// EssentialBuckets are the buckets of an essential histogram with little detail. Alerts on a share of observations need
	// only the objective, those on a quantile one more.
	EssentialBuckets []float64
}

// Counter is a metric that only rises.
type Counter struct{ Metric }

// Gauge is a metric that rises and falls.
type Gauge struct{ Metric }

// Histogram is a metric that counts observations in Buckets.
type Histogram struct{ Metric }

// Summary is a metric that counts and sums observations.
type Summary struct{ Metric }

// Definition is a Metric of any type: a Counter, a Gauge, a Histogram, a Summary, or the Metric that they embed.
type Definition interface{ Define() Metric }

// Define implements Definition.
func (m Metric) Define() Metric { return m }

func counter(f Family, m Metric) Counter {
	m.Type, m.Family = TypeCounter, f
	return Counter{m}
}

func gauge(f Family, m Metric) Gauge {
	m.Type, m.Family = TypeGauge, f
	return Gauge{m}
}

func histogram(f Family, m Metric) Histogram {
	m.Type, m.Family = TypeHistogram, f
	return Histogram{m}
}

func summary(f Family, m Metric) Summary {
	m.Type, m.Family = TypeSummary, f
	return Summary{m}
}

// LabelNames returns the names of all labels in the order of Labels. It allocates.
func (m Metric) LabelNames() []string {
	names := make([]string, len(m.Labels))
	for i, l := range m.Labels {
		names[i] = l.Name
	}
	return names
}

// Values returns the closed set of values of the label with the given name, nil if the metric has no such label or the set
// is open. It must not be modified.
func (m Metric) Values(label string) []string {
	for _, l := range m.Labels {
		if l.Name == label {
			return l.Values
		}
	}
	return nil
}

// Foreign reports whether neither the library nor the exporter reports the metric.
func (m Metric) Foreign() bool { return m.Family == familyForeign || m.Family == familyServer }

// HasBucket reports whether upper is exactly one of the metric's bucket bounds. Only such a bound can be compared with a
// threshold without interpolation.
func (m Metric) HasBucket(upper float64) bool {
	return slices.Contains(m.Buckets, upper)
}

// All returns every metric, by family in reading order. The slice is the caller's.
func All() []Metric { return slices.Clone(all) }

// ByName returns the metric with the given full name.
func ByName(name string) (Metric, bool) {
	i := slices.IndexFunc(all, func(m Metric) bool { return m.Name == name })
	if i < 0 {
		return Metric{}, false
	}
	return all[i], true
}
