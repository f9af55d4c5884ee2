package objects

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/informer-exporter/informer-exporter/collectors/internal/series"
)

// leaseNames are the Leases with their own series, of all handlers. A LeaseHandler calls it with its lock held.
type leaseNames struct {
	overflow prometheus.Counter

	mu    sync.Mutex
	share share[*lease]
}

// add gives a Lease its own series if there is room, now or later. A name that is not a valid label value, which no API server of
// Kubernetes allows, never has one: two such names could have the same label.
func (n *leaseNames) add(l *lease) {
	if series.Valid(l.Namespace) != l.Namespace || series.Valid(l.Name) != l.Name {
		n.overflow.Inc()
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if chosen, displaced := n.share.add(l.Namespace, l); !chosen || len(displaced) > 0 {
		n.overflow.Inc()
	}
}

func (n *leaseNames) remove(l *lease) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.share.remove(l.Namespace, l)
}

// of returns the Leases of a handler with their own series.
func (n *leaseNames) of(h *LeaseHandler) []*lease {
	n.mu.Lock()
	defer n.mu.Unlock()
	var leases []*lease
	n.share.all(func(l *lease) {
		if l.handler == h {
			leases = append(leases, l)
		}
	})
	return leases
}
