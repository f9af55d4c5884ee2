package objects

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/utils/clock"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/catalog"
)

// Options configures a Collector. The zero value is valid.
type Options struct {
	// Name is the value of the label name: the program, or the shard of a program. Metrics of Leases do not have it.
	Name string
	// Leases limits the number of Leases with their own series; others are only counted. The default is 500. Beyond it,
	// namespaces share the series equally. Leases of nodes and of API servers never have their own series.
	Leases int
	// Groups limits the combinations of resource, namespace and finalizer of terminating objects, and the combinations of
	// resource and namespace of objects that lag. Each combination has two series. The default is 1000. Beyond it,
	// namespaces share the series equally, and other combinations are reported together.
	Groups int
	// FirstNamespaces get series before all others, as kube-system and cluster-scoped objects do.
	FirstNamespaces []string
	// Detail selects the metrics: collectors.Essential omits the time from generations to their observation.
	Detail collectors.Detail
	// Histograms selects the form of histograms.
	Histograms collectors.Histograms
}

const (
	defaultLeases = 500
	defaultGroups = 1000
)

// Collector reports the objects that its handlers have received. It is safe for concurrent use.
type Collector struct {
	name            string
	clock           clock.PassiveClock
	terminating     *tally
	generations     *tally
	generationTimes *generationTimes
	leaseNames      leaseNames
	overflow        *prometheus.CounterVec

	mu     sync.Mutex
	leases map[*LeaseHandler]struct{}
}

// New returns a registered Collector without handlers. It returns an error if a limit is negative, or if the registry already
// has a Collector.
func New(registerer prometheus.Registerer, options Options) (*Collector, error) {
	return newCollector(registerer, options, clock.RealClock{})
}

func newCollector(registerer prometheus.Registerer, options Options, clock clock.PassiveClock) (*Collector, error) {
	if options.Leases < 0 || options.Groups < 0 {
		return nil, fmt.Errorf("objects: Options.Leases is %d and Options.Groups is %d: use positive numbers, or 0 for the defaults", options.Leases, options.Groups)
	}
	m := catalog.ObjectOverflow
	c := &Collector{
		name:            options.Name,
		clock:           clock,
		leases:          map[*LeaseHandler]struct{}{},
		generationTimes: newGenerationTimes(options),
		overflow:        prometheus.NewCounterVec(prometheus.CounterOpts{Name: m.Name, Help: m.Help}, m.LabelNames()),
	}
	first := make([]string, len(options.FirstNamespaces))
	for i, name := range options.FirstNamespaces {
		first[i] = namespaceLabel(name)
	}
	tallyOf := func(signal string) *tally {
		return newTally(c.overflow.WithLabelValues(signal), cmp.Or(options.Groups, defaultGroups), first)
	}
	c.terminating, c.generations = tallyOf(signalTerminating), tallyOf(signalGenerationLag)
	c.leaseNames = newLeaseNames(c.overflow.WithLabelValues(signalLeases), cmp.Or(options.Leases, defaultLeases), options.FirstNamespaces)
	if err := registerer.Register(c); err != nil {
		return nil, fmt.Errorf("objects: %w", err)
	}
	return c, nil
}

// Descriptions of metrics that are computed at scrape time.
var (
	terminating       = describe(catalog.ObjectTerminating)
	terminatingOldest = describe(catalog.ObjectTerminatingOldest)
	generationLag     = describe(catalog.ObjectGenerationLag)
	generationOldest  = describe(catalog.ObjectGenerationLagOldest)
)

func describe(metric catalog.Definition) *prometheus.Desc {
	m := metric.Define()
	return prometheus.NewDesc(m.Name, m.Help, m.LabelNames(), nil)
}

func gauge(d *prometheus.Desc, value float64, labels ...string) prometheus.Metric {
	return prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
}

// Describe implements prometheus.Collector.
func (c *Collector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range slices.Concat(leaseDescs, []*prometheus.Desc{terminating, terminatingOldest, generationLag, generationOldest}) {
		ch <- d
	}
	if v := c.generationTimes.vector; v != nil {
		v.Describe(ch)
	}
	c.overflow.Describe(ch)
}

// Collect implements prometheus.Collector. Its cost grows with series, not with objects.
func (c *Collector) Collect(ch chan<- prometheus.Metric) {
	now := c.clock.Now()
	for _, g := range c.terminating.counts(now) {
		ch <- gauge(terminating, float64(g.objects), c.name, g.informerType, g.namespace, g.finalizer)
		ch <- gauge(terminatingOldest, g.oldest.Seconds(), c.name, g.informerType, g.namespace, g.finalizer)
	}
	for _, g := range c.generations.counts(now) {
		ch <- gauge(generationLag, float64(g.objects), c.name, g.informerType, g.namespace)
		ch <- gauge(generationOldest, g.oldest.Seconds(), c.name, g.informerType, g.namespace)
	}
	if v := c.generationTimes.vector; v != nil {
		v.Collect(ch)
	}
	c.collectLeases(ch)
	c.overflow.Collect(ch)
}

func (c *Collector) collectLeases(ch chan<- prometheus.Metric) {
	c.mu.Lock()
	handlers := slices.Collect(maps.Keys(c.leases))
	c.mu.Unlock()
	if len(handlers) == 0 {
		return
	}
	counts := leaseCounts{}
	for _, l := range handlers {
		l.collect(ch, counts)
	}
	counts.collect(ch)
}
