package objects

import (
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/collectors/internal/core"
)

// apiServerLabel is a label of the Leases of API servers.
const apiServerLabel = "apiserver.kubernetes.io/identity"

// maxHolder is the length in bytes to which the label holder is truncated. The API server has no limit.
const maxHolder = 253

// lease is the state of a Lease.
type lease struct {
	types.NamespacedName
	record
	handler *LeaseHandler
	uid     types.UID
	purpose string
	renewed time.Time // by the local clock; zero before the first observed renewal
	expired bool
	node    *node[*lease]

	initial         bool   // whether the Lease was in the initial list
	named, rejected bool   // by the allowance of leaseNames, in a scrape
	reported        string // the label holder
}

// record is the part of a Lease that its holder writes. As in client-go's leader election, any change is a renewal, and the
// holder's timestamps are ignored.
type record struct {
	holder             string
	seconds            int32 // the duration, 0 for none
	transitions        int32
	acquired, renewing int64
}

func recordOf(l *coordinationv1.Lease) record {
	return record{
		holder:      cut(valueOf(l.Spec.HolderIdentity)),
		seconds:     valueOf(l.Spec.LeaseDurationSeconds),
		transitions: valueOf(l.Spec.LeaseTransitions),
		acquired:    nanoseconds(l.Spec.AcquireTime),
		renewing:    nanoseconds(l.Spec.RenewTime),
	}
}

func valueOf[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

func nanoseconds(t *metav1.MicroTime) int64 {
	if t == nil {
		return 0
	}
	return t.UnixNano()
}

// expires returns when the record expires if it was written now, and false if it never does. A Lease without a holder has
// expired.
func (r record) expires(now time.Time) (time.Time, bool) {
	if r.holder == "" {
		return time.Time{}, true
	}
	return now.Add(time.Duration(r.seconds) * time.Second), r.seconds > 0
}

// IsElection reports whether a Lease belongs to a leader election, and not to a node or an API server.
func IsElection(l *coordinationv1.Lease) bool { return purposeOf(l) == purposeLeader }

func purposeOf(l *coordinationv1.Lease) string {
	if l.Namespace == corev1.NamespaceNodeLease {
		return purposeNode
	}
	if _, ok := l.Labels[apiServerLabel]; ok && l.Namespace == metav1.NamespaceSystem {
		return purposeAPIServer
	}
	return purposeLeader
}

var (
	leaseExpired     = describe(catalog.LeaseExpired)
	leaseHolder      = describe(catalog.LeaseHolderInfo)
	leaseRenewed     = describe(catalog.LeaseRenewedTimestamp)
	leaseDuration    = describe(catalog.LeaseDuration)
	leaseTransitions = describe(catalog.LeaseTransitions)
	leaseObjects     = describe(catalog.LeaseObjects)

	leaseDescs = []*prometheus.Desc{leaseExpired, leaseHolder, leaseRenewed, leaseDuration, leaseTransitions, leaseObjects}
)

func (l *lease) collect(ch chan<- prometheus.Metric) {
	if l.seconds > 0 || l.holder == "" {
		ch <- gauge(leaseExpired, core.Bool(l.expired), l.Namespace, l.Name)
	}
	if l.holder != "" {
		ch <- gauge(leaseHolder, 1, l.Namespace, l.Name, l.reported)
	}
	ch <- gauge(leaseRenewed, core.Unix(l.renewed), l.Namespace, l.Name)
	if l.seconds > 0 {
		ch <- gauge(leaseDuration, float64(l.seconds), l.Namespace, l.Name)
	}
	ch <- prometheus.MustNewConstMetric(leaseTransitions, prometheus.CounterValue, float64(l.transitions), l.Namespace, l.Name)
}

// collect sends a series per purpose and state.
func (c leaseCounts) collect(ch chan<- prometheus.Metric) {
	for _, purpose := range catalog.LeaseObjects.Values("purpose") {
		ch <- gauge(leaseObjects, float64(c[leaseClass{purpose, false}]), purpose, stateHeld)
		ch <- gauge(leaseObjects, float64(c[leaseClass{purpose, true}]), purpose, stateExpired)
	}
}

// holderLabel returns the label value for an identity: valid UTF-8 of limited length.
func holderLabel(identity string) string {
	return strings.ToValidUTF8(identity[:min(len(identity), maxHolder)], "")
}
