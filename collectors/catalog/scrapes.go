package catalog

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"
)

// DefaultScrapeInterval is the scrape interval that the objectives are made for.
const DefaultScrapeInterval = 15 * time.Second

const (
	minScrapeInterval = 5 * time.Second
	// maxScrapeInterval keeps two scrapes within Prometheus' lookback of five minutes.
	maxScrapeInterval = 2 * time.Minute

	// scrapesInWindow lets a rate or an increase survive a failed scrape, after which it still has two samples.
	scrapesInWindow = 4
	// scrapesInFor keeps a single bad sample from firing an alert: it is visible until the next scrape.
	scrapesInFor = 2
	// scrapesInOverride is the smallest number of scrapes for which a rate has a result.
	scrapesInOverride = 2
)

// AtScrapeInterval returns the objectives for programs that are scraped at the given interval. Window and For of the catalog become
// longer where they would span too few scrapes; overrides stay. The error names the interval or override that is not valid.
func (t Targets) AtScrapeInterval(interval time.Duration) (Targets, error) {
	if interval < minScrapeInterval || interval > maxScrapeInterval {
		return t, fmt.Errorf("%v is not between %v and %v", FormatDuration(interval), FormatDuration(minScrapeInterval), FormatDuration(maxScrapeInterval))
	}
	t.interval = interval
	var errs []error
	for _, id := range slices.Sorted(maps.Keys(t.overrides)) {
		if w := t.overrides[id].Window; w != nil && *w < scrapesInOverride*interval {
			errs = append(errs, fmt.Errorf("%s does not fit the window of %s, %s, which must span at least %d scrapes",
				FormatDuration(interval), id, FormatDuration(*w), scrapesInOverride))
		}
	}
	return t, errors.Join(errs...)
}

// ScrapeInterval returns the interval at which programs are scraped. It defaults to DefaultScrapeInterval.
func (t Targets) ScrapeInterval() time.Duration {
	if t.interval == 0 {
		return DefaultScrapeInterval
	}
	return t.interval
}

// Window returns the window, or the shortest one that spans enough scrapes.
func (t Targets) Window(window time.Duration) time.Duration {
	return max(window, scrapesInWindow*t.ScrapeInterval())
}

// wait returns how long a condition must hold. 0 stays: one sample suffices by design.
func (t Targets) wait(d time.Duration) time.Duration {
	if d == 0 {
		return 0
	}
	return max(d, scrapesInFor*t.ScrapeInterval())
}

// fit returns the objective of the catalog for the scrape interval.
func (t Targets) fit(o Objective) Objective {
	if o.Window > 0 {
		o.Window = t.Window(o.Window)
		if o.MinCount > 0 && t.ScrapeInterval() > DefaultScrapeInterval { // an increase sees up to a scrape interval less than its window
			o.Window += t.ScrapeInterval()
		}
	}
	if o.ID == Objectives.ScrapeDuration.ID { // half of the timeout, which is at most the interval
		o.Threshold = min(o.Threshold, t.ScrapeInterval().Seconds()/2)
	}
	o.For = t.wait(o.For)
	o.BurnRates = slices.Clone(o.BurnRates)
	for i, b := range o.BurnRates {
		o.BurnRates[i].Short, o.BurnRates[i].For = t.Window(b.Short), t.wait(b.For)
	}
	return o
}
