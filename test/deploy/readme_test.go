package deploy_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

const valuesHeading = "## Values\n"

// TestChartReadme proves that the README of the chart, which Artifact Hub shows, has every value with its default and its comment
// in values.yaml. `go test -update -run TestChartReadme .` writes it.
func TestChartReadme(t *testing.T) {
	const path = chartDir + "/README.md"
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	values, err := os.ReadFile(chartDir + "/values.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var document yaml.Node
	if err := yaml.Unmarshal(values, &document); err != nil {
		t.Fatal(err)
	}
	head, _, found := strings.Cut(string(text), valuesHeading)
	if !found {
		t.Fatalf("%s has no %q", path, valuesHeading)
	}
	var table strings.Builder
	table.WriteString(head + valuesHeading + "\n| value | default | description |\n|---|---|---|\n")
	writeValues(&table, "", document.Content[0], "")
	if rows := strings.Count(table.String(), "\n| `"); rows < 40 {
		t.Fatalf("only %d values", rows)
	}
	if *update {
		if err := os.WriteFile(path, []byte(table.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if table.String() != string(text) {
		t.Errorf("%s differs from values.yaml: run go test -update -run TestChartReadme", path)
	}
}

// writeValues writes a row for each value below a mapping. The comment of a mapping is that of its first value.
func writeValues(w *strings.Builder, prefix string, mapping *yaml.Node, inherited string) {
	for i := 0; i < len(mapping.Content); i += 2 {
		key, value := mapping.Content[i], mapping.Content[i+1]
		comment := strings.TrimSpace(inherited + " " + sentence(key.HeadComment))
		inherited = ""
		if value.Kind == yaml.MappingNode && len(value.Content) > 0 && value.Style&yaml.FlowStyle == 0 {
			writeValues(w, prefix+key.Value+".", value, comment)
			continue
		}
		value.HeadComment, value.FootComment, value.LineComment = "", "", ""
		value.Style |= yaml.FlowStyle
		text, _ := yaml.Marshal(value) // a node that was parsed
		fmt.Fprintf(w, "| `%s%s` | `%s` | %s |\n", prefix, key.Value, strings.TrimSpace(string(text)), strings.ReplaceAll(comment, "|", `\|`))
	}
}

// sentence joins the lines of a comment. Comments of examples have an indentation.
func sentence(comment string) string {
	var words []string
	for line := range strings.Lines(comment) {
		if line = strings.TrimPrefix(strings.TrimSpace(line), "#"); !strings.HasPrefix(line, "  ") {
			words = append(words, strings.Fields(line)...)
		}
	}
	return strings.Join(words, " ")
}
