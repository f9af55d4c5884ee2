package cachemutation

import (
	corev1 "k8s.io/api/core/v1"
	listers "k8s.io/client-go/listers/core/v1"
)

// volcano5683 updates what the lister returns, as in volcano-sh/volcano#5683.
func volcano5683(lister listers.PodNamespaceLister, updated *corev1.Pod) error {
	current, err := lister.Get(updated.Name)
	if err != nil {
		return err
	}
	current.Spec = updated.Spec     // want `changes an object of the cache`
	current.Status = updated.Status // want `changes an object of the cache`
	for k, v := range updated.Labels {
		current.Labels[k] = v // want `changes an object of the cache`
	}
	return nil
}

func volcano5683Fixed(lister listers.PodNamespaceLister, updated *corev1.Pod) error {
	cached, err := lister.Get(updated.Name)
	if err != nil {
		return err
	}
	current := cached.DeepCopy()
	current.Spec = updated.Spec
	for k, v := range updated.Labels {
		current.Labels[k] = v
	}
	return nil
}
