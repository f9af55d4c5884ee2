package check

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/informer-exporter/informer-exporter/internal/untrusted"
)

// rows is the maximum number of problems in the table per type and resource. JSON contains all of them.
const rows = 20

// Duration formats a duration as kubectl formats ages, such as 7m30s.
func Duration(d time.Duration) string { return duration.HumanDuration(d) }

// Print writes the report as a table.
func (r Report) Print(stdout io.Writer) (failed error) {
	checked := fmt.Sprintf("%s and %s at %s", count(len(r.Watched), "resource"), count(r.Objects, "object"), r.Server)
	if len(r.Problems) == 0 {
		_, failed = fmt.Fprintf(stdout, "No problems in %s.\n", checked)
	} else {
		w := tabwriter.NewWriter(stdout, 0, 0, 3, ' ', 0)
		fmt.Fprintln(w, "PROBLEM\tRESOURCE\tNAMESPACE\tNAME\tAGE\tDETAIL")
		shown := map[[2]string]int{}
		for _, p := range r.Problems {
			key := [2]string{p.Type, p.Resource}
			if shown[key]++; shown[key] > rows {
				continue
			}
			age := ""
			if p.AgeSeconds > 0 {
				age = Duration(time.Duration(p.AgeSeconds * float64(time.Second)))
			}
			cells := []string{p.Type, p.Resource, p.Namespace, p.Name, age, p.Detail}
			for i, cell := range cells {
				cells[i] = cmp.Or(untrusted.Printable(cell), "-") // any user may set finalizers and holders
			}
			fmt.Fprintln(w, strings.Join(cells, "\t"))
		}
		failed = w.Flush()
		_, err := fmt.Fprintf(stdout, "\n%s in %s.\n", count(len(r.Problems), "problem"), checked)
		failed = errors.Join(failed, err)
		for _, p := range r.Problems {
			key := [2]string{p.Type, p.Resource}
			if more := shown[key] - rows; more > 0 {
				_, err := fmt.Fprintf(stdout, "Not shown: %d more of %s, %s. --output=json has all.\n", more, p.Type, untrusted.Printable(p.Resource))
				failed = errors.Join(failed, err)
				delete(shown, key)
			}
		}
	}
	for _, note := range r.Notes {
		_, err := fmt.Fprintf(stdout, "Note: %s.\n", untrusted.Printable(note))
		failed = errors.Join(failed, err)
	}
	return failed
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
