package dashboards

import (
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"
)

// changed returns the files with one text of a page replaced.
func changed(t *testing.T, page, old, text string) fs.FS {
	t.Helper()
	all := fstest.MapFS{}
	paths, err := fs.Glob(files, "pages/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range paths {
		raw, err := fs.ReadFile(files, p)
		if err != nil {
			t.Fatal(err)
		}
		content := string(raw)
		if p == "pages/"+page {
			if content = strings.Replace(content, old, text, 1); content == string(raw) {
				t.Fatalf("%s has no %q", p, old)
			}
		}
		all[p] = &fstest.MapFile{Data: []byte(content)}
	}
	return all
}

func TestLoad(t *testing.T) {
	if _, err := load(files); err != nil {
		t.Fatal(err)
	}
}

func TestLoadErrors(t *testing.T) {
	const page = "detail.yaml"
	for name, c := range map[string]struct{ page, old, text, want string }{
		"unknown field": {page, "title: Not synced", "titel: Not synced", `pages/detail.yaml: json: unknown field "titel"`},
		"wrong uid":     {page, "uid: informers-detail", "uid: x", `pages/detail.yaml: uid: "x"`},
		"kind":          {page, "kind: stat", "kind: pie", `pages/detail.yaml: panel "Not synced": kind: "pie"`},
		"objective":     {page, "objective: sync_lag", "objective: x", `pages/detail.yaml: panel "Sync lag": objective: "x"`},
		"width":         {page, "width: 5", "width: 6", `pages/detail.yaml: panel "List/watch errors": width: `},
		"number":        {page, "red: 1", "red: one", `pages/detail.yaml: panel "Not synced": red: "one"`},
		"mark":          {page, "<<amount event_lag>>", "<<amonut event_lag>>", `pages/detail.yaml: panel "Late events": description: <<amonut>>`},
		"open mark":     {page, "<<amount event_lag>>", "<<amount event_lag>", `pages/detail.yaml: panel "Late events": description: `},
		"link":          {page, "dashboard: informers-detail", "dashboard: x", `pages/detail.yaml: panel "Faults": link.dashboard: "x"`},
		"argument":      {"fragments.yaml", "exporters: on", "exporters: <<1>> on", `pages/exporter.yaml: panel "Sync lag": query: <<exporters>>: wrong number of arguments`},
		"circle":        {"fragments.yaml", "exporters: on", "exporters: <<exporters>> on", "fragments form a circle"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := load(changed(t, c.page, c.old, c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error = %v, want %s", err, c.want)
			}
		})
	}
}
