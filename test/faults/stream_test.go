package faults

import (
	"bufio"
	"bytes"
	"io"
	"sync"
	"testing"
)

// stream is the body of a watch. A test can write into it between the server's events, and drop some of them.
type stream struct {
	server io.ReadCloser
	*io.PipeReader
	writer *io.PipeWriter

	mu   sync.Mutex
	lost []byte
}

// newStream returns the body of a watch without the events that contain a text, unless it is empty.
func newStream(server io.ReadCloser, lost string) *stream {
	s := &stream{server: server}
	if lost != "" {
		s.lost = []byte(lost)
	}
	s.PipeReader, s.writer = io.Pipe()
	go func() { s.writer.CloseWithError(s.forward()) }()
	return s
}

// forward passes on the server's events, line by line. It returns the cause of the end.
func (s *stream) forward() error {
	server := bufio.NewReader(s.server)
	for {
		line, err := server.ReadBytes('\n')
		if len(line) > 0 && !s.loses(line) {
			if _, err := s.writer.Write(line); err != nil {
				return err
			}
		}
		if err != nil {
			return err
		}
	}
}

func (s *stream) loses(line []byte) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lost != nil && bytes.Contains(line, s.lost)
}

// lose drops, from now on, every event that contains a text.
func (s *stream) lose(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lost = []byte(text)
}

// Close implements io.Closer.
func (s *stream) Close() error {
	_ = s.PipeReader.Close()
	return s.server.Close()
}

// send writes to the client and returns once it has read it.
func (s *stream) send(t testing.TB, text string) {
	t.Helper()
	if _, err := io.WriteString(s.writer, text); err != nil {
		t.Fatal(err)
	}
}

// end ends the stream like an orderly close by the server.
func (s *stream) end() { s.writer.Close() }
