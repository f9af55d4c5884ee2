package generate_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/informer-exporter/informer-exporter/internal/generate"
)

func TestWriteRemovesOnlyItsOwn(t *testing.T) {
	dir := t.TempDir()
	at := func(path string) string { return filepath.Join(dir, path) }
	write := func(f map[string][]byte) []string {
		t.Helper()
		left, err := generate.Write(dir, f)
		if err != nil {
			t.Fatal(err)
		}
		return left
	}
	write(map[string][]byte{"a/keep": []byte("1"), "a/stale": []byte("2"), "a/edited": []byte("3")})
	for path, content := range map[string]string{"a/edited": "mine", "a/foreign": "4"} {
		if err := os.WriteFile(at(path), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if left := write(map[string][]byte{"a/keep": []byte("5")}); !slices.Equal(left, []string{"a/edited"}) {
		t.Errorf("left %v, want a/edited", left)
	}
	got := map[string]string{}
	for _, path := range []string{"a/keep", "a/stale", "a/edited", "a/foreign"} {
		if content, err := os.ReadFile(at(path)); err == nil {
			got[path] = string(content)
		}
	}
	if want := map[string]string{"a/keep": "5", "a/edited": "mine", "a/foreign": "4"}; !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestWriteRefuses(t *testing.T) {
	if _, err := generate.Write("", nil); err == nil {
		t.Error("no folder was accepted")
	}
	outside := filepath.Join(t.TempDir(), "outside")
	if err := os.WriteFile(outside, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	line := strings.Repeat("0", 64) + "  ../" + filepath.Base(filepath.Dir(outside)) + "/outside\n"
	if err := os.WriteFile(filepath.Join(dir, generate.ManifestName), []byte(line), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := generate.Write(dir, nil); err == nil || !strings.Contains(err.Error(), "delete the file") {
		t.Errorf("a manifest that leads outside: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := generate.Write(filepath.Join(dir, "file"), map[string][]byte{"a": nil}); err == nil {
		t.Error("a file was accepted as the folder")
	}
}
