package catalog

import "time"

// Severity is the urgency of an alert.
type Severity string

// The severities.
const (
	// Page needs attention immediately.
	Page Severity = "page"
	// Ticket can wait for working hours.
	Ticket Severity = "ticket"
	// Info needs no action. It explains other alerts, or inhibits them.
	Info Severity = "info"
)

// Objective is a threshold with its origin. Rules, dashboards and runbooks take every threshold from here.
type Objective struct {
	// ID names the objective in the generator's configuration, in snake_case.
	ID string
	// Title is the name of the objective in documentation.
	Title string
	// Metric is the metric that the threshold applies to.
	Metric Metric
	// Threshold is in the unit of the metric, or in Unit for rates and shares.
	Threshold float64
	// Unit is the unit of Threshold, as Grafana names it.
	Unit string
	// Below reports whether values below Threshold are bad, instead of those above it.
	Below bool
	// Inclusive reports whether Threshold itself is bad, as for a number of events that must stay below it.
	Inclusive bool
	// Fixed reports whether users cannot change Threshold: the metric is a state, or the event must never happen.
	Fixed bool
	// Quantile is the quantile of the histogram that is compared with Threshold, 0 if none.
	Quantile float64
	// Window is the range of the rate, increase or quantile, 0 for a gauge that is compared directly.
	Window time.Duration
	// MinCount is the minimum number of events in the window for a meaningful share or quantile.
	MinCount float64
	// For is how long the threshold must be exceeded before the alert fires.
	For time.Duration
	// Severity is the severity of the alert.
	Severity Severity
	// BurnRates replace Window, For and Severity of a service level objective: the share Quantile of all events must meet
	// Threshold. Each burn rate alerts when the error budget burns faster than its factor allows.
	BurnRates []BurnRate
	// Source is the origin of the threshold.
	Source Source
}

// Source is the origin of a threshold.
type Source struct {
	// From is Articles, the name of another project, or Ours.
	From string
	// Text is the threshold in the words of its author; for Ours, the reason for it, "" if the event must not happen.
	Text string
	// Differs says how the objective differs from Text and why, "" if it does not.
	Differs string
}

// The origins that are not another project.
const (
	// Articles are the articles on client-go informers and production controllers behind this project.
	Articles = "articles"
	// Ours is this project.
	Ours = "ours"
)

// BurnRate is a pair of windows of a multi-window burn rate alert: the long one shows that the loss is significant, the short
// one that it continues.
type BurnRate struct {
	// Factor is the burn rate. At 1, the budget lasts exactly for the whole period.
	Factor float64
	// Long and Short are the two windows. The burn rate must exceed Factor in both.
	Long, Short time.Duration
	// PerInstance reports whether each process is evaluated separately, so that one bad process is not diluted by the others.
	PerInstance bool
	// For is how long both windows must exceed Factor.
	For time.Duration
	// Severity is the severity of the alert.
	Severity Severity
}
