package collectors

import (
	"maps"
	"reflect"
	"slices"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/collectors/internal/series"
)

// controllers holds the series of reconciles, clean-ups and shutdowns. Their decorators are functions, of which nobody
// knows when they are no longer called: the series live until they are forgotten.
type controllers struct {
	names, finalizers series.Cap

	// mu is taken by those that make decorators, by scrapes and by what forgets, never by what is decorated.
	mu     sync.Mutex
	series map[controllerKey]controllerSeries
}

// controllerKey stands for what decorators share: the kind of series, and its labels.
type controllerKey struct {
	kind reflect.Type
	// labels are the controller, and the finalizer or nothing.
	labels [2]string
}

// controllerSeries are the series of one kind that a controller has.
type controllerSeries interface {
	// collect sends what is read at the time of the scrape.
	collect(ch chan<- prometheus.Metric)
	// forget deletes the others. What is counted in them afterwards goes nowhere.
	forget()
}

// controllerSeriesFor returns the series of the kind S with the given labels, the controller and for some kinds the
// finalizer. It builds them if there are none.
func controllerSeriesFor[S controllerSeries](o *Observer, build func(labels ...string) S, labels ...string) S {
	c := &o.controllers
	c.mu.Lock()
	defer c.mu.Unlock()
	key := controllerKey{kind: reflect.TypeFor[S]()}
	copy(key.labels[:], labels)
	if s, ok := c.series[key]; ok {
		return s.(S)
	}
	c.acquire(&key)
	if s, ok := c.series[key]; ok { // that of all beyond a limit
		c.release(key)
		return s.(S)
	}
	s := build(slices.Clone(key.labels[:len(labels)])...)
	if c.series == nil {
		c.series = map[controllerKey]controllerSeries{}
	}
	c.series[key] = s
	return s
}

// lookUp returns the series of the kind S with the given labels, the zero value if there are none.
func lookUp[S controllerSeries](c *controllers, labels ...string) (s S) {
	key := controllerKey{kind: reflect.TypeFor[S]()}
	copy(key.labels[:], labels)
	c.mu.Lock()
	defer c.mu.Unlock()
	s, _ = c.series[key].(S)
	return s
}

// acquire replaces labels for which there is no room.
func (c *controllers) acquire(key *controllerKey) {
	key.labels[0] = c.names.Acquire(key.labels[0])
	if key.labels[1] != "" {
		key.labels[1] = c.finalizers.Acquire(key.labels[1])
	}
}

// release gives back what acquire took.
func (c *controllers) release(key controllerKey) {
	c.names.Release(key.labels[0])
	if key.labels[1] != "" {
		c.finalizers.Release(key.labels[1])
	}
}

// ForgetController deletes the series of a controller that has ended while the program goes on, as far as they are of
// its Reconciler, SyncHandler, Writes, Finalizer, FinalizerRollback and ShutdownController. What these still count goes
// nowhere; a successor of the same name makes its decorators anew, afterwards. Without it the series live as long as the
// Observer, which is right for controllers that end with the program. A controller that is reported as "other", because
// there were too many, has no series of its own that could be deleted.
func (o *Observer) ForgetController(controller string) {
	c := &o.controllers
	c.mu.Lock()
	defer c.mu.Unlock()
	for key, s := range c.series {
		if key.labels[0] == controller {
			delete(c.series, key)
			s.forget()
			c.release(key)
		}
	}
}

// collect sends what is read at the time of the scrape.
func (c *controllers) collect(ch chan<- prometheus.Metric) {
	c.mu.Lock()
	all := slices.Collect(maps.Values(c.series))
	c.mu.Unlock()
	for _, s := range all {
		s.collect(ch)
	}
}

// outcome counts how often something ended with one result, and for how long it had lasted.
type outcome struct {
	count    prometheus.Counter
	duration prometheus.Observer
}

// outcomes returns the series of two metrics that have the same labels, the last of them with a closed set of results.
func (v *vecs) outcomes(count catalog.Counter, duration catalog.Histogram, values ...string) map[string]*outcome {
	durations := v.histogramSet(duration, values...)
	set := make(map[string]*outcome, len(durations))
	for result, counter := range v.counterSet(count, values...) {
		set[result] = &outcome{counter, durations[result]}
	}
	return set
}

// observe accounts for one end after a number of nanoseconds.
func (o *outcome) observe(took int64) {
	o.count.Inc()
	o.duration.Observe(seconds(took))
}

// last returns the options that count where any number can be given.
func last[O any](options []O) (o O) {
	if len(options) > 0 {
		o = options[len(options)-1]
	}
	return o
}
