package client

import (
	"bytes"
	"errors"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Of whole objects that come in JSON, which is all but Leases, no more is read than the metadata and status.observedGeneration. The rest, which may
// be a megabyte, is left out of the text before it is decoded: as maps and slices it would be many times as large.

// members says what becomes of the members of an object in JSON.
type members struct {
	named  map[string]member
	others bool // those that are not named are kept
}

// member says what becomes of one: it is kept, or dropped unless it contains something, or is an object or a list of objects
// with members of their own.
type member struct {
	drop   bool
	unless []byte
	within *members
}

var (
	prunedMeta = &members{others: true, named: map[string]member{
		"managedFields": {drop: true}, "labels": {drop: true}, "ownerReferences": {drop: true},
		"annotations": {drop: true, unless: []byte(metav1.InitialEventsAnnotationKey)}, // which ends a streaming list
	}}
	prunedStatus = &members{named: map[string]member{"observedGeneration": {}}}
	// A Status of the API server, too, has a status, which is text there.
	prunedWhole = &members{named: map[string]member{
		"apiVersion": {}, "kind": {}, "metadata": {within: prunedMeta}, "status": {within: prunedStatus},
		"message": {}, "reason": {}, "details": {}, "code": {},
		"items": {within: &members{named: map[string]member{
			"apiVersion": {}, "kind": {}, "metadata": {within: prunedMeta}, "status": {within: prunedStatus},
		}}},
	}}
)

// pruneWhole prunes an object or a list of them, and leaves what is no JSON as it is.
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

var errNoJSON = errors.New("the API server has sent an object that is no valid JSON")

// jsonPruner reads through a text and copies what is to be kept. What is valid stays valid, and what is not is left for the
// decoder to find out.
type jsonPruner struct {
	in, out []byte
	at      int
}

// space goes to the next character that is no white space and returns it, 0 at the end.
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

// skip goes past a value.
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

// skipString goes past a string, and returns false if it has no end.
func (p *jsonPruner) skipString() bool {
	for p.at++; ; {
		end := bytes.IndexByte(p.in[p.at:], '"')
		if end < 0 {
			return false
		}
		escapes := 0
		for p.in[p.at+end-1-escapes] == '\\' { // the opening quote, at the latest, is none
			escapes++
		}
		p.at += end + 1
		if escapes%2 == 0 {
			return true
		}
	}
}

// value copies a value, with those members of objects that m keeps.
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

// elements copies what is between brackets. An element that is left out takes its comma along.
func (p *jsonPruner) elements(closing byte, element func() error) error {
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

// member copies a member of an object, or leaves it out.
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
