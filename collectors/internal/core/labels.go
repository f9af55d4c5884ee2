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

// DefaultLimits are the limits documented in collectors.Limits.
var DefaultLimits = Limits{
	InformerTypes: 1000, WatchNamespaces: 2000, Handlers: 200, Indexes: 200,
	Controllers: 200, Finalizers: 200, Locks: 50, Resources: 1000,
}

func (l *Labels) init(o *Observer, limits Limits) {
	for _, c := range []struct {
		cap            *series.Cap
		label          catalog.Label
		option         string
		limit, initial int
	}{
		{&l.InformerTypes, catalog.LabelInformerType, "InformerTypes", limits.InformerTypes, DefaultLimits.InformerTypes},
		{&l.WatchNamespaces, catalog.LabelWatchNamespace, "WatchNamespaces", limits.WatchNamespaces, DefaultLimits.WatchNamespaces},
		{&l.Handlers, catalog.LabelHandler, "Handlers", limits.Handlers, DefaultLimits.Handlers},
		{&l.Indexes, catalog.LabelIndex, "Indexes", limits.Indexes, DefaultLimits.Indexes},
		{&l.Controllers, catalog.LabelController, "Controllers", limits.Controllers, DefaultLimits.Controllers},
		{&l.Finalizers, catalog.LabelFinalizer, "Finalizers", limits.Finalizers, DefaultLimits.Finalizers},
		{&l.Locks, catalog.LabelLock, "Locks", limits.Locks, DefaultLimits.Locks},
		{&l.Resources, catalog.LabelResource, "Resources", limits.Resources, DefaultLimits.Resources},
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
