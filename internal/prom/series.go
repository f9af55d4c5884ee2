// Package prom adapts the queries of rules and dashboards to one Prometheus: the matchers that select its series, and the
// names of the labels that it adds. Alerts and dashboards share it, and it imports nothing of this module.
//
// Queries are written with placeholders:
//
//	{@}            the user's matchers; nothing if the user has none
//	{@, a="b"}     the user's matchers and one more
//	{@process}     the same without those of Subject, for metrics of the whole process
//	@cluster       the name of the label cluster; the same for @namespace, @pod, @job and @instance
//	@severity      the name of the label with the severity of an alert
//	@page          the value of that label for page; the same for @ticket and @info
//
// The placeholders of histograms are documented in histograms.go.
//
// Recorded series and ALERTS have no {@}: the rules that create them already select their sources.
package prom

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Series describes the series of one Prometheus. The zero value has the usual label names and no matchers.
type Series struct {
	// Labels are the names of TargetLabels in this Prometheus, where they differ.
	Labels map[string]string
	// Selector is a list of matchers, such as `env="prod"`.
	Selector string
	// Subject is a list of further matchers for what a rule is about, such as a controller.
	Subject string
	// Severities are the values of the severity label for page, ticket and info, where they differ, and the name of the label
	// itself under the key label.
	Severities map[string]string
	// Histograms is the form of histograms.
	Histograms Histograms
}

// TargetLabels returns the labels that can be renamed: those that Prometheus adds to scraped series.
func TargetLabels() []string { return []string{"cluster", "instance", "job", "namespace", "pod"} }

// Label returns the name of a label.
func (s Series) Label(name string) string {
	if other, ok := s.Labels[name]; ok {
		return other
	}
	return name
}

// Expand adds the metrics of programs without the library to queries, after it has replaced the placeholders of histograms. The other
// placeholders remain, for Fill.
func (s Series) Expand(text string) string { return WithUpstream(s.Histograms.expand(text)) }

// Fill replaces the placeholders of a query, a legend or a template.
func (s Series) Fill(text string) string {
	if !strings.Contains(text, "@") {
		return text
	}
	var pairs []string
	for _, p := range []struct {
		placeholder string
		matchers    []string
	}{{"{@", []string{s.Selector, s.Subject}}, {"{@process", []string{s.Selector}}} {
		list := strings.Join(slices.DeleteFunc(p.matchers, func(m string) bool { return m == "" }), ", ")
		alone, first := "", "{"
		if list != "" {
			alone, first = "{"+list+"}", "{"+list+", "
		}
		pairs = append(pairs, p.placeholder+"}", alone, p.placeholder+", ", first)
	}
	for _, name := range TargetLabels() {
		pairs = append(pairs, "@"+name, s.Label(name))
	}
	pairs = append(pairs, "@severity", s.SeverityLabel())
	for _, severity := range []string{page, ticket, info} {
		pairs = append(pairs, "@"+severity, s.Severity(severity))
	}
	return strings.NewReplacer(pairs...).Replace(s.Histograms.expand(text))
}

var (
	labelName = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_]*$`)
	matcher   = `([a-zA-Z_][a-zA-Z0-9_]*)\s*(=|!=|=~|!~)\s*("(?:[^"\\]|\\["\\nt])*")`
	selector  = regexp.MustCompile(`^\s*` + matcher + `(?:\s*,\s*` + matcher + `)*\s*$`)
	matchers  = regexp.MustCompile(matcher)
)

// Validate returns the errors of the configuration. No label may be renamed to a reserved name.
func (s Series) Validate(reserved []string) []error {
	errs := s.validateSeverities(reserved)
	if !s.Histograms.valid() {
		errs = append(errs, fmt.Errorf("histograms: %q is not supported; use %s or %s", s.Histograms, Classic, Native))
	}
	reserved = append(slices.Clone(reserved), s.SeverityLabel())
	taken := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(s.Labels)) {
		to := s.Labels[name]
		switch {
		case !slices.Contains(TargetLabels(), name):
			errs = append(errs, fmt.Errorf("labelNames: %q cannot be renamed, only %s can", name, strings.Join(TargetLabels(), ", ")))
		case !labelName.MatchString(to):
			errs = append(errs, fmt.Errorf("labelNames.%s: %q is not a valid label name", name, to))
		case taken[to] || slices.Contains(reserved, to) || slices.Contains(TargetLabels(), to) || strings.HasPrefix(to, "__"):
			errs = append(errs, fmt.Errorf("labelNames.%s: %q is the name of another label", name, to))
		}
		taken[to] = true
	}
	if err := s.validateSelector(); err != nil {
		errs = append(errs, fmt.Errorf("selector: %q is not a list of matchers: %w; write one like env=\"prod\", job=~\"a|b\"", s.Selector, err))
	}
	return errs
}

func (s Series) validateSelector() error {
	if s.Selector == "" {
		return nil
	}
	if !selector.MatchString(s.Selector) {
		return fmt.Errorf("syntax error")
	}
	for _, m := range matchers.FindAllStringSubmatch(s.Selector, -1) {
		label, operator, value := m[1], m[2], m[3]
		if label == "__name__" {
			return fmt.Errorf("metrics cannot be selected by name")
		}
		if strings.HasSuffix(operator, "~") {
			if _, err := regexp.Compile(unescape.Replace(value[1 : len(value)-1])); err != nil {
				return err
			}
		}
	}
	return nil
}

// unescape undoes the escapes that selector allows in a string.
var unescape = strings.NewReplacer(`\\`, `\`, `\"`, `"`, `\n`, "\n", `\t`, "\t")
