// Package configfile decodes the program's configuration files. Unknown and repeated fields are errors. Errors have the
// line of the field and, if it is unambiguous, its path.
package configfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Decode decodes the single YAML document in data into the struct that into points to, and returns the lines of its fields. An
// empty document changes nothing.
func Decode(data []byte, into any) (Lines, error) {
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	decoder.KnownFields(true)
	var mistakes *yaml.TypeError
	err := decoder.Decode(into)
	switch {
	case errors.Is(err, io.EOF):
		return Lines{}, nil
	case err != nil && !errors.As(err, &mistakes):
		return nil, err
	}
	var document yaml.Node
	if err := yaml.Unmarshal(data, &document); err != nil {
		return nil, err
	}
	lines := Lines{}
	lines.add(&document, "", 0)
	if mistakes != nil {
		var errs []error
		for _, message := range mistakes.Errors {
			errs = append(errs, errors.New(lines.explain(message)))
		}
		return lines, errors.Join(errs...)
	}
	switch err := decoder.Decode(new(yaml.Node)); {
	case err == nil:
		return lines, errors.New("more than one YAML document; use only one")
	case !errors.Is(err, io.EOF):
		return lines, err
	}
	return lines, nil
}

// Lines are the lines of fields by their paths, such as "resources[0].name".
type Lines map[string]position

type position struct {
	line int
	// nested is set if the value has fields or elements.
	nested bool
}

func (l Lines) add(n *yaml.Node, path string, line int) {
	if path != "" {
		l[path] = position{line, n.Kind == yaml.MappingNode || n.Kind == yaml.SequenceNode}
	}
	switch n.Kind {
	case yaml.DocumentNode:
		l.add(n.Content[0], path, 0)
	case yaml.MappingNode:
		for i := 0; i < len(n.Content); i += 2 {
			l.add(n.Content[i+1], strings.TrimPrefix(path+"."+n.Content[i].Value, "."), n.Content[i].Line)
		}
	case yaml.SequenceNode:
		for i, item := range n.Content {
			l.add(item, path+"["+strconv.Itoa(i)+"]", item.Line)
		}
	}
}

// line returns the line of a path or of the closest field around it, 0 if there is none.
func (l Lines) line(path string) int {
	for l[path].line == 0 && path != "" {
		path = parent(path)
	}
	return l[path].line
}

// field returns the innermost field around all values at a position.
func (l Lines) field(at position) (field string) {
	innermost := map[string]bool{}
	for path, p := range l {
		if p == at {
			innermost[path] = true
		}
	}
	for path, p := range l {
		if p == at {
			delete(innermost, parent(path))
		}
	}
	first := true
	for path := range innermost {
		if first {
			field, first = path, false
		}
		for field != "" && field != path && !strings.HasPrefix(path, field+".") && !strings.HasPrefix(path, field+"[") {
			field = parent(field)
		}
	}
	return field
}

func parent(path string) string { return path[:max(0, strings.LastIndexAny(path, ".["))] }

// Errors of package yaml, which name Go types.
var (
	message = regexp.MustCompile(`^line (\d+): (.*)$`)
	unknown = regexp.MustCompile(`^field (\S*) not found in type .*$`)
	list    = regexp.MustCompile(` into \[\]\S+$`)
	fields  = regexp.MustCompile(` into (?:\w+\.\w+|map\[.*|struct .*)$`)
)

// explain adds the field to an error of package yaml.
func (l Lines) explain(text string) string {
	parts := message.FindStringSubmatch(text)
	if parts == nil {
		return text
	}
	line, _ := strconv.Atoi(parts[1]) // digits
	if field := unknown.FindStringSubmatch(parts[2]); field != nil {
		return fmt.Sprintf("line %d: unknown field %q", line, field[1])
	}
	what := fields.ReplaceAllString(list.ReplaceAllString(parts[2], " into a list"), " into fields")
	nested := strings.Contains(what, " !!map ") || strings.Contains(what, " !!seq ")
	if field := l.field(position{line, nested}); field != "" && !strings.HasPrefix(what, "mapping key") {
		what = field + ": " + what
	}
	return fmt.Sprintf("line %d: %s", line, what)
}

// Join joins errors with texts that begin with the path of a field and a colon, and adds the lines. It returns nil if there are
// none.
func (l Lines) Join(errs ...error) error {
	var located []error
	for _, err := range errs {
		if joined, ok := err.(interface{ Unwrap() []error }); ok {
			err = l.Join(joined.Unwrap()...)
		} else if err != nil {
			path, _, _ := strings.Cut(err.Error(), ": ")
			if line := l.line(path); line > 0 {
				err = fmt.Errorf("line %d: %w", line, err)
			}
		}
		located = append(located, err)
	}
	return errors.Join(located...)
}
