package core

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
)

// NewUpstreamInformers returns client-go's own metrics of informers. They are not registered.
func NewUpstreamInformers(form Histograms) *Vectors {
	return newUpstream(form, catalog.UpstreamQueuedItems, catalog.UpstreamStoreResourceVersion, catalog.UpstreamProcessingLatency)
}

// NewUpstreamQueues returns client-go's own metrics of work queues. They are not registered.
func NewUpstreamQueues(form Histograms) *Vectors {
	return newUpstream(form, catalog.UpstreamQueueDepth, catalog.UpstreamQueueUnfinishedWork, catalog.UpstreamQueueLongestRunning,
		catalog.UpstreamQueueAdds, catalog.UpstreamQueueRetries, catalog.UpstreamQueueLatency, catalog.UpstreamQueueWorkDuration)
}

// NewUpstreamLeaders returns client-go's own metrics of leader election. They are not registered.
func NewUpstreamLeaders() *Vectors {
	return newUpstream("", catalog.UpstreamLeaderStatus, catalog.UpstreamLeaderSlowpath)
}

func newUpstream(form Histograms, metrics ...catalog.Definition) *Vectors {
	v := newVectors()
	for _, d := range metrics {
		m := d.Define()
		v.add(m, m.LabelNames(), nil, form)
	}
	return v
}

// ifUnregistered returns v if its metrics can be registered, and nil otherwise. component-base, controller-runtime and
// other Observers have metrics with the same names: the first to register them keeps them.
func (o *Observer) ifUnregistered(reg prometheus.Registerer, names string, v *Vectors) *Vectors {
	if err := reg.Register(v); err != nil {
		o.leaveOut(names, err)
		return nil
	}
	reg.Unregister(v) // the Observer registers them together with its own
	return v
}

// Register registers client-go's own metrics that are not part of the Observer. It returns the collector that has them: the
// given one, or that of another Observer with the same registry, or nil if other code has registered metrics of these names.
func Register[C prometheus.Collector](o *Observer, names string, c C) (registered C) {
	err := o.reg.Register(c)
	if err == nil {
		return c
	}
	var already prometheus.AlreadyRegisteredError
	if errors.As(err, &already) {
		if other, ok := already.ExistingCollector.(C); ok {
			return other
		}
	}
	o.leaveOut(names, err)
	return registered
}

func (o *Observer) leaveOut(names string, reason error) {
	o.Logger.Info("client-go metrics are already registered; skipping them", "metrics", names, "reason", reason)
}
