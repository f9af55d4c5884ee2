package client

import (
	"bytes"

	"google.golang.org/protobuf/encoding/protowire"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Most metadata is in fields that the exporter does not read, mainly managedFields. They are removed from responses before
// decoding: otherwise they would be most of the garbage that a list creates.

// message lists the fields of a protobuf message to prune. Other fields are kept.
type message map[protowire.Number]field

// field drops a field, unless it contains certain bytes, or prunes the message in it.
type field struct {
	drop   bool
	unless []byte
	within message
}

// Field numbers of k8s.io/apimachinery/pkg/apis/meta/v1/generated.proto.
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

// prune removes fields of a message in place and returns its new length. Length prefixes keep their size, so that no byte moves twice.
// Data from the first invalid field on is kept: the decoder accepts some fields that protowire rejects.
func (m message) prune(data []byte) (kept int) {
	for read := 0; read < len(data); {
		number, kind, tag := protowire.ConsumeTag(data[read:])
		if tag < 0 {
			return kept + copy(data[kept:], data[read:])
		}
		value := protowire.ConsumeFieldValue(number, kind, data[read+tag:])
		if value < 0 {
			return kept + copy(data[kept:], data[read:])
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
			n := f.within.prune(content)
			putVarint(whole[tag:tag+size], uint64(n))
			whole = whole[:tag+size+n]
		}
		kept += copy(data[kept:], whole)
	}
	return kept
}

// putVarint encodes a number in exactly len(data) bytes.
func putVarint(data []byte, n uint64) {
	for i := range data {
		data[i] = byte(n&0x7f) | 0x80
		n >>= 7
	}
	data[len(data)-1] &^= 0x80
}

// protobufPrefix precedes every protobuf message of the API server, which is encoded as a runtime.Unknown.
var protobufPrefix = []byte("k8s\x00")

const (
	unknownTypeMeta = 1
	unknownRaw      = 2
)

// pruneMetadata prunes messages with metadata in place and returns others unchanged.
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
		return data, nil // the decoder returns a better error
	}
	within, ok := prunedKinds[meta.Kind]
	if !ok || meta.APIVersion != metav1.SchemeGroupVersion.String() {
		return data, nil
	}
	kept := message{unknownRaw: {within: within}}.prune(rest)
	return data[:len(protobufPrefix)+kept], nil
}

// pruning is a serializer that prunes data before decoding.
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

// Decode implements runtime.Decoder. It may change data, which the caller no longer needs: a response body or an event.
func (d pruningDecoder) Decode(data []byte, defaults *schema.GroupVersionKind, into runtime.Object) (runtime.Object, *schema.GroupVersionKind, error) {
	data, err := d.prune(data)
	if err != nil {
		return nil, nil, err
	}
	return d.Decoder.Decode(data, defaults, into)
}
