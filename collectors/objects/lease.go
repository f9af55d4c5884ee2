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
)

// apiServerLabel is on the Leases that hold the identities of API servers.
const apiServerLabel = "apiserver.kubernetes.io/identity"

// maxHolder is how long the value of the label holder may be, in bytes. Nothing else limits it.
const maxHolder = 253

// lease is what is known of a Lease.
type lease struct {
	types.NamespacedName
	record
	uid     types.UID
	purpose string
	renewed time.Time // by our clock; zero if that has not been seen
	expired bool
	node    *node[*lease]
}

// record is what the holder writes. As in client-go's leader election, any change of it is a sign of life, and what its
// times say does not matter.
type record struct {
	holder             string
	seconds            int32 // of the duration, 0 if there is none
	transitions        int32
	acquired, renewing int64
}

func recordOf(l *coordinationv1.Lease) record {
	return record{
		holder:      valueOf(l.Spec.HolderIdentity),
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

// expires returns when the record's time ends if it has been written now, and false if it never ends. A Lease that has
// been given up is nobody's at once.
func (r record) expires(now time.Time) (time.Time, bool) {
	if r.holder == "" {
		return time.Time{}, true
	}
	return now.Add(time.Duration(r.seconds) * time.Second), r.seconds > 0
}

func purposeOf(l *coordinationv1.Lease) string {
	if l.Namespace == corev1.NamespaceNodeLease {
		return catalog.PurposeNode
	}
	if _, ok := l.Labels[apiServerLabel]; ok && l.Namespace == metav1.NamespaceSystem {
		return catalog.PurposeAPIServer
	}
	return catalog.PurposeLeader
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
		ch <- gauge(leaseExpired, truth(l.expired), l.Namespace, l.Name)
	}
	if l.holder != "" {
		ch <- gauge(leaseHolder, 1, l.Namespace, l.Name, holderLabel(l.holder))
	}
	renewed := 0.0
	if !l.renewed.IsZero() {
		renewed = float64(l.renewed.UnixNano()) / 1e9
	}
	ch <- gauge(leaseRenewed, renewed, l.Namespace, l.Name)
	if l.seconds > 0 {
		ch <- gauge(leaseDuration, float64(l.seconds), l.Namespace, l.Name)
	}
	ch <- prometheus.MustNewConstMetric(leaseTransitions, prometheus.CounterValue, float64(l.transitions), l.Namespace, l.Name)
}

// collect sends a series for each purpose and state.
func (c leaseCounts) collect(ch chan<- prometheus.Metric) {
	for _, purpose := range catalog.LabelPurpose.Values {
		ch <- gauge(leaseObjects, float64(c[leaseClass{purpose, false}]), purpose, catalog.LeaseStateHeld)
		ch <- gauge(leaseObjects, float64(c[leaseClass{purpose, true}]), purpose, catalog.LeaseStateExpired)
	}
}

// holderLabel cuts an identity off, but not within a character.
func holderLabel(identity string) string {
	return strings.ToValidUTF8(identity[:min(len(identity), maxHolder)], "")
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
