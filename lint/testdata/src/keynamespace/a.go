package keynamespace

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
)

var (
	stored  = cache.NewStore(func(obj any) (string, error) { return obj.(*corev1.Pod).Name, nil }) // want `ignores the namespace`
	full    = cache.NewStore(fullName)
	node    = cache.NewStore(func(obj any) (string, error) { return obj.(*corev1.Node).Name, nil })
	indexer = cache.NewIndexer(name, nil)
)

func name(obj any) (string, error) { // want `ignores the namespace`
	return obj.(*corev1.Pod).GetName(), nil
}

func fullName(obj any) (string, error) {
	pod := obj.(*corev1.Pod)
	return pod.Namespace + "/" + pod.Name, nil
}
