package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/informer-exporter/informer-exporter/internal/testenv/logtest"
)

// openFile opens a configuration file with one resource. write replaces its text.
func openFile(t *testing.T) (path string, write func(text string), file *File) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "config.yaml")
	write = func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("resources: [pods]")
	file, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return path, write, file
}

// A file that has been truncated, and is not written yet, is not loaded.
func TestHalfWrittenFileIsNotRead(t *testing.T) {
	path, write, file := openFile(t)
	uses := make(chan Config, 10)
	var written logtest.Recorder
	r := NewReloader(file, func(c Config) { uses <- c }, written.Logger())
	look := r.looks()
	look()
	write("")
	look()
	write("resources: [pods, nodes]")
	look()
	if len(uses) != 0 {
		t.Fatal("a file was used that had just changed")
	}
	look()
	look()
	if len(uses) != 1 || len((<-uses).Resources) != 2 {
		t.Error("the finished file was not used once")
	}
	write("nope: 1")
	for range 4 {
		look()
	}
	if lines := written.Find("invalid configuration file"); len(lines) != 1 || len(uses) != 0 {
		t.Errorf("log lines %v and %d uses, want one line and none", lines, len(uses))
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	for range 10 {
		look()
	}
	if lines := written.Find("invalid configuration file"); len(lines) != 2 || len(uses) != 0 {
		t.Errorf("log lines %v and %d uses, want another line for the missing file, and no more", lines, len(uses))
	}
	write("resources: [pods, nodes]")
	for range 3 {
		look()
	}
	if len(uses) != 1 {
		t.Errorf("%d uses of the restored file, want 1", len(uses))
	}
}

// Reload returns the error and keeps the last valid configuration; the status has the time of the last success.
func TestReload(t *testing.T) {
	path, write, file := openFile(t)
	var used []Config
	var written logtest.Recorder
	r := NewReloader(file, func(c Config) { used = append(used, c) }, written.Logger())
	if good, at := r.Status(); !good || at.IsZero() {
		t.Errorf("at the start: %t, %v", good, at)
	}
	r.at = time.Time{}
	write("resources: [pods, nodes]")
	if err := r.Reload(); err != nil || len(used) != 1 || len(used[0].Resources) != 2 {
		t.Fatalf("error %v, used %+v", err, used)
	}
	good, at := r.Status()
	if !good || at.IsZero() || len(written.Find("configuration reloaded", "path", path)) != 1 {
		t.Errorf("after a success: %t, %v", good, at)
	}
	write("nope: 1")
	if err := r.Reload(); err == nil || !strings.HasPrefix(err.Error(), "--config.file "+path+": line 1: ") || len(used) != 1 {
		t.Errorf("error %v and %d uses, want the flag, the file and the line, and one use", err, len(used))
	}
	if good, still := r.Status(); good || !still.Equal(at) {
		t.Errorf("after a failure: %t, %v, want the time of the last success, %v", good, still, at)
	}
	write("resources: [pods, nodes]")
	if err := r.Reload(); err != nil || len(used) != 2 {
		t.Errorf("error %v, %d uses", err, len(used))
	}
	if good, _ := r.Status(); !good {
		t.Error("not good after a success")
	}
}
