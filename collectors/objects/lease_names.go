package objects

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"

	"github.com/informer-exporter/informer-exporter/collectors/internal/series"
)

// leaseNames holds the Leases of all handlers that have their own series. Each LeaseHandler calls it with the handler's lock held.
type leaseNames struct {
	overflow prometheus.Counter

	mu      sync.Mutex
	share   share[*lease]
	names   allowance[types.NamespacedName]
	holders allowance[heldBy]
}

// heldBy is a Lease with the label of its holder.
type heldBy struct {
	types.NamespacedName
	holder string
}

func newLeaseNames(overflow prometheus.Counter, limit int, firstNamespaces []string) leaseNames {
	share := newShare[*lease](limit, firstNamespaces)
	return leaseNames{
		overflow: overflow, share: share,
		names: newAllowance[types.NamespacedName](share.first), holders: newAllowance[heldBy](share.first),
	}
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
func (n *leaseNames) of(h *LeaseHandler, now time.Time) []*lease {
	n.mu.Lock()
	defer n.mu.Unlock()
	var leases []*lease
	n.share.all(func(l *lease) {
		if l.handler == h && n.admit(l, now) {
			leases = append(leases, l)
		}
	})
	return leases
}

// admit reports whether the allowance admits a Lease, which it does once, and updates the label of its holder: other until the
// allowance admits the holder.
func (n *leaseNames) admit(l *lease, now time.Time) bool {
	l.named = l.named || n.names.admit(l.Namespace, l.NamespacedName, l.initial, now)
	if !l.named {
		if !l.rejected {
			l.rejected = true
			n.overflow.Inc()
		}
		return false
	}
	if holder := holderLabel(l.holder); holder != l.reported {
		free := holder == "" || l.initial
		if l.reported = series.Other; n.holders.admit(l.Namespace, heldBy{l.NamespacedName, holder}, free, now) {
			l.reported = holder
			l.initial = l.initial && holder == "" // only the first holder is free
		}
	}
	return true
}
