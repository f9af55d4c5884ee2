package core

import (
	"slices"

	"github.com/prometheus/client_golang/prometheus"
)

// Part is the state that one package of decorators has for an Observer, such as its informers or its queues.
type Part interface {
	// Collect sends metrics that are computed at scrape time.
	Collect(ch chan<- prometheus.Metric)
}

// PartOf returns the part of type P of an Observer. The first call builds it, with the Observer locked. It is safe for
// concurrent use.
func PartOf[P Part](o *Observer, build func(*Observer) P) P {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, p := range o.parts {
		if p, ok := p.(P); ok {
			return p
		}
	}
	p := build(o)
	o.parts = append(o.parts, p)
	return p
}

func (o *Observer) currentParts() []Part {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.parts)
}

// PartsOf returns the parts of an Observer that implement P, an interface beyond Part.
func PartsOf[P any](o *Observer) (all []P) {
	for _, p := range o.currentParts() {
		if p, ok := p.(P); ok {
			all = append(all, p)
		}
	}
	return all
}
