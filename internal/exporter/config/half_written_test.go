package config

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/informer-exporter/informer-exporter/internal/testenv/logtest"
)

// A file that a writer has truncated before writing is not loaded as a complete one.
func TestHalfWrittenFileIsNotRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.yaml")
	write := func(text string) {
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
