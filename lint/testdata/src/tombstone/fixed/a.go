// Package fixed has the handlers of Project-HAMi/HAMi-DRA#38 before and after.
package fixed

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
)

type usage struct{ pods map[string]bool }

func (u *usage) register(informer cache.SharedIndexInformer) {
	informer.AddEventHandler(cache.ResourceEventHandlerFuncs{DeleteFunc: u.onDelete})
	informer.AddEventHandler(cache.ResourceEventHandlerFuncs{DeleteFunc: u.onDeleteFixed})
}

func (u *usage) onDelete(obj interface{}) { // want `does not expect cache.DeletedFinalStateUnknown`
	pod, ok := obj.(*corev1.Pod)
	if !ok {
		return
	}
	delete(u.pods, pod.Name)
}

func (u *usage) onDeleteFixed(obj interface{}) {
	if unknown, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		obj = unknown.Obj
	}
	if pod, ok := obj.(*corev1.Pod); ok {
		delete(u.pods, pod.Name)
	}
}
