package objects

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/collectors/internal/core"
	"github.com/informer-exporter/informer-exporter/collectors/internal/series"
)

// generationTimes reports how long controllers take to observe a generation, by informer type. A type has its series from the first
// observation until it is released. All methods are safe for concurrent use.
type generationTimes struct {
	name   string
	vector *prometheus.HistogramVec // nil unless reported

	mu    sync.Mutex
	holds map[string]int
}

func newGenerationTimes(options Options) *generationTimes {
	g := &generationTimes{name: options.Name, holds: map[string]int{}}
	if options.Detail != collectors.Essential {
		m := catalog.ObjectGenerationObserved.Metric
		g.vector = core.Histograms(options.Histograms).NewHistogram(m, m.LabelNames(), nil)
	}
	return g
}

// hold keeps the series of a type until release has been called once for each hold.
func (g *generationTimes) hold(informerType string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.holds[informerType]++
}

func (g *generationTimes) release(informerType string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.holds[informerType]--; g.holds[informerType] > 0 {
		return
	}
	delete(g.holds, informerType)
	if g.vector != nil {
		g.vector.DeleteLabelValues(g.name, series.Valid(informerType))
	}
}

// observe records the time between from and to. The type must be held.
func (g *generationTimes) observe(informerType string, from, to time.Time) {
	if g.vector != nil {
		g.vector.WithLabelValues(g.name, series.Valid(informerType)).Observe(max(0, to.Sub(from)).Seconds())
	}
}
