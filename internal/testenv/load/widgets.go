package load

import (
	"context"
	"fmt"
	"math/rand/v2"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// Widgets is the resource of the demo controller.
var Widgets = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"}

// widgets are only written: the demo controller caches them.
func (l *Load) widgets() kind {
	client := l.options.Dynamic.Resource(Widgets)
	return kind{
		name: "widget",
		create: func(ctx context.Context, ns, name string) error {
			_, err := client.Namespace(ns).Create(ctx, Widget(name, map[string]any{"content": name, "failures": failures()}), metav1.CreateOptions{})
			return err
		},
		update: func(ctx context.Context, ns, name string) error {
			change := fmt.Appendf(nil, `{"spec":{"content":"%d","failures":%d}}`, rand.Uint64(), failures())
			_, err := client.Namespace(ns).Patch(ctx, name, types.MergePatchType, change, metav1.PatchOptions{})
			return err
		},
		delete: func(ctx context.Context, ns, name string) error {
			return client.Namespace(ns).Delete(ctx, name, metav1.DeleteOptions{})
		},
	}
}

// failures returns a random number of reconcile attempts that fail for a Widget: 0 for most, so that the error rate stays
// well below the threshold of its alert.
func failures() int64 { return max(0, rand.Int64N(100)-96) }

// Widget returns a Widget with a spec as in examples/controller/widgets.yaml.
func Widget(name string, spec map[string]any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": Widgets.GroupVersion().String(),
		"kind":       "Widget",
		"metadata":   map[string]any{"name": name},
		"spec":       spec,
	}}
}
