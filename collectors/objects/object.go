package objects

import (
	"slices"
	"strconv"
	"unique"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/informer-exporter/informer-exporter/internal/bounded"
)

// Observed is an object with status.observedGeneration.
type Observed interface {
	metav1.Object
	// GetObservedGeneration returns status.observedGeneration, or 0 if it is not set.
	GetObservedGeneration() int64
}

// keptMeta is the part of an object's metadata that informers keep: 64 bytes and the name, a tenth of a PartialObjectMetadata. It
// is never changed. UIDs and resource versions are kept as numbers; reading them as strings allocates.
type keptMeta struct {
	unkept

	namespace  unique.Handle[string] // one string for all objects of a namespace
	name       string
	uid        [16]byte
	version    uint64
	generation int64
	rare       *rareMeta // nil for most objects
}

// rareMeta has the fields that only few objects have.
type rareMeta struct {
	// deletion and finalizers are those of an object that is being deleted.
	deletion   *metav1.Time
	finalizers []string
	// verbatim is set if the UID is not a UUID or the resource version is not a number, as in tests. Then both are kept here.
	verbatim bool
	uid      types.UID
	version  string
}

// observedMeta is the keptMeta of an object with status.observedGeneration.
type observedMeta struct {
	keptMeta
	observed int64
}

var (
	_ metav1.Object = &keptMeta{}
	_ Observed      = &observedMeta{}
)

// Transform is a cache.TransformFunc that keeps only the fields that the handlers of this package read: name, namespace,
// UID, resource version, generation, status.observedGeneration and, for terminating objects, the deletion timestamp and the
// finalizers. It converts unstructured objects and metadata, and reduces a Lease. Names and the holder of a Lease are cut to a few
// hundred bytes, with a hash of the whole text, and at most 21 finalizers are kept. It is idempotent.
func Transform(obj any) (any, error) {
	switch o := obj.(type) {
	case *unstructured.Unstructured:
		return &observedMeta{newMeta(o), observedGeneration(o)}, nil
	case *metav1.PartialObjectMetadata:
		kept := newMeta(o)
		return &kept, nil
	case *coordinationv1.Lease:
		reduce(o)
	}
	return obj, nil
}

func observedGeneration(u *unstructured.Unstructured) int64 {
	observed, _, err := unstructured.NestedInt64(u.Object, "status", "observedGeneration")
	if err != nil {
		return u.GetGeneration() // a field of another type with that name
	}
	return observed
}

func newMeta(o metav1.Object) keptMeta {
	kept := keptMeta{namespace: unique.Make(cut(o.GetNamespace())), name: bounded.Text(o.GetName()), generation: o.GetGeneration()}
	var compact bool
	kept.uid, kept.version, compact = compactIdentity(string(o.GetUID()), o.GetResourceVersion())
	deletion := o.GetDeletionTimestamp()
	if compact && deletion == nil {
		return kept
	}
	kept.rare = &rareMeta{deletion: deletion}
	if deletion != nil {
		kept.rare.finalizers = boundedFinalizers(o.GetFinalizers())
	}
	if !compact {
		kept.rare.verbatim = true
		kept.rare.uid, kept.rare.version = types.UID(bounded.Text(string(o.GetUID()))), bounded.Text(o.GetResourceVersion())
	}
	return kept
}

// cut is bounded.Text for a text that is copied anyway.
func cut(text string) string {
	if len(text) <= bounded.MaxText {
		return text
	}
	return bounded.Text(text)
}

// cutFinalizers is boundedFinalizers for texts that are copied anyway.
func cutFinalizers(finalizers []string) []string {
	long := func(f string) bool { return len(f) > bounded.MaxText }
	if len(finalizers) <= maxFinalizers+1 && !slices.ContainsFunc(finalizers, long) {
		return finalizers
	}
	return boundedFinalizers(finalizers)
}

// boundedFinalizers returns a copy of the first finalizers: those that are reported by name, and one that stands for the rest.
func boundedFinalizers(finalizers []string) []string {
	if len(finalizers) == 0 {
		return nil
	}
	kept := make([]string, min(len(finalizers), maxFinalizers+1))
	for i := range kept {
		kept[i] = bounded.Text(finalizers[i])
	}
	return kept
}

// GetObservedGeneration implements Observed.
func (o *observedMeta) GetObservedGeneration() int64 { return o.observed }

// GetNamespace implements metav1.Object.
func (o *keptMeta) GetNamespace() string { return o.namespace.Value() }

// GetName implements metav1.Object.
func (o *keptMeta) GetName() string { return o.name }

// GetResourceVersion implements metav1.Object.
func (o *keptMeta) GetResourceVersion() string {
	if o.rare != nil && o.rare.verbatim {
		return o.rare.version
	}
	return strconv.FormatUint(o.version, 10)
}

// GetUID implements metav1.Object.
func (o *keptMeta) GetUID() types.UID {
	if o.rare != nil && o.rare.verbatim {
		return o.rare.uid
	}
	return types.UID(uuidText(o.uid))
}

// GetGeneration implements metav1.Object.
func (o *keptMeta) GetGeneration() int64 { return o.generation }

// GetDeletionTimestamp implements metav1.Object.
func (o *keptMeta) GetDeletionTimestamp() *metav1.Time {
	if o.rare == nil {
		return nil
	}
	return o.rare.deletion
}

// GetFinalizers implements metav1.Object. Finalizers are kept only for terminating objects.
func (o *keptMeta) GetFinalizers() []string {
	if o.rare == nil {
		return nil
	}
	return o.rare.finalizers
}

// reduce keeps the part of a Lease that handlers read, and the label that identifies the Leases of API servers. Texts of any length
// are cut: a tenant may write a holder of more than a megabyte.
func reduce(l *coordinationv1.Lease) {
	m := metav1.ObjectMeta{
		Name: bounded.Text(l.Name), Namespace: unique.Make(cut(l.Namespace)).Value(), UID: types.UID(bounded.Text(string(l.UID))),
		ResourceVersion: bounded.Text(l.ResourceVersion), Generation: l.Generation,
		CreationTimestamp: l.CreationTimestamp, DeletionTimestamp: l.DeletionTimestamp, Finalizers: boundedFinalizers(l.Finalizers),
	}
	if identity, ok := l.Labels[apiServerLabel]; ok {
		m.Labels = map[string]string{apiServerLabel: bounded.Text(identity)}
	}
	l.ObjectMeta = m
	l.Spec = coordinationv1.LeaseSpec{
		HolderIdentity: l.Spec.HolderIdentity, LeaseDurationSeconds: l.Spec.LeaseDurationSeconds, LeaseTransitions: l.Spec.LeaseTransitions,
		AcquireTime: l.Spec.AcquireTime, RenewTime: l.Spec.RenewTime,
	}
	if l.Spec.HolderIdentity != nil {
		holder := bounded.Text(*l.Spec.HolderIdentity)
		l.Spec.HolderIdentity = &holder
	}
}
