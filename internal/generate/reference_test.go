package generate

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/informer-exporter/informer-exporter/alerts"
)

// Every field of the configuration has a line in the reference, and every line documents a field.
func TestConfigReference(t *testing.T) {
	raw, err := os.ReadFile("../../docs/generator.md")
	if err != nil {
		t.Fatal(err)
	}
	table, _, _ := strings.Cut(string(raw), "## Output")
	documented := map[string]bool{}
	for _, line := range strings.Split(table, "\n") {
		if name, _, ok := strings.Cut(strings.TrimPrefix(line, "| `"), "` | "); ok && strings.HasPrefix(line, "| `") {
			documented[name] = true
		}
	}
	field := func(f reflect.StructField) string {
		name, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		return name
	}
	config := reflect.TypeFor[file]()
	for i := range config.NumField() {
		f := config.Field(i)
		if !documented[field(f)] {
			t.Errorf("%s has no line", field(f))
		}
		delete(documented, field(f))
		if f.Type.Kind() != reflect.Struct {
			continue
		}
		for j := range f.Type.NumField() {
			if name := field(f.Type.Field(j)); !strings.Contains(table, "`"+name+"`") {
				t.Errorf("%s.%s is not mentioned", field(f), name)
			}
		}
	}
	for name := range documented {
		t.Errorf("%s is not a field", name)
	}
	example := strings.Split(strings.Split(string(raw), "```yaml\n")[1], "```")[0]
	if _, err := ParseConfig([]byte(example)); err != nil {
		t.Errorf("the example: %v", err)
	}
}

// The table of alerts gives the reason for a severity only while it is the default.
func TestAlertTableReasons(t *testing.T) {
	c, err := ParseConfig([]byte("objectives: {sync_lag: {severity: page}}"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.SplitSeq(string(alertTable(c)), "\n") {
		name, rest, ok := strings.Cut(strings.TrimPrefix(line, "| ["), "]")
		if a, exists := alerts.ByName(name); ok && exists {
			want := ": " + a.Reason + " |"
			if name == "InformerSyncLagHigh" {
				want = "| page: set by the configuration |"
			}
			if !strings.Contains(rest, want) {
				t.Errorf("%q does not have %q", line, want)
			}
		}
	}
}
