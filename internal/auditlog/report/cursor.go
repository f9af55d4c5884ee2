package report

import (
	"errors"
	"io"

	"github.com/informer-exporter/informer-exporter/internal/auditlog/event"
)

// batch is the number of events that are decoded at a time, while another goroutine takes in those before.
const batch = 256

// cursor reads the events of one file on a goroutine of its own.
type cursor struct {
	file io.Closer
	// batches are decoded events; done ends the goroutine.
	batches chan []event.Event
	free    chan []event.Event
	done    chan struct{}

	current []event.Event
	next    int

	// The goroutine writes these before it closes batches.
	err                 error
	malformed, oversize uint64
}

// start begins to read a file.
func (f *Files) start(file io.ReadCloser) (*cursor, error) {
	text, err := decompressed(counting{file, f})
	if err != nil {
		return nil, err
	}
	c := &cursor{file: file, batches: make(chan []event.Event, 2), free: make(chan []event.Event, 4), done: make(chan struct{})}
	go c.read(event.NewLines(text))
	return c, nil
}

// counting counts what is read of a file.
type counting struct {
	io.Reader
	files *Files
}

func (c counting) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.files.Read.Add(int64(n))
	return n, err
}

func (c *cursor) read(lines *event.Lines) {
	defer close(c.batches)
	for {
		events := make([]event.Event, 0, batch)
		select {
		case events = <-c.free:
		default:
		}
		events = events[:0]
		for len(events) < batch && c.err == nil {
			line, _, err := lines.Next()
			if err != nil {
				c.err = err
				break
			}
			var e event.Event
			ok, malformed := event.DecodeLine(line, &e)
			if malformed {
				c.malformed++
			}
			if ok {
				events = append(events, e)
			}
		}
		c.oversize = lines.Oversize
		if len(events) > 0 {
			select {
			case c.batches <- events:
			case <-c.done:
				return
			}
		}
		if c.err != nil {
			if errors.Is(c.err, io.EOF) && !errors.Is(c.err, io.ErrUnexpectedEOF) {
				c.err = nil
			}
			return
		}
	}
}

// head returns the next event, nil at the end.
func (c *cursor) head() *event.Event {
	for c.next >= len(c.current) {
		if c.current != nil {
			select {
			case c.free <- c.current:
			default:
			}
		}
		events, ok := <-c.batches
		if !ok {
			c.current, c.next = nil, 0
			return nil
		}
		c.current, c.next = events, 0
	}
	return &c.current[c.next]
}

func (c *cursor) advance() { c.next++ }

// stop ends the goroutine. A read of standard input that waits for more is left alone.
func (c *cursor) stop() {
	close(c.done)
	_ = c.file.Close() // was only read
}
