package core

import (
	"cmp"
	"sync"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/collectors/internal/series"
)

// Labels limits how many values each open label has at the same time.
type Labels struct {
	InformerTypes, WatchNamespaces, Handlers, Indexes, Controllers, Finalizers, Locks, Resources series.Cap
}

func (l *Labels) init(o *Observer, limits Limits) {
	for _, c := range []struct {
		cap    *series.Cap
		label  catalog.Label
		option string
		// initial is the default of limit that collectors.Limits documents.
		limit, initial int
	}{
		{&l.InformerTypes, catalog.LabelInformerType, "InformerTypes", limits.InformerTypes, 1000},
		{&l.WatchNamespaces, catalog.LabelWatchNamespace, "WatchNamespaces", limits.WatchNamespaces, 2000},
		{&l.Handlers, catalog.LabelHandler, "Handlers", limits.Handlers, 200},
		{&l.Indexes, catalog.LabelIndex, "Indexes", limits.Indexes, 200},
		{&l.Controllers, catalog.LabelController, "Controllers", limits.Controllers, 200},
		{&l.Finalizers, catalog.LabelFinalizer, "Finalizers", limits.Finalizers, 200},
		{&l.Locks, catalog.LabelLock, "Locks", limits.Locks, 50},
		{&l.Resources, catalog.LabelResource, "Resources", limits.Resources, 1000},
	} {
		c.cap.Limit = cmp.Or(c.limit, c.initial)
		overflows := o.Metrics.Counter(catalog.InformerLabelOverflow, c.label.Name)
		var once sync.Once
		c.cap.Overflow = func() {
			overflows.Inc()
			// On a goroutine: a logger may block, and callers of Acquire hold locks.
			once.Do(func() {
				go o.Logger.Warn(`label limit reached: new values are reported as "other" until existing ones end`,
					"label", c.label.Name, "limit", c.cap.Limit, "option", "Options.Limits."+c.option)
			})
		}
	}
}
