package promql

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Query is what Scan finds in a query.
type Query struct {
	// Series are the selectors, in the order of the text.
	Series []Series
	// Grouping are the labels that by, without, on, ignoring, group_left and group_right name.
	Grouping []string
}

// Series is a selector of a query.
type Series struct {
	// Name is the metric's name, with its suffix, "" if a matcher of __name__ selects one or more of them.
	Name string
	// Matchers are the label matchers.
	Matchers []Matcher
	// Range is the text between the square brackets, "" for an instant selector.
	Range string
	// Func is the innermost function that is applied, "" for none. Aggregations do not count.
	Func string
}

// Matcher is a label matcher.
type Matcher struct {
	Label, Op, Value string
}

var (
	token = regexp.MustCompile(`^(?:[ \t\r\n]+|#[^\n]*|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|[a-zA-Z_:][a-zA-Z0-9_:]*|\$[a-zA-Z_]+|[0-9]+(?:(?:ms|[smhdwy])(?:[0-9]+(?:ms|[smhdwy]))*)|[0-9]*\.?[0-9]+(?:e[+-]?[0-9]+)?|=~|!~|!=|==|>=|<=|[-+*/%^=<>(){}\[\],@:])`)

	keywords     = []string{"and", "or", "unless", "bool", "offset", "inf", "nan"}
	groupers     = []string{"by", "without", "on", "ignoring", "group_left", "group_right"}
	aggregations = []string{"sum", "min", "max", "avg", "count", "group", "topk", "bottomk", "quantile", "stddev", "count_values"}
	functions    = []string{
		"abs", "absent", "ceil", "changes", "clamp_min", "clamp_max", "delta", "deriv", "floor", "histogram_quantile", "increase",
		"irate", "label_join", "label_replace", "last_over_time", "max_over_time", "min_over_time", "present_over_time", "rate", "resets", "round",
		"scalar", "sort_desc", "sum_over_time", "time", "timestamp", "vector",
	}
)

// Scan splits a query into its selectors. It fails on what cannot be PromQL: unbalanced brackets, a function that does
// not exist or is not known here, a matcher without a value, a selector without a name.
func Scan(expr string) (Query, error) {
	tokens, err := tokenize(expr)
	if err != nil {
		return Query{}, err
	}
	s := scanner{tokens: tokens}
	if err := s.run(); err != nil {
		return Query{}, err
	}
	return s.query, nil
}

func tokenize(expr string) ([]string, error) {
	var tokens []string
	for rest := expr; rest != ""; {
		t := token.FindString(rest)
		if t == "" {
			return nil, fmt.Errorf("unexpected %q", strings.SplitN(rest, "\n", 2)[0])
		}
		rest = rest[len(t):]
		if c := t[0]; c != ' ' && c != '\t' && c != '\r' && c != '\n' && c != '#' {
			tokens = append(tokens, t)
		}
	}
	if len(tokens) == 0 {
		return nil, fmt.Errorf("the query is empty")
	}
	return tokens, nil
}

type scanner struct {
	tokens []string
	pos    int
	query  Query
	// calls holds, for each open bracket, the function that it belongs to or "".
	calls []string
}

func (s *scanner) peek() string {
	if s.pos < len(s.tokens) {
		return s.tokens[s.pos]
	}
	return ""
}

func (s *scanner) next() string {
	t := s.peek()
	s.pos++
	return t
}

func (s *scanner) run() error {
	for s.pos < len(s.tokens) {
		switch t := s.next(); {
		case t == "(":
			s.calls = append(s.calls, "")
		case t == ")":
			if len(s.calls) == 0 {
				return fmt.Errorf(") without (")
			}
			s.calls = s.calls[:len(s.calls)-1]
		case t == "{":
			s.pos--
			if err := s.series(""); err != nil {
				return err
			}
		case strings.ContainsAny(t, "}[]"):
			return fmt.Errorf("unexpected %s", t)
		case isName(t):
			if err := s.name(t); err != nil {
				return err
			}
		}
	}
	if len(s.calls) > 0 {
		return fmt.Errorf("%d ( without )", len(s.calls))
	}
	return nil
}

// name handles a keyword, a function or the name of a metric.
func (s *scanner) name(t string) error {
	switch {
	case slices.Contains(keywords, t):
		return nil
	case slices.Contains(groupers, t):
		return s.grouping()
	case slices.Contains(aggregations, t):
		return nil
	case s.peek() == "(":
		if !slices.Contains(functions, t) {
			return fmt.Errorf("unknown function %s", t)
		}
		s.next()
		s.calls = append(s.calls, t)
		return nil
	}
	return s.series(t)
}

func (s *scanner) grouping() error {
	if s.peek() != "(" {
		return nil // group_left may stand alone
	}
	s.next()
	for {
		switch t := s.next(); {
		case t == ")":
			return nil
		case t == ",":
		case isName(t):
			s.query.Grouping = append(s.query.Grouping, t)
		default:
			return fmt.Errorf("unexpected %q among grouping labels", t)
		}
	}
}

func (s *scanner) series(name string) error {
	found := Series{Name: name}
	for i := len(s.calls) - 1; i >= 0; i-- {
		if s.calls[i] != "" {
			found.Func = s.calls[i]
			break
		}
	}
	if s.peek() == "{" {
		s.next()
		for s.peek() != "}" {
			m := Matcher{Label: s.next(), Op: s.next()}
			value := s.next()
			text, err := strconv.Unquote(value)
			if !isName(m.Label) || !slices.Contains([]string{"=", "!=", "=~", "!~"}, m.Op) || err != nil {
				return fmt.Errorf("%s has no matcher in %s%s%s", name, m.Label, m.Op, value)
			}
			if _, err := regexp.Compile(text); strings.HasSuffix(m.Op, "~") && err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			m.Value = text
			found.Matchers = append(found.Matchers, m)
			if s.peek() != "}" && s.next() != "," {
				return fmt.Errorf("%s has no comma after the matcher of %s", name, m.Label)
			}
		}
		s.next()
	}
	if name == "" && !slices.ContainsFunc(found.Matchers, func(m Matcher) bool { return m.Label == "__name__" }) {
		return fmt.Errorf("a selector says nothing about the metric's name")
	}
	if s.peek() == "[" {
		s.next()
		found.Range = s.next()
		if s.next() != "]" {
			return fmt.Errorf("%s has no range in its brackets", name)
		}
	}
	s.query.Series = append(s.query.Series, found)
	return nil
}

func isName(t string) bool {
	return t != "" && (t[0] == '_' || t[0] == ':' || t[0]|0x20 >= 'a' && t[0]|0x20 <= 'z')
}
