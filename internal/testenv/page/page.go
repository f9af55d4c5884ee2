// Package page writes tables that are defined in Go into the pages of docs, between markers.
package page

import (
	"fmt"
	"regexp"
	"strings"
)

// Row returns a row of a Markdown table.
func Row(cells ...string) string { return "| " + strings.Join(cells, " | ") + " |\n" }

// Head returns the first two rows of a Markdown table.
func Head(cells ...string) string { return Row(cells...) + strings.Repeat("|---", len(cells)) + "|\n" }

var (
	span  = regexp.MustCompile("`[^`]+`")
	label = regexp.MustCompile(`(\w+)=([^",}]+)([,}])`)
)

// Quote puts the label values of series in code spans in quotes: `up{job=node}` becomes `up{job="node"}`. Go strings are easier
// to read without the quotes.
func Quote(text string) string {
	return span.ReplaceAllStringFunc(text, func(code string) string { return label.ReplaceAllString(code, `$1="$2"$3`) })
}

// Replace replaces the text between the markers BEGIN GENERATED and END GENERATED with the given name. It returns an error
// unless page has exactly one of each, on separate lines and in this order.
func Replace(page, name, text string) (string, error) {
	begin, end := "<!-- BEGIN GENERATED "+name+" -->\n", "<!-- END GENERATED "+name+" -->\n"
	before, rest, found := strings.Cut(page, begin)
	_, after, ended := strings.Cut(rest, end)
	if !found || !ended || strings.Contains(after, begin) || strings.Contains(after, end) {
		return "", fmt.Errorf("no single line %q with a line %q below it", begin, end)
	}
	return before + begin + "\n" + strings.Trim(text, "\n") + "\n\n" + end + after, nil
}
