package event

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// MaxLine is the length in bytes of the longest line that is decoded. Events with whole objects reach 1.5 MiB.
const MaxLine = 4 << 20

// begin is the beginning of an event as the API server writes it.
var begin = []byte(`{"kind":"Event",`)

// DecodeLine is Decode for a line of a log. If the line is not an event but has one in it, because a writer was interrupted in the
// middle of a line, it decodes that one and reports the rest as malformed. It reports whether e is set.
func DecodeLine(line []byte, e *Event) (ok, malformed bool) {
	if Decode(line, e) == nil {
		return true, false
	}
	for end := len(line); len(line)-end <= maxSalvage; {
		i := bytes.LastIndex(line[:end], begin)
		if i < 0 {
			break
		}
		if Decode(line[i:end], e) == nil {
			return true, true
		}
		end = i
	}
	return false, true
}

// maxSalvage is how much of a malformed line is searched for an event.
const maxSalvage = 64 << 10

// Lines reads the lines of a log. It is not safe for concurrent use.
type Lines struct {
	// Oversize is the number of lines longer than MaxLine, which are skipped.
	Oversize uint64
	// Read is the number of bytes read so far, including line ends.
	Read int64

	reader *bufio.Reader
	line   []byte
}

// NewLines returns the lines of r. Its buffer grows to MaxLine if there are such lines.
func NewLines(r io.Reader) *Lines { return &Lines{reader: bufio.NewReaderSize(r, 256<<10)} }

// Next returns the next line that is not empty, without its line end. It is valid until the next call. At the end, it returns io.EOF;
// complete reports whether the line ended with a line end, which the last one of a log that is being written may lack.
func (l *Lines) Next() (line []byte, complete bool, err error) {
	for {
		line, complete, err = l.next()
		if err != nil || len(line) > 0 {
			return line, complete, err
		}
	}
}

func (l *Lines) next() (line []byte, complete bool, err error) {
	l.line = l.line[:0]
	skipped := false
	for {
		part, err := l.reader.ReadSlice('\n')
		l.Read += int64(len(part))
		end := err == nil
		if end {
			part = part[:len(part)-1]
		}
		switch {
		case skipped:
		case len(l.line)+len(part) > MaxLine:
			skipped, l.line = true, l.line[:0]
			l.Oversize++
		case end && len(l.line) == 0:
			return bytes.TrimSpace(part), true, nil // most lines: not copied
		default:
			l.line = append(l.line, part...)
		}
		switch {
		case end:
			return bytes.TrimSpace(l.line), true, nil
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF) && len(l.line) > 0:
			return bytes.TrimSpace(l.line), false, nil
		default:
			return nil, false, err
		}
	}
}
