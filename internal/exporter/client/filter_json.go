package client

import (
	"maps"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informer-exporter/informer-exporter/internal/bounded"
)

// members lists the members of a JSON object to keep.
type members struct {
	named map[string]member
	// size is the memory that an object takes once it is decoded, apart from its texts.
	size int
	// most is the maximum number of objects in an array, 0 for any.
	most int
}

// member keeps a string or number, or prunes the object or array in it.
type member struct {
	within *members
	// text replaces bounded.MaxText if it is larger.
	text int
	// most is the maximum number of strings in an array of strings, 0 if the member is not one.
	most int
	// omitEmpty drops an object without members that are kept.
	omitEmpty bool
}

const (
	// sizeOfItem is the memory of an item of a list of metadata: metav1.PartialObjectMetadata, with the spare capacity of its slice.
	sizeOfItem = 512
	// sizeOfScalar is the memory of a string or number, apart from its text.
	sizeOfScalar = 16
	// maxContinue is the maximum length of a continue token, which has the name of an object.
	maxContinue = 4 << 10
	// maxMessage is the maximum length of the message of a Status.
	maxMessage = 1 << 10
	// keptFinalizers is one more than the number of finalizers that are reported by name.
	keptFinalizers = 21
	// maxManagers is the maximum number of field managers of an object that are read.
	maxManagers = 100
)

var (
	jsonMeta = &members{named: map[string]member{
		"name": {}, "namespace": {}, "uid": {}, "resourceVersion": {}, "generation": {}, "creationTimestamp": {}, "deletionTimestamp": {},
		"deletionGracePeriodSeconds": {}, "finalizers": {most: keptFinalizers},
		"annotations": {omitEmpty: true, within: &members{size: bounded.SizeOfMap, named: map[string]member{metav1.InitialEventsAnnotationKey: {}}}}, // ends a streaming list
		// of a list
		"continue": {text: maxContinue}, "remainingItemCount": {},
	}}
	jsonManagedMeta = withMembers(jsonMeta, map[string]member{
		"managedFields": {within: &members{most: maxManagers, size: 160, named: map[string]member{"time": {}, "subresource": {}}}},
	})
	jsonLeaseMeta = withMembers(jsonMeta, map[string]member{
		"labels": {omitEmpty: true, within: &members{size: bounded.SizeOfMap, named: map[string]member{"apiserver.kubernetes.io/identity": {}}}},
	})
	jsonStatus = map[string]member{ // of a Status object
		"message": {text: maxMessage}, "reason": {}, "code": {},
		"details": {within: &members{named: map[string]member{
			"name": {}, "group": {}, "kind": {}, "uid": {}, "retryAfterSeconds": {},
			"causes": {within: &members{most: 10, size: 64, named: map[string]member{"reason": {}, "message": {text: maxMessage}, "field": {}}}},
		}}},
	}

	metadataContent = &content{protobuf: metadataKinds, json: jsonObjects(sizeOfItem, map[string]member{"metadata": {within: jsonManagedMeta}, "status": {}})}
	wholeContent    = &content{json: jsonObjects(3*bounded.SizeOfMap, map[string]member{
		"metadata": {within: jsonMeta},
		"status":   {within: &members{named: map[string]member{"observedGeneration": {}}}}, // in a Status object, it is a string
	})}
	leaseContent = &content{protobuf: leaseKinds, json: jsonObjects(2*sizeOfItem, map[string]member{
		"metadata": {within: jsonLeaseMeta}, "status": {},
		"spec": {within: &members{named: map[string]member{
			"holderIdentity": {}, "leaseDurationSeconds": {}, "leaseTransitions": {}, "acquireTime": {}, "renewTime": {},
		}}},
	})}
	discoveryContent = &content{} // everything
)

// jsonObjects returns the members of an object, or of a list of objects, of the given size.
func jsonObjects(size int, object map[string]member) *members {
	item := withMembers(&members{size: size, named: map[string]member{"apiVersion": {}, "kind": {}}}, object)
	return withMembers(withMembers(item, jsonStatus), map[string]member{"items": {within: item}})
}

func withMembers(m *members, more map[string]member) *members {
	sum := &members{size: m.size, most: m.most, named: maps.Clone(m.named)}
	maps.Copy(sum.named, more)
	return sum
}

// jsonObject appends the next object, on a line. Valid JSON stays valid. Other data is an error.
func (p *pruner) jsonObject(m *members) error {
	switch p.Next() {
	case '{':
	case 0:
		return p.Err()
	default:
		return bounded.ErrInvalid
	}
	if err := p.value(m); err != nil {
		return err
	}
	return p.keep([]byte{'\n'})
}

// value appends a value and prunes the members of objects.
func (p *pruner) value(m *members) error {
	switch p.Next() {
	case '{':
		return p.object(m)
	case '[':
		return p.array(m.most, func() error {
			p.Mark()
			return p.value(m)
		})
	}
	return p.scalar(0)
}

func (p *pruner) object(m *members) error {
	if err := p.charge(m.size); err != nil {
		return err
	}
	p.out = append(p.out, '{')
	empty, kept := true, 0
	err := p.Object(func(name []byte) error {
		rule, named := m.named[string(name)]
		if !named {
			return p.Skip()
		}
		if kept++; kept > 2*len(m.named) {
			return bounded.ErrInvalid // the same names again and again
		}
		mark, left := len(p.out), p.left
		if !empty {
			p.out = append(p.out, ',')
		}
		p.out = append(append(append(p.out, '"'), name...), '"', ':')
		begin := len(p.out)
		defer func() { empty = empty && len(p.out) == mark }()
		switch {
		case rule.within != nil:
			err := p.value(rule.within)
			if rule.omitEmpty && string(p.out[begin:]) == "{}" {
				p.out, p.left = p.out[:mark], left
			}
			return err
		case rule.most > 0 && p.Next() == '[':
			return p.array(rule.most, func() error { return p.scalar(0) })
		}
		return p.scalar(rule.text)
	})
	p.out = append(p.out, '}')
	if err != nil {
		return err
	}
	return p.charge(2)
}

// array appends at most a number of elements of an array, 0 for all.
func (p *pruner) array(most int, element func() error) error {
	p.out = append(p.out, '[')
	n := 0
	err := p.Array(func() error {
		if n++; most > 0 && n > most {
			return p.Skip()
		}
		if n > 1 {
			p.out = append(p.out, ',')
		}
		return element()
	})
	p.out = append(p.out, ']')
	return err
}

// scalar appends a string or another literal. Instead of an object or array, it appends an empty one, for which the decoder returns
// an error.
func (p *pruner) scalar(limit int) error {
	if err := p.charge(sizeOfScalar); err != nil {
		return err
	}
	switch p.Next() {
	case '"':
		text, err := p.RawString(limit)
		if err != nil {
			return err
		}
		p.out = append(append(append(p.out, '"'), text...), '"')
		return p.charge(len(text))
	case '{':
		p.out = append(p.out, "{}"...)
		return p.Skip()
	case '[':
		p.out = append(p.out, "[]"...)
		return p.Skip()
	}
	literal, err := p.Literal()
	if err != nil {
		return err
	}
	return p.keep(literal)
}
