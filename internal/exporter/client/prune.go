package client

import (
	"bytes"
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Most of an object's metadata is in fields that nobody here reads, above all in managedFields. They are taken out of what the
// API server has sent before it is decoded: decoding them only to throw them away would be most of the garbage of a list.

// message says what becomes of the fields of a message in protobuf. What it does not name is kept.
type message map[protowire.Number]field

// field says what becomes of one: it is dropped, unless it contains something, or has fields that are dropped.
type field struct {
	drop   bool
	unless []byte
	within message
}

// The fields of k8s.io/apimachinery/pkg/apis/meta/v1/generated.proto.
var (
	prunedObject = message{1: {within: message{
		2:  {drop: true},                                                    // generateName
		11: {drop: true},                                                    // labels
		12: {drop: true, unless: []byte(metav1.InitialEventsAnnotationKey)}, // annotations; this one ends a streaming list
		13: {drop: true},                                                    // ownerReferences
		17: {within: message{ // managedFields, of which only the time is read
			1: {drop: true}, 2: {drop: true}, 3: {drop: true}, 6: {drop: true}, 7: {drop: true}, 8: {drop: true},
		}},
	}}}
	prunedList = message{2: {within: prunedObject}} // items

	prunedKinds = map[string]message{"PartialObjectMetadata": prunedObject, "PartialObjectMetadataList": prunedList}
)

// prune drops fields of a message and moves what is kept to its front. It returns how long that is. Lengths are written in as
// many bytes as before, so that nothing has to be moved twice.
func (m message) prune(data []byte) (kept int, err error) {
	for read := 0; read < len(data); {
		number, kind, tag := protowire.ConsumeTag(data[read:])
		if tag < 0 {
			return 0, protowire.ParseError(tag)
		}
		value := protowire.ConsumeFieldValue(number, kind, data[read+tag:])
		if value < 0 {
			return 0, protowire.ParseError(value)
		}
		whole := data[read : read+tag+value]
		read += len(whole)
		f := m[number]
		switch {
		case f.drop && (f.unless == nil || !bytes.Contains(whole, f.unless)):
			continue
		case f.within != nil && kind == protowire.BytesType:
			_, size := protowire.ConsumeVarint(whole[tag:])
			content := whole[tag+size:]
			n, err := f.within.prune(content)
			if err != nil {
				return 0, err
			}
			putVarint(whole[tag:tag+size], uint64(n))
			whole = whole[:tag+size+n]
		}
		kept += copy(data[kept:], whole)
	}
	return kept, nil
}

// putVarint writes a number in all of the bytes, more than it may need.
func putVarint(data []byte, n uint64) {
	for i := range data {
		data[i] = byte(n&0x7f) | 0x80
		n >>= 7
	}
	data[len(data)-1] &^= 0x80
}

// protobufPrefix begins every message of the API server, which is a runtime.Unknown.
var protobufPrefix = []byte("k8s\x00")

const (
	unknownTypeMeta = 1
	unknownRaw      = 2
)

// pruneMetadata prunes a message with metadata and leaves all others as they are. It changes data.
func pruneMetadata(data []byte) ([]byte, error) {
	rest, ok := bytes.CutPrefix(data, protobufPrefix)
	if !ok {
		return data, nil // JSON
	}
	number, kind, tag := protowire.ConsumeTag(rest)
	if tag < 0 || number != unknownTypeMeta || kind != protowire.BytesType {
		return data, nil
	}
	raw, size := protowire.ConsumeBytes(rest[tag:])
	var meta runtime.TypeMeta
	if size < 0 || meta.Unmarshal(raw) != nil {
		return data, nil // which the decoder says better
	}
	within, ok := prunedKinds[meta.Kind]
	if !ok || meta.APIVersion != metav1.SchemeGroupVersion.String() {
		return data, nil
	}
	kept, err := message{unknownRaw: {within: within}}.prune(rest)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", meta.Kind, err)
	}
	return data[:len(protobufPrefix)+kept], nil
}

// pruning makes decoders prune what they decode.
type pruning struct {
	runtime.NegotiatedSerializer
	prune func(data []byte) ([]byte, error)
}

// DecoderToVersion implements runtime.NegotiatedSerializer.
func (p pruning) DecoderToVersion(decoder runtime.Decoder, gv runtime.GroupVersioner) runtime.Decoder {
	return pruningDecoder{p.NegotiatedSerializer.DecoderToVersion(decoder, gv), p.prune}
}

type pruningDecoder struct {
	runtime.Decoder
	prune func(data []byte) ([]byte, error)
}

// Decode implements runtime.Decoder. The data is the caller's, who has no more use for it: a body that was read, or an event
// that was cut out of one.
func (d pruningDecoder) Decode(data []byte, defaults *schema.GroupVersionKind, into runtime.Object) (runtime.Object, *schema.GroupVersionKind, error) {
	data, err := d.prune(data)
	if err != nil {
		return nil, nil, err
	}
	return d.Decoder.Decode(data, defaults, into)
}
