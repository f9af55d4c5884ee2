// Package metricdiff compares the metrics of two versions of this repository by name, type, labels and stability.
package metricdiff

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
)

// Metric is what users of a metric rely on.
type Metric struct {
	// Type is the metric's type.
	Type catalog.Type
	// Stability is how the metric may change.
	Stability catalog.Stability
	// Labels are the names of all labels, sorted.
	Labels []string
	// Meaning describes the metric. It does not count as a change, but identifies a renamed metric.
	Meaning string
}

// String returns type, stability and labels.
func (m Metric) String() string {
	return fmt.Sprintf("%s, %s, {%s}", m.Type, m.Stability, strings.Join(m.Labels, ","))
}

// Kind is a kind of change.
type Kind string

// The kinds of changes.
const (
	Added   Kind = "added"
	Removed Kind = "removed"
	Renamed Kind = "renamed"
	Changed Kind = "changed"
)

// Change is a difference between two versions of a metric.
type Change struct {
	// Name is the metric's name, before the change if it was renamed.
	Name string
	// Kind is the kind of the change.
	Kind Kind
	// Details are the metric's type, stability and labels, as far as they changed.
	Details string
	// Stability is the metric's stability before the change, empty if it was added.
	Stability catalog.Stability
	// Breaks reports whether a query of the metric can break.
	Breaks bool
}

// String returns the change in one line.
func (c Change) String() string {
	level := ""
	if c.Breaks {
		level = string(c.Stability) + " "
	}
	return fmt.Sprintf("%-8s%s%s: %s", c.Kind, level, c.Name, c.Details)
}

// Compare returns the changes from before to now, by name. A removed metric counts as renamed if a new one has its type, labels and
// meaning.
func Compare(before, now map[string]Metric) []Change {
	var changes []Change
	renamed := map[string]bool{}
	for name, was := range before {
		is, ok := now[name]
		change := Change{Name: name, Stability: was.Stability, Kind: Changed}
		if ok {
			change.Details, change.Breaks = differences(was, is)
		} else if successor := successor(was, before, now); successor != "" {
			renamed[successor] = true
			change.Kind, change.Details, change.Breaks = Renamed, "now "+successor, true
		} else {
			change.Kind, change.Details, change.Breaks = Removed, was.String(), true
		}
		if change.Details != "" {
			changes = append(changes, change)
		}
	}
	for name, is := range now {
		if _, ok := before[name]; !ok && !renamed[name] {
			changes = append(changes, Change{Name: name, Kind: Added, Details: is.String()})
		}
	}
	slices.SortFunc(changes, func(a, b Change) int { return cmp.Compare(a.Name, b.Name) })
	return changes
}

// differences returns what changed, and whether a query can break. A new label breaks queries that join or sum by all labels, and a
// metric that is no longer stable may break with the next version.
func differences(was, is Metric) (details string, breaks bool) {
	var parts []string
	if was.Type != is.Type {
		parts, breaks = append(parts, fmt.Sprintf("type %s, was %s", is.Type, was.Type)), true
	}
	for _, label := range was.Labels {
		if !slices.Contains(is.Labels, label) {
			parts, breaks = append(parts, "without label "+label), true
		}
	}
	for _, label := range is.Labels {
		if !slices.Contains(was.Labels, label) {
			parts, breaks = append(parts, "new label "+label), true
		}
	}
	if was.Stability != is.Stability {
		parts, breaks = append(parts, fmt.Sprintf("%s, was %s", is.Stability, was.Stability)), breaks || was.Stability == catalog.Stable
	}
	return strings.Join(parts, "; "), breaks
}

func successor(was Metric, before, now map[string]Metric) string {
	for name, is := range now {
		if _, old := before[name]; !old && was.Meaning != "" && is.Meaning == was.Meaning && is.Type == was.Type && slices.Equal(is.Labels, was.Labels) {
			return name
		}
	}
	return ""
}
