package leader

import (
	"k8s.io/client-go/tools/leaderelection"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/collectors/internal/core"
)

// NewMetricsProvider returns a provider of client-go's own metrics of leader election. client-go accepts one provider per
// process, the first that is set, and uses it for electors created afterwards.
//
// The metrics are those of Options.UpstreamMetrics. Without that option, or if the registry already had metrics of these
// names, the provider discards all values. NewLock does not need it and reports more: client-go leaves
// leader_election_master_status at 1 if the elector is canceled between two renewals.
func NewMetricsProvider(obs *collectors.Observer) leaderelection.MetricsProvider {
	r := registryOf(obs)
	metrics := r.Leaders
	if metrics == nil {
		metrics = core.NewUpstreamLeaders()
	}
	return &provider{registry: r, metrics: metrics}
}

// provider implements client-go's metrics of leader election. Their series stay: client-go never reports the end of an
// elector.
type provider struct {
	registry *registry
	metrics  *core.Vectors
}

var (
	_ leaderelection.MetricsProvider = &provider{}
	_ leaderelection.LeaderMetric    = &provider{}
)

// NewLeaderMetric implements leaderelection.MetricsProvider.
func (p *provider) NewLeaderMetric() leaderelection.LeaderMetric { return p }

// On implements leaderelection.LeaderMetric.
func (p *provider) On(name string) {
	p.metrics.Gauge(catalog.UpstreamLeaderStatus, p.registry.upstream.Acquire(name)).Set(1)
}

// Off implements leaderelection.LeaderMetric. client-go calls it first, when the elector is created.
func (p *provider) Off(name string) {
	name = p.registry.upstream.Acquire(name)
	p.metrics.Counter(catalog.UpstreamLeaderSlowpath, name) // start at 0: Prometheus does not see the increase to a first value of 1
	p.metrics.Gauge(catalog.UpstreamLeaderStatus, name).Set(0)
}

// SlowpathExercised implements leaderelection.LeaderMetric.
func (p *provider) SlowpathExercised(name string) {
	p.metrics.Counter(catalog.UpstreamLeaderSlowpath, p.registry.upstream.Acquire(name)).Inc()
}
