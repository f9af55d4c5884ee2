package footprint

import (
	"reflect"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Values of the label part.
const (
	// ManagedFields is what a transform can remove, such as cache.TransformStripManagedFields.
	ManagedFields = "managed_fields"
	// Labels are labels and annotations.
	Labels = "labels_annotations"
	// Metadata is the rest of the metadata, with the cache's own memory.
	Metadata = "metadata"
	// Spec is the field of this name.
	Spec = "spec"
	// Status is the field of this name.
	Status = "status"
	// Data are all other fields, such as those of a ConfigMap.
	Data = "data"
)

// Bytes is an amount of memory by part.
type Bytes map[string]float64

// Total returns the memory of all parts.
func (b Bytes) Total() (sum float64) {
	for _, n := range b {
		sum += n
	}
	return sum
}

// Savings returns the memory that a transform which removes managedFields would save, and that which an informer of metadata would.
func (b Bytes) Savings() (withoutManagedFields, metadataOnly float64) {
	return b[ManagedFields], b[Spec] + b[Status] + b[Data]
}

// Add adds the memory of an object of the API, which is a pointer. It reads the object without a lock, as every consumer does.
func (b Bytes) Add(object any) {
	w := &walk{}
	if u, ok := object.(*unstructured.Unstructured); ok {
		b.addMap(w, u.Object, topPart)
		b[Metadata] += pointer
		return
	}
	v := reflect.ValueOf(object)
	if v.Kind() != reflect.Pointer || v.IsNil() || v.Elem().Kind() != reflect.Struct {
		return
	}
	v = v.Elem()
	b[Metadata] += float64(allocated(int(v.Type().Size()), true)) // with fields that are moved to their parts below
	for i := range v.NumField() {
		field := v.Type().Field(i)
		switch part := topPart(field.Tag.Get("json")); {
		case field.Type == reflect.TypeFor[metav1.ObjectMeta]():
			b.addMeta(w, v.Field(i))
		case field.Type == reflect.TypeFor[metav1.TypeMeta]():
			b[Metadata] += float64(w.beyond(v.Field(i), 0))
		default:
			inline := float64(field.Type.Size())
			b[part] += inline + float64(w.beyond(v.Field(i), 0))
			b[Metadata] -= inline
		}
	}
}

func (b Bytes) addMeta(w *walk, v reflect.Value) {
	for i := range v.NumField() {
		b[metaPart(v.Type().Field(i).Tag.Get("json"))] += float64(w.beyond(v.Field(i), 0))
	}
}

// addMap adds a map of an unstructured object.
func (b Bytes) addMap(w *walk, object map[string]any, part func(string) string) {
	b[Metadata] += float64(mapped(len(object), 16, 16))
	for key, value := range object {
		size := float64(w.beyond(reflect.ValueOf(key), 0))
		if metadata, ok := value.(map[string]any); ok && key == "metadata" {
			b[Metadata] += size
			b.addMap(w, metadata, metaPart)
			continue
		}
		if value != nil {
			size += float64(boxed(reflect.ValueOf(value)) + w.beyond(reflect.ValueOf(value), 0))
		}
		b[part(key)] += size
	}
}

// topPart returns the part of a field of an object, by its name or the tag that begins with it.
func topPart(name string) string {
	name, _, _ = strings.Cut(name, ",")
	switch name {
	case "metadata", "kind", "apiVersion":
		return Metadata
	case "spec":
		return Spec
	case "status":
		return Status
	}
	return Data
}

// metaPart returns the part of a field of the metadata.
func metaPart(name string) string {
	name, _, _ = strings.Cut(name, ",")
	switch name {
	case "managedFields":
		return ManagedFields
	case "labels", "annotations":
		return Labels
	}
	return Metadata
}
