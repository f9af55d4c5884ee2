package web

import (
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"
)

// docs/api.md names every field, and no other.
func TestInformersAPIIsDocumented(t *testing.T) {
	page, err := os.ReadFile("../../../docs/api.md")
	if err != nil {
		t.Fatal(err)
	}
	documented := map[string]bool{}
	for _, match := range regexp.MustCompile("(?m)^\\| `([A-Za-z.]+)` \\|").FindAllStringSubmatch(string(page), -1) {
		documented[match[1]] = true
	}
	fields := map[string]bool{}
	var visit func(prefix string, t reflect.Type)
	visit = func(prefix string, t reflect.Type) {
		for i := range t.NumField() {
			name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
			field := t.Field(i).Type
			for field.Kind() == reflect.Pointer || field.Kind() == reflect.Slice {
				field = field.Elem()
			}
			fields[prefix+name] = true
			if field.Kind() == reflect.Struct && field != reflect.TypeFor[time.Time]() {
				visit(prefix+name+".", field)
			}
		}
	}
	visit("", reflect.TypeFor[InformersResponse]())
	for name := range fields {
		if !documented[name] {
			t.Errorf("docs/api.md does not have %s", name)
		}
	}
	for name := range documented {
		if !fields[name] {
			t.Errorf("docs/api.md has %s, which is not there", name)
		}
	}
}
