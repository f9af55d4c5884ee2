// Package strictyaml reads a YAML document into Go types, and says of all that it does not take in which line it stands
// and what was probably meant.
//
// It knows what configurations are made of: structs with json tags, slices, strings, booleans, and types that read
// themselves from a string by UnmarshalText or UnmarshalJSON. A struct may do so too, and then be written either way. No
// type may contain itself, so that aliases cannot make a small document a large value.
package strictyaml

import (
	"bytes"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Lines are the lines of values by their paths, such as "resources[0].name".
type Lines map[string]int

// Of returns the line of a path, or of the closest value around it; 0 if there is none.
func (l Lines) Of(path string) int {
	for {
		if line := l[path]; line > 0 || path == "" {
			return line
		}
		path = path[:max(0, strings.LastIndexAny(path, ".["))]
	}
}

// Unmarshal reads the only document of data into what into points to, and returns every mistake. An empty document
// changes nothing.
func Unmarshal(data []byte, into any) (Lines, error) {
	documents := yaml.NewDecoder(bytes.NewReader(data))
	var document, more yaml.Node
	switch err := documents.Decode(&document); {
	case errors.Is(err, io.EOF):
		return Lines{}, nil
	case err != nil:
		return nil, err
	}
	d := decoder{lines: Lines{}}
	d.decode(&document, reflect.ValueOf(into).Elem(), "")
	switch err := documents.Decode(&more); {
	case errors.Is(err, io.EOF):
	case err != nil:
		d.errs = append(d.errs, err)
	default:
		d.fail(&more, "", "a second document; there can be one only")
	}
	return d.lines, errors.Join(d.errs...)
}

type decoder struct {
	lines Lines
	errs  []error
}

func (d *decoder) fail(n *yaml.Node, path, format string, args ...any) {
	if path != "" {
		path += ": "
	}
	d.errs = append(d.errs, fmt.Errorf("line %d: %s%s", n.Line, path, fmt.Sprintf(format, args...)))
}

func (d *decoder) decode(n *yaml.Node, v reflect.Value, path string) {
	switch {
	case n.Kind == yaml.DocumentNode:
		d.decode(n.Content[0], v, path)
		return
	case n.Kind == yaml.AliasNode:
		d.decode(n.Alias, v, path)
		return
	case n.ShortTag() == "!!null":
		return
	}
	d.lines[path] = n.Line
	if v.Kind() == reflect.Pointer {
		v.Set(reflect.New(v.Type().Elem()))
		v = v.Elem()
	}
	if d.byItself(n, v, path) {
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		d.decodeStruct(n, v, path)
	case reflect.Slice:
		d.decodeSlice(n, v, path)
	case reflect.String:
		if d.is(n, path, "!!str", "a text") {
			v.SetString(n.Value)
		}
	case reflect.Bool:
		if d.is(n, path, "!!bool", "true or false") {
			v.SetBool(strings.EqualFold(n.Value, "true"))
		}
	default:
		panic("strictyaml: " + v.Type().String() + " is not supported")
	}
}

// byItself lets a value read itself from a string. It returns false if it cannot, or if n is no scalar.
func (d *decoder) byItself(n *yaml.Node, v reflect.Value, path string) bool {
	if n.Kind != yaml.ScalarNode {
		return false
	}
	var read func(string) error
	switch self := v.Addr().Interface().(type) {
	case encoding.TextUnmarshaler:
		read = func(s string) error { return self.UnmarshalText([]byte(s)) }
	case json.Unmarshaler:
		read = func(s string) error {
			quoted, err := json.Marshal(s)
			return errors.Join(err, self.UnmarshalJSON(quoted))
		}
	default:
		return false
	}
	if d.is(n, path, "!!str", "a text") {
		if err := read(n.Value); err != nil {
			d.fail(n, path, "%v", err)
		}
	}
	return true
}

func (d *decoder) decodeStruct(n *yaml.Node, v reflect.Value, path string) {
	if !d.is(n, path, "!!map", "fields, each with a colon") {
		return
	}
	fields := fieldsOf(v.Type())
	seen := map[string]int{}
	for pair := range slices.Chunk(n.Content, 2) {
		key, value := pair[0], pair[1]
		name := key.Value
		if first, twice := seen[name]; twice {
			d.fail(key, path, "%q is there twice, first in line %d", name, first)
			continue
		}
		seen[name] = key.Line
		field, known := fields[name]
		if !known || key.Kind != yaml.ScalarNode {
			d.fail(key, path, "unknown field %q%s", name, suggestion(name, fields))
			continue
		}
		d.decode(value, v.FieldByIndex(field), strings.TrimPrefix(path+"."+name, "."))
	}
}

func (d *decoder) decodeSlice(n *yaml.Node, v reflect.Value, path string) {
	if !d.is(n, path, "!!seq", "a list") {
		return
	}
	v.Set(reflect.MakeSlice(v.Type(), len(n.Content), len(n.Content)))
	for i, item := range n.Content {
		d.decode(item, v.Index(i), path+"["+strconv.Itoa(i)+"]")
	}
}

// is refuses a node that has another tag.
func (d *decoder) is(n *yaml.Node, path, tag, want string) bool {
	if n.ShortTag() == tag {
		return true
	}
	switch n.Kind {
	case yaml.MappingNode:
		d.fail(n, path, "fields where there should be %s", want)
	case yaml.SequenceNode:
		d.fail(n, path, "a list where there should be %s", want)
	default:
		hint := ""
		if tag == "!!str" {
			hint = "; put it in quotes if it is meant as one"
		}
		d.fail(n, path, "%q where there should be %s%s", n.Value, want, hint)
	}
	return false
}

// fieldsOf returns the fields of a struct by the names of their json tags.
func fieldsOf(t reflect.Type) map[string][]int {
	fields := map[string][]int{}
	for _, f := range reflect.VisibleFields(t) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && f.IsExported() {
			fields[name] = f.Index
		}
	}
	return fields
}
