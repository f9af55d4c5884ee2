package configfile_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/informer-exporter/informer-exporter/internal/configfile"
)

type file struct {
	Items   []item             `yaml:"items,omitempty"`
	Names   []string           `yaml:"names,omitempty"`
	On      *bool              `yaml:"on,omitempty"`
	Nested  nested             `yaml:"nested,omitempty"`
	ByName  map[string]nested  `yaml:"byName,omitempty"`
	Numbers map[string]float64 `yaml:"numbers,omitempty"`
}

type nested struct {
	Every *configfile.Duration `yaml:"every,omitempty"`
}

type item struct {
	Name  string `yaml:"name"`
	Scope string `yaml:"scope,omitempty"`
}

func TestDecode(t *testing.T) {
	yes, minute := true, configfile.Duration(time.Minute)
	want := file{
		Items: []item{{Name: "a"}, {Name: "b", Scope: "c"}, {Name: "b", Scope: "c"}}, Names: []string{"x", "1"}, On: &yes,
		Nested: nested{Every: &minute}, ByName: map[string]nested{"n": {Every: &minute}},
	}
	for _, in := range []string{`# a comment
items:
  - name: a
  - &b {name: b, scope: c}
  - *b
names: [x, "1"]
on: true
nested:
  every: 1m
byName: {n: {every: 60s}}
`, `{"items": [{"name": "a"}, {"name": "b", "scope": "c"}, {"name": "b", "scope": "c"}], "names": ["x", "1"], "on": true, "nested": {"every": "1m"}, "byName": {"n": {"every": "60s"}}}`} {
		var got file
		if _, err := configfile.Decode([]byte(in), &got); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, %v, want %+v", got, err, want)
		}
	}
	for _, empty := range []string{"", "# nothing\n", "---\n", "null", "items:\nnested:\n", "items: ~"} {
		var got file
		if _, err := configfile.Decode([]byte(empty), &got); err != nil || !reflect.DeepEqual(got, file{}) {
			t.Errorf("%q: %+v, %v", empty, got, err)
		}
	}
}

// An error about a field has its line, and its path unless the line has several fields.
func TestErrors(t *testing.T) {
	for in, want := range map[string][]string{
		"names: [a]\nitem: [b]":                  {`line 2: unknown field "item"`},
		"items:\n- name: a\n- {nam: b}":          {`line 3: unknown field "nam"`},
		"nested:\n  evry: 1s":                    {`line 2: unknown field "evry"`},
		"byName:\n  a:\n    every: 1s\n    b: 1": {`line 4: unknown field "b"`},
		"names: [a]\nitems: []\nnames: [b]":      {`line 3: mapping key "names" already defined at line 1`},
		"names: a":                               {"line 1: names: cannot unmarshal !!str `a` into a list"},
		"names:\n- a: b":                         {"line 2: names[0]: cannot unmarshal !!map into string"},
		"on: 1\nnumbers: {b: x}":                 {"line 1: on: cannot unmarshal !!int `1` into bool", "line 2: numbers.b: cannot unmarshal !!str `x` into float64"},
		"numbers: {a: 1, b: x}":                  {"line 1: numbers: cannot unmarshal !!str `x` into float64"}, // one of both
		"nested: 3":                              {"line 1: nested: cannot unmarshal !!int `3` into fields"},
		"byName: {a: [1]}":                       {"line 1: byName.a: cannot unmarshal !!seq into fields"},
		"numbers: []\nbyName: 1":                 {"line 1: numbers: cannot unmarshal !!seq into fields", "line 2: byName: cannot unmarshal !!int `1` into fields"},
		"nested: {every: soon}":                  {`line 1: nested.every: "soon" is not a duration; write 30s, 5m, 1h30m or 1d`},
		"nested: {every: 3}":                     {`line 1: nested.every: "3" is not a duration`},
		"nested:\n  every: [1m]":                 {`line 2: nested.every[0]: "" is not a duration`},
		"- a":                                    {"line 1: "},
		"a: 1\nb: 2":                             {"line 1: ", "line 2: "}, // all at once
		"names: [a]\n---\nnames: [b]":            {"more than one YAML document"},
		"names: [a]\n---\n[":                     {"did not find expected node content"},
		"names: [a":                              {"line 1: did not find"},
		"items: &i [*i]":                         {"line 1: items: cannot unmarshal !!seq into fields"},
		"names: [a]\n" + strings.Repeat("[", 99): {"line"},
		"\x00":                                   {"control characters"},
	} {
		_, err := configfile.Decode([]byte(in), new(file))
		for _, part := range want {
			if err == nil || !strings.Contains(err.Error(), part) {
				t.Errorf("%s\nerror %v\nlacks %q", in, err, part)
			}
		}
	}
}

// Errors found after decoding get the line of their field, or of the closest field around it.
func TestJoin(t *testing.T) {
	lines, err := configfile.Decode([]byte("# a comment\nitems:\n  - name: a\n  -\n    name: b\nnested:\n  every: 1m\n"), new(file))
	if err != nil {
		t.Fatal(err)
	}
	cause := errors.New("items[1].name: wrong")
	joined := lines.Join(nil, cause, errors.Join(errors.New("items[1].scope: missing"), errors.New("nested.every.x: wrong")), errors.New("on: missing"))
	want := "line 5: items[1].name: wrong\nline 5: items[1].scope: missing\nline 7: nested.every.x: wrong\non: missing"
	if joined.Error() != want || !errors.Is(joined, cause) {
		t.Errorf("got\n%v\nwant\n%s", joined, want)
	}
	if err := lines.Join(nil, errors.Join()); err != nil {
		t.Errorf("nothing is %v", err)
	}
}

func TestDuration(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"0s": 0, "90s": 90 * time.Second, "1h30m": 90 * time.Minute, "1d": 24 * time.Hour, "2w": 14 * 24 * time.Hour, "250ms": 250 * time.Millisecond,
	} {
		var got nested
		if _, err := configfile.Decode([]byte("every: "+text), &got); err != nil || got.Every.Or(-1) != want {
			t.Errorf("%s: %v, %v", text, got.Every.Or(-1), err)
		}
	}
	for _, text := range []string{"-1s", "1.5h", "5 min", "x", "99999999999999999999s", `""`} {
		if _, err := configfile.Decode([]byte("every: "+text), new(nested)); err == nil {
			t.Errorf("%s is a duration", text)
		}
	}
	if got := (*configfile.Duration)(nil).Or(time.Hour); got != time.Hour {
		t.Errorf("the default is %v", got)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte("items: [{name: b}]\nnested: {every: 1s}"))
	f.Add([]byte("items: &i [*i]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		var first, second file
		_, err := configfile.Decode(data, &first)
		if _, again := configfile.Decode(data, &second); (err == nil) != (again == nil) || err == nil && !reflect.DeepEqual(first, second) {
			t.Errorf("once %+v, %v and once %+v, %v", first, err, second, again)
		}
		if err != nil && !strings.Contains(err.Error(), "yaml: ") && !strings.Contains(err.Error(), "line ") && !strings.Contains(err.Error(), "document") {
			t.Errorf("an error without a line: %v", err)
		}
	})
}
