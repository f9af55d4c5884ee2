package faults

import (
	"strings"

	"github.com/informer-exporter/informer-exporter/internal/testenv/page"
)

// Section is a section of docs/faults.md.
type Section struct {
	Title string
	// ProgramsOnly means that the exporter cannot have these faults: it has no custom handlers or Transforms.
	ProgramsOnly bool
	Rows         []Row
}

// Row is a fault in docs/faults.md.
type Row struct {
	// Test injects the fault and verifies the row. The page does not name it.
	Test string
	// Fault is what happens.
	Fault string
	// Shows is what the metrics show. A metric in backquotes, without its prefix, is a claim that the test must verify:
	// that it changes, that it changes by a number (`name` +1), that it has a value (`name` 0) or that it does not change
	// (no `name`).
	Shows string
	// Alerts fire if the fault lasts long enough.
	Alerts []Alerts
}

// Alerts are alerts that fire under the same condition.
type Alerts struct {
	Names []string
	// Afterwards means that they fire once the fault has ended.
	Afterwards bool
	// Note is the condition, if there is one.
	Note string
}

// Meanwhile returns the names of the alerts that fire while the fault lasts.
func (r Row) Meanwhile() []string { return r.alerts(false) }

// Afterwards returns the names of the alerts that fire once the fault has ended.
func (r Row) Afterwards() []string { return r.alerts(true) }

func (r Row) alerts(afterwards bool) (names []string) {
	for _, a := range r.Alerts {
		if a.Afterwards == afterwards {
			names = append(names, a.Names...)
		}
	}
	return names
}

// Rows returns the rows of all sections.
func Rows() (rows []Row) {
	for _, s := range Sections {
		rows = append(rows, s.Rows...)
	}
	return rows
}

// values writes the change or value of a metric as `name`+1 or `name`=0.
var values = strings.NewReplacer("` +", "`+", "` 0", "`=0", "` 1", "`=1")

// Markdown returns the sections for docs/faults.md.
func Markdown() string {
	var b strings.Builder
	for _, s := range Sections {
		b.WriteString("## " + s.Title + "\n\n")
		for _, r := range s.Rows {
			b.WriteString("- **" + r.Fault + ".** " + page.Quote(values.Replace(r.Shows)) + "." + r.alertList() + "\n")
		}
		b.WriteString("\n")
	}
	return b.String()
}

// alertList returns the alerts on a line of their own, if there are any.
func (r Row) alertList() string {
	if len(r.Alerts) == 0 {
		return ""
	}
	var groups []string
	for _, a := range r.Alerts {
		text := strings.Join(a.Names, ", ")
		if a.Note != "" {
			text += " (" + a.Note + ")"
		}
		if a.Afterwards {
			text = "afterwards " + text
		}
		groups = append(groups, text)
	}
	return "<br>→ " + strings.Join(groups, "; ") + "."
}
