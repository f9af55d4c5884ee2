package check_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informer-exporter/informer-exporter/collectors/informer"
	"github.com/informer-exporter/informer-exporter/internal/exporter/availability"
	"github.com/informer-exporter/informer-exporter/internal/exporter/check"
	"github.com/informer-exporter/informer-exporter/internal/exporter/kinds"
	"github.com/informer-exporter/informer-exporter/internal/exporter/status"
)

// Each unhealthy state of an informer is reported as a problem, with rejections by the API server first, or as a note.
func TestFindInformers(t *testing.T) {
	of := func(resource, state string, s informer.Status) status.Informer {
		s.LastAudit.Interval = time.Minute
		return status.Informer{Kind: kinds.Kind{Resource: resource}, Status: s, State: state, Refused: state == availability.Forbidden}
	}
	consistent := informer.AuditStatus{Result: informer.AuditConsistent}
	report := check.Find([]status.Informer{
		of("a", status.StateSynced, informer.Status{Synced: true, LastAudit: consistent}),
		of("b", status.StateSynced, informer.Status{Synced: true, LastAudit: consistent, SyncLag: 5001 * time.Millisecond}),
		of("c", status.StateSynced, informer.Status{Synced: true, LastAudit: consistent, SyncLag: 5 * time.Second}),
		of("d", status.StateSynced, informer.Status{Synced: true, LastAudit: informer.AuditStatus{Result: informer.AuditDifferent, Differences: 3}}),
		of("e", status.StateSynced, informer.Status{Synced: true, LastAudit: informer.AuditStatus{Result: informer.AuditSkipped}}),
		of("f", status.StateSyncing, informer.Status{}),
		of("g", status.StateUnreachable, informer.Status{}),
		of("h", availability.Forbidden, informer.Status{}),
	}, nil, check.Options{})
	var got []string
	for _, p := range report.Problems {
		got = append(got, fmt.Sprintf("%s %s %v", p.Type, p.Resource, p.AgeSeconds))
	}
	want := []string{"forbidden h 0", "not_synced f 0", "not_synced g 0", "inconsistent d 0", "stale b 5.001"}
	if !slices.Equal(got, want) {
		t.Errorf("problems %q, want %q", got, want)
	}
	if len(report.Notes) != 1 || !strings.HasPrefix(report.Notes[0], "e was not audited: skipped") {
		t.Errorf("notes %q", report.Notes)
	}
}

// Changes of the status do not count, those of the replicas through the subresource scale do.
func TestLastChange(t *testing.T) {
	at := func(minute int) metav1.Time { return metav1.Date(2026, 1, 1, 0, minute, 0, 0, time.UTC) }
	one, two, three := at(1), at(2), at(3)
	o := &metav1.ObjectMeta{CreationTimestamp: at(0)}
	if got := check.LastChange(o); !got.Equal(at(0).Time) {
		t.Errorf("without managed fields %v", got)
	}
	o.ManagedFields = []metav1.ManagedFieldsEntry{{Time: &two}, {Time: &one}, {Time: &three, Subresource: "status"}, {}}
	if got := check.LastChange(o); !got.Equal(two.Time) {
		t.Errorf("got %v, want %v", got, two)
	}
	o.ManagedFields = append(o.ManagedFields, metav1.ManagedFieldsEntry{Time: &three, Subresource: "scale"})
	if got := check.LastChange(o); !got.Equal(three.Time) {
		t.Errorf("scaled: got %v, want %v", got, three)
	}
}

// A table has a limited number of rows per problem and resource, and no control characters.
func TestTable(t *testing.T) {
	report := check.Report{Server: "https://api", Objects: 1, Watched: map[string]bool{"pods": true}}
	table := func() string {
		var text strings.Builder
		if err := report.Print(&text); err != nil {
			t.Fatal(err)
		}
		return text.String()
	}
	if got, want := table(), "No problems in 1 resource and 1 object at https://api.\n"; got != want {
		t.Errorf("healthy: %q, want %q", got, want)
	}
	for i := range 25 {
		report.Problems = append(report.Problems, check.Problem{Type: check.Terminating, Resource: "pods", Namespace: "shop", Name: fmt.Sprint("p", i), AgeSeconds: 600, Detail: "blocked\n by \x1b[31mx"})
	}
	text := table()
	for _, want := range []string{"terminating   pods       shop        p0     10m   blocked by [31mx\n", "25 problems in 1 resource", "Not shown: 5 more of terminating, pods."} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, "p20") || strings.Count(text, "Not shown") != 1 {
		t.Errorf("more than 20 rows, or a repeated line:\n%s", text)
	}
	report.Notes = []string{"tabs\tand \x7f\u0085\u009f are dropped,\u00a0é is not"}
	if text := table(); !strings.HasSuffix(text, "Note: tabsand  are dropped,\u00a0é is not.\n") {
		t.Errorf("%q", text)
	}
	report.Problems[0].Detail = "\u202Eoverridden\u202C" + strings.Repeat("x", 18<<20)
	if text := table(); len(text) > 20*2000 || strings.ContainsAny(text, "\u202E\u202C") || !strings.Contains(text, "   overriddenxxx") {
		t.Errorf("a table of %d bytes, with overrides: %v", len(text), strings.ContainsAny(text, "\u202E\u202C"))
	}
	for _, part := range []failing{"PROBLEM", "25 problems", "Not shown", "Note", "No problems"} {
		if part == "No problems" {
			report.Problems = nil
		}
		if err := report.Print(part); !errors.Is(err, errFull) {
			t.Errorf("an error of the output of %q is lost: %v", part, err)
		}
	}
}

// failing is an output that fails to write lines with certain text.
type failing string

var errFull = errors.New("full")

func (f failing) Write(p []byte) (int, error) {
	if strings.Contains(string(p), string(f)) {
		return 0, errFull
	}
	return len(p), nil
}
