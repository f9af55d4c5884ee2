package collectors

import (
	"cmp"
	"fmt"
	"sync"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/collectors/internal/series"
)

// Limits are how many values the labels may have at the same time whose values come from the program: they bound the
// number of series of an Observer. What is made when there is no room gets the value "other", together with all else
// that got it, and is counted by k8s_informer_label_overflow_total. 0 is the default.
type Limits struct {
	// InformerTypes is the limit of the label informer_type. The default is 1000.
	InformerTypes int
	// Namespaces is the limit of the label namespace. The default is 2000.
	Namespaces int
	// Handlers is the limit of the label handler. The default is 200.
	Handlers int
	// Indexes is the limit of the label index. The default is 200.
	Indexes int
	// Controllers is the limit of the label controller, and of the label name of workqueue_*. The default is 200.
	Controllers int
	// Finalizers is the limit of the label finalizer. The default is 200.
	Finalizers int
	// Locks is the limit of the label lock, and of the label name of leader_election_*. The default is 50.
	Locks int
	// Resources is the limit of the label resource of requests to the API server. The default is 1000.
	Resources int
}

// The defaults.
const (
	maxInformerTypes = 1000
	maxNamespaces    = 2000
	maxHandlers      = 200
	maxIndexes       = 200
	maxControllers   = 200
	maxFinalizers    = 200
	maxLocks         = 50
	maxResources     = 1000
)

func (l Limits) validate() error {
	for _, limit := range []struct {
		name  string
		value int
	}{
		{"InformerTypes", l.InformerTypes}, {"Namespaces", l.Namespaces}, {"Handlers", l.Handlers}, {"Indexes", l.Indexes},
		{"Controllers", l.Controllers}, {"Finalizers", l.Finalizers}, {"Locks", l.Locks}, {"Resources", l.Resources},
	} {
		if limit.value < 0 {
			return fmt.Errorf("collectors: Options.Limits.%s is %d: give a number of label values, or 0 for the default", limit.name, limit.value)
		}
	}
	return nil
}

// limit prepares the labels whose values come from the program.
func (o *Observer) limit(l Limits) {
	for _, c := range []struct {
		cap              *series.Cap
		label            catalog.Label
		option           string
		asked, otherwise int
	}{
		{&o.types, catalog.LabelInformerType, "Options.Limits.InformerTypes", l.InformerTypes, maxInformerTypes},
		{&o.namespaces, catalog.LabelNamespace, "Options.Limits.Namespaces", l.Namespaces, maxNamespaces},
		{&o.handlers, catalog.LabelHandler, "Options.Limits.Handlers", l.Handlers, maxHandlers},
		{&o.indexes, catalog.LabelIndex, "Options.Limits.Indexes", l.Indexes, maxIndexes},
		{&o.controllers.names, catalog.LabelController, "Options.Limits.Controllers", l.Controllers, maxControllers},
		{&o.controllers.finalizers, catalog.LabelFinalizer, "Options.Limits.Finalizers", l.Finalizers, maxFinalizers},
		{&o.lockNames, catalog.LabelLock, "Options.Limits.Locks", l.Locks, maxLocks},
		{&o.requests.resources, catalog.LabelResource, "Options.Limits.Resources", l.Resources, maxResources},
	} {
		c.cap.Limit = cmp.Or(c.asked, c.otherwise)
		overflows := o.vecs.counter(catalog.InformerLabelOverflow, c.label.Name)
		var once sync.Once
		c.cap.Overflow = func() {
			overflows.Inc()
			// Not here: a logger may take its time, and whoever asks for a value holds the Observer's lock.
			once.Do(func() { go o.warnOverflow(c.label.Name, c.option, c.cap.Limit) })
		}
	}
}

func (o *Observer) warnOverflow(label, option string, limit int) {
	o.logger.Warn(`A label has as many values as it may have: what is new is reported as "other" until others have ended. `+
		"Raise the limit, or look for names that are made up at run time", "label", label, "limit", limit, "option", option)
}
