package strictyaml_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informer-exporter/informer-exporter/internal/strictyaml"
)

type config struct {
	Items  []item   `json:"items,omitempty"`
	Names  []string `json:"names,omitempty"`
	On     *bool    `json:"on,omitempty"`
	Nested nested   `json:"nested,omitempty"`
}

type nested struct {
	Every *metav1.Duration `json:"every,omitempty"`
}

type item struct {
	Name  string `json:"name"`
	Scope string `json:"scope,omitempty"`
}

func (i *item) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		return errors.New("no name")
	}
	i.Name = string(text)
	return nil
}

func TestUnmarshal(t *testing.T) {
	yes := true
	want := config{
		Items: []item{{Name: "a"}, {Name: "b", Scope: "c"}, {Name: "b", Scope: "c"}}, Names: []string{"x", "1"}, On: &yes,
		Nested: nested{Every: &metav1.Duration{Duration: time.Minute}},
	}
	const text = `# a comment
items:
  - a
  - &b {name: b, scope: c}
  - *b
names: [x, "1"]
on: true
nested:
  every: 1m
`
	for _, in := range []string{text, `{"items": ["a", {"name": "b", "scope": "c"}, {"name": "b", "scope": "c"}], "names": ["x", "1"], "on": true, "nested": {"every": "1m"}}`} {
		var got config
		if _, err := strictyaml.Unmarshal([]byte(in), &got); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, %v, want %+v", got, err, want)
		}
	}
	lines, err := strictyaml.Unmarshal([]byte(text), new(config))
	if err != nil {
		t.Fatal(err)
	}
	for path, line := range map[string]int{"items[0]": 3, "items[0].name": 3, "items[1].scope": 4, "nested.every": 9, "nested": 9, "items": 3, "nope.nope": 2} {
		if got := lines.Of(path); got != line {
			t.Errorf("%s is in line %d, want %d", path, got, line)
		}
	}
	for _, empty := range []string{"", "# nothing\n", "---\n", "null", "items:\nnested:\n", "items: ~"} {
		var got config
		if _, err := strictyaml.Unmarshal([]byte(empty), &got); err != nil || !reflect.DeepEqual(got, config{}) {
			t.Errorf("%q: %+v, %v", empty, got, err)
		}
	}
}

func TestMistakes(t *testing.T) {
	for in, want := range map[string][]string{
		"names: [a]\nitem: [b]":                  {`line 2: unknown field "item"; did you mean items?`},
		"Names: [a]":                             {`unknown field "Names"; did you mean names?`},
		"nmaes: [a]":                             {"did you mean names?"},
		"whatever: 1":                            {"there are items, names, nested, on"},
		"items:\n- name: a\n- {nam: b}":          {`line 3: items[1]: unknown field "nam"; did you mean name?`},
		"nested:\n  evry: 1s":                    {`line 2: nested: unknown field "evry"; did you mean every?`},
		"names: [a]\nitems: []\nnames: [b]":      {`line 3: "names" is there twice, first in line 1`},
		"names: a":                               {`line 1: names: "a" where there should be a list`},
		"names:\n- a: b":                         {"line 2: names[0]: fields where there should be a text"},
		"names: [[a]]":                           {"names[0]: a list where there should be a text"},
		"names: [1]":                             {`names[0]: "1" where there should be a text; put it in quotes`},
		"names: [no]\non: maybe":                 {`line 2: on: "maybe" where there should be true or false`},
		"nested: 3":                              {"line 1: nested: \"3\" where there should be fields"},
		"nested: {every: soon}":                  {"line 1: nested.every: ", "invalid duration"},
		"nested: {every: 3}":                     {`nested.every: "3" where there should be a text`},
		"items: [\"\"]":                          {"line 1: items[0]: no name"},
		"- a":                                    {"line 1: a list where there should be fields"},
		"a: 1\nb: 2":                             {"line 1: ", "line 2: "}, // all at once
		"names: [a]\n---\nnames: [b]":            {"line 2: a second document"},
		"names: [a]\n---\n[":                     {"did not find expected node content"},
		"names: [a":                              {"line 1: did not find"},
		"nested: &n {every: 1s, <<: *n}":         {`unknown field "<<"`},
		"items: &i [*i]":                         {"items[0]: a list where there should be fields"},
		"{[a]: b}":                               {`unknown field ""`},
		"names: [a]\n" + strings.Repeat("[", 99): {"line"},
		"\x00":                                   {"control characters"},
	} {
		_, err := strictyaml.Unmarshal([]byte(in), new(config))
		for _, part := range want {
			if err == nil || !strings.Contains(err.Error(), part) {
				t.Errorf("%s\nerror %v\nlacks %q", in, err, part)
			}
		}
	}
}

func FuzzUnmarshal(f *testing.F) {
	f.Add([]byte("items: [a, {name: b}]\nnested: {every: 1s}"))
	f.Add([]byte("items: &i [*i]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		var first, second config
		_, err := strictyaml.Unmarshal(data, &first)
		if _, again := strictyaml.Unmarshal(data, &second); (err == nil) != (again == nil) || !reflect.DeepEqual(first, second) {
			t.Errorf("once %+v, %v and once %+v, %v", first, err, second, again)
		}
		if err != nil && !strings.Contains(err.Error(), "yaml: ") && !strings.Contains(err.Error(), "line ") {
			t.Errorf("an error without a line: %v", err)
		}
	})
}
