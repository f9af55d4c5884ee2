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
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/informer-exporter/informer-exporter/dashboards"
)

// preview is the first screen of a dashboard when it was drawn.
type preview struct {
	// Rows is the height of the first screen, in rows of Grafana's grid.
	Rows int
	// Picture is the SHA-256 digest of the file, shortened.
	Picture string
	// Panels are the titles of the panels of the first screen, and of the columns of tables.
	Panels []string
}

// docs/dashboards.md shows the first screen of each dashboard, with its current panels, in a picture that is legible in its place and
// small. UPDATE=1 records the panels of dashboards with a redrawn picture.
func TestPreviews(t *testing.T) {
	const folder, record, least, widest, most = "docs/previews", "../docs/previews/drawn.json", 1800, 2200, 3 << 20
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
		file := folder + "/" + d.UID + ".png"
		want = append(want, "../"+file)
		raw, err := os.ReadFile("../" + file)
		if err != nil {
			t.Error(err)
			continue
		}
		total += len(raw)
		if config, err := png.DecodeConfig(bytes.NewReader(raw)); err != nil || config.Width < least || config.Width > widest {
			t.Errorf("%s is %d pixels wide, want %d to %d: %v", file, config.Width, least, widest, err)
		}
		if shown := regexp.MustCompile(`!\[[^\]]*` + regexp.QuoteMeta(d.Title) + `[^\]]*\]\(previews/` + d.UID + `\.png\)`); !shown.Match(page) {
			t.Errorf("docs/dashboards.md lacks %s, with the title of the dashboard as text", file)
		}
		old := recorded[d.UID]
		now := preview{old.Rows, fmt.Sprintf("%.8x", sha256.Sum256(raw)), panelsOf(t, d, old.Rows)}
		switch {
		case now.Picture != old.Picture && os.Getenv("UPDATE") != "":
		case now.Picture != old.Picture:
			t.Errorf("%s was redrawn: run with UPDATE=1", d.Title)
		case !slices.Equal(now.Panels, old.Panels):
			t.Errorf("redraw %s and run with UPDATE=1; the picture shows\n%s\nbut the dashboard has\n%s",
				d.Title, strings.Join(old.Panels, "\n"), strings.Join(now.Panels, "\n"))
			now = old
		}
		if len(now.Panels) < 5 {
			t.Errorf("the first screen of %s has only %q", d.Title, now.Panels)
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

// panelsOf returns the titles of the panels in the first rows of a dashboard, and the visible columns of its tables.
func panelsOf(t *testing.T, d dashboards.Dashboard, rows int) (list []string) {
	t.Helper()
	var m struct {
		Panels []struct {
			Title           string
			Type            string
			GridPos         struct{ Y, H int }
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
		if p.GridPos.Y+p.GridPos.H > rows || p.Type == "row" {
			continue
		}
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
