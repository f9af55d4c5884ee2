package dashboards_test

import (
	"bytes"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/informer-exporter/informer-exporter/dashboards"
)

// docs/dashboards.md shows each dashboard, healthy and with faults, and the previews stay small.
func TestPreviews(t *testing.T) {
	const folder, width, most = "docs/previews", 1600, 3 << 20
	page, err := os.ReadFile("../docs/dashboards.md")
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	total := 0
	for _, d := range all(t, dashboards.Config{}) {
		for state, file := range map[string]string{"healthy": d.UID + "-healthy.png", "with faults": d.UID + ".png"} {
			name := folder + "/" + file
			want = append(want, "../"+name)
			raw, err := os.ReadFile("../" + name)
			if err != nil {
				t.Error(err)
				continue
			}
			total += len(raw)
			if config, err := png.DecodeConfig(bytes.NewReader(raw)); err != nil || config.Width != width {
				t.Errorf("%s is %d pixels wide, want %d: %v", name, config.Width, width, err)
			}
			if shown := "![Preview of the dashboard " + d.Title + ", " + state + "](previews/" + file + ")"; !bytes.Contains(page, []byte(shown)) {
				t.Errorf("docs/dashboards.md lacks %s", shown)
			}
		}
	}
	if total > most {
		t.Errorf("the previews have %d bytes together, want at most %d", total, most)
	}
	slices.Sort(want)
	if got, _ := filepath.Glob("../" + folder + "/*.png"); !slices.Equal(got, want) {
		t.Errorf("%s has %q, want %q", folder, got, want)
	}
}
