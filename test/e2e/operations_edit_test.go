package e2e_test

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/test/e2e/recording"
)

func everything(labels.Labels) bool { return true }

func ofWidgets(l labels.Labels) bool { return l.Get("job") == "widgets" }

// cut returns some intervals of a recording.
func cut(r recording.Recording, from, n int) recording.Recording {
	r.Start = r.Start.Add(time.Duration(from) * r.Interval)
	r.Series = slices.Clone(r.Series)
	for i, s := range r.Series {
		r.Series[i].Values = s.Values[min(from, len(s.Values)):min(from+n, len(s.Values))]
	}
	return r
}

// unscraped returns a recording without the scrapes of some time, into which more time is inserted.
func unscraped(r recording.Recording, at int, removed, inserted time.Duration) recording.Recording {
	r = edited(r, everything, func(_ labels.Labels, values []float64) {
		fill(values[at:at+int(removed/r.Interval)], recording.Missing)
	})
	for i, s := range r.Series {
		r.Series[i].Values = slices.Insert(s.Values, at, slices.Repeat([]float64{recording.Missing}, int(inserted/r.Interval))...)
	}
	return r
}

// ended returns a recording in which series end, because their target has gone.
func ended(r recording.Recording, at int, which func(labels.Labels) bool) recording.Recording {
	return edited(r, which, func(_ labels.Labels, values []float64) {
		there := at > 0 && !math.IsNaN(values[at-1])
		fill(values[at:], recording.Missing)
		if there {
			values[at] = recording.Stale
		}
	})
}

// relabeled returns a recording in which series have other labels.
func relabeled(r recording.Recording, at int, which func(labels.Labels) bool, change func(*labels.Builder)) recording.Recording {
	all := ended(r, at, which)
	for _, s := range r.Series {
		if which(s.Labels) {
			b := labels.NewBuilder(s.Labels)
			change(b)
			values := slices.Clone(s.Values)
			fill(values[:at], recording.Missing)
			all.Series = append(all.Series, recording.Series{Labels: b.Labels(), Values: values})
		}
	}
	all.Series = slices.DeleteFunc(all.Series, func(s recording.Series) bool {
		return !slices.ContainsFunc(s.Values, func(v float64) bool { return !math.IsNaN(v) })
	})
	return all
}

// expired returns a recording in which the Lease of widgets is no longer renewed.
func expired(r recording.Recording, at int) recording.Recording {
	return edited(r, func(l labels.Labels) bool { return l.Get("lease") == "widgets" }, func(l labels.Labels, values []float64) {
		switch l.Get(model.MetricNameLabel) {
		case catalog.LeaseExpired.Name:
			fill(values[at:], 1)
		case catalog.LeaseRenewedTimestamp.Name, catalog.LeaseTransitions.Name:
			fill(values[at:], values[at])
		}
	})
}

// edited returns a recording with other values of some series, all of which have the same length.
func edited(r recording.Recording, which func(labels.Labels) bool, edit func(l labels.Labels, values []float64)) recording.Recording {
	length := r.Len()
	r.Series = slices.Clone(r.Series)
	for i, s := range r.Series {
		values := slices.Concat(s.Values, slices.Repeat([]float64{recording.Missing}, length-len(s.Values)))
		if which(s.Labels) {
			edit(s.Labels, values)
		}
		r.Series[i].Values = values
	}
	return r
}

func fill(values []float64, with float64) {
	for i := range values {
		values[i] = with
	}
}

// added returns a recording with another series, the values of which depend on the time since it began.
func added(r recording.Recording, at int, series string, value func(d time.Duration) float64) recording.Recording {
	metric, err := parser.NewParser(parser.Options{}).ParseMetric(series)
	if err != nil {
		panic(err)
	}
	values := slices.Repeat([]float64{recording.Missing}, r.Len())
	for i := range values[at:] {
		values[at+i] = value(time.Duration(i) * r.Interval)
	}
	r.Series = append(slices.Clone(r.Series), recording.Series{Labels: metric, Values: values})
	return r
}

// withOldFaults adds a process that started ten days ago, and counted a page and a ticket then.
func withOldFaults(r recording.Recording) recording.Recording {
	const target, program = `cluster="recorded", job="old", instance="old:8080"`, `name="old", informer_type="pods", watch_namespace="*"`
	for series, value := range map[string]float64{
		`process_start_time_seconds{` + target + `}`: float64(r.Start.Add(-240 * time.Hour).Unix()),
		`up{` + target + `}`:                         1,
		catalog.InformerResourceVersionRegressions.Name + `{` + target + `, ` + program + `}`:    3,
		catalog.InformerHandlerPanics.Name + `{` + target + `, ` + program + `, handler="slow"}`: 3,
	} {
		r = added(r, 0, series, func(time.Duration) float64 { return value })
	}
	return r
}

// webhookDown fails the updates of two programs.
func webhookDown(r recording.Recording, at int) recording.Recording {
	for _, job := range []string{"widgets", "owner-labels"} {
		labels := fmt.Sprintf(`{cluster="recorded", job=%q, instance="%s-0:8080", name=%q, verb="update", resource="deployments.apps", subresource="", code="500"}`, job, job, job)
		r = added(r, at, catalog.ClientRequests.Name+labels, func(d time.Duration) float64 { return d.Seconds() })
	}
	return r
}

// cutOff cuts off a program.
func cutOff(r recording.Recording, at int) recording.Recording {
	ofLoad := func(metric string) func(labels.Labels) bool {
		return func(l labels.Labels) bool { return l.Get("job") == "load" && l.Get(model.MetricNameLabel) == metric }
	}
	r = edited(r, ofLoad(catalog.InformerWatchConnected.Name), func(_ labels.Labels, values []float64) { fill(values[at:], 0) })
	r = edited(r, ofLoad(catalog.InformerSyncLag.Name), func(_ labels.Labels, values []float64) {
		for i := range values[at:] {
			values[at+i] = float64(i) * r.Interval.Seconds()
		}
	})
	return added(r, at, catalog.ClientRequests.Name+`{cluster="recorded", job="load", instance="load:8080", name="load", verb="watch", resource="pods", subresource="", code="error"}`,
		func(d time.Duration) float64 { return d.Seconds() / 10 })
}

// firstList starts a program with a handler that takes 20 ms for each object.
func firstList(r recording.Recording, at int) recording.Recording {
	const program, each = `{cluster="recorded", job="new", instance="new:8080", name="new", informer_type="pods", watch_namespace="*"`, 20 * time.Millisecond
	handled := func(d time.Duration) float64 { return min(10_000, float64(d/each)) }
	r = added(r, at, "process_start_time_seconds"+`{cluster="recorded", job="new", instance="new:8080"}`, func(time.Duration) float64 {
		return float64(r.Start.Add(time.Duration(at) * r.Interval).Unix())
	})
	for metric, value := range map[string]func(d time.Duration) float64{
		catalog.InformerSynced.Name + program + "}":                                              func(time.Duration) float64 { return 1 },
		catalog.InformerWatchConnected.Name + program + "}":                                      func(time.Duration) float64 { return 1 },
		catalog.InformerHandlerPending.Name + program + `, handler="h"}`:                         func(d time.Duration) float64 { return 10_000 - handled(d) },
		catalog.InformerHandlerDuration.Name + "_count" + program + `, handler="h"}`:             handled,
		catalog.InformerHandlerDuration.Name + "_bucket" + program + `, handler="h", le="0.12"}`: handled,
		catalog.InformerHandlerDuration.Name + "_bucket" + program + `, handler="h", le="+Inf"}`: handled,
		catalog.InformerSyncLag.Name + program + "}": func(d time.Duration) float64 {
			if handled(d) == 10_000 {
				return 0
			}
			return d.Seconds()
		},
	} {
		r = added(r, at, metric, value)
	}
	return r
}
