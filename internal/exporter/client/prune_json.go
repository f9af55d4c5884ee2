package client

import (
	"bytes"
	"errors"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// All whole objects except Leases are sent in JSON. The exporter reads only their metadata and status.observedGeneration. The rest,
// up to a megabyte per object, is removed before decoding: decoded into maps and slices, it would be many times larger.

// members lists the members of a JSON object to keep.
type members struct {
	named  map[string]member
	others bool // keeps members that are not named
}

// member keeps a member, drops it unless it contains certain bytes, or prunes the object or list of objects in it.
type member struct {
	drop   bool
	unless []byte
	within *members
}

var (
	prunedMeta = &members{others: true, named: map[string]member{
		"managedFields": {drop: true}, "labels": {drop: true}, "ownerReferences": {drop: true},
		"annotations": {drop: true, unless: []byte(metav1.InitialEventsAnnotationKey)}, // ends a streaming list
	}}
	prunedStatus = &members{named: map[string]member{"observedGeneration": {}}}
	// In a Status object, status is a string.
	prunedWhole = &members{named: map[string]member{
		"apiVersion": {}, "kind": {}, "metadata": {within: prunedMeta}, "status": {within: prunedStatus},
		"message": {}, "reason": {}, "details": {}, "code": {},
		"items": {within: &members{named: map[string]member{
			"apiVersion": {}, "kind": {}, "metadata": {within: prunedMeta}, "status": {within: prunedStatus},
		}}},
	}}
)

// pruneWhole prunes an object or a list of objects. Data that is not a JSON object is returned unchanged.
func pruneWhole(data []byte) ([]byte, error) {
	p := jsonPruner{in: data, out: make([]byte, 0, min(len(data), 1<<10))}
	if p.space() != '{' {
		return data, nil
	}
	if err := p.value(prunedWhole); err != nil {
		return nil, err
	}
	return append(p.out, p.in[p.at:]...), nil
}

var errNoJSON = errors.New("the API server sent an invalid JSON object")

// jsonPruner copies the parts of a JSON text that are kept. Valid JSON stays valid. Invalid JSON is an error or left to the decoder.
type jsonPruner struct {
	in, out []byte
	at      int
	depth   int // of brackets that are copied
}

// maxDepth limits the nesting of pruned brackets. Lists of objects have four levels; millions would overflow the stack.
const maxDepth = 100

// space skips white space and returns the next character, 0 at the end.
func (p *jsonPruner) space() byte {
	for ; p.at < len(p.in); p.at++ {
		switch c := p.in[p.at]; c {
		case ' ', '\t', '\r', '\n':
		default:
			return c
		}
	}
	return 0
}

// skip skips a value.
func (p *jsonPruner) skip() error {
	depth := 0
	for p.space() != 0 {
		switch p.in[p.at] {
		case '"':
			if !p.skipString() {
				return errNoJSON
			}
		case '{', '[':
			depth++
			p.at++
		case '}', ']':
			depth--
			p.at++
		case ',', ':':
			p.at++
		default:
			if end := bytes.IndexAny(p.in[p.at:], ",:]} \t\r\n"); end > 0 {
				p.at += end
			} else {
				p.at = len(p.in)
			}
		}
		if depth <= 0 {
			break
		}
	}
	if depth != 0 {
		return errNoJSON
	}
	return nil
}

// skipString skips a string and reports whether the string ends.
func (p *jsonPruner) skipString() bool {
	for p.at++; ; {
		end := bytes.IndexByte(p.in[p.at:], '"')
		if end < 0 {
			return false
		}
		escapes := 0
		for p.in[p.at+end-1-escapes] == '\\' { // stops at the opening quote if not before
			escapes++
		}
		p.at += end + 1
		if escapes%2 == 0 {
			return true
		}
	}
}

// value copies a value and prunes the members of objects.
func (p *jsonPruner) value(m *members) error {
	switch c := p.space(); {
	case m != nil && c == '{':
		return p.object(m)
	case m != nil && c == '[':
		return p.array(m)
	}
	begin := p.at
	if err := p.skip(); err != nil {
		return err
	}
	p.out = append(p.out, p.in[begin:p.at]...)
	return nil
}

func (p *jsonPruner) array(m *members) error {
	return p.elements(']', func() error { return p.value(m) })
}

func (p *jsonPruner) object(m *members) error {
	return p.elements('}', func() error { return p.member(m) })
}

// elements copies the content of brackets. The comma of a dropped element is dropped as well.
func (p *jsonPruner) elements(closing byte, element func() error) error {
	if p.depth++; p.depth > maxDepth {
		return errNoJSON
	}
	defer func() { p.depth-- }()
	p.out = append(p.out, p.in[p.at])
	p.at++
	empty := true
	for p.space() != closing {
		mark := len(p.out)
		if !empty {
			p.out = append(p.out, ',')
		}
		before := len(p.out)
		if err := element(); err != nil {
			return err
		}
		if len(p.out) == before {
			p.out = p.out[:mark]
		} else {
			empty = false
		}
		switch p.space() {
		case ',':
			p.at++
		case closing:
		default:
			return errNoJSON
		}
	}
	p.at++
	p.out = append(p.out, closing)
	return nil
}

// member copies or drops a member of an object.
func (p *jsonPruner) member(m *members) error {
	begin := p.at
	if p.space() != '"' || !p.skipString() {
		return errNoJSON
	}
	name := p.in[begin+1 : p.at-1]
	if p.space() != ':' {
		return errNoJSON
	}
	p.at++
	rule, named := m.named[string(name)]
	if rule.within != nil {
		p.out = append(p.out, p.in[begin:p.at]...)
		return p.value(rule.within)
	}
	if err := p.skip(); err != nil {
		return err
	}
	whole := p.in[begin:p.at]
	if named && rule.drop && rule.unless != nil && bytes.Contains(whole, rule.unless) || named && !rule.drop || !named && m.others {
		p.out = append(p.out, whole...)
	}
	return nil
}
