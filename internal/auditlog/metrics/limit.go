package metrics

import (
	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/internal/auditlog/clients"
)

const (
	// reserved is the number of series that each client has before others may have more: enough for its requests and one informer.
	reserved = 25
	// shareOfClient and shareOfLarge are the most series of one client, and of all series beyond the reserved ones, as parts of the limit.
	shareOfClient, shareOfLarge = 10, 2
)

// limit admits series until there are too many. One that was admitted stays, and one that was not is counted in a series of the client
// other until it ends, because a counter that changes its labels looks as if it began anew.
type limit struct {
	max int
	// admitted are those within the limit, by key, beyond those that are counted in other, and ended what those counted that have ended:
	// a counter must not fall.
	admitted map[string]bool
	beyond   set
	ended    set
}

func newLimit(most int) limit {
	return limit{max: most, admitted: map[string]bool{}, beyond: set{}, ended: set{}}
}

// usage is what admitted series take.
type usage struct {
	all, large int
	ofClient   map[string]int
}

func (u *usage) add(s *series) {
	size := s.size()
	u.all += size
	u.ofClient[s.labels[0]] += size
	if u.ofClient[s.labels[0]] > reserved {
		u.large += size
	}
}

// apply returns the series within the limit, and those of the client other.
func (l *limit) apply(t set) []*series {
	sorted := t.sorted()
	u := usage{ofClient: map[string]int{}}
	for _, s := range sorted {
		if l.admitted[s.key()] {
			u.add(s)
		}
	}
	l.end(t)
	within, others := make([]*series, 0, len(sorted)), set{}
	for _, s := range sorted {
		key := s.key()
		if l.beyond[key] == nil && !l.admitted[key] && l.fits(s, u) {
			l.admitted[key] = true
			u.add(s)
		}
		if l.admitted[key] {
			within = append(within, s)
			continue
		}
		l.beyond[key] = s
		others.add(s.of, s.value, other(s)...)
	}
	for _, s := range l.ended {
		others.add(s.of, s.value, s.labels...)
	}
	for _, s := range others {
		within = append(within, s)
	}
	return merged(within)
}

// end forgets series that have ended.
func (l *limit) end(t set) {
	for key := range l.admitted {
		if t[key] == nil {
			delete(l.admitted, key)
		}
	}
	for key, s := range l.beyond {
		if t[key] != nil {
			continue
		}
		delete(l.beyond, key)
		if s.of.Type != catalog.TypeGauge {
			l.ended.add(s.of, s.value, other(s)...)
		}
	}
}

// fits reports whether there is room for a series.
func (l *limit) fits(s *series, u usage) bool {
	own := u.ofClient[s.labels[0]] + s.size()
	switch {
	case u.all+s.size() > l.max:
		return false
	case own <= reserved:
		return true
	}
	return own <= max(reserved, l.max/shareOfClient) && u.large+s.size() <= l.max/shareOfLarge
}

// other returns the labels of the series in which one beyond the limit is counted. Closed sets keep their values.
func other(s *series) []string {
	labels := make([]string, len(s.labels))
	for i, of := range s.of.Labels {
		labels[i] = s.labels[i]
		if of.Values == nil {
			labels[i] = clients.Other
		}
	}
	return labels
}

// merged adds up series with the same labels: those of clients above the limits of the tracker are called other, too.
func merged(list []*series) []*series {
	byKey := set{}
	unique := list[:0]
	for _, s := range list {
		if first, ok := byKey[s.key()]; ok {
			first.add(s.value)
			continue
		}
		byKey[s.key()] = s
		unique = append(unique, s)
	}
	return unique
}
