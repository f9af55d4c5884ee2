package transformresult

import (
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
)

var (
	count int
	names = map[string]bool{}
	mu    sync.Mutex
)

func register(informer cache.SharedIndexInformer) {
	total := 0
	informer.SetTransform(lost)
	informer.SetTransform(guarded)
	informer.SetTransform(locked)
	informer.SetTransform(func(obj any) (any, error) {
		total++                              // want `writes to a variable outside of it`
		count = total                        // want `writes to a variable outside of it`
		names[obj.(*corev1.Pod).Name] = true // want `writes to a map outside of it`
		return obj, nil
	})
}

func lost(obj any) (any, error) {
	if _, ok := obj.(*corev1.Pod); !ok {
		return nil, nil // want `returns nil without an error`
	}
	return obj, nil
}

func guarded(obj any) (any, error) {
	if obj == nil {
		return nil, nil
	}
	pod, ok := obj.(*corev1.Pod)
	if !ok {
		return nil, fmt.Errorf("unexpected %T", obj)
	}
	pod.Labels = nil
	return pod, nil
}

func locked(obj any) (any, error) {
	mu.Lock()
	defer mu.Unlock()
	count++
	return obj, nil
}
