package generate

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// ManifestName is the file that lists the generated files in the format of sha256sum, so that a later run finds them.
const ManifestName = ".generated.sha256"

// Write writes files below dir. It removes files of an earlier run that are no longer generated, unless they were changed
// since, and leaves all other files alone. It returns the paths of the stale files that it left.
func Write(dir string, files map[string][]byte) (left []string, err error) {
	if dir == "" {
		return nil, errors.New("the path of the output directory must not be empty")
	}
	earlier, err := readManifest(dir)
	if err != nil {
		return nil, err
	}
	var manifest bytes.Buffer
	for _, path := range slices.Sorted(maps.Keys(files)) {
		if err := writeFile(filepath.Join(dir, filepath.FromSlash(path)), files[path]); err != nil {
			return nil, err
		}
		fmt.Fprintf(&manifest, "%s  %s\n", sum(files[path]), path)
	}
	for _, path := range slices.Sorted(maps.Keys(earlier)) {
		if _, ok := files[path]; ok {
			continue
		}
		full := filepath.Join(dir, filepath.FromSlash(path))
		content, err := os.ReadFile(full)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return nil, err
		case sum(content) != earlier[path]:
			left = append(left, path)
		default:
			if err := os.Remove(full); err != nil {
				return nil, err
			}
		}
	}
	return left, writeFile(filepath.Join(dir, ManifestName), manifest.Bytes())
}

// writeFile skips a file with unchanged content, to preserve its modification time.
func writeFile(path string, content []byte) error {
	if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, content) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, content, 0o644)
}

func readManifest(dir string) (map[string]string, error) {
	raw, err := os.ReadFile(filepath.Join(dir, ManifestName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	entries := map[string]string{}
	for _, line := range strings.Split(strings.TrimSuffix(string(raw), "\n"), "\n") {
		hash, path, ok := strings.Cut(line, "  ")
		// A path that leads out of the folder was not written by Write.
		if !ok || len(hash) != sha256.Size*2 || !filepath.IsLocal(filepath.FromSlash(path)) {
			return nil, fmt.Errorf("%s: unexpected line %q; delete the file to start over", filepath.Join(dir, ManifestName), line)
		}
		entries[path] = hash
	}
	return entries, nil
}

func sum(content []byte) string { return fmt.Sprintf("%x", sha256.Sum256(content)) }
