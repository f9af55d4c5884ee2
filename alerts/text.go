package alerts

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/internal/prom"
)

// text fills in the texts of rules and runbooks for one objective.
type text struct {
	o      catalog.Objective
	c      Config
	values map[string]string
}

func newText(o catalog.Objective, c Config) text { return text{o: o, c: c, values: values(o, c)} }

// values are the marks without arguments that depend on the objective and on the scrape interval.
func values(o catalog.Objective, c Config) map[string]string {
	number, duration := catalog.FormatNumber, catalog.FormatDuration
	scrape := c.Targets.ScrapeInterval()
	// Prometheus makes all series of a target stale when a single scrape fails: an alert that compares a gauge or the start of a process
	// would resolve, and fire again only after its for. An increase in a window spans the failed scrape.
	lostScrapes := cmp.Or(c.KeepFiringFor, max(2*time.Minute, 2*scrape))
	return map[string]string{
		"threshold": number(o.Threshold), "objective": o.Amount(), "quantile": number(o.Quantile), "count": number(o.MinCount),
		"window": duration(o.Window), "seconds": number(o.Window.Seconds()), "for": duration(o.For), "for_seconds": number(o.For.Seconds()),
		"outlier": outlier(o), "allowed": number(o.Allowed()), "budget": o.Budget(),
		"scrape": duration(scrape), "scrape_seconds": number(scrape.Seconds()), "lost_scrapes": duration(lostScrapes),
		// An increase over the interval of long windows, and one scrape more.
		"span": duration(tile + scrape), "span_seconds": number((tile + scrape).Seconds()),
		// An API server that is unreachable for a third of this window is down, even if it recovers in between.
		"outage": duration(c.Targets.Window(3 * o.For)),
		// After this part of the wait, an outage mutes other alerts: locks are lost within seconds.
		"outage_start": duration(max(o.For/6, scrape)),
		// Tickets stay muted for as long: 18 m, for windows of 15 m and an attempt of client-go within 1 m.
		"outage_end": duration(c.Targets.Window(6 * o.For)),
		// After an outage, locks have no leader for client-go's lease duration of 15 s, a retry and a start.
		"leaders_return":   duration(30*time.Second + 2*scrape + lostScrapes),
		"lease_namespaces": strings.Join(c.leaseNamespaces(), "|"),
		"on_call":          onCallPage,
		"long":             "", "short": "", "factor": "", // see burn
	}
}

// tile is the interval of groups with long windows.
const tile = 5 * time.Minute

// outlier returns the first bucket of at least three times the threshold.
func outlier(o catalog.Objective) string {
	for _, b := range o.Metric.Buckets {
		if b >= 3*o.Threshold {
			return catalog.FormatNumber(b)
		}
	}
	return "+Inf"
}

// burn returns the texts of one of the objective's burn rates.
func (t text) burn(i int) text {
	b := t.o.BurnRates[i]
	t.o.For, t.o.Severity = b.For, b.Severity
	t.values = values(t.o, t.c)
	t.values["long"], t.values["short"], t.values["factor"] = catalog.FormatDuration(b.Long), catalog.FormatDuration(b.Short), catalog.FormatNumber(b.Factor)
	return t
}

// rule fills in a rule. Its maps are copies.
func (t text) rule(r Rule) Rule {
	r.Record, r.Expr, r.For, r.KeepFiringFor = t.fill(r.Record), t.fill(r.Expr), t.fill(r.For), t.fill(r.KeepFiringFor)
	r.Labels, r.Annotations = t.fillAll(r.Labels), t.fillAll(r.Annotations)
	return r
}

func (t text) fillAll(texts map[string]string) map[string]string {
	filled := map[string]string{}
	for name, value := range texts {
		filled[name] = t.fill(value)
	}
	return filled
}

// fill fills in the marks of a text, which check has accepted, and then the names of labels, the matchers and the histograms of the
// configuration.
func (t text) fill(s string) string {
	marks := prom.Marks{Call: t.call, Fragment: func(name string) (string, bool) {
		fragment, ok := loaded().fragments[name]
		return t.spanAll(fragment), ok
	}}
	filled, err := marks.Fill(t.spanAll(s))
	if err != nil {
		panic(err)
	}
	return t.c.series().Fill(filled)
}

// functions are the marks with their numbers of arguments, apart from values and fragments.
var functions = map[string][]int{"occurred": {1, 2}, "occurred_or_upstream": {1, 2}, "or_upstream": {1}, "range": {1}, "alerts": {0}, "muted_alerts": {0}}

// call returns the text for a mark, which check has accepted.
func (t text) call(name string, arguments []string) (string, bool) {
	switch name {
	case "occurred", "occurred_or_upstream":
		window := t.values["window"]
		if len(arguments) > 1 {
			window = t.span(arguments[1])
		}
		query := prom.Occurred(arguments[0], window)
		if name == "occurred_or_upstream" {
			query = t.c.series().Expand(query)
		}
		return query, true
	case "or_upstream":
		return t.c.series().Expand(arguments[0]), true
	case "range":
		return t.span(arguments[0]), true
	case "alerts":
		return strings.Join(names(), "|"), true
	case "muted_alerts":
		return mutedAlerts(t.c), true
	}
	value, ok := t.values[name]
	return value, ok
}

// ranges matches ranges in minutes such as [5m].
var ranges = regexp.MustCompile(`\[[0-9]+m\]`)

// spanAll widens the ranges in a text.
func (t text) spanAll(s string) string {
	return ranges.ReplaceAllStringFunc(s, func(r string) string { return "[" + t.span(r[1:len(r)-1]) + "]" })
}

// span widens a range that spans too few scrapes.
func (t text) span(window string) string {
	d, err := time.ParseDuration(window)
	if err != nil || d == t.c.Targets.Window(d) {
		return window
	}
	return catalog.FormatDuration(t.c.Targets.Window(d))
}

// known has the names of all values.
var known = values(catalog.Objective{}, Config{})

// check returns an error for a mark of a text that fill does not know, or with another number of arguments.
func check(s string, fragments map[string]string) error {
	_, err := prom.Marks{
		Fragment: func(name string) (string, bool) {
			fragment, ok := fragments[name]
			return fragment, ok
		},
		Call: func(name string, arguments []string) (string, bool) {
			if _, ok := known[name]; ok {
				return "", len(arguments) == 0
			}
			return "", slices.Contains(functions[name], len(arguments))
		},
	}.Fill(s)
	return err
}
