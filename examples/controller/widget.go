package main

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var widgets = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"}

// finalizer holds a Widget back until its ConfigMap is gone.
const finalizer = "example.com/config-map"

// Widget is what widgets.yaml defines.
type Widget struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`

	Spec   WidgetSpec   `json:"spec"`
	Status WidgetStatus `json:"status"`
}

// WidgetSpec is what is wanted.
type WidgetSpec struct {
	Content  string `json:"content"`
	Failures int    `json:"failures"`
	Fail     string `json:"fail"`
	CleanUp  string `json:"cleanUp"`
}

// WidgetStatus is what there is.
type WidgetStatus struct {
	ObservedGeneration int64  `json:"observedGeneration"`
	Phase              string `json:"phase"`
}

// widgetOf copies a Widget out of the cache, whose objects belong to everybody.
func widgetOf(cached runtime.Object) (*Widget, error) {
	u, ok := cached.(*unstructured.Unstructured)
	if !ok {
		return nil, fmt.Errorf("the cache of widgets holds a %T", cached)
	}
	w := &Widget{}
	return w, runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, w)
}

// unstructured is what the dynamic client takes.
func (w *Widget) unstructured() (*unstructured.Unstructured, error) {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(w)
	return &unstructured.Unstructured{Object: content}, err
}
