package bounded

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

// MaxObject is the number of bytes that may precede the next Mark: the largest event of a watch that client-go accepts.
const MaxObject = 16 << 20

// maxDepth limits the nesting of brackets that are not skipped.
const maxDepth = 100

var (
	// ErrTooLarge means that a value exceeds a limit.
	ErrTooLarge = errors.New("the API server sent a response or an event above a limit of its size")
	// ErrInvalid means that data is neither valid JSON nor valid protobuf, or not of the expected form.
	ErrInvalid = errors.New("the API server sent invalid data")
)

// Source is a buffered reader with a limit on the bytes between two calls of Mark.
type Source struct {
	reader  io.Reader
	buffer  []byte
	at, end int
	read    int // since Mark
	err     error
}

// bufferSize is the size of the buffer, and the largest size of Peek.
const bufferSize = 8 << 10

// NewSource returns a Source that reads from r.
func NewSource(r io.Reader) *Source { return &Source{reader: r} }

// Mark begins the next object.
func (s *Source) Mark() { s.read = 0 }

// Peek returns the next n bytes without consuming them, or fewer at the end of the data. It does not read more than it needs to.
func (s *Source) Peek(n int) []byte {
	if s.buffer == nil {
		s.buffer = make([]byte, bufferSize)
	}
	for s.end-s.at < n && s.err == nil {
		if s.at+n > len(s.buffer) {
			s.end = copy(s.buffer, s.buffer[s.at:s.end])
			s.at = 0
		} else if s.at == s.end {
			s.at, s.end = 0, 0
		}
		var read int
		read, s.err = s.reader.Read(s.buffer[s.end:])
		s.end += read
		if s.read += read; s.read > MaxObject && s.err == nil {
			s.err = ErrTooLarge
		}
	}
	return s.buffer[s.at:min(s.end, s.at+n)]
}

// Buffered returns the bytes in the buffer, and at least one unless the data has ended.
func (s *Source) Buffered() []byte {
	if s.at == s.end {
		s.Peek(1)
	}
	return s.buffer[s.at:s.end]
}

// Consume removes bytes that Peek or Buffered has returned.
func (s *Source) Consume(n int) { s.at += n }

// Discard removes n bytes and calls each, unless it is nil, with each part of them.
func (s *Source) Discard(n int, each func([]byte)) error {
	for n > 0 {
		part := s.Buffered()
		if len(part) == 0 {
			return s.Unfinished()
		}
		part = part[:min(len(part), n)]
		if each != nil {
			each(part)
		}
		s.Consume(len(part))
		n -= len(part)
	}
	return nil
}

// Err returns the error that has ended the data: io.EOF at its end.
func (s *Source) Err() error { return s.err }

// Unfinished returns Err in the middle of a value.
func (s *Source) Unfinished() error {
	if errors.Is(s.err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return s.err
}

// Scanner reads JSON. Its methods read the next value, and return an error if it is not of their type.
type Scanner struct {
	*Source
	depth int
	cut   Cut
}

// NewScanner returns a Scanner that reads from r.
func NewScanner(r io.Reader) *Scanner { return &Scanner{Source: NewSource(r), cut: Cut{JSON: true}} }

// Next skips white space and returns the next character, 0 only at the end of the data.
func (s *Scanner) Next() byte {
	for {
		buffered := s.Buffered()
		if len(buffered) == 0 {
			return 0
		}
		for i, c := range buffered {
			if c != ' ' && c != '\n' && c != '\t' && c != '\r' {
				s.Consume(i)
				return max(c, 1) // neither is valid JSON
			}
		}
		s.Consume(len(buffered))
	}
}

// invalid returns the error that has ended the data, or ErrInvalid.
func (s *Scanner) invalid() error {
	if err := s.Unfinished(); err != nil && s.at == s.end {
		return err
	}
	return ErrInvalid
}

// Object reads an object. It calls member after each name, to read its value. Names longer than MaxText are cut. The name is valid
// until the value is read.
func (s *Scanner) Object(member func(name []byte) error) error {
	return s.elements('{', '}', func() error {
		if s.Next() != '"' {
			return s.invalid()
		}
		name, err := s.RawString(0)
		if err != nil {
			return err
		}
		if s.Next() != ':' {
			return s.invalid()
		}
		s.Consume(1)
		return member(name)
	})
}

// Array reads an array. It calls element to read each element.
func (s *Scanner) Array(element func() error) error { return s.elements('[', ']', element) }

func (s *Scanner) elements(opening, closing byte, element func() error) error {
	if s.Next() != opening {
		return s.invalid()
	}
	s.Consume(1)
	if s.depth++; s.depth > maxDepth {
		return ErrInvalid
	}
	defer func() { s.depth-- }()
	if s.Next() == closing {
		s.Consume(1)
		return nil
	}
	for {
		if err := element(); err != nil {
			return err
		}
		switch s.Next() {
		case ',':
			s.Consume(1)
		case closing:
			s.Consume(1)
			return nil
		default:
			return s.invalid()
		}
	}
}

// RawString reads a string and returns its content with escapes. If it is longer than limit and MaxText, it is cut like Text. It is
// valid until the next string is read.
func (s *Scanner) RawString(limit int) ([]byte, error) {
	s.cut.Reset()
	s.cut.Max = limit
	if err := s.scanString(s.cut.Add); err != nil {
		return nil, err
	}
	return s.cut.Bytes(), nil
}

// scanString reads a string, and calls each, unless it is nil, with the parts of its content.
func (s *Scanner) scanString(each func([]byte)) error {
	s.Consume(1)
	for escapes := 0; ; { // backslashes at the end of the last part
		part := s.Buffered()
		if len(part) == 0 {
			return s.Unfinished()
		}
		end := bytes.IndexByte(part, '"')
		content := part
		if end >= 0 {
			content = part[:end]
		}
		trailing := len(content) - len(bytes.TrimRight(content, `\`))
		if trailing == len(content) {
			trailing += escapes
		}
		escapes = trailing
		closes := end >= 0 && escapes%2 == 0
		if end >= 0 && !closes { // an escaped quote
			content, escapes = part[:end+1], 0
		}
		if each != nil {
			each(content)
		}
		s.Consume(len(content))
		if closes {
			s.Consume(1)
			return nil
		}
	}
}

// String reads a string, cut like Text. It reads other values as "".
func (s *Scanner) String() (string, error) {
	if s.Next() != '"' {
		return "", s.Skip()
	}
	raw, err := s.RawString(0)
	if err != nil || bytes.IndexByte(raw, '\\') < 0 {
		return string(raw), err
	}
	var text string
	if json.Unmarshal([]byte(`"`+string(raw)+`"`), &text) != nil {
		return "", ErrInvalid
	}
	return text, nil
}

// Skip reads any value.
func (s *Scanner) Skip() error {
	switch s.Next() {
	case 0:
		return s.Unfinished()
	case '{', '[':
		return s.skipBrackets()
	case '"':
		return s.scanString(nil)
	}
	_, err := s.Literal()
	return err
}

// maxLiteral is the maximum length of a number.
const maxLiteral = 64

// Literal reads a number, true, false or null. It is valid until the next value is read.
func (s *Scanner) Literal() ([]byte, error) {
	for n := 1; n <= maxLiteral; {
		ended := len(s.Peek(n)) < n
		literal := s.buffer[s.at:min(s.end, s.at+maxLiteral)]
		end := bytes.IndexAny(literal, ",:]} \t\r\n\"[{")
		if end < 0 && ended {
			end = len(literal)
		}
		if end == 0 {
			return nil, s.invalid()
		}
		if end > 0 {
			s.Consume(end)
			return literal[:end], nil
		}
		n = len(literal) + 1
	}
	return nil, ErrInvalid
}

func (s *Scanner) skipBrackets() error {
	for depth := 0; ; {
		part := s.Buffered()
		if len(part) == 0 {
			return s.Unfinished()
		}
		at := bytes.IndexAny(part, `"{}[]`)
		if at < 0 {
			s.Consume(len(part))
			continue
		}
		switch s.Consume(at); part[at] {
		case '"':
			if err := s.scanString(nil); err != nil {
				return err
			}
			continue
		case '{', '[':
			depth++
		default:
			depth--
		}
		if s.Consume(1); depth == 0 {
			return nil
		}
	}
}
