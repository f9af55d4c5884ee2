package apiclient

import (
	"bytes"
	"encoding/binary"
)

// versionScan finds metadata.resourceVersion in an object in JSON, or in Kubernetes' protobuf, that arrives in parts. It keeps
// the version, the beginning of the current string, and at most 2 KiB of an object in protobuf.
type versionScan struct {
	// done is set once version is known or the object has none.
	done    bool
	version string

	scanned int
	// protobuf is the beginning of an object in protobuf, in which the version precedes all long fields.
	protobuf []byte

	depth             int
	inString, escaped bool
	// text is the beginning of the current or last string.
	text   [64]byte
	length int
	// key is the name of the value that follows.
	key        string
	inMetadata bool
}

const (
	keyMetadata = "metadata"
	keyVersion  = "resourceVersion"
	// maxProtobuf exceeds the size of the type, name, namespace and UID of an object.
	maxProtobuf = 2048
)

// protobufMagic precedes a runtime.Unknown in protobuf (k8s.io/apimachinery/pkg/runtime/serializer/protobuf).
var protobufMagic = []byte("k8s\x00")

// feed adds the next part of the object.
func (s *versionScan) feed(part []byte) {
	if s.done {
		return
	}
	if s.protobuf != nil || s.scanned == 0 && bytes.HasPrefix(part, protobufMagic) {
		s.protobuf = append(s.protobuf, part[:min(len(part), maxProtobuf-len(s.protobuf))]...)
		s.done = len(s.protobuf) == maxProtobuf
		return
	}
	s.scanned += len(part)
	for _, c := range part {
		if s.inString {
			s.inText(c)
		} else {
			s.between(c)
		}
		if s.done {
			return
		}
	}
	s.done = s.scanned >= maxScanned
}

// inText handles a character of a string.
func (s *versionScan) inText(c byte) {
	switch {
	case s.escaped:
		s.escaped = false
	case c == '\\':
		s.escaped = true
	case c == '"':
		s.inString = false
		if s.inMetadata && s.depth == 2 && s.key == keyVersion {
			s.version, s.done = s.string(), true
		}
		return
	}
	if s.length < len(s.text) {
		s.text[s.length] = c
	}
	s.length++
}

// between handles a character outside of strings.
func (s *versionScan) between(c byte) {
	switch c {
	case '"':
		s.inString, s.length = true, 0
	case '{', '[':
		s.depth++
		s.inMetadata = s.inMetadata || c == '{' && s.depth == 2 && s.key == keyMetadata
		s.key = ""
	case '}', ']':
		s.done = s.inMetadata && s.depth == 2
		s.depth--
	case ':':
		s.key = ""
		if s.depth == 1 && s.string() == keyMetadata {
			s.key = keyMetadata
		} else if s.depth == 2 && s.string() == keyVersion {
			s.key = keyVersion
		}
	case ',':
		s.key = ""
	}
}

// string returns the last string, empty if it was too long.
func (s *versionScan) string() string {
	if s.length > len(s.text) {
		return ""
	}
	return string(s.text[:s.length])
}

// end returns the version, empty if the parts so far have none.
func (s *versionScan) end() string {
	if s.protobuf == nil {
		return s.version
	}
	const (
		unknownRaw     = 2 // of runtime.Unknown
		objectMetadata = 1 // of every object
		metaVersion    = 6 // of ObjectMeta
	)
	message := s.protobuf[len(protobufMagic):]
	for _, field := range []uint64{unknownRaw, objectMetadata, metaVersion} {
		message = protobufField(message, field)
	}
	return string(message)
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
