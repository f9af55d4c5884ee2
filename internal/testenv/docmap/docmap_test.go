package docmap

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestCompare(t *testing.T) {
	tests := []struct {
		name  string
		doc   string
		files []string
		want  []string
	}{
		{"complete", "// Package p.\n//\n//\ta.go   first\n//\tb.go, c.go   others\n", []string{"a.go", "b.go", "c.go", "a_test.go"}, nil},
		{"missing in the list", "// Package p.\n//\n//\ta.go   first\n", []string{"a.go", "b.go"}, []string{"doc.go does not name b.go"}},
		{"suffix of another name", "// Package p.\n//\n//\tlong_a.go   first\n", []string{"a.go", "long_a.go"}, []string{"doc.go does not name a.go"}},
		{"missing file", "// Package p.\n//\n//\ta.go   first, before z.go\n", []string{"a.go"}, []string{"doc.go names z.go, which does not exist"}},
		{"path", "// Package p.\n//\n//\ta.go, sub/b.go, sub/c.go\n", []string{"a.go", "sub/b.go"}, []string{"doc.go names sub/c.go, which does not exist"}},
		{"no comment", "", []string{"a.go"}, []string{"doc.go has no package comment"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, "doc.go", tt.doc+"package p\n")
			for _, name := range tt.files {
				write(t, dir, name, "package p\n")
			}
			problems, err := compare(dir)
			if err != nil {
				t.Fatal(err)
			}
			for i := range tt.want {
				tt.want[i] = filepath.Join(dir, tt.want[i])
			}
			if !slices.Equal(problems, tt.want) {
				t.Errorf("problems %q, want %q", problems, tt.want)
			}
		})
	}
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
