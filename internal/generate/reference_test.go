package generate

import (
	"os"
	"reflect"
	"strings"
	"testing"
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
		t.Errorf("%s is no field", name)
	}
	example := strings.Split(strings.Split(string(raw), "```yaml\n")[1], "```")[0]
	if _, err := ParseConfig([]byte(example)); err != nil {
		t.Errorf("the example: %v", err)
	}
}
