package follow

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/informer-exporter/informer-exporter/internal/testenv/await"
)

// log is a log in a directory of its own, with what a follower read of it.
type log struct {
	t          *testing.T
	path       string
	mu         sync.Mutex
	got, old   []string
	skipped    int
	stop       func()
	historical int64
}

func newLog(t *testing.T) *log {
	return &log{t: t, path: filepath.Join(t.TempDir(), "audit.log")}
}

// write appends to a file of the log.
func (l *log) write(text string) {
	l.t.Helper()
	file, err := os.OpenFile(l.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = file.WriteString(text)
	}
	if err != nil {
		l.t.Fatal(err)
	}
	_ = file.Close() // written
}

// start begins to follow, or continues after a restart.
func (l *log) start() {
	l.t.Helper()
	f, err := New(Options{Path: l.path, Position: l.path + ".position", Poll: time.Millisecond, History: l.historical, Skipped: func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.skipped++
	}})
	if err != nil {
		l.t.Fatal(err)
	}
	l.old = nil
	if err := f.Rebuild(l.t.Context(), func(line []byte) { l.old = append(l.old, string(line)) }); err != nil {
		l.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(l.t.Context())
	done := make(chan error, 1)
	go func() {
		done <- f.Run(ctx, func(line []byte) {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.got = append(l.got, string(line))
		})
	}()
	l.stop = func() {
		cancel()
		if err := <-done; err != nil {
			l.t.Error(err)
		}
	}
}

// want waits until exactly these lines have been read.
func (l *log) want(lines ...string) {
	l.t.Helper()
	await.NoError(l.t, "lines", func() error {
		l.mu.Lock()
		defer l.mu.Unlock()
		if !slices.Equal(l.got, lines) {
			return fmt.Errorf("got %.300q, want %.300q", l.got, lines)
		}
		return nil
	})
}

func (l *log) rename(to string) {
	l.t.Helper()
	if err := os.Rename(l.path, filepath.Join(filepath.Dir(l.path), to)); err != nil {
		l.t.Fatal(err)
	}
}

// Each line is read once, after its end was written, even if the file appears later.
func TestLines(t *testing.T) {
	l := newLog(t)
	l.start()
	defer func() { l.stop() }()
	l.write("a\nb")
	l.want("a")
	l.write("c\r\n\n\nd\n")
	l.want("a", "bc", "d")
}

// What was in the file before the first start is history; only whole lines within its limit are read.
func TestHistory(t *testing.T) {
	l := newLog(t)
	l.write("first\nsecond\nthird\nhalf")
	l.historical = int64(len("ond\nthird\n"))
	l.start()
	if got := strings.Join(l.old, " "); got != "third" {
		t.Errorf("history %q, want third", got)
	}
	l.write("+half\n")
	l.want("half+half")
	l.stop()
	l.write("down\n")
	l.historical = 0
	l.start() // a restart: what was read is history, what was written meanwhile is new
	defer func() { l.stop() }()
	if got := strings.Join(l.old, " "); got != "first second third half+half" {
		t.Errorf("history %q", got)
	}
	l.want("half+half", "down")
}

// Rotation by rename loses nothing, in the middle of a line, of a writer that still has the old file open.
func TestRename(t *testing.T) {
	l := newLog(t)
	l.start()
	defer func() { l.stop() }()
	l.write("a\nb")
	l.want("a")
	l.rename("audit-2026-01-02T03-04-05.000.log")
	l.write("c\n")
	l.want("a", "b", "c") // the half line is for the decoder
	l.rename("audit-2026-01-02T03-05-05.000.log")
	l.write("d\n")
	l.want("a", "b", "c", "d")
}

// Rotation by truncation: the file begins again, even if it is as long as before when it is looked at.
func TestTruncate(t *testing.T) {
	l := newLog(t)
	l.write("old\n")
	l.start()
	defer func() { l.stop() }()
	l.write("a\nha")
	l.want("a")
	if err := os.Truncate(l.path, 0); err != nil {
		t.Fatal(err)
	}
	l.write("b\n")
	l.want("a", "b")
	if err := os.WriteFile(l.path, []byte("something\nlonger than before\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	l.want("a", "b", "something", "longer than before")
}

// After a restart, the rest of a log that was rotated twice meanwhile is read, then the newer ones. Other files are not.
func TestRotatedWhileDown(t *testing.T) {
	l := newLog(t)
	l.start()
	l.write("a\n")
	l.want("a")
	l.stop()
	at := time.Now()
	for i, name := range []string{"audit-1.log", "audit-2.log"} {
		l.write(fmt.Sprintf("b%d\n", i))
		l.rename(name)
		if err := os.Chtimes(filepath.Join(filepath.Dir(l.path), name), at, at.Add(time.Duration(i-10)*time.Minute)); err != nil {
			t.Fatal(err)
		}
	}
	l.write("c\n")
	if err := os.WriteFile(filepath.Join(filepath.Dir(l.path), "audit-policy.yaml"), []byte("x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	l.start()
	l.want("a", "b0", "b1", "c")
	l.stop()

	// A position in a log that is gone: the current one is read from its beginning.
	if err := os.WriteFile(l.path, []byte("another\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	l.start()
	defer func() { l.stop() }()
	l.want("a", "b0", "b1", "c", "another")
}

// A line above the limit is skipped and counted, however it arrives, and takes no memory.
func TestLongLine(t *testing.T) {
	l := newLog(t)
	l.start()
	defer func() { l.stop() }()
	long := string(bytes.Repeat([]byte("x"), MaxLine))
	l.write("a\n" + long)
	l.want("a")
	l.write("x" + long + "\n" + long + "\nb\n")
	l.want("a", long, "b")
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.skipped != 1 {
		t.Errorf("skipped %d lines, want 1", l.skipped)
	}
}

// A position that cannot be read or written is an error at the start; a damaged one is none.
func TestPosition(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "audit.log")
	if err := os.WriteFile(path, []byte("a\nb\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := New(Options{Path: path, Position: filepath.Join(dir, "missing", "position")}); err == nil {
		t.Error("no error without the directory")
	}
	if _, err := New(Options{Path: path, Position: dir}); err == nil {
		t.Error("no error for a directory")
	}
	for _, text := range []string{"", "{", `{"offset":-1}`, `{"offset":2,"head":{"size":-5}}`, `{"offset":2,"head":{"size":9999999999}}`, "null"} {
		position := filepath.Join(dir, "position")
		if err := os.WriteFile(position, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := New(Options{Path: path, Position: position}); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}
