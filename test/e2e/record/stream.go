package main

import (
	"bufio"
	"io"
	"sync"
)

// stream is the body of a response.
type stream struct {
	server io.ReadCloser
	*io.PipeReader
	writing sync.Mutex
	writer  *io.PipeWriter
	closed  func()
}

func newStream(server io.ReadCloser, each func(line []byte) []byte) *stream {
	s := &stream{server: server, closed: func() {}}
	s.PipeReader, s.writer = io.Pipe()
	go func() {
		lines := bufio.NewReader(server)
		for {
			line, err := lines.ReadBytes('\n')
			if line = each(line); len(line) > 0 {
				s.line(line)
			}
			if err != nil {
				s.writer.CloseWithError(err)
				return
			}
		}
	}()
	return s
}

// line writes a line, or nothing if the stream has ended.
func (s *stream) line(line []byte) {
	s.writing.Lock()
	defer s.writing.Unlock()
	_, _ = s.writer.Write(line)
}

func (s *stream) end() { _ = s.writer.Close() }

// Close implements io.Closer.
func (s *stream) Close() error {
	s.closed()
	_ = s.PipeReader.Close()
	return s.server.Close()
}
