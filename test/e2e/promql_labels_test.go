package e2e_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
)

// checkQuery parses a query, compares it with the catalog and returns the labels that its result may carry, and all
// problems. recorded holds the labels of the series of recording rules.
func checkQuery(expr string, recorded map[string][]string) ([]string, error) {
	e, err := parser.NewParser(parser.Options{}).ParseExpr(expr)
	if err != nil {
		return nil, err
	}
	c := checker{recorded: recorded}
	parser.Inspect(e, func(n parser.Node, path []parser.Node) error {
		if v, ok := n.(*parser.VectorSelector); ok {
			c.errs = append(c.errs, checkSelector(v, path, recorded))
		}
		return nil
	})
	if err := errors.Join(c.errs...); err != nil {
		return nil, err // the labels of an unknown series are not checked
	}
	return c.labels(e), errors.Join(c.errs...)
}

// checker determines the labels of expressions from the inside out.
type checker struct {
	recorded map[string][]string
	replaced []string // labels that the label_join and label_replace around an expression set
	errs     []error
}

func (c *checker) fail(format string, a ...any) { c.errs = append(c.errs, fmt.Errorf(format, a...)) }

// labels returns the labels that the result of e may carry, in no particular order and without duplicates.
func (c *checker) labels(e parser.Expr) []string {
	switch e := e.(type) {
	case *parser.VectorSelector:
		return c.selected(e)
	case *parser.MatrixSelector:
		return c.labels(e.VectorSelector)
	case *parser.SubqueryExpr:
		return c.labels(e.Expr)
	case *parser.ParenExpr:
		return c.labels(e.Expr)
	case *parser.UnaryExpr:
		return c.labels(e.Expr)
	case *parser.AggregateExpr:
		return c.aggregation(e)
	case *parser.BinaryExpr:
		return c.operation(e)
	case *parser.Call:
		return c.call(e)
	}
	return nil // a number or a string
}

// selected returns the labels that all series of a selector may carry.
func (c *checker) selected(e *parser.VectorSelector) (common []string) {
	for i, name := range namesOf(e) {
		s, _ := lookUp(name, c.recorded)
		if i == 0 {
			common = s.labels
		}
		common = minus(common, minus(common, s.labels))
	}
	return common
}

// aggregation may remove labels that label_join or label_replace sets on its result: a scraped program may have them.
func (c *checker) aggregation(e *parser.AggregateExpr) []string {
	replaced := c.replaced
	c.replaced = nil
	in := c.labels(e.Expr)
	c.replaced = replaced
	for _, l := range e.Grouping {
		if !slices.Contains(in, l) && (!e.Without || !slices.Contains(replaced, l)) {
			c.fail("%s: %s has no label %s", e.Op, e.Expr, l)
		}
	}
	switch {
	case e.Op == parser.TOPK || e.Op == parser.BOTTOMK:
		return in
	case e.Without:
		return minus(in, e.Grouping)
	}
	return e.Grouping
}

func (c *checker) call(e *parser.Call) []string {
	switch e.Func.Name {
	case "absent", "absent_over_time":
		return c.absent(e)
	case "histogram_quantile":
		if q, ok := e.Args[0].(*parser.NumberLiteral); ok && (q.Val <= 0 || q.Val >= 1) {
			c.fail("histogram_quantile: there is no quantile %v", q.Val)
		}
		in := c.labels(e.Args[1])
		if !slices.Contains(in, labels.BucketLabel) {
			c.fail("histogram_quantile: %s has lost the label le", e.Args[1])
		}
		return minus(in, []string{labels.BucketLabel})
	case "label_replace", "label_join":
		target, ok := e.Args[1].(*parser.StringLiteral)
		if !ok {
			return c.labels(e.Args[0])
		}
		outer := c.replaced
		c.replaced = append(slices.Clone(outer), target.Val)
		in := c.labels(e.Args[0])
		c.replaced = outer
		return union(in, []string{target.Val})
	}
	for _, a := range e.Args {
		if t := a.Type(); t == parser.ValueTypeVector || t == parser.ValueTypeMatrix {
			return c.labels(a)
		}
	}
	return nil
}

// absent returns the labels of the result of absent(): those of its equality matchers.
func (c *checker) absent(e *parser.Call) []string {
	var own []string
	parser.Inspect(e.Args[0], func(n parser.Node, _ []parser.Node) error {
		if v, ok := n.(*parser.VectorSelector); ok {
			for _, m := range v.LabelMatchers {
				if m.Type == labels.MatchEqual && m.Name != metricName {
					own = append(own, m.Name)
				}
			}
		}
		return nil
	})
	return own
}

// operation checks that the two sides can match. Otherwise the result would be empty, without an error.
func (c *checker) operation(e *parser.BinaryExpr) []string {
	left, right := c.labels(e.LHS), c.labels(e.RHS)
	m := e.VectorMatching
	if m == nil {
		return union(left, right) // one of them is a number
	}
	if e.Op == parser.LOR {
		return union(left, right)
	}
	switch {
	case m.On:
		for _, l := range m.MatchingLabels {
			if !slices.Contains(left, l) || !slices.Contains(right, l) {
				c.fail("on (%s): not both sides of %s have it", l, e.Op)
			}
		}
	default:
		for _, l := range m.MatchingLabels {
			if !slices.Contains(left, l) && !slices.Contains(right, l) {
				c.fail("ignoring (%s): neither side of %s has it", l, e.Op)
			}
		}
		l, r := minus(left, m.MatchingLabels), minus(right, m.MatchingLabels)
		if one := append(minus(l, r), minus(r, l)...); len(one) > 0 {
			c.fail("the sides of %s never match: only one has %s", e.Op, strings.Join(one, ", "))
		}
	}
	for _, l := range m.Include {
		if one := map[bool][]string{true: right, false: left}[m.Card == parser.CardManyToOne]; !slices.Contains(one, l) {
			c.fail("group_left or group_right (%s): the one side of %s does not have it", l, e.Op)
		}
	}
	switch {
	case e.Op == parser.LAND || e.Op == parser.LUNLESS:
		return left
	case m.Card == parser.CardManyToOne:
		return union(left, m.Include)
	case m.Card == parser.CardOneToMany:
		return union(right, m.Include)
	case m.On:
		return m.MatchingLabels
	}
	return minus(left, m.MatchingLabels)
}

func minus(a, b []string) []string {
	var rest []string
	for _, l := range a {
		if !slices.Contains(b, l) {
			rest = append(rest, l)
		}
	}
	return rest
}

func union(a, b []string) []string { return slices.Concat(a, minus(b, a)) }
