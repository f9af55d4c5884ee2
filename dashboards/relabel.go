package dashboards

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/informer-exporter/informer-exporter/internal/promql"
)

// relabel writes a finished dashboard for series whose labels have other names, or that have to be selected. The names of
// its variables stay, so that links to it hold.
func relabel(raw []byte, c Config) ([]byte, error) {
	if len(c.Labels) == 0 && c.Selector == "" {
		return raw, nil
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var tree any
	if err := decoder.Decode(&tree); err != nil {
		return nil, err
	}
	r := relabeller{promql.Rewrite{Labels: c.Labels, Selector: c.Selector}}
	if err := r.walk(tree); err != nil {
		return nil, err
	}
	return encode(tree)
}

type relabeller struct{ promql.Rewrite }

// walk changes in place what names labels.
func (r relabeller) walk(node any) error {
	switch node := node.(type) {
	case []any:
		for _, child := range node {
			if err := r.walk(child); err != nil {
				return err
			}
		}
	case map[string]any:
		for key, value := range node {
			changed, err := r.value(key, value)
			if err != nil {
				return err
			}
			node[key] = changed
		}
	}
	return nil
}

func (r relabeller) value(key string, value any) (any, error) {
	text, isText := value.(string)
	switch {
	case isText && key == "expr":
		return r.Apply(text)
	case isText && (key == "definition" || key == "query" && strings.HasPrefix(text, "label_values(")):
		return r.variable(text)
	case isText && (key == "legendFormat" || key == "titleFormat" || key == "textFormat"):
		return braced.ReplaceAllStringFunc(text, func(found string) string {
			return "{{" + r.Label(strings.Trim(found, "{}")) + "}}"
		}), nil
	case key == "renameByName" || key == "indexByName":
		columns := map[string]any{}
		for label, column := range value.(map[string]any) {
			columns[r.Label(label)] = column
		}
		return columns, nil
	}
	return value, r.walk(value)
}

var (
	braced   = regexp.MustCompile(`\{\{[a-z_]+\}\}`)
	valuesOf = regexp.MustCompile(`^label_values\((.+), ([a-z_]+)\)$`)
)

// variable rewrites the query of a variable.
func (r relabeller) variable(text string) (string, error) {
	parts := valuesOf.FindStringSubmatch(text)
	if parts == nil {
		return "", fmt.Errorf("%s is not the query of a variable", text)
	}
	series, err := r.Apply(parts[1])
	return "label_values(" + series + ", " + r.Label(parts[2]) + ")", err
}
