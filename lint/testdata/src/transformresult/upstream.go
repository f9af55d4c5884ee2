package transformresult

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
)

// filter returns nil for objects that it wants to keep out of the cache, as in kubernetes/kubernetes#122107.
func filter(informer cache.SharedIndexInformer) {
	informer.SetTransform(func(obj any) (any, error) {
		if pod, ok := obj.(*corev1.Pod); ok && pod.Labels["wanted"] == "" {
			return nil, nil // want `returns nil without an error`
		}
		return obj, nil
	})
}

func filterFixed(informer cache.SharedIndexInformer) {
	informer.SetTransform(func(obj any) (any, error) {
		if pod, ok := obj.(*corev1.Pod); ok && pod.Labels["wanted"] == "" {
			return &corev1.Pod{ObjectMeta: pod.ObjectMeta}, nil
		}
		return obj, nil
	})
}
