package apiclient

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"

	"github.com/informer-exporter/informer-exporter/internal/bounded"
)

const (
	// maxScanned is the maximum number of bytes of an object in JSON that are searched for its resourceVersion.
	maxScanned = 256 * 1024
	// maxProtobuf is that for an object in protobuf, in which the version precedes all long fields. It exceeds the size of the type,
	// name, namespace and UID of an object.
	maxProtobuf = 2048
)

// protobufMagic precedes a runtime.Unknown in protobuf (k8s.io/apimachinery/pkg/runtime/serializer/protobuf).
var protobufMagic = []byte("k8s\x00")

// errFound ends the search.
var errFound = errors.New("found")

// versionOf returns metadata.resourceVersion of an object in JSON or in Kubernetes' protobuf, or "" without one, and metadata.name, which
// the API server sends before it. It reports whether more of the object cannot change that.
func versionOf(r io.Reader) (name, version string, sure bool) {
	s := bounded.NewScanner(io.LimitReader(r, maxScanned))
	if begin := s.Peek(maxProtobuf); bytes.HasPrefix(begin, protobufMagic) {
		name, version = protobufVersion(begin[len(protobufMagic):])
		return name, version, len(begin) == maxProtobuf
	}
	err := s.Object(func(field []byte) error {
		if string(field) != "metadata" {
			return s.Skip()
		}
		return s.Object(func(field []byte) (err error) {
			switch string(field) {
			case "name":
				name, err = s.String()
			case "resourceVersion":
				if version, err = s.String(); err == nil {
					err = errFound
				}
			default:
				err = s.Skip()
			}
			return err
		})
	})
	return name, version, err == nil || errors.Is(err, errFound)
}

// protobufVersion returns the name and the version in the beginning of a runtime.Unknown.
func protobufVersion(message []byte) (name, version string) {
	const (
		unknownRaw     = 2 // of runtime.Unknown
		objectMetadata = 1 // of every object
		metaName       = 1 // of ObjectMeta
		metaVersion    = 6
	)
	metadata := protobufField(protobufField(message, unknownRaw), objectMetadata)
	return string(protobufField(metadata, metaName)), string(protobufField(metadata, metaVersion))
}

// protobufField returns the content of the first length-delimited field with the given number, or nil. The message may be truncated.
func protobufField(message []byte, number uint64) []byte {
	for len(message) > 0 {
		tag, n := binary.Uvarint(message)
		if n <= 0 || tag&7 != 2 { // in the searched messages, fields with a length precede all others
			return nil
		}
		length, m := binary.Uvarint(message[n:])
		if m <= 0 {
			return nil
		}
		message = message[n+m:]
		length = min(length, uint64(len(message)))
		if tag>>3 == number {
			return message[:length]
		}
		message = message[length:]
	}
	return nil
}
