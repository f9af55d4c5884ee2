package event

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// MaxItem is the size in bytes of the largest event in an EventList. Decoding one may take 13 times as much memory. With
// audit-webhook-truncate-enabled, API servers send no event above 100 KiB.
const MaxItem = 512 << 10

// DecodeList decodes an EventList, the body of a request to an audit webhook, of at most limit bytes, and calls each for every event, which
// is valid during the call. It holds one event at a time. It returns the number of items that are no events, or an error if the body is not
// an EventList or ends too early: each has been called for the events before that.
func DecodeList(body io.Reader, limit int64, each func(*Event)) (malformed int, err error) {
	l := &list{body: &metered{reader: body, left: limit, item: MaxItem}, each: each}
	l.json = json.NewDecoder(l.body)
	if err := l.read(); err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return l.malformed, fmt.Errorf("decode an audit EventList: %w", err)
	}
	return l.malformed, nil
}

// ErrTooLarge is the error of DecodeList for a body or an event above the limit.
var ErrTooLarge = errors.New("larger than the limit")

var errNoList = errors.New("not an audit EventList")

// list reads an EventList.
type list struct {
	body      *metered
	json      *json.Decoder
	each      func(*Event)
	kind      string
	item      json.RawMessage
	event     Event
	malformed int
}

func (l *list) read() error {
	if err := l.expect('{'); err != nil {
		return err
	}
	for l.json.More() {
		name, err := l.json.Token()
		if err != nil {
			return err
		}
		switch name {
		case "kind":
			err = l.json.Decode(&l.kind)
		case "items":
			err = l.items()
		default:
			err = l.json.Decode(&l.item)
		}
		if err != nil {
			return err
		}
	}
	if err := l.expect('}'); err != nil {
		return err
	}
	return l.isList()
}

// isList returns an error unless the kind is known: API servers write it first.
func (l *list) isList() error {
	if l.kind != "EventList" {
		return errNoList
	}
	return nil
}

func (l *list) items() error {
	if err := l.isList(); err != nil {
		return err
	}
	if err := l.expect('['); err != nil {
		return err
	}
	for l.json.More() {
		l.body.item = MaxItem
		if err := l.json.Decode(&l.item); err != nil {
			return err
		}
		if Decode(l.item, &l.event) != nil {
			l.malformed++
			continue
		}
		l.each(&l.event)
	}
	return l.expect(']')
}

func (l *list) expect(want json.Delim) error {
	got, err := l.json.Token()
	if err == nil && got != want {
		err = errNoList
	}
	return err
}

// metered is a reader with limits on all bytes, and on those of an item.
type metered struct {
	reader     io.Reader
	left, item int64
}

func (m *metered) Read(p []byte) (int, error) {
	n, err := m.reader.Read(p[:min(int64(len(p)), max(1, min(m.left, m.item)))]) // one byte above a limit shows that there is more
	m.left -= int64(n)
	m.item -= int64(n)
	if m.left < 0 || m.item < 0 {
		return 0, ErrTooLarge
	}
	return n, err
}
