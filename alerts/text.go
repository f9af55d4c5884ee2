package alerts

import (
	"cmp"
	"fmt"
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
	// arguments are the arguments of the fragment that is filled in.
	arguments []string
}

func newText(o catalog.Objective, c Config) text { return text{o: o, c: c, values: values(o, c)} }

// values are the calls without arguments that depend on the objective and on the scrape interval.
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

// fill fills in the calls of a text, and then the names of labels, the matchers and the histograms of the configuration.
func (t text) fill(s string) string { return t.c.series().Fill(t.expand(s)) }

// calls matches <<name>>, <<name `argument` 5m>>, and ranges in minutes such as [5m].
var calls = regexp.MustCompile("<<([a-z0-9_]+)((?: (?:`[^`]*`|[^ `<>]+))*)>>|\\[([0-9]+m)\\]")

var argument = regexp.MustCompile("`[^`]*`|[^ `]+")

// functions are the calls with their numbers of arguments, apart from values and fragments.
var functions = map[string][]int{"occurred": {1, 2}, "occurred_or_upstream": {1, 2}, "or_upstream": {1}, "range": {1}, "alerts": {0}, "muted_alerts": {0}}

// expand replaces calls. Further lines of a value are indented like the line of its call.
func (t text) expand(s string) string {
	var b strings.Builder
	end := 0
	for _, at := range calls.FindAllStringSubmatchIndex(s, -1) {
		b.WriteString(s[end:at[0]])
		end = at[1]
		if at[2] < 0 {
			b.WriteString("[" + t.span(s[at[6]:at[7]]) + "]")
			continue
		}
		var arguments []string
		for _, a := range argument.FindAllString(s[at[4]:at[5]], -1) {
			arguments = append(arguments, t.expand(strings.Trim(a, "`")))
		}
		line := s[strings.LastIndexByte(s[:at[0]], '\n')+1:]
		indent := line[:len(line)-len(strings.TrimLeft(line, " "))]
		b.WriteString(strings.ReplaceAll(t.call(s[at[2]:at[3]], arguments), "\n", "\n"+indent))
	}
	return b.String() + s[end:]
}

// call returns the text for a call, which check has accepted.
func (t text) call(name string, arguments []string) string {
	series := t.c.series()
	switch name {
	case "1":
		return t.arguments[0]
	case "occurred", "occurred_or_upstream":
		window := t.values["window"]
		if len(arguments) > 1 {
			window = t.span(arguments[1])
		}
		query := prom.Occurred(arguments[0], window)
		if name == "occurred_or_upstream" {
			return series.Expand(query)
		}
		return query
	case "or_upstream":
		return series.Expand(arguments[0])
	case "range":
		return t.span(arguments[0])
	case "alerts":
		return strings.Join(names(), "|")
	case "muted_alerts":
		return mutedAlerts(t.c)
	}
	if value, ok := t.values[name]; ok {
		return value
	}
	t.arguments = arguments
	return t.expand(loaded().fragments[name])
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

// check returns an error for a call of a text that fill does not know, or with another number of arguments.
func check(s string, fragments map[string]string) error {
	rest := s
	for _, call := range calls.FindAllStringSubmatch(s, -1) {
		rest = strings.Replace(rest, call[0], "", 1)
		if call[1] == "" {
			continue
		}
		arguments := argument.FindAllString(call[2], -1)
		counts, ok := functions[call[1]]
		_, value := known[call[1]]
		fragment, shared := fragments[call[1]]
		switch {
		case ok:
		case value:
			counts = []int{0}
		case shared:
			counts = []int{min(1, strings.Count(fragment, "<<1>>"))}
		default:
			return fmt.Errorf("<<%s>> is neither a value, a function nor a fragment", call[1])
		}
		if !slices.Contains(counts, len(arguments)) {
			return fmt.Errorf("<<%s>> has %d arguments, want %d", call[1], len(arguments), counts)
		}
		for _, a := range arguments {
			if err := check(strings.Trim(a, "`"), fragments); err != nil {
				return err
			}
		}
	}
	if strings.Contains(rest, "<<") || strings.Contains(rest, ">>") {
		return fmt.Errorf("a call is not closed, or has a space or a quote too many: %q", s)
	}
	return nil
}
