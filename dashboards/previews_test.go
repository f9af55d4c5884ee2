package dashboards_test

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"image/png"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/informer-exporter/informer-exporter/dashboards"
)

// preview is what the two previews of a dashboard showed when they were drawn.
type preview struct {
	// Pictures are the SHA-256 digests of the files, shortened.
	Pictures map[string]string
	// Panels are the titles of the panels, and of the columns of tables.
	Panels []string
}

// docs/dashboards.md shows each dashboard with faults and its current panels, and the previews stay small. UPDATE=1
// records the panels of dashboards with two redrawn previews.
func TestPreviews(t *testing.T) {
	const folder, record, width, most = "docs/previews", "../docs/previews/drawn.json", 1600, 3 << 20
	page, err := os.ReadFile("../docs/dashboards.md")
	if err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(record)
	if err != nil {
		t.Fatal(err)
	}
	recorded := map[string]preview{}
	if err := json.Unmarshal(raw, &recorded); err != nil {
		t.Fatal(err)
	}
	drawn := map[string]preview{}
	var want []string
	total := 0
	for _, d := range all(t, dashboards.Config{}) {
		digests := map[string]string{}
		for state, file := range map[string]string{"healthy": d.UID + "-healthy.png", "with faults": d.UID + ".png"} {
			name := folder + "/" + file
			want = append(want, "../"+name)
			raw, err := os.ReadFile("../" + name)
			if err != nil {
				t.Error(err)
				continue
			}
			total += len(raw)
			digests[file] = fmt.Sprintf("%.8x", sha256.Sum256(raw))
			if config, err := png.DecodeConfig(bytes.NewReader(raw)); err != nil || config.Width != width {
				t.Errorf("%s is %d pixels wide, want %d: %v", name, config.Width, width, err)
			}
			if shown := "![Preview of the dashboard " + d.Title + ", " + state + "](previews/" + file + ")"; state == "with faults" && !bytes.Contains(page, []byte(shown)) {
				t.Errorf("docs/dashboards.md lacks %s", shown)
			}
		}
		old, now := recorded[d.UID], preview{digests, panelsOf(t, d)}
		redrawn := true
		for file, digest := range digests {
			redrawn = redrawn && digest != old.Pictures[file]
		}
		switch {
		case redrawn && os.Getenv("UPDATE") != "":
		case redrawn:
			t.Errorf("%s was redrawn: run with UPDATE=1", d.Title)
		case !maps.Equal(now.Pictures, old.Pictures), !slices.Equal(now.Panels, old.Panels):
			t.Errorf("redraw both previews of %s and run with UPDATE=1; they show\n%s\nbut the dashboard has\n%s",
				d.Title, strings.Join(old.Panels, "\n"), strings.Join(now.Panels, "\n"))
			now = old
		}
		drawn[d.UID] = now
	}
	if os.Getenv("UPDATE") != "" {
		raw, err := json.MarshalIndent(drawn, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(record, append(raw, '\n'), 0o644); err != nil {
			t.Fatal(err)
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

// panelsOf returns the titles of the panels of a dashboard, and the visible columns of its tables.
func panelsOf(t *testing.T, d dashboards.Dashboard) (list []string) {
	t.Helper()
	var m struct {
		Panels []struct {
			Title           string
			Transformations []struct {
				Options struct {
					ExcludeByName map[string]bool
					IndexByName   map[string]int
					RenameByName  map[string]string
				}
			}
		}
	}
	if err := json.Unmarshal(flat(t, d), &m); err != nil {
		t.Fatal(err)
	}
	for _, p := range m.Panels {
		title := p.Title
		for _, transformation := range p.Transformations {
			o := transformation.Options
			fields := slices.SortedFunc(maps.Keys(o.RenameByName), func(a, b string) int { return cmp.Compare(o.IndexByName[a], o.IndexByName[b]) })
			for _, field := range fields {
				if !o.ExcludeByName[field] {
					title += " | " + o.RenameByName[field]
				}
			}
		}
		list = append(list, title)
	}
	return list
}
