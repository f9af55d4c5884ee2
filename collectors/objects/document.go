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
	return addresses, s.whole(members{"paths": func() error {
		return s.Object(func(name []byte) error {
			document := string(name)
			return s.object(members{"serverRelativeURL": func() error {
				address, err := s.String()
				addresses[document] = strings.TrimPrefix(address, prefix)
				return orTooMany(len(addresses), err)
			}})()
		})
	}})
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

// reading collects the parts of an OpenAPI document.
type reading struct {
	document
	resources map[string]schema.GroupVersionKind // kinds of objects by resource, from list operations
	statuses  map[schema.GroupVersionKind]status
	integers  map[string]bool // schemas with an integer observedGeneration
}

// readDocument returns the resources in an OpenAPI document. It keeps only what it needs for that.
func readDocument(r io.Reader) (map[string]facts, error) {
	d := reading{newDocument(r), map[string]schema.GroupVersionKind{}, map[schema.GroupVersionKind]status{}, map[string]bool{}}
	if err := d.whole(members{"paths": d.each(d.path), "components": d.object(members{"schemas": d.each(d.schema)})}); err != nil {
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

// members are functions that read the values of some members of an object.
type members map[string]func() error

// whole reads the object of a document.
func (s document) whole(wanted members) error {
	if s.Next() != '{' {
		return bounded.ErrInvalid
	}
	return s.object(wanted)()
}

// object returns a function that reads an object. It skips other members, and a value of another type.
func (s document) object(wanted members) func() error {
	return func() error {
		if s.Next() != '{' {
			return s.Skip()
		}
		return s.Object(func(name []byte) error {
			if read := wanted[string(name)]; read != nil {
				return read()
			}
			return s.Skip()
		})
	}
}

// each returns a function that reads an object with any number of members.
func (s document) each(read func(name string) error) func() error {
	return func() error {
		if s.Next() != '{' {
			return s.Skip()
		}
		return s.Object(func(name []byte) error {
			s.Mark()
			return read(string(name))
		})
	}
}

// array returns a function that reads an array.
func (s document) array(element func() error) func() error {
	return func() error {
		if s.Next() != '[' {
			return s.Skip()
		}
		return s.Array(element)
	}
}

// text returns a function that reads a string.
func (s document) text(into *string) func() error {
	return func() (err error) {
		*into, err = s.String()
		return err
	}
}

func (s document) kind(k *schema.GroupVersionKind) func() error {
	return s.object(members{"group": s.text(&k.Group), "version": s.text(&k.Version), "kind": s.text(&k.Kind)})
}

const kindKey = "x-kubernetes-group-version-kind"

// path reads the operations of a path.
func (d *reading) path(route string) error {
	var action string
	var kind schema.GroupVersionKind
	err := d.object(members{"get": d.object(members{"x-kubernetes-action": d.text(&action), kindKey: d.kind(&kind)})})()
	if action == "list" {
		d.resources[path.Base(route)] = kind
	}
	return orTooMany(len(d.resources), err)
}

// schema reads a schema.
func (d *reading) schema(name string) error {
	var kinds []schema.GroupVersionKind
	var found bool
	var of status
	var generation string
	err := d.object(members{
		kindKey: d.array(func() error {
			if len(kinds) > 1 { // a type that many groups share
				return d.Skip()
			}
			kinds = append(kinds, schema.GroupVersionKind{})
			return d.kind(&kinds[len(kinds)-1])()
		}),
		"properties": d.object(members{
			"status": func() error {
				found = true
				return d.status(&of)
			},
			"observedGeneration": d.object(members{"type": d.text(&generation)}),
		}),
	})()
	if generation == integer {
		d.integers[name] = true
	}
	if found && len(kinds) == 1 {
		d.statuses[kinds[0]] = of
	}
	return orTooMany(max(len(d.integers), len(d.statuses)), err)
}

const integer = "integer"

// status reads the schema of a status, which is inlined, as in CustomResourceDefinitions, or referenced.
func (d *reading) status(s *status) error {
	reference := func() error {
		to, err := d.String()
		if to != "" && len(s.references) < maxReferences {
			s.references = append(s.references, path.Base(to))
		}
		return err
	}
	var generation string
	err := d.object(members{
		"$ref":       reference,
		"allOf":      d.array(d.object(members{"$ref": reference})),
		"properties": d.object(members{"observedGeneration": d.object(members{"type": d.text(&generation)})}),
	})()
	s.observedGeneration = s.observedGeneration || generation == integer
	return err
}
