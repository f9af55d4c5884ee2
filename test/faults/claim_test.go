package faults

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
)

// claim is a claim of a row about a series: `name{label=value}`, followed by the change of the series (+1) or its value
// (0), or preceded by "no" if the series does not change.
type claim struct {
	text   string
	metric string
	labels []string
	kind   kind
	value  float64
}

// kind is the kind of a claim or of evidence.
type kind int

const (
	// mentioned means that the series changes or has a value.
	mentioned kind = iota
	// changedBy is the change of the series, and isNow its value.
	changedBy
	isNow
	// unchanged means that it does not change.
	unchanged
)

var claimPattern = regexp.MustCompile("([Nn]o )?`([a-z_]+)(?:\\{([^`}]*)\\})?`(?: (\\+?)([0-9]+))?")

func claimsOf(r Row) []claim {
	var all []claim
	for _, m := range claimPattern.FindAllStringSubmatch(r.Shows, -1) {
		c := claim{text: m[0], metric: prefix + m[2]}
		if m[3] != "" {
			c.labels = strings.Split(m[3], ",")
		}
		switch {
		case m[1] != "":
			c.kind = unchanged
		case m[4] != "":
			c.kind = changedBy
		case m[5] != "":
			c.kind = isNow
		}
		c.value, _ = strconv.ParseFloat(m[5], 64)
		all = append(all, c)
	}
	return all
}

func (c claim) String() string { return c.text }

// is reports whether the claim is about a series.
func (c claim) is(series string) bool {
	name, labels, _ := strings.Cut(strings.TrimSuffix(series, "}"), "{")
	m, _ := metric(c.metric)
	if m.Type == catalog.TypeHistogram || m.Type == catalog.TypeSummary {
		name = strings.TrimSuffix(strings.TrimSuffix(name, "_count"), "_sum")
	}
	have := strings.Split(labels, ",")
	return name == c.metric && !slices.ContainsFunc(c.labels, func(l string) bool { return !slices.Contains(have, l) })
}

func metric(name string) (catalog.Metric, bool) {
	all := catalog.All()
	at := slices.IndexFunc(all, func(m catalog.Metric) bool { return m.Name == name })
	if at < 0 {
		return catalog.Metric{}, false
	}
	return all[at], true
}
