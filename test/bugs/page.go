package bugs

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/informer-exporter/informer-exporter/internal/testenv/page"
)

// target is the time within which an alert counts as a detection.
const target = 5 * time.Minute

// Markdown returns the tables of docs/detection.md: the totals, and each bug.
func Markdown() (string, error) {
	cases, err := Cases()
	if err != nil {
		return "", err
	}
	results, err := Results()
	if err != nil {
		return "", err
	}
	return totals(cases, results) + "\n" + table(cases, results), nil
}

// totals counts the bugs of each class that are detected within the target, in any way.
func totals(cases []Case, results map[string]Result) string {
	head := []string{"Class", "Bugs", "Expected", "First run", "Last run", "By exporter", "By audit log", "By library", "Short fault"}
	b := page.Head(head...)
	var classes []string
	for _, c := range cases {
		if !slices.Contains(classes, c.Class) {
			classes = append(classes, c.Class)
		}
	}
	for _, class := range append(classes, "all") {
		counts := make([]int, len(head)-1)
		add := func(i int, yes bool) {
			if yes {
				counts[i]++
			}
		}
		for _, c := range cases {
			if class != "all" && c.Class != class {
				continue
			}
			r := results[c.ID]
			add(0, true)
			add(1, slices.ContainsFunc(Ways, func(way string) bool { return !strings.HasPrefix(c.Expected[way], none) }))
			add(2, r.First[Minutes].inTime(Ways...))
			add(3, r.Last[Minutes].inTime(Ways...))
			for i, way := range Ways {
				add(4+i, r.Last[Minutes].inTime(way))
			}
			add(7, r.Last[Original].inTime(Ways...))
		}
		cells := []string{class}
		for _, n := range counts {
			cells = append(cells, fmt.Sprint(n))
		}
		b += page.Row(cells...)
	}
	return b
}

const none = "none: "

// notes are the reasons that several cells have, by letter. They are below the table.
type notes []string

func notesOf(cases []Case, results map[string]Result) (repeated notes) {
	uses := map[string]int{}
	for _, c := range cases {
		for _, way := range Ways {
			if text := c.Expected[way]; strings.HasPrefix(text, none) && results[c.ID].Last[Minutes][way].Alert == "" {
				if uses[text]++; uses[text] == 2 {
					repeated = append(repeated, text)
				}
			}
		}
	}
	return repeated
}

// cell returns a reason as it stands in a cell.
func (n notes) cell(reason string) string {
	if i := slices.Index(n, reason); i >= 0 {
		return "none (" + string(rune('a'+i)) + ")"
	}
	return reason
}

func (n notes) String() string {
	var b strings.Builder
	for i, reason := range n {
		fmt.Fprintf(&b, "- (%c) %s\n", 'a'+i, strings.TrimPrefix(reason, none))
	}
	return b.String()
}

func table(cases []Case, results map[string]Result) string {
	reasons := notesOf(cases, results)
	b := page.Head("Bug", "Class", "Fault", "Exporter", "Audit log", "Library", "Short fault")
	for _, c := range cases {
		r := results[c.ID]
		var links []string
		for _, s := range c.Sources {
			links = append(links, fmt.Sprintf("[%s](%s)", path.Base(s), s))
		}
		cells := []string{c.Bug + " " + strings.Join(links, ", "), c.Class, c.Fault}
		for _, way := range Ways {
			cells = append(cells, cell(reasons.cell(c.Expected[way]), r.First[Minutes][way], r.Last[Minutes][way], r.Last[Minutes] != nil))
		}
		b += page.Row(append(cells, short(r.Last[Original]))...)
	}
	return b + "\n" + reasons.String()
}

// cell returns the alert of the last run, or why there is none, and what the expectation and the first run were if they differ.
func cell(expected string, first, last Detection, ran bool) string {
	misses := strings.HasPrefix(expected, "none")
	text := last.String()
	switch {
	case !ran:
		text = "not run"
	case last.Alert == "" && misses:
		text = expected
	case last.Alert == "":
		text = "none; expected " + expected
	case misses:
		text += "; expected none"
	case last.Alert != expected:
		text += "; expected " + expected
	}
	if first.Alert != last.Alert {
		text += "; first run: " + first.String()
	}
	return text
}

// String returns the alert and the time to it.
func (d Detection) String() string {
	if d.Alert == "" {
		return "none"
	}
	return fmt.Sprintf("%s, %s", d.Alert, time.Duration(d.Seconds)*time.Second)
}

func (d Detections) inTime(ways ...string) bool {
	return slices.ContainsFunc(ways, func(way string) bool {
		return d[way].Alert != "" && time.Duration(d[way].Seconds)*time.Second <= target
	})
}

func short(found Detections) string {
	var all []string
	for _, way := range Ways {
		if found[way].Alert != "" {
			all = append(all, way+": "+found[way].String())
		}
	}
	if len(all) == 0 {
		return "none"
	}
	return strings.Join(all, "; ")
}
