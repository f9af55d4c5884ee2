// Package report reads audit logs from files and describes the clients in them.
package report

import (
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync/atomic"
	"time"

	"github.com/informer-exporter/informer-exporter/internal/auditlog/event"
)

// Files are the files of one or more logs.
type Files struct {
	// Events is the number of events read, Malformed the number of lines that are no events, or only in part, and Oversize of those that
	// were too long.
	Events, Malformed, Oversize uint64
	// Bytes is the size of all files as stored, of those that have one. Read is how much of it has been read; it may be read concurrently.
	Bytes int64
	Read  atomic.Int64

	sources []*source
}

// source is a file.
type source struct {
	path   string
	first  time.Time // of the first event, if the file can be opened again
	cursor *cursor
}

// Open looks at files: of each, it reads up to the first event, so that rotated files are read one after the other in the order of time.
// The path - is standard input. Files that end in .gz, or begin like one, are decompressed.
func Open(paths []string, stdin io.Reader) (*Files, error) {
	f := &Files{}
	for _, path := range paths {
		s := &source{path: path}
		f.sources = append(f.sources, s)
		if path == "-" {
			var err error
			if s.cursor, err = f.start(io.NopCloser(stdin)); err != nil {
				return nil, fmt.Errorf("standard input: %w", err)
			}
			continue
		}
		info, err := os.Stat(path)
		if err != nil {
			return nil, err
		}
		if info.IsDir() {
			return nil, fmt.Errorf("%s: is a directory", path)
		}
		f.Bytes += info.Size()
		if s.first, err = firstTime(path); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	slices.SortStableFunc(f.sources, func(a, b *source) int { return a.first.Compare(b.first) })
	return f, nil
}

// firstTime returns the time of the first event of a file, or the zero time if there is none in its first lines.
func firstTime(path string) (first time.Time, err error) {
	file, err := os.Open(path)
	if err != nil {
		return first, err
	}
	defer func() { _ = file.Close() }() // was only read
	text, err := decompressed(file)
	if err != nil {
		return first, err
	}
	lines := event.NewLines(text)
	var e event.Event
	for range 100 {
		line, _, err := lines.Next()
		if err != nil {
			return first, nil // the cursor reports it
		}
		if ok, _ := event.DecodeLine(line, &e); ok {
			return e.At, nil
		}
	}
	return first, nil
}

// decompressed returns the text of a file that may be compressed.
func decompressed(file io.Reader) (io.Reader, error) {
	buffered := bufio.NewReaderSize(file, 64<<10)
	if magic, err := buffered.Peek(2); err != nil || magic[0] != 0x1f || magic[1] != 0x8b {
		return buffered, nil //nolint:nilerr // shorter files have no events
	}
	return gzip.NewReader(buffered)
}

// Each calls observe with all events, merged by the time of their stage, until ctx ends. The event is valid during the call. What can be
// read of a file that is cut, as a compressed one that is being written, is read; the error names it.
func (f *Files) Each(ctx context.Context, observe func(*event.Event)) (err error) {
	var open []*source
	waiting := f.sources
	defer func() {
		for _, s := range f.sources {
			if s.cursor != nil {
				s.cursor.stop()
			}
		}
	}()
	for {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		i := earliest(open)
		for len(waiting) > 0 && (i < 0 || !waiting[0].first.After(open[i].cursor.head().At)) {
			s := waiting[0]
			waiting = waiting[1:]
			failed := f.begin(s)
			if err = errors.Join(err, failed); failed == nil && s.cursor.head() != nil {
				open = append(open, s)
			} else if failed == nil {
				err = errors.Join(err, f.end(s))
			}
			i = earliest(open)
		}
		if i < 0 {
			return err
		}
		s := open[i]
		// Until another file has the earliest event.
		for range batch {
			f.Events++
			observe(s.cursor.head())
			s.cursor.advance()
			if s.cursor.head() == nil {
				err = errors.Join(err, f.end(s))
				open = slices.Delete(open, i, i+1)
				break
			}
			if len(open) > 1 || len(waiting) > 0 {
				break
			}
		}
	}
}

// begin opens a file.
func (f *Files) begin(s *source) error {
	if s.cursor != nil {
		return nil // standard input
	}
	file, err := os.Open(s.path)
	if err != nil {
		return err
	}
	if s.cursor, err = f.start(file); err != nil {
		return fmt.Errorf("%s: %w", s.path, errors.Join(err, file.Close()))
	}
	return nil
}

// end counts the lines of a file without events, once all of it has been read, and returns the error that ended it early.
func (f *Files) end(s *source) error {
	f.Malformed += s.cursor.malformed
	f.Oversize += s.cursor.oversize
	if s.cursor.err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", s.path, s.cursor.err)
}

// earliest returns the index of the file with the earliest event, -1 if there is none.
func earliest(open []*source) int {
	at := -1
	for i, s := range open {
		if at < 0 || s.cursor.head().At.Before(open[at].cursor.head().At) {
			at = i
		}
	}
	return at
}
