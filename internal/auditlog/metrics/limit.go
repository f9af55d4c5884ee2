package metrics

import (
	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/internal/auditlog/clients"
)

// limit admits series until there are too many. Then the client with the most makes room for clients with fewer. A series that is not
// within the limit, or no longer, is counted in a series of the client other until it ends, because a counter that changes its labels
// looks as if it began anew.
type limit struct {
	max int
	// admitted are those within the limit, by key, with their values of the last scrape. beyond are those counted in other, and ended what
	// those counted that have ended: a counter must not fall.
	admitted map[string]value
	beyond   map[string]*overflow
	ended    set
}

// overflow is a series that is counted in other.
type overflow struct {
	*series
	// own is what was counted in a series of its own before: other would jump by it.
	own value
}

func newLimit(most int) limit {
	return limit{max: most, admitted: map[string]value{}, beyond: map[string]*overflow{}, ended: set{}}
}

// usage is what admitted series take.
type usage struct {
	size    int
	clients map[string]*clientUsage
}

// clientUsage are the admitted series of a client, in the order in which they are admitted.
type clientUsage struct {
	size int
	list []*series
}

func (u *usage) of(client string) *clientUsage {
	c := u.clients[client]
	if c == nil {
		c = &clientUsage{}
		u.clients[client] = c
	}
	return c
}

func (u *usage) add(s *series) {
	c := u.of(s.labels[0])
	c.list = append(c.list, s)
	c.size += s.size()
	u.size += s.size()
}

// evict removes the last series of the client with the most, unless another client would then have more than it.
func (u *usage) evict(wanted int) *series {
	var most *clientUsage
	for _, c := range u.clients {
		if most == nil || c.size > most.size {
			most = c
		}
	}
	if most == nil || most.size <= wanted {
		return nil
	}
	last := most.list[len(most.list)-1]
	most.list = most.list[:len(most.list)-1]
	most.size -= last.size()
	u.size -= last.size()
	return last
}

// apply returns the series within the limit, and those of the client other.
func (l *limit) apply(t set) []*series {
	l.end(t)
	sorted := t.sorted()
	u := usage{clients: map[string]*clientUsage{}}
	for _, s := range sorted {
		if _, ok := l.admitted[s.id]; ok {
			u.add(s)
		}
	}
	for _, s := range sorted {
		if _, ok := l.admitted[s.id]; !ok && l.beyond[s.id] == nil {
			l.admit(s, &u)
		}
	}
	within, others := make([]*series, 0, len(sorted)), set{}
	for _, s := range sorted {
		if o := l.beyond[s.id]; o != nil {
			o.series = s
			s.subtract(o.own)
			others.add(s.of, s.value, other(s)...)
			continue
		}
		l.admitted[s.id] = s.value
		within = append(within, s)
	}
	for _, s := range l.ended {
		others.add(s.of, s.value, s.labels...)
	}
	for _, s := range others {
		within = append(within, s)
	}
	return merged(within)
}

// admit admits a series if there is room, or if clients with more make room.
func (l *limit) admit(s *series, u *usage) {
	for u.size+s.size() > l.max {
		last := u.evict(u.of(s.labels[0]).size + s.size())
		if last == nil {
			l.beyond[s.id] = &overflow{series: s}
			return
		}
		l.beyond[last.id] = &overflow{series: last, own: l.admitted[last.id]}
		delete(l.admitted, last.id)
	}
	l.admitted[s.id] = value{} // until it is exported
	u.add(s)
}

// end forgets series that have ended.
func (l *limit) end(t set) {
	for id := range l.admitted {
		if t[id] == nil {
			delete(l.admitted, id)
		}
	}
	for id, o := range l.beyond {
		if t[id] != nil {
			continue
		}
		delete(l.beyond, id)
		if o.of.Type != catalog.TypeGauge {
			l.ended.add(o.of, o.value, other(o.series)...)
		}
	}
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
	byID := set{}
	unique := list[:0]
	for _, s := range list {
		if first, ok := byID[s.id]; ok {
			first.add(s.value)
			continue
		}
		byID[s.id] = s
		unique = append(unique, s)
	}
	return unique
}
