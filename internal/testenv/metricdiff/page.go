package metricdiff

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
)

// fewest is less than any version has: a page in another format must not look like a version without metrics.
const fewest = 50

// code is a name in backquotes.
var code = regexp.MustCompile("`([^`]+)`")

// Parse returns the metrics of deploy/metrics.md, which every commit has. Columns are found by their headings.
func Parse(page string) (map[string]Metric, error) {
	metrics := map[string]Metric{}
	var shared, columns []string
	for line := range strings.Lines(page) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "#"):
			shared, columns = nil, nil
		case strings.HasPrefix(line, "Labels: "):
			shared = names(line)
		case strings.HasPrefix(line, "| metric | type |"):
			columns = cells(line)
		case strings.HasPrefix(line, "| `") && columns != nil:
			row := cells(line)
			if len(row) < len(columns) {
				return nil, fmt.Errorf("%d columns, want %d: %s", len(row), len(columns), line)
			}
			m := Metric{Labels: slices.Clone(shared)}
			name := ""
			for i, column := range columns {
				switch column {
				case "metric":
					name = strings.Join(names(row[i]), "")
				case "type":
					m.Type = catalog.Type(row[i])
				case "stability":
					level, _, _ := strings.Cut(row[i], ",") // "alpha, essential"
					m.Stability = catalog.Stability(level)
				case "labels", "other labels":
					m.Labels = append(m.Labels, names(row[i])...)
				case "meaning":
					m.Meaning = strings.Join(row[i:], "|")
				}
			}
			slices.Sort(m.Labels)
			metrics[name] = m
		}
	}
	if len(metrics) < fewest {
		return nil, errors.New("this is not deploy/metrics.md, or its format changed")
	}
	return metrics, nil
}

func cells(row string) []string {
	parts := strings.Split(strings.Trim(row, "|"), "|")
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	return parts
}

func names(text string) (found []string) {
	for _, m := range code.FindAllStringSubmatch(text, -1) {
		found = append(found, m[1])
	}
	return found
}
