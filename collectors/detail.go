package collectors

import (
	"fmt"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/collectors/internal/core"
)

// Detail selects the metrics that an Observer reports.
type Detail string

const (
	// Full reports all metrics. It is the default.
	Full Detail = "full"
	// Essential reports the metrics that alerts of severity page and ticket read (except for InformerStaleAfterRestart), and
	// the number of objects: at most 30 series for an informer with one handler, without checks. Histograms have one or two
	// buckets, those of the default objectives. Most panels, and the diagnostic queries of runbooks, show nothing.
	// deploy/metrics.md lists the metrics.
	Essential Detail = "essential"
)

func (d Detail) validate() error {
	if d != "" && d != Full && d != Essential {
		return fmt.Errorf("collectors: Options.Detail: %q is not a detail: use Full or Essential", d)
	}
	return nil
}

// validateOmit returns an error for names that are not metrics of the library.
func validateOmit(names []string) error {
	for _, name := range names {
		if m, ok := catalog.ByName(name); !ok || !core.Reported(m) {
			return fmt.Errorf("collectors: Options.Omit: %q is not a metric of the library: see deploy/metrics.md", name)
		}
	}
	return nil
}
