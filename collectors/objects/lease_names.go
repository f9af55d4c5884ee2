package objects

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/informer-exporter/informer-exporter/collectors/internal/series"
)

// leaseNames holds the Leases of all handlers that have their own series. Each LeaseHandler calls it with the handler's lock held.
type leaseNames struct {
	overflow prometheus.Counter

	mu    sync.Mutex
	share share[*lease]
}

// add gives a Lease its own series once there is room. A Lease with a name that is not a valid label value never gets one, because two
// such names could have the same label. Kubernetes' API server rejects such names.
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
