package recording

import (
	"fmt"
	"os"
	"slices"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
	"go.yaml.in/yaml/v2"
)

// Reads is the set of series that rules read.
type Reads [][]*labels.Matcher

// ReadBy returns the series that the rules of a file read.
func ReadBy(rulesFile string) (Reads, error) {
	content, err := os.ReadFile(rulesFile)
	if err != nil {
		return nil, err
	}
	var rules struct {
		Groups []struct {
			Rules []struct{ Expr string }
		}
	}
	if err := yaml.Unmarshal(content, &rules); err != nil {
		return nil, fmt.Errorf("%s: %w", rulesFile, err)
	}
	p := parser.NewParser(parser.Options{})
	var reads Reads
	for _, g := range rules.Groups {
		for _, r := range g.Rules {
			expr, err := p.ParseExpr(r.Expr)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", rulesFile, err)
			}
			parser.Inspect(expr, func(n parser.Node, _ []parser.Node) error {
				if s, ok := n.(*parser.VectorSelector); ok {
					reads = append(reads, s.LabelMatchers)
				}
				return nil
			})
		}
	}
	return reads, nil
}

// Series reports whether a series is read.
func (r Reads) Series(l labels.Labels) bool {
	return slices.ContainsFunc(r, func(matchers []*labels.Matcher) bool {
		return !slices.ContainsFunc(matchers, func(m *labels.Matcher) bool { return !m.Matches(l.Get(m.Name)) })
	})
}

// Names returns the names of the metrics that are read.
func (r Reads) Names() []string {
	var names []string
	for _, matchers := range r {
		for _, m := range matchers {
			if m.Name == model.MetricNameLabel && !slices.Contains(names, m.Value) {
				names = append(names, m.Value)
			}
		}
	}
	return names
}
