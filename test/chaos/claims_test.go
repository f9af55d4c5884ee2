package chaos

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
)

// look is the state that the exporter reports at one time: its series, and
//
//	readyz                                        the status of /readyz
//	state{informer_type,namespace,version,state}  1 for the state that /api/v1/informers has for an informer
type look map[string]sample

// sample is the value of a series, or the number of observations of a histogram.
type sample struct {
	name   string
	labels map[string]string
	value  float64
}

func (s sample) key() string {
	var b strings.Builder
	b.WriteString(s.name)
	for _, name := range slices.Sorted(maps.Keys(s.labels)) {
		fmt.Fprintf(&b, ",%s=%q", name, s.labels[name])
	}
	return b.String()
}

func (l look) put(s sample) { l[s.key()] = s }

// take adds the samples of a scrape. Claims name histograms without _count.
func (l look) take(samples metricstest.Samples) {
	for _, s := range samples {
		if !strings.HasSuffix(s.Name, "_sum") {
			l.put(sample{name: strings.TrimSuffix(s.Name, "_count"), labels: s.Labels, value: s.Value})
		}
	}
}

// value returns the sum of the samples of a name with labels, given as alternating names and values.
func (l look) value(name string, labels ...string) (sum float64) {
	wanted := map[string]string{}
	for pair := range slices.Chunk(labels, 2) {
		wanted[pair[0]] = pair[1]
	}
	for _, s := range l {
		if s.name == name && has(s.labels, wanted) {
			sum += s.value
		}
	}
	return sum
}

// since returns the growth of the samples of a name, by the value of a label.
func (l look) since(before look, name, label string) map[string]float64 {
	grown := map[string]float64{}
	for key, s := range l {
		if n := s.value - before[key].value; s.name == name && n > 0 {
			grown[s.labels[label]] += n
		}
	}
	return grown
}

// claim is a claim of a test, and of its row in docs/dev/chaos.md, about series: `watch_connected 0`. It holds for each series of the
// name with the labels, of which at least one must exist.
//
//	name{label="value"} 1        is 1; > 1 and < 1 are also possible
//	name{label="value"} grows    is more than at the mark
//	name{label="value"} stays    is what it was at the mark, if it existed
//	name{label="value"} absent   does not exist
type claim struct {
	text, name string
	labels     map[string]string
	operator   string
	value      float64
}

var (
	claimPattern = regexp.MustCompile(`^([a-z0-9_]+)(?:\{([^}]*)\})? (?:(grows|stays|absent)|([<>]? ?)([0-9.]+))$`)
	labelPattern = regexp.MustCompile(`([a-z_]+)="([^"]*)"`)
)

// parse parses a claim. Metrics are named without their prefix.
func parse(text string) (claim, error) {
	m := claimPattern.FindStringSubmatch(text)
	if m == nil {
		return claim{}, fmt.Errorf("%q is not a claim", text)
	}
	c := claim{text: text, labels: map[string]string{}, operator: m[3]}
	for _, pair := range labelPattern.FindAllStringSubmatch(m[2], -1) {
		c.labels[pair[1]] = pair[2]
	}
	if c.operator == "" {
		c.operator = strings.TrimSpace(m[4])
		var err error
		if c.value, err = strconv.ParseFloat(m[5], 64); err != nil {
			return claim{}, fmt.Errorf("%q: %w", text, err)
		}
	}
	if m[1] == "readyz" || m[1] == "state" {
		c.name = m[1]
		return c, nil
	}
	for _, prefix := range []string{"k8s_informer_", "informer_exporter_", "k8s_"} {
		for _, metric := range catalog.All() {
			if metric.Name == prefix+m[1] {
				c.name = metric.Name
				return c, c.checkLabels(metric)
			}
		}
	}
	return claim{}, fmt.Errorf("%q: unknown metric", text)
}

// checkLabels rejects labels that no series can have: a claim that such a series is absent would always hold.
func (c claim) checkLabels(m catalog.Metric) error {
	for name, value := range c.labels {
		at := slices.IndexFunc(m.Labels, func(l catalog.Label) bool { return l.Name == name })
		if at < 0 || len(m.Labels[at].Values) > 0 && !slices.Contains(m.Labels[at].Values, value) {
			return fmt.Errorf("%q: unknown label %s=%q", c.text, name, value)
		}
	}
	return nil
}

// parsed parses the claims of a test.
func parsed(t testing.TB, texts []string) (claims []claim) {
	t.Helper()
	for _, text := range texts {
		c, err := parse(text)
		if err != nil {
			t.Fatal(err)
		}
		claims = append(claims, c)
	}
	return claims
}

// holds returns nil if the claim holds, and an error with the actual state otherwise.
func (c claim) holds(now, marked look) error {
	var wrong []string
	matches := 0
	for key, s := range now {
		if s.name != c.name || !has(s.labels, c.labels) {
			continue
		}
		matches++
		before, known := marked[key]
		var ok bool
		switch c.operator {
		case "":
			ok = s.value == c.value
		case ">":
			ok = s.value > c.value
		case "<":
			ok = s.value < c.value
		case "grows":
			ok = s.value > before.value
		case "stays":
			ok = !known || s.value == before.value
		}
		if !ok {
			wrong = append(wrong, fmt.Sprintf("%s is %v and was %v", key, s.value, before.value))
		}
	}
	switch {
	case matches == 0 && c.operator == "stays" && strings.HasSuffix(c.name, "_total"): // it has not occurred
	case matches == 0 && c.operator != "absent":
		return fmt.Errorf("%s: no such series", c.text)
	case len(wrong) > 0:
		slices.Sort(wrong)
		return fmt.Errorf("%s: %s", c.text, strings.Join(wrong, "; "))
	}
	return nil
}

func has(labels, wanted map[string]string) bool {
	for name, value := range wanted {
		if labels[name] != value {
			return false
		}
	}
	return true
}
