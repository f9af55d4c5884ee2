package e2e_test

import (
	"bytes"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"

	"github.com/informer-exporter/informer-exporter/alerts"
	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/test/e2e/recording"
	"github.com/informer-exporter/informer-exporter/test/faults"
)

// faultRow is a row of docs/faults.md: the alerts that fire while the fault of a test lasts, and afterwards.
type faultRow struct {
	test                  string
	meanwhile, afterwards []string
	// programsOnly means that the exporter cannot have the fault.
	programsOnly bool
}

// faultTable returns the rows. The tests that they name verify their claims about metrics.
func faultTable(t *testing.T) (rows []faultRow) {
	t.Helper()
	for _, section := range faults.Sections {
		for _, r := range section.Rows {
			rows = append(rows, faultRow{test: r.Test, meanwhile: r.Meanwhile(), afterwards: r.Afterwards(), programsOnly: section.ProgramsOnly})
		}
	}
	for _, row := range rows {
		for _, alert := range slices.Concat(row.meanwhile, row.afterwards) {
			if _, ok := alerts.ByName(alert); !ok {
				t.Errorf("%s: there is no alert %s", row.test, alert)
			}
		}
	}
	return rows
}

func recorded(t *testing.T, test string) recording.Recording {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(recordingsDir, test+".yaml"))
	if errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("the fault of %s was not recorded: make record ONLY=%s", test, test)
	}
	if err != nil {
		t.Fatal(err)
	}
	r, err := recording.Unmarshal(content)
	if err != nil {
		t.Fatalf("%s: %v", test, err)
	}
	if r.Row != test {
		t.Errorf("the recording of %s names %s as its row", test, r.Row)
	}
	return r
}

// ofAMachine reports whether a label reveals the machine of a recording: targets must have names instead of addresses, and
// no other value may look like an address or a path.
func ofAMachine(l labels.Label) bool {
	if l.Name == model.InstanceLabel {
		return !slices.Contains([]string{"exporter:9958", "program:8080", "new-exporter:9958", "new-program:8080"}, l.Value)
	}
	return strings.ContainsAny(l.Value, ":/\\") || net.ParseIP(l.Value) != nil
}

func TestMachinesAreSeen(t *testing.T) {
	for value, want := range map[string]bool{"exporter:9958": false, "127.0.0.1:9958": true, "exporter:31669": true, "": true} {
		if got := ofAMachine(labels.Label{Name: model.InstanceLabel, Value: value}); got != want {
			t.Errorf("instance %q: %v", value, got)
		}
	}
	for value, want := range map[string]bool{
		"configmaps": false, "widgets.example.com": false, "*": false, "0.5": false,
		"::1": true, "127.0.0.1": true, "https://127.0.0.1:6443": true, "a/path": true,
	} {
		if got := ofAMachine(labels.Label{Name: "name", Value: value}); got != want {
			t.Errorf("%q: %v", value, got)
		}
	}
}

// TestRecordingsAreComplete verifies that recordings are small and complete, belong to existing rows, reveal no machine, and
// have every informer metric that the rules read: a renamed metric must be recorded again. Four metrics may be missing: no row
// has ended or orphaned informers or unequal resync periods, and no row is long enough for the rule that compares resource versions with earlier ones.
func TestRecordingsAreComplete(t *testing.T) {
	const (
		most    = 100 << 10
		mostAll = 2 << 20
	)
	files, err := filepath.Glob(filepath.Join(recordingsDir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	rows := faultTable(t)
	all, have := 0, map[string]bool{}
	for _, file := range files {
		test := strings.TrimSuffix(filepath.Base(file), ".yaml")
		if !slices.ContainsFunc(rows, func(r faultRow) bool { return r.test == test }) {
			t.Errorf("%s belongs to no row of docs/faults.md", file)
			continue
		}
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all += len(content)
		if len(content) > most {
			t.Errorf("%s has %d bytes, more than %d", file, len(content), most)
		}
		r := recorded(t, test)
		if begin, end := r.Phase(recording.During), r.Phase(recording.After); begin < 1 || end <= begin || end >= r.Len()-1 {
			t.Errorf("%s: the fault begins at step %d and ends at %d of %d", test, begin, end, r.Len())
		}
		if !bytes.Equal(r.Marshal(), content) {
			t.Errorf("%s is not written as `make record` would write it", file)
		}
		for _, s := range r.Series {
			have[s.Labels.Get(model.MetricNameLabel)] = true
			s.Labels.Range(func(l labels.Label) {
				if ofAMachine(l) {
					t.Errorf("%s: the label %s=%q reveals a machine", file, l.Name, l.Value)
				}
			})
		}
	}
	if all > mostAll {
		t.Errorf("the recordings have %d bytes in all, more than %d", all, mostAll)
	}
	reads, err := recording.ReadBy(rulesFile)
	if err != nil {
		t.Fatal(err)
	}
	absent := []string{catalog.InformerEnded.Name, catalog.InformerOrphans.Name, catalog.InformerResourceVersion.Name, catalog.InformerResyncPeriods.Name}
	for _, name := range reads.Names() {
		ofInformers := strings.HasPrefix(name, "k8s_informer_")
		if ofInformers && !have[name] && !slices.Contains(absent, name) {
			t.Errorf("rules read %s, which no recording has", name)
		}
	}
}

// replaced replaces a text that must exist.
func replaced(t *testing.T, content []byte, old, with string) []byte {
	t.Helper()
	if !bytes.Contains(content, []byte(old)) {
		t.Fatalf("there is no %q", old)
	}
	return bytes.ReplaceAll(content, []byte(old), []byte(with))
}
