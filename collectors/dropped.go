package collectors

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
)

// acquireDropped returns the counters of items that a controller has given up, by the value of catalog.LabelDropReason.
// Queues and shutdowns share them. The controller is the value of the label. Each call must be matched by one of
// releaseDropped.
func (o *Observer) acquireDropped(controller string) map[string]prometheus.Counter {
	return o.dropped.Acquire(controller, func() map[string]prometheus.Counter {
		return o.vecs.counterSet(catalog.ControllerDropped, controller)
	})
}

// releaseDropped gives back what acquireDropped returned.
func (o *Observer) releaseDropped(controller string) {
	o.dropped.Release(controller, func(map[string]prometheus.Counter) {
		o.vecs.forgetSet(catalog.ControllerDropped, controller)
	})
}
