package objects

import (
	"io"
	"path"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informer-exporter/informer-exporter/internal/bounded"
)

// facts are what the OpenAPI document of a resource says about its objects.
type facts struct {
	// status is set if objects have a status, and observedGeneration if that has an integer of this name.
	status, observedGeneration bool
}

const (
	// maxDocument is the maximum size of an OpenAPI document. Those of Kubernetes have up to a megabyte, and documents of groups with
	// hundreds of CustomResourceDefinitions some dozens.
	maxDocument = 128 << 20
	// maxSchemas limits the resources, the schemas with a status or an observedGeneration, and the documents in an index.
	maxSchemas = 5000
	// maxReferences limits the references in a status.
	maxReferences = 10
)

// readIndex reads an index of documents. It returns their addresses without a prefix.
func readIndex(r io.Reader, prefix string) (map[string]string, error) {
	addresses := map[string]string{}
	s := newDocument(r)
	return addresses, s.Object(func(name []byte) error {
		if string(name) != "paths" {
			return s.Skip()
		}
		return s.Object(func(name []byte) error {
			document := string(name)
			return s.Object(func(name []byte) error {
				if string(name) != "serverRelativeURL" {
					return s.Skip()
				}
				address, err := s.String()
				addresses[document] = strings.TrimPrefix(address, prefix)
				return orTooMany(len(addresses), err)
			})
		})
	})
}

// orTooMany returns err, or an error if a document has too many values.
func orTooMany(n int, err error) error {
	if err == nil && n > maxSchemas {
		return bounded.ErrTooLarge
	}
	return err
}

// document reads an OpenAPI document as a stream.
type document struct{ *bounded.Scanner }

func newDocument(r io.Reader) document {
	return document{bounded.NewScanner(limited{&io.LimitedReader{R: r, N: maxDocument + 1}})}
}

// limited is a reader of at most maxDocument bytes.
type limited struct{ *io.LimitedReader }

// Read implements io.Reader. It returns ErrTooLarge if there are more bytes.
func (l limited) Read(p []byte) (int, error) {
	n, err := l.LimitedReader.Read(p)
	if l.N <= 0 {
		err = bounded.ErrTooLarge
	}
	return n, err
}

// status is the schema of a status: an object or references to other schemas.
type status struct {
	observedGeneration bool
	references         []string
}

// description collects the parts of an OpenAPI document.
type description struct {
	document
	resources map[string]schema.GroupVersionKind // kinds of objects by resource, from list operations
	statuses  map[schema.GroupVersionKind]status
	integers  map[string]bool // schemas with an integer observedGeneration
}

// readDocument returns the resources in an OpenAPI document. It keeps only what it needs for that.
func readDocument(r io.Reader) (map[string]facts, error) {
	d := description{newDocument(r), map[string]schema.GroupVersionKind{}, map[schema.GroupVersionKind]status{}, map[string]bool{}}
	if d.Next() != '{' {
		return nil, bounded.ErrInvalid
	}
	err := d.members(func(name string) error {
		switch name {
		case "paths":
			return d.each(d.path)
		case "components":
			return d.member("schemas", func() error { return d.each(d.schema) })
		}
		return d.Skip()
	})
	if err != nil {
		return nil, err
	}
	described := map[string]facts{}
	for resource, kind := range d.resources {
		s, found := d.statuses[kind]
		observed := s.observedGeneration
		for _, reference := range s.references {
			observed = observed || d.integers[reference]
		}
		described[resource] = facts{found, observed}
	}
	return described, nil
}

// members reads an object, and calls read for the value of each member.
func (s document) members(read func(name string) error) error {
	if s.Next() != '{' {
		return s.Skip()
	}
	return s.Object(func(name []byte) error { return read(string(name)) })
}

// member reads an object, and calls read for the value of one member.
func (s document) member(wanted string, read func() error) error {
	return s.members(func(name string) error {
		if name == wanted {
			return read()
		}
		return s.Skip()
	})
}

// each reads an object with any number of members.
func (s document) each(read func(name string) error) error {
	return s.members(func(name string) error {
		s.Mark()
		return read(name)
	})
}

// array reads an array.
func (s document) array(element func() error) error {
	if s.Next() != '[' {
		return s.Skip()
	}
	return s.Array(element)
}

func (s document) kind() (k schema.GroupVersionKind, err error) {
	err = s.members(func(name string) (err error) {
		switch name {
		case "group":
			k.Group, err = s.String()
		case "version":
			k.Version, err = s.String()
		case "kind":
			k.Kind, err = s.String()
		default:
			err = s.Skip()
		}
		return err
	})
	return k, err
}

const kindKey = "x-kubernetes-group-version-kind"

// path reads the operations of a path.
func (d *description) path(route string) error {
	var action string
	var kind schema.GroupVersionKind
	err := d.member("get", func() error {
		return d.members(func(name string) (err error) {
			switch name {
			case "x-kubernetes-action":
				action, err = d.String()
			case kindKey:
				kind, err = d.kind()
			default:
				err = d.Skip()
			}
			return err
		})
	})
	if action == "list" {
		d.resources[path.Base(route)] = kind
	}
	return orTooMany(len(d.resources), err)
}

// schema reads a schema.
func (d *description) schema(name string) error {
	var kinds []schema.GroupVersionKind
	var found, integer bool
	var of status
	err := d.members(func(name string) error {
		switch name {
		case kindKey:
			return d.array(func() error {
				if len(kinds) > 1 { // a type that many groups share
					return d.Skip()
				}
				kind, err := d.kind()
				kinds = append(kinds, kind)
				return err
			})
		case "properties":
			return d.members(func(name string) (err error) {
				switch name {
				case "status":
					found = true
					of, err = d.status()
				case "observedGeneration":
					integer, err = d.isInteger()
				default:
					err = d.Skip()
				}
				return err
			})
		}
		return d.Skip()
	})
	if integer {
		d.integers[name] = true
	}
	if found && len(kinds) == 1 {
		d.statuses[kinds[0]] = of
	}
	return orTooMany(max(len(d.integers), len(d.statuses)), err)
}

// status reads the schema of a status, which is inlined, as in CustomResourceDefinitions, or referenced.
func (d *description) status() (s status, err error) {
	reference := func() error {
		to, err := d.String()
		if to != "" && len(s.references) < maxReferences {
			s.references = append(s.references, path.Base(to))
		}
		return err
	}
	err = d.members(func(name string) error {
		switch name {
		case "$ref":
			return reference()
		case "allOf":
			return d.array(func() error { return d.member("$ref", reference) })
		case "properties":
			return d.member("observedGeneration", func() (err error) {
				s.observedGeneration, err = d.isInteger()
				return err
			})
		}
		return d.Skip()
	})
	return s, err
}

// isInteger reads a schema and reports whether it is that of an integer.
func (d *description) isInteger() (bool, error) {
	var kind string
	err := d.member("type", func() (err error) {
		kind, err = d.String()
		return err
	})
	return kind == "integer", err
}
