package alerts

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/internal/promql"
)

// renamable are the labels that may have other names in Prometheus: those that it adds itself.
var renamable = []string{"cluster", "instance", "job"}

// ValidateLabels returns what is wrong with other names for labels, and with a selector; the dashboards take the same.
func ValidateLabels(labels map[string]string, selector string) []error {
	var errs []error
	taken := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		to := labels[name]
		switch {
		case !slices.Contains(renamable, name):
			errs = append(errs, fmt.Errorf("labelNames: %q cannot have another name, only %s can", name, strings.Join(renamable, ", ")))
		case !labelName.MatchString(to):
			errs = append(errs, fmt.Errorf("labelNames.%s: %q is no name of a label", name, to))
		case taken[to] != "" || slices.Contains(reservedLabels(), to) || strings.HasPrefix(to, "__"):
			errs = append(errs, fmt.Errorf("labelNames.%s: another label has the name %q", name, to))
		}
		taken[to] = name
	}
	// Another matcher follows it in most queries.
	q, err := promql.Scan("up{" + selector + `, job="x"}`)
	if selector != "" && (err != nil || len(q.Series) != 1 || len(q.Series[0].Matchers) < 2 || hasName(q.Series[0])) {
		errs = append(errs, fmt.Errorf("selector: %q are no matchers; write some like env=\"prod\", job=~\"a|b\"", selector))
	}
	return errs
}

func hasName(s promql.Series) bool {
	return slices.ContainsFunc(s.Matchers, func(m promql.Matcher) bool { return m.Label == "__name__" })
}

// reservedLabels are the names that labels of metrics and alerts have.
func reservedLabels() []string {
	list := append([]string{"alertname", "alertstate", SeverityLabel, "window"}, renamable...)
	for _, m := range catalog.All() {
		list = append(list, m.LabelNames()...)
	}
	return list
}

var labelInText = regexp.MustCompile(`\$labels\.([a-z_]+)`)

func (c Config) rewrite() promql.Rewrite {
	return promql.Rewrite{Labels: c.Labels, Selector: c.Selector}
}

// query writes PromQL of ours for the series that there are.
func (c Config) query(expr string) string {
	rewritten, err := c.rewrite().Apply(expr)
	if err != nil {
		return expr // Validate has refused the selector
	}
	return rewritten
}

// relabel writes rules for the series that there are, and puts the labels that every alert gets on those that have none of
// their own.
func (c Config) relabel(rules []Rule) []Rule {
	list := slices.Clone(rules)
	for i := range list {
		r := &list[i]
		r.Expr = c.query(r.Expr)
		if r.Alert == "" {
			continue
		}
		r.Annotations = maps.Clone(r.Annotations)
		for name, text := range r.Annotations {
			r.Annotations[name] = labelInText.ReplaceAllStringFunc(text, func(found string) string {
				return "$labels." + c.rewrite().Label(strings.TrimPrefix(found, "$labels."))
			})
		}
		labels := maps.Clone(c.ExtraLabels)
		if labels == nil {
			labels = map[string]string{}
		}
		maps.Copy(labels, r.Labels)
		r.Labels = labels
	}
	return list
}

// names returns labels under the names that they have.
func (c Config) names(labels []string) []string {
	list := make([]string, len(labels))
	for i, l := range labels {
		list[i] = c.rewrite().Label(l)
	}
	return list
}
