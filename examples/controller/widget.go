package main

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var widgets = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"}

// finalizer blocks the deletion of a Widget until its ConfigMap is deleted.
const finalizer = "example.com/config-map"

// Widget is the type that widgets.yaml defines.
type Widget struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`

	Spec   WidgetSpec   `json:"spec"`
	Status WidgetStatus `json:"status"`
}

// WidgetSpec is the desired state.
type WidgetSpec struct {
	Content  string `json:"content"`
	Failures int    `json:"failures"`
	Fail     string `json:"fail"`
	Loop     bool   `json:"loop"`
	Cleanup  string `json:"cleanup"`
}

// WidgetStatus is the observed state.
type WidgetStatus struct {
	ObservedGeneration int64  `json:"observedGeneration"`
	Phase              string `json:"phase"`
	Reconciled         string `json:"reconciled,omitempty"`
}

// widgetOf returns a copy of a Widget from the cache. Objects in the cache must not be changed.
func widgetOf(cached runtime.Object) (*Widget, error) {
	u, ok := cached.(*unstructured.Unstructured)
	if !ok {
		return nil, fmt.Errorf("want a Widget, got a %T", cached)
	}
	w := &Widget{}
	return w, runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, w)
}

// unstructured returns the Widget in the form that the dynamic client requires.
func (w *Widget) unstructured() (*unstructured.Unstructured, error) {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(w)
	return &unstructured.Unstructured{Object: content}, err
}
