package config

import (
	"reflect"
	"strings"
	"testing"
)

// Every field is documented, under the name that it has in the file.
func TestConfigReference(t *testing.T) {
	sections, err := Reference()
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range []any{Config{}, Resource{}, Checks{}, Objects{}} {
		typ, section := reflect.TypeOf(v), sections[i]
		if section.Name != typ.Name() || len(section.Fields) != typ.NumField() || section.Doc == "" {
			t.Fatalf("%s has %d fields; documented are %s and %d", typ.Name(), typ.NumField(), section.Name, len(section.Fields))
		}
		for j, f := range section.Fields {
			field := typ.Field(j)
			name, _, _ := strings.Cut(field.Tag.Get("yaml"), ",")
			if f.Name != name || f.Type == "" || !strings.HasPrefix(f.Doc, "`"+name+"` ") || !strings.HasSuffix(f.Doc, ".") {
				t.Errorf("%s.%s is documented as %+v", typ.Name(), field.Name, f)
			}
		}
	}
}
