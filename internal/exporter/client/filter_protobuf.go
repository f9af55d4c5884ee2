package client

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"maps"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/informer-exporter/informer-exporter/internal/bounded"
)

// message lists the fields of a protobuf message to keep.
type message map[protowire.Number]field

// field keeps a field, or prunes the message in it.
type field struct {
	within message
	// size is the memory that the field takes once it is decoded, apart from its texts.
	size int
	// most is the maximum number of fields with this number in a message, 0 for any.
	most int
	// text is set if the field is a text, which is cut.
	text bool
	// only is a text that the field must contain to be kept.
	only string
	// item is set for the items of a list.
	item bool
}

// Field numbers of generated.proto of the packages k8s.io/apimachinery/pkg/apis/meta/v1 and k8s.io/api/coordination/v1.
var (
	protobufMeta = message{
		1: {text: true}, 3: {text: true}, 5: {text: true}, 6: {text: true}, // name, namespace, uid, resourceVersion
		7: {}, 8: {}, 9: {}, 10: {}, // generation, creationTimestamp, deletionTimestamp, deletionGracePeriodSeconds
		12: {only: metav1.InitialEventsAnnotationKey, size: 256},                                          // annotations; this one ends a streaming list
		14: {text: true, most: keptFinalizers, size: 32},                                                  // finalizers
		17: {within: message{4: {size: 32}, 8: {text: true, size: 16}}, most: maxManagers, size: 2 * 136}, // time and subresource of managedFields
	}
	protobufLeaseMeta = func() message {
		m := maps.Clone(protobufMeta)
		m[11] = field{only: "apiserver.kubernetes.io/identity", size: 256} // labels
		return m
	}()
	protobufListMeta = message{2: {text: true}, 3: {}, 4: {}} // resourceVersion, continue, remainingItemCount
	protobufLease    = message{
		1: {within: protobufLeaseMeta},
		2: {within: message{1: {text: true}, 2: {}, 3: {}, 4: {}, 5: {}}}, // without strategy and preferredHolder
	}
)

// typeOf identifies a type of Kubernetes.
type typeOf struct{ apiVersion, kind string }

// kinds are the messages to keep of objects of each kind.
type kinds map[typeOf]message

var (
	metadataKinds = kindsOf(metav1.SchemeGroupVersion.String(), "PartialObjectMetadata", message{1: {within: protobufMeta}})
	leaseKinds    = kindsOf(coordinationv1.SchemeGroupVersion.String(), "Lease", protobufLease)
)

// kindsOf returns the messages of a kind and of lists of it.
func kindsOf(apiVersion, kind string, object message) kinds {
	return kinds{
		{apiVersion, kind}:          object,
		{apiVersion, kind + "List"}: {1: {within: protobufListMeta}, 2: {within: object, size: sizeOfItem, item: true}},
	}
}

// protobufPrefix precedes every protobuf message of the API server, which is encoded as a runtime.Unknown.
var protobufPrefix = []byte("k8s\x00")

const (
	unknownTypeMeta = 1
	unknownRaw      = 2

	// maxField limits the fields that are not pruned: times, numbers, types and continue tokens.
	maxField = maxContinue
	// maxHeader is the maximum size of a field's number and length.
	maxHeader = 2 * binary.MaxVarintLen64
)

// protobufResponse appends the object or list in a response.
func (p *pruner) protobufResponse() error {
	if len(p.Peek(1)) == 0 {
		return p.Err()
	}
	return p.protobufObject(math.MaxInt)
}

// protobufEvent appends the next event of a watch, with its length before it.
func (p *pruner) protobufEvent() error {
	const header = 4
	length := p.Peek(header)
	if len(length) == 0 {
		return p.Err()
	}
	if len(length) < header {
		return p.Unfinished()
	}
	size := binary.BigEndian.Uint32(length)
	if size > bounded.MaxObject {
		return bounded.ErrTooLarge
	}
	p.Consume(header)
	p.out = append(p.out, 0, 0, 0, 0)
	err := p.fields(int(size), func(number protowire.Number, f rawField) error {
		switch {
		case number == 1 && f.kind == protowire.BytesType: // type
			return p.copyField(f)
		case number == 2 && f.kind == protowire.BytesType: // object
			return p.nested(f, func(size int) error {
				return p.fields(size, func(number protowire.Number, f rawField) error {
					if number != 1 || f.kind != protowire.BytesType {
						return p.skipField(f)
					}
					return p.nested(f, p.protobufObject)
				})
			})
		}
		return p.skipField(f)
	})
	binary.BigEndian.PutUint32(p.out, uint32(len(p.out)-header))
	return err
}

// protobufObject appends the prefix and the runtime.Unknown in the next bytes: size of them, or all if there are fewer.
func (p *pruner) protobufObject(size int) error {
	if size < len(protobufPrefix) || !bytes.Equal(p.Peek(len(protobufPrefix)), protobufPrefix) {
		return p.invalidOr(p.Unfinished())
	}
	p.Consume(len(protobufPrefix))
	if err := p.keep(protobufPrefix); err != nil {
		return err
	}
	if size != math.MaxInt {
		size -= len(protobufPrefix)
	}
	var within message
	typed, read := false, false
	return p.fields(size, func(number protowire.Number, f rawField) error {
		switch {
		case number == unknownTypeMeta && !typed && !read && f.kind == protowire.BytesType:
			typed = true
			begin := len(p.out)
			if err := p.copyField(f); err != nil {
				return err
			}
			var meta runtime.TypeMeta
			if meta.Unmarshal(p.out[begin+f.header:]) != nil {
				return bounded.ErrInvalid
			}
			within = p.content.protobuf[typeOf{meta.APIVersion, meta.Kind}]
			return nil
		case number == unknownRaw && !read && f.kind == protowire.BytesType:
			read = true
			if within != nil {
				return p.nested(f, func(size int) error { return p.message(within, size) })
			}
			if f.length > bounded.MaxError { // a Status, or an object that the decoder rejects
				return bounded.ErrTooLarge
			}
			return p.nested(f, func(size int) error { return p.copyBytes(size) })
		case number == unknownTypeMeta || number == unknownRaw:
			return bounded.ErrInvalid // the decoder would take the last one
		}
		return p.skipField(f)
	})
}

// rawField is the beginning of a field.
type rawField struct {
	kind   protowire.Type
	tag    []byte // in the source's buffer
	header int    // size of the tag and the length
	length int    // of the content
}

// fields calls each for each field in the next bytes: size of them, or all if there are fewer and size is math.MaxInt.
func (p *pruner) fields(size int, each func(protowire.Number, rawField) error) error {
	for size > 0 {
		head := p.Peek(min(size, maxHeader))
		if len(head) == 0 && size > math.MaxInt/2 && errors.Is(p.Err(), io.EOF) {
			return nil
		}
		number, kind, n := protowire.ConsumeTag(head)
		if n < 0 {
			return p.invalidOr(p.Unfinished())
		}
		f := rawField{kind: kind, tag: head[:n], header: n}
		switch kind {
		case protowire.VarintType:
			_, f.length = protowire.ConsumeVarint(head[n:])
		case protowire.Fixed32Type:
			f.length = 4
		case protowire.Fixed64Type:
			f.length = 8
		case protowire.BytesType:
			length, v := protowire.ConsumeVarint(head[n:])
			if v < 0 || length > uint64(size) {
				return p.invalidOr(p.Unfinished())
			}
			f.header, f.length = n+v, int(length)
		default: // groups, which Kubernetes does not have
			return bounded.ErrInvalid
		}
		if f.length < 0 || f.header+f.length > size || f.header+f.length < 0 {
			return p.invalidOr(p.Unfinished())
		}
		if err := each(number, f); err != nil {
			return err
		}
		size -= f.header + f.length
	}
	return nil
}

// invalidOr returns an error that has ended the data, or ErrInvalid.
func (p *pruner) invalidOr(err error) error {
	if err != nil && len(p.Buffered()) == 0 {
		return err
	}
	return bounded.ErrInvalid
}

// message appends the fields of a message that are kept.
func (p *pruner) message(m message, size int) error {
	var counts [maxCounted]uint8
	return p.fields(size, func(number protowire.Number, f rawField) error {
		rule, known := m[number]
		if known && rule.most > 0 {
			known = int(counts[number]) < rule.most
			if known {
				counts[number]++
			}
		}
		if !known {
			return p.skipField(f)
		}
		if err := p.charge(rule.size); err != nil {
			return err
		}
		if rule.item {
			p.Mark()
		}
		if f.kind == protowire.BytesType {
			switch {
			case rule.within != nil:
				return p.nested(f, func(size int) error { return p.message(rule.within, size) })
			case rule.text:
				return p.text(f)
			case rule.only != "":
				if f.length > 256 || !bytes.Contains(p.Peek(f.header+f.length), []byte(rule.only)) {
					return p.skipField(f)
				}
			}
		}
		return p.copyField(f)
	})
}

// maxCounted exceeds the numbers of fields with a maximum.
const maxCounted = 18

func (p *pruner) skipField(f rawField) error { return p.Discard(f.header+f.length, nil) }

// copyField appends a field.
func (p *pruner) copyField(f rawField) error {
	if f.length > maxField {
		return bounded.ErrTooLarge
	}
	return p.copyBytes(f.header + f.length)
}

func (p *pruner) copyBytes(n int) error {
	if err := p.charge(n); err != nil {
		return err
	}
	return p.Discard(n, func(part []byte) { p.out = append(p.out, part...) })
}

// text appends a text.
func (p *pruner) text(f rawField) error {
	if f.length <= bounded.MaxText {
		return p.copyBytes(f.header + f.length)
	}
	p.out = append(p.out, f.tag...)
	p.Consume(f.header)
	p.cut.Reset()
	if err := p.Discard(f.length, p.cut.Add); err != nil {
		return err
	}
	p.out = protowire.AppendBytes(p.out, p.cut.Bytes())
	return p.charge(2 * bounded.MaxText)
}

// nested appends a field with the content that within appends. It is not longer than before, so that its length keeps its size.
func (p *pruner) nested(f rawField, within func(size int) error) error {
	begin := len(p.out)
	p.out = append(p.out, p.Peek(f.header)...)
	p.Consume(f.header)
	if err := p.charge(f.header); err != nil {
		return err
	}
	if err := within(f.length); err != nil {
		return err
	}
	putVarint(p.out[begin+len(f.tag):begin+f.header], uint64(len(p.out)-begin-f.header))
	return nil
}

// putVarint encodes a number in exactly len(data) bytes.
func putVarint(data []byte, n uint64) {
	for i := range data {
		data[i] = byte(n&0x7f) | 0x80
		n >>= 7
	}
	data[len(data)-1] &^= 0x80
}
