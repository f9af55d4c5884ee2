package catalog

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Override is a user's change to an objective. A nil or empty field keeps the catalog's value.
type Override struct {
	// Threshold replaces Objective.Threshold.
	Threshold *float64
	// Window replaces Objective.Window. Objective.MinCount stays.
	Window *time.Duration
	// For replaces Objective.For.
	For *time.Duration
	// Severity replaces Objective.Severity.
	Severity Severity
}

// Targets are the objectives in effect: the catalog's, with a user's overrides applied. The zero value has no
// overrides and the default scrape interval.
type Targets struct {
	overrides map[string]Override
	interval  time.Duration
}

// NewTargets applies overrides, keyed by the objective's ID. The error names every invalid override, such as an unknown ID or a
// threshold that rules cannot compare correctly.
func NewTargets(overrides map[string]Override) (Targets, error) {
	t := Targets{overrides: maps.Clone(overrides)}
	catalog := Objectives.All()
	var errs []error
	for _, id := range slices.Sorted(maps.Keys(overrides)) {
		i := slices.IndexFunc(catalog, func(o Objective) bool { return o.ID == id })
		if i < 0 {
			errs = append(errs, fmt.Errorf("%s: unknown objective; use one of %s", id, strings.Join(ids(catalog), ", ")))
			continue
		}
		if _, err := overrides[id].apply(catalog[i]); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", id, err))
		}
	}
	return t, errors.Join(errs...)
}

// Of returns the objective for the scrape interval and with its overrides.
func (t Targets) Of(o Objective) Objective {
	o = t.fit(o)
	if own, ok := t.overrides[o.ID]; ok {
		o, _ = own.apply(o) // NewTargets has returned the error
	}
	return o
}

// Override returns the override of the objective with the given ID, the zero value if it has none.
func (t Targets) Override(id string) Override { return t.overrides[id] }

// All returns every objective with its overrides, in the order of Objectives.All.
func (t Targets) All() []Objective {
	list := Objectives.All()
	for i := range list {
		list[i] = t.Of(list[i])
	}
	return list
}

func (ov Override) apply(o Objective) (Objective, error) {
	if ov.Threshold != nil {
		if err := o.accepts(*ov.Threshold); err != nil {
			return o, err
		}
		o.Threshold = *ov.Threshold
	}
	if o.BurnRates != nil && (ov.Window != nil || ov.For != nil || ov.Severity != "") {
		return o, errors.New("window, for and severity come from the burn rates; only threshold can be changed")
	}
	if ov.Window != nil {
		if err := o.acceptsWindow(*ov.Window); err != nil {
			return o, err
		}
		o.Window = *ov.Window
	}
	if ov.For != nil {
		if *ov.For < 0 {
			return o, fmt.Errorf("for is %v; it must not be negative", *ov.For)
		}
		o.For = *ov.For
	}
	switch ov.Severity {
	case "":
	case Page, Ticket, Info:
		o.Severity = ov.Severity
	default:
		return o, fmt.Errorf("severity is %q; use %s, %s or %s", ov.Severity, Page, Ticket, Info)
	}
	return o, nil
}

// accepts returns an error if rules cannot use the threshold.
func (o Objective) accepts(threshold float64) error {
	switch {
	case o.Fixed:
		return errors.New("threshold cannot be changed; the other fields can")
	case math.IsNaN(threshold), math.IsInf(threshold, 0), threshold < 0:
		return fmt.Errorf("threshold is %v; it must be a finite number and not negative", threshold)
	case o.Unit == "percentunit" && threshold >= 1:
		return fmt.Errorf("threshold is %v; it is a ratio and must be below 1", threshold)
	}
	// A quantile never exceeds the top finite bucket, and only an exact bound needs no interpolation.
	buckets := o.Metric.Buckets
	if o.Quantile == 0 || len(buckets) == 0 {
		return nil
	}
	if usable := buckets[:len(buckets)-1]; !slices.Contains(usable, threshold) {
		bounds := make([]string, len(usable))
		for i, b := range usable {
			bounds[i] = strconv.FormatFloat(b, 'f', -1, 64)
		}
		return fmt.Errorf("threshold is %v, which is not a bucket of %s; use one of %s", threshold, o.Metric.Name, strings.Join(bounds, ", "))
	}
	return nil
}

// acceptsWindow returns an error if rules cannot use the window.
func (o Objective) acceptsWindow(window time.Duration) error {
	switch {
	case o.Window == 0:
		return errors.New("window cannot be changed: the metric is compared directly, without a window")
	case o.Inclusive: // titles and panels name the number of occurrences together with its window
		return fmt.Errorf("window cannot be changed: the threshold is a number of events in %s", FormatDuration(o.Window))
	case window < time.Second:
		return fmt.Errorf("window is %v; it must be at least 1s, and should span several scrapes", window)
	}
	return nil
}

func ids(list []Objective) []string {
	ids := make([]string, len(list))
	for i, o := range list {
		ids[i] = o.ID
	}
	return ids
}
