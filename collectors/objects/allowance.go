package objects

import (
	"slices"
	"time"

	"golang.org/x/time/rate"
)

// Limits of the new values of each namespace. Values of the initial list, of first namespaces and those admitted within
// the last knownFor are not new.
const (
	newValues      = 100
	newValuesEvery = time.Minute
	knownFor       = time.Hour
)

// allowance limits how many new label values the objects of a namespace get over time: a tenant that renames values would otherwise
// cause new series in every scrape. The zero value is not valid. It is not safe for concurrent use.
type allowance[V comparable] struct {
	first      []string // without limit
	namespaces map[string]*allowed[V]
	swept      time.Time
}

// allowed has the values of a namespace.
type allowed[V comparable] struct {
	limiter *rate.Limiter
	known   map[V]time.Time // until the given time
}

func newAllowance[V comparable](first []string) allowance[V] {
	return allowance[V]{first: first, namespaces: map[string]*allowed[V]{}}
}

// admit reports whether a value may be reported. A free value takes nothing from the limit.
func (a *allowance[V]) admit(namespace string, value V, free bool, now time.Time) bool {
	if slices.Contains(a.first, namespace) {
		return true
	}
	a.sweep(now)
	of := a.namespaces[namespace]
	if of == nil {
		of = &allowed[V]{limiter: rate.NewLimiter(rate.Every(newValuesEvery), newValues), known: map[V]time.Time{}}
		a.namespaces[namespace] = of
	}
	if until, known := of.known[value]; !free && (!known || !now.Before(until)) && !of.limiter.AllowN(now, 1) {
		return false
	}
	of.known[value] = now.Add(knownFor)
	return true
}

// sweep removes values that are not known any more, and namespaces without any, about once per knownFor.
func (a *allowance[V]) sweep(now time.Time) {
	if now.Sub(a.swept) < knownFor {
		return
	}
	a.swept = now
	for namespace, of := range a.namespaces {
		for value, until := range of.known {
			if !now.Before(until) {
				delete(of.known, value)
			}
		}
		if len(of.known) == 0 && of.limiter.TokensAt(now) >= newValues {
			delete(a.namespaces, namespace)
		}
	}
}
