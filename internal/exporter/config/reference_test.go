package config

import (
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/informer-exporter/informer-exporter/internal/configfile"
)

// Every field is documented with its type, under the name that it has in the file and in the section of its type, and nothing else.
func TestConfigReference(t *testing.T) {
	sections := map[string]string{}
	for _, section := range strings.Split(Reference, "\n## ")[1:] {
		name, text, _ := strings.Cut(section, "\n")
		sections[name] = text
	}
	for name, v := range map[string]any{"Fields": Config{}, "Resource": Resource{}, "Checks": Checks{}, "Objects": Objects{}} {
		var want, got []string
		typ := reflect.TypeOf(v)
		for i := range typ.NumField() {
			f := typ.Field(i)
			field, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
			want = append(want, "`"+field+"` | "+typeName(f.Type)+" | `"+field+"` ")
		}
		for _, row := range regexp.MustCompile("(?m)^[|] (`[^|]*[|][^|]*[|] `[^`]*` ).*[.] [|]$").FindAllStringSubmatch(sections[name], -1) {
			got = append(got, row[1])
		}
		if !slices.Equal(got, want) {
			t.Errorf("section %s has\n%s\nwant\n%s", name, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		delete(sections, name)
	}
	if len(sections) != 0 {
		t.Errorf("sections of no type: %v", sections)
	}
}

// typeName describes a type, such as "list of strings".
func typeName(t reflect.Type) string {
	switch {
	case t == reflect.TypeFor[configfile.Duration]():
		return "duration"
	case t.Kind() == reflect.Pointer:
		return typeName(t.Elem())
	case t.Kind() == reflect.Bool:
		return "true or false"
	case t.Kind() == reflect.Struct:
		return "[" + t.Name() + "](#" + strings.ToLower(t.Name()) + ")"
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.String:
		return "list of strings"
	case t.Kind() == reflect.Slice:
		return "list of " + typeName(t.Elem())
	}
	return t.Kind().String()
}
