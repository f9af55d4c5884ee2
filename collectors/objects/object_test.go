package objects

import (
	"reflect"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestTransform(t *testing.T) {
	deleted := metav1.Now()
	whole := metav1.ObjectMeta{
		Name: "a", Namespace: "b", UID: "c", ResourceVersion: "7", Generation: 3, Finalizers: []string{"f"},
		DeletionTimestamp: &deleted, CreationTimestamp: metav1.NewTime(deleted.Add(-time.Hour)),
		GenerateName: "a-", Labels: map[string]string{"l": "1"}, Annotations: map[string]string{"a": "1"},
		OwnerReferences: []metav1.OwnerReference{{Name: "d"}}, ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "m"}},
	}
	first, err := Transform(&metav1.PartialObjectMetadata{ObjectMeta: whole})
	if err != nil {
		t.Fatal(err)
	}
	again, err := Transform(first) // as a streaming list does
	if err != nil || again != first {
		t.Errorf("the second Transform returned %v, %v", again, err)
	}
	got, want := first.(metav1.Object), metav1.Object(&whole)
	for _, field := range []struct {
		name      string
		got, want any
	}{
		{"name", got.GetName(), want.GetName()},
		{"namespace", got.GetNamespace(), want.GetNamespace()},
		{"UID", got.GetUID(), want.GetUID()},
		{"resourceVersion", got.GetResourceVersion(), want.GetResourceVersion()},
		{"generation", got.GetGeneration(), want.GetGeneration()},
		{"deletionTimestamp", got.GetDeletionTimestamp(), want.GetDeletionTimestamp()},
		{"finalizers", got.GetFinalizers(), want.GetFinalizers()},
	} {
		if !reflect.DeepEqual(field.got, field.want) {
			t.Errorf("%s is %v, want %v", field.name, field.got, field.want)
		}
	}
	if created := got.GetCreationTimestamp(); !created.IsZero() || got.GetGenerateName() != "" || got.GetLabels() != nil || got.GetAnnotations() != nil || got.GetOwnerReferences() != nil || got.GetManagedFields() != nil {
		t.Errorf("other fields are kept: %+v", got)
	}
	got.SetName("changed") // which must not change an object that others share
	got.SetLabels(map[string]string{"l": "1"})
	if got.GetName() != "a" || got.GetLabels() != nil {
		t.Errorf("the object in the cache was changed: %+v", got)
	}

	living, err := Transform(&metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: "a", Finalizers: []string{"f"}}})
	if err != nil || living.(metav1.Object).GetDeletionTimestamp() != nil || living.(metav1.Object).GetFinalizers() != nil {
		t.Errorf("a live object has fields of a deletion: got %+v, %v", living, err)
	}
	observed, err := Transform(&unstructured.Unstructured{Object: map[string]any{
		"metadata": map[string]any{"name": "a", "generation": int64(3)}, "status": map[string]any{"observedGeneration": int64(2)},
	}})
	if o, ok := observed.(Observed); err != nil || !ok || o.GetObservedGeneration() != 2 || o.GetGeneration() != 3 || o.GetName() != "a" {
		t.Errorf("an object that lags became %+v, %v", observed, err)
	}
	if _, ok := first.(Observed); ok {
		t.Error("metadata has an observed generation")
	}
	if got, err := Transform("else"); err != nil || got != "else" {
		t.Errorf("Transform returned %v, %v for a string", got, err)
	}
}
