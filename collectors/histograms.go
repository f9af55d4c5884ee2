package collectors

import "fmt"

// Histograms selects the form of an Observer's histograms. Rules and dashboards read one form, which `histograms` in the
// generator's configuration sets.
type Histograms string

const (
	// ClassicHistograms have the buckets of the catalog, one series each. The bounds include the objectives, so that shares of
	// slow events are exact. They are the default.
	ClassicHistograms Histograms = "classic"
	// NativeHistograms are one series each, with buckets that adapt to the observations: each is at most 10% wider than the one
	// below. Prometheus reads them with `scrape_native_histograms: true`. The text formats have only their count and sum.
	NativeHistograms Histograms = "native"
	// BothHistograms are classic histograms in text formats, and both in the format that Prometheus reads with
	// `scrape_native_histograms: true`. Prometheus then drops the classic buckets, unless `always_scrape_classic_histograms` is
	// true.
	BothHistograms Histograms = "both"
)

func (h Histograms) validate() error {
	switch h {
	case "", ClassicHistograms, NativeHistograms, BothHistograms:
		return nil
	}
	return fmt.Errorf("collectors: Options.Histograms: %q is not a form: use ClassicHistograms, NativeHistograms or BothHistograms", h)
}
