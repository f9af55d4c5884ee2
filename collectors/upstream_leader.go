package collectors

import (
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/tools/leaderelection"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/collectors/internal/series"
)

// LeaderMetricsProvider returns what client-go is to report its own metrics of leader election to:
//
//	leaderelection.SetProvider(obs.LeaderMetricsProvider())
//
// client-go takes one provider for the whole process, the first that it is given, and uses it for electors that are made
// after that. The metrics are registered with Options.UpstreamMetrics, unless the registry had them before; otherwise the
// provider keeps what it is told to itself. Lock needs none of this, and tells more; client-go, for one, leaves
// leader_election_master_status at 1 if the elector is cancelled between two renewals.
func (o *Observer) LeaderMetricsProvider() leaderelection.MetricsProvider {
	if o.upstreamLeader == nil {
		return newUpstreamLeader(o.lockNames.Limit)
	}
	return o.upstreamLeader
}

// upstreamLeader reports client-go's own metrics of leader election. client-go says when to set them, and never when an
// elector is gone, so that they stay.
type upstreamLeader struct {
	status   *prometheus.GaugeVec
	slowpath *prometheus.CounterVec
	// names does not count what finds no room: it is asked whenever client-go reports something.
	names series.Cap
}

var (
	_ prometheus.Collector           = &upstreamLeader{}
	_ leaderelection.MetricsProvider = &upstreamLeader{}
	_ leaderelection.LeaderMetric    = &upstreamLeader{}
)

func newUpstreamLeader(limit int) *upstreamLeader {
	return &upstreamLeader{
		status:   upstreamGauge(catalog.UpstreamLeaderStatus),
		slowpath: upstreamCounter(catalog.UpstreamLeaderSlowpath),
		names:    series.Cap{Limit: limit},
	}
}

// Describe implements prometheus.Collector.
func (u *upstreamLeader) Describe(ch chan<- *prometheus.Desc) {
	u.status.Describe(ch)
	u.slowpath.Describe(ch)
}

// Collect implements prometheus.Collector.
func (u *upstreamLeader) Collect(ch chan<- prometheus.Metric) {
	u.status.Collect(ch)
	u.slowpath.Collect(ch)
}

// NewLeaderMetric implements leaderelection.MetricsProvider.
func (u *upstreamLeader) NewLeaderMetric() leaderelection.LeaderMetric { return u }

// On implements leaderelection.LeaderMetric.
func (u *upstreamLeader) On(name string) { u.status.WithLabelValues(u.names.Acquire(name)).Set(1) }

// Off implements leaderelection.LeaderMetric. client-go calls it first, when it makes the elector.
func (u *upstreamLeader) Off(name string) {
	name = u.names.Acquire(name)
	u.slowpath.WithLabelValues(name) // a counter that begins at 1 has not risen, as Prometheus sees it
	u.status.WithLabelValues(name).Set(0)
}

// SlowpathExercised implements leaderelection.LeaderMetric.
func (u *upstreamLeader) SlowpathExercised(name string) {
	u.slowpath.WithLabelValues(u.names.Acquire(name)).Inc()
}
