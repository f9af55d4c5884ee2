package keynamespace

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
)

// byName stores objects by name only, as the reflector of kubernetes/kubernetes#2294.
func byName() cache.Store {
	return cache.NewStore(func(obj any) (string, error) { // want `ignores the namespace`
		pod := obj.(*corev1.Pod)
		return pod.Name, nil
	})
}

func byNameFixed() cache.Store { return cache.NewStore(cache.MetaNamespaceKeyFunc) }
