package load

import (
	"fmt"
	"math/rand/v2"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// kind is a kind of objects.
type kind struct {
	resource schema.GroupVersionResource
	object   func(name string) *unstructured.Unstructured
	// change returns a merge patch, which always changes the object.
	change func() string
}

// podSpec is a minimal PodSpec. The Pods never run, because the control plane has no scheduler.
var podSpec = map[string]any{"containers": []any{map[string]any{"name": "none", "image": "example.com/none"}}}

var (
	pods = kind{
		resource: corev1.SchemeGroupVersion.WithResource("pods"),
		object:   func(name string) *unstructured.Unstructured { return object("v1", "Pod", name, "spec", podSpec) },
		change:   annotation,
	}
	configMaps = kind{
		resource: corev1.SchemeGroupVersion.WithResource("configmaps"),
		object: func(name string) *unstructured.Unstructured {
			return object("v1", "ConfigMap", name, "data", map[string]any{"key": "value"})
		},
		change: annotation,
	}
	deployments = kind{
		resource: appsv1.SchemeGroupVersion.WithResource("deployments"),
		object: func(name string) *unstructured.Unstructured {
			selected := map[string]any{"app.kubernetes.io/name": name}
			return object("apps/v1", "Deployment", name, "spec", map[string]any{
				"replicas": int64(1),
				"selector": map[string]any{"matchLabels": selected},
				"template": map[string]any{"metadata": map[string]any{"labels": selected}, "spec": podSpec},
			})
		},
		change: func() string { return fmt.Sprintf(`{"spec":{"replicas":%d}}`, 1+rand.IntN(3)) },
	}
	widgets = kind{
		resource: Widgets,
		object: func(name string) *unstructured.Unstructured {
			return Widget(name, map[string]any{"content": name, "failures": failures()})
		},
		change: func() string {
			return fmt.Sprintf(`{"spec":{"content":"%d","failures":%d}}`, rand.Uint64(), failures())
		},
	}
)

// object returns an object with the contents of one field.
func object(version, kind, name, field string, contents map[string]any) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": version, "kind": kind, field: contents}}
	o.SetName(name)
	o.SetLabels(map[string]string{"app.kubernetes.io/managed-by": "load"})
	return o
}

func annotation() string {
	return fmt.Sprintf(`{"metadata":{"annotations":{"load/turn":"%d"}}}`, rand.Uint64())
}

// Widgets is the resource of the demo controller.
var Widgets = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"}

// failures returns a random number of reconcile attempts that fail for a Widget: 0 for most, so that the error rate stays
// well below the threshold of its alert.
func failures() int64 { return max(0, rand.Int64N(100)-96) }

// Widget returns a Widget with a spec as in examples/controller/widgets.yaml.
func Widget(name string, spec map[string]any) *unstructured.Unstructured {
	return object(Widgets.GroupVersion().String(), "Widget", name, "spec", spec)
}
