package objects

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// unkept has the methods of metav1.Object for fields that are not kept. It has no size, unlike a pointer to an empty
// ObjectMeta. Objects in a cache must not be changed: the setters do nothing.
type unkept struct{}

func (unkept) GetGenerateName() string                       { return "" }
func (unkept) GetSelfLink() string                           { return "" }
func (unkept) GetCreationTimestamp() metav1.Time             { return metav1.Time{} }
func (unkept) GetDeletionGracePeriodSeconds() *int64         { return nil }
func (unkept) GetLabels() map[string]string                  { return nil }
func (unkept) GetAnnotations() map[string]string             { return nil }
func (unkept) GetOwnerReferences() []metav1.OwnerReference   { return nil }
func (unkept) GetManagedFields() []metav1.ManagedFieldsEntry { return nil }
func (unkept) SetNamespace(string)                           {}
func (unkept) SetName(string)                                {}
func (unkept) SetGenerateName(string)                        {}
func (unkept) SetUID(types.UID)                              {}
func (unkept) SetResourceVersion(string)                     {}
func (unkept) SetGeneration(int64)                           {}
func (unkept) SetSelfLink(string)                            {}
func (unkept) SetCreationTimestamp(metav1.Time)              {}
func (unkept) SetDeletionTimestamp(*metav1.Time)             {}
func (unkept) SetDeletionGracePeriodSeconds(*int64)          {}
func (unkept) SetLabels(map[string]string)                   {}
func (unkept) SetAnnotations(map[string]string)              {}
func (unkept) SetFinalizers([]string)                        {}
func (unkept) SetOwnerReferences([]metav1.OwnerReference)    {}
func (unkept) SetManagedFields([]metav1.ManagedFieldsEntry)  {}
