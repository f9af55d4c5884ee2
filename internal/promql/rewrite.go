package promql

import (
	"fmt"
	"slices"
	"strings"
)

// Rewrite changes queries so that they fit series that are labelled otherwise. The zero value changes nothing.
type Rewrite struct {
	// Labels are the new names of labels.
	Labels map[string]string
	// Selector are matchers that every series gets besides its own, such as `job=~"a|b"`. What rules make is left as it is,
	// because it has been selected already and may have lost the labels: alerts, and series whose names hold a colon.
	Selector string
}

// Label returns the name that a label has now.
func (r Rewrite) Label(name string) string {
	if to, ok := r.Labels[name]; ok {
		return to
	}
	return name
}

// Apply rewrites a query, and leaves its spaces and comments as they are. It fails on what Scan
// refuses, before or after.
func (r Rewrite) Apply(expr string) (string, error) {
	if _, err := Scan(expr); err != nil {
		return "", err
	}
	var tokens []string
	for rest := expr; rest != ""; {
		t := token.FindString(rest) // never empty: Scan has read it
		tokens, rest = append(tokens, t), rest[len(t):]
	}
	w := rewriter{Rewrite: r, tokens: tokens}
	w.run()
	if _, err := Scan(w.out.String()); err != nil {
		return "", fmt.Errorf("with the matchers %s: %w", r.Selector, err)
	}
	return w.out.String(), nil
}

// rewriter walks over a query that Scan accepts.
type rewriter struct {
	Rewrite
	tokens []string
	out    strings.Builder
}

// take moves one token to the output.
func (w *rewriter) take() {
	w.out.WriteString(w.tokens[0])
	w.tokens = w.tokens[1:]
}

// next returns the next token that is neither space nor comment.
func (w *rewriter) next() string {
	for _, t := range w.tokens {
		if !blank(t) {
			return t
		}
	}
	return ""
}

func blank(t string) bool { return strings.ContainsRune(" \t\r\n#", rune(t[0])) }

func (w *rewriter) run() {
	for len(w.tokens) > 0 {
		t := w.tokens[0]
		switch {
		case t == "{":
			w.matchers()
		case t == "[":
			for t != "]" {
				t = w.tokens[0]
				w.take()
			}
		case slices.Contains(groupers, t):
			w.take()
			if w.next() == "(" {
				w.labelsUntil(")")
			}
		case !isName(t) || slices.Contains(keywords, t) || slices.Contains(aggregations, t):
			w.take()
		default:
			w.take()
			if w.next() != "(" {
				w.series(t)
			}
		}
	}
}

// series writes the matchers of a metric whose name has just been written.
func (w *rewriter) series(name string) {
	switch {
	case w.next() == "{":
		for w.tokens[0] != "{" {
			w.take()
		}
		if ofRule(name) {
			w.labelsUntil("}")
			return
		}
		w.matchers()
	case w.Selector != "" && !ofRule(name):
		fmt.Fprintf(&w.out, "{%s}", w.Selector)
	}
}

// ofRule tells whether Prometheus makes a series from a rule.
func ofRule(name string) bool {
	return strings.Contains(name, ":") || name == "ALERTS" || name == "ALERTS_FOR_STATE"
}

// matchers writes matchers in braces, and those of the selector before them.
func (w *rewriter) matchers() {
	w.take()
	if w.Selector != "" {
		w.out.WriteString(w.Selector)
		if w.next() != "}" {
			w.out.WriteString(", ")
		}
	}
	w.labelsUntil("}")
}

// labelsUntil writes everything up to the closing token, with labels under their new names.
func (w *rewriter) labelsUntil(closing string) {
	for len(w.tokens) > 0 {
		t := w.tokens[0]
		if isName(t) {
			w.tokens[0] = w.Label(t)
		}
		w.take()
		if t == closing {
			return
		}
	}
}
