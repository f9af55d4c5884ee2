// Package follow reads the lines of a log file as they are written. It survives rotation, by rename and by truncation, and restarts.
package follow

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const (
	// MaxLine is the length in bytes of the longest line; longer ones are skipped. Events with whole objects reach 1.5 MiB.
	MaxLine = 4 << 20
	// maxHead is how much of the beginning of a file identifies it. Each audit event has an ID of its own.
	maxHead = 1 << 10
	chunk   = 256 << 10
)

// Options configure a File.
type Options struct {
	// Path is the file. It need not exist yet.
	Path string
	// Position is a file for the position, so that a restart continues there. Without it, a restart continues at the end.
	Position string
	// History is how many bytes before the position Rebuild reads. 64 MiB by default.
	History int64
	// Poll is the interval at which the file is read. 500 ms by default.
	Poll time.Duration
	// Logger reports errors after the start.
	Logger *slog.Logger
	// Skipped is called for each line longer than MaxLine.
	Skipped func()
}

// File is a log file that is followed. It is not safe for concurrent use.
type File struct {
	options Options
	file    *os.File
	head    head
	// offset is the end of the last complete line that was read.
	offset   int64
	saved    position
	skipping bool
	rest     []byte
	buffer   []byte
}

// head identifies a file by its first bytes, because inodes are reused.
type head struct {
	Size int64  `json:"size"`
	Sum  string `json:"sum"`
}

// New returns a File that continues at the saved position, or at the end of the file if there is none. It returns an error if the
// position cannot be read or written.
func New(o Options) (*File, error) {
	if o.History == 0 {
		o.History = 64 << 20
	}
	if o.Poll <= 0 {
		o.Poll = 500 * time.Millisecond
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	f := &File{options: o, buffer: make([]byte, chunk)}
	saved, found, err := load(o.Position)
	if err != nil {
		return nil, err
	}
	switch err := f.open(saved, found); {
	case errors.Is(err, fs.ErrNotExist): // all of it is new
	case err != nil:
		return nil, err
	}
	return f, f.save()
}

// open opens the file that the position is in: the log, or a rotated one next to it.
func (f *File) open(saved position, found bool) error {
	paths := []string{f.options.Path}
	if found {
		paths = append(paths, f.rotated(time.Time{})...)
	}
	for _, path := range paths {
		file, err := os.Open(path)
		if err != nil {
			if path == f.options.Path && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
			continue
		}
		info, err := file.Stat()
		if err == nil && !found {
			f.file, f.offset = file, info.Size()
			return f.endOfLine()
		}
		if err == nil && saved.Offset <= info.Size() && matches(file, saved.Head) {
			f.file, f.offset, f.head = file, saved.Offset, saved.Head
			return nil
		}
		_ = file.Close() // only read
	}
	file, err := os.Open(f.options.Path)
	if err != nil {
		return err
	}
	f.file = file
	if found {
		f.options.Logger.Warn("the log was rotated and the rest of the old one is gone; events are lost", "path", f.options.Path)
	}
	return nil
}

// endOfLine moves the offset behind the last complete line.
func (f *File) endOfLine() error {
	for end := f.offset; end > 0; {
		start := max(0, end-chunk)
		n, err := f.file.ReadAt(f.buffer[:end-start], start)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if i := bytes.LastIndexByte(f.buffer[:n], '\n'); i >= 0 {
			f.offset = start + int64(i) + 1
			return nil
		}
		end = start
	}
	f.offset = 0
	return nil
}

// Rebuild calls line with the lines before the position, from which a reader can rebuild its state.
func (f *File) Rebuild(ctx context.Context, line func([]byte)) error {
	if f.file == nil {
		return nil
	}
	until := f.offset
	start := max(0, until-f.options.History)
	f.offset, f.skipping = start, start > 0 // the first line is probably half of one
	skipped := f.options.Skipped
	f.options.Skipped = nil
	err := f.read(ctx, until, line)
	f.options.Skipped = skipped
	f.offset, f.rest, f.skipping = until, f.rest[:0], false
	return err
}

// Run calls line with each new line, without its line end, until ctx ends. The line is valid during the call. It returns an error only
// if the position cannot be saved in the end.
func (f *File) Run(ctx context.Context, line func([]byte)) error {
	tick := time.NewTicker(f.options.Poll)
	defer tick.Stop()
	replaced := false // seen in the last poll
	for {
		if err := f.poll(ctx, line, &replaced); err != nil && ctx.Err() == nil {
			f.options.Logger.Error("cannot read the log", "path", f.options.Path, "err", err)
		}
		select {
		case <-ctx.Done():
			err := f.save()
			if f.file != nil {
				_ = f.file.Close() // only read
			}
			return err
		case <-tick.C:
		}
		if err := f.save(); err != nil {
			f.options.Logger.Error("cannot save the position", "path", f.options.Position, "err", err)
		}
	}
}

// poll reads what is new. A file that was renamed is read for one more interval, because its writer may still have it open.
func (f *File) poll(ctx context.Context, line func([]byte), replaced *bool) error {
	if f.file == nil {
		file, err := os.Open(f.options.Path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		f.file, f.offset, f.head = file, 0, head{}
	}
	for {
		if err := f.follow(ctx, line); err != nil || ctx.Err() != nil {
			return err
		}
		current, err := os.Stat(f.options.Path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil // between rename and create
		}
		open, openErr := f.file.Stat()
		if err := errors.Join(err, openErr); err != nil {
			return err
		}
		if os.SameFile(current, open) {
			*replaced = false
			return nil
		}
		if !*replaced {
			*replaced = true
			return nil
		}
		*replaced = false
		if err := f.next(line, open); err != nil {
			return err
		}
	}
}

// follow reads the open file to its end.
func (f *File) follow(ctx context.Context, line func([]byte)) error {
	info, err := f.file.Stat()
	if err != nil {
		return err
	}
	if info.Size() < f.offset+int64(len(f.rest)) || !matches(f.file, f.head) { // truncated, and perhaps written again
		f.offset, f.head, f.rest, f.skipping = 0, head{}, f.rest[:0], false
	}
	if f.head.Size < maxHead {
		f.head = identify(f.file)
	}
	return f.read(ctx, info.Size(), line)
}

// next changes to the oldest file that was written after the open one.
func (f *File) next(line func([]byte), open os.FileInfo) error {
	if len(f.rest) > 0 { // the end of the old log has no line end
		line(f.rest)
	}
	path := f.options.Path
	if rotated := f.rotated(open.ModTime()); len(rotated) > 0 {
		path = rotated[0]
	}
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	_ = f.file.Close() // only read
	f.file, f.offset, f.head, f.rest, f.skipping = file, 0, head{}, f.rest[:0], false
	return nil
}

// rotated returns the rotated logs that were written after a time, the oldest first: for audit.log, those such as audit-TIME.log and
// audit.log.1.
func (f *File) rotated(after time.Time) (paths []string) {
	dir, base := filepath.Split(f.options.Path)
	stem := strings.TrimSuffix(base, filepath.Ext(base))
	entries, _ := os.ReadDir(filepath.Clean(dir + "."))
	times := map[string]time.Time{}
	for _, entry := range entries {
		name := entry.Name()
		if name == base || !strings.HasPrefix(name, stem) || !strings.ContainsAny(name[len(stem):], "0123456789") || strings.HasSuffix(name, ".gz") {
			continue
		}
		info, err := entry.Info()
		if err != nil || !info.Mode().IsRegular() || !info.ModTime().After(after) {
			continue
		}
		path := filepath.Join(dir, name)
		times[path] = info.ModTime()
		paths = append(paths, path)
	}
	slices.SortStableFunc(paths, func(a, b string) int { return times[a].Compare(times[b]) })
	return paths
}

// read reads lines until an offset.
func (f *File) read(ctx context.Context, until int64, line func([]byte)) error {
	for at := f.offset + int64(len(f.rest)); at < until && ctx.Err() == nil; {
		n, err := f.file.ReadAt(f.buffer[:min(chunk, until-at)], at)
		at += int64(n)
		f.lines(f.buffer[:n], line)
		if errors.Is(err, io.EOF) || n == 0 {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// lines splits data into lines. The last one may be incomplete.
func (f *File) lines(data []byte, line func([]byte)) {
	for len(data) > 0 {
		i := bytes.IndexByte(data, '\n')
		part, complete := data, i >= 0
		if complete {
			part = data[:i]
		}
		data = data[min(len(data), len(part)+1):]
		switch {
		case f.skipping:
			f.offset += int64(len(part))
		case len(f.rest)+len(part) > MaxLine:
			f.offset += int64(len(f.rest) + len(part))
			f.rest, f.skipping = f.rest[:0], true
			if f.options.Skipped != nil {
				f.options.Skipped()
			}
		case !complete:
			f.rest = append(f.rest, part...)
		default:
			whole := part
			if len(f.rest) > 0 {
				f.rest = append(f.rest, part...)
				whole = f.rest
			}
			f.offset += int64(len(whole))
			if whole = bytes.TrimSpace(whole); len(whole) > 0 {
				line(whole)
			}
			f.rest = f.rest[:0]
		}
		if complete {
			f.offset++
			f.skipping = false
		}
	}
}

// identify returns the head of a file.
func identify(file io.ReaderAt) head {
	text := make([]byte, maxHead)
	n, _ := file.ReadAt(text, 0) // shorter at the end
	return headOf(text[:n])
}

func headOf(text []byte) head {
	return head{Size: int64(len(text)), Sum: fmt.Sprintf("%x", sha256.Sum256(text))}
}

// matches reports whether a file begins as one with the head did.
func matches(file io.ReaderAt, h head) bool {
	if h.Size == 0 {
		return true
	}
	if h.Size < 0 || h.Size > maxHead {
		return false
	}
	text := make([]byte, h.Size)
	n, _ := file.ReadAt(text, 0)
	return headOf(text[:n]) == h
}
