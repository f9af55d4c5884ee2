package tombstone

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
)

type controller struct{ keys []string }

func (c *controller) register(informer cache.SharedIndexInformer) {
	informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		DeleteFunc: func(obj any) { // want `does not expect cache.DeletedFinalStateUnknown`
			pod := obj.(*corev1.Pod)
			c.keys = append(c.keys, pod.Name)
		},
	})
	informer.AddEventHandler(cache.ResourceEventHandlerFuncs{DeleteFunc: c.lost})
	informer.AddEventHandler(cache.ResourceEventHandlerFuncs{DeleteFunc: c.byKey})
	informer.AddEventHandler(cache.ResourceEventHandlerFuncs{DeleteFunc: c.expected})
	informer.AddEventHandler(cache.ResourceEventHandlerFuncs{DeleteFunc: c.inHelper})
	informer.AddEventHandler(cache.ResourceEventHandlerFuncs{DeleteFunc: c.tombstoneKey})
	informer.AddEventHandler(cache.ResourceEventHandlerFuncs{DeleteFunc: func(any) {}})
	informer.AddEventHandler(&handler{})
}

func (c *controller) lost(obj any) { // want `does not expect cache.DeletedFinalStateUnknown`
	pod, ok := obj.(*corev1.Pod)
	if !ok {
		fmt.Println("unexpected", obj)
		return
	}
	c.keys = append(c.keys, pod.Name)
}

func (c *controller) byKey(obj any) { // want `does not expect cache.DeletedFinalStateUnknown`
	c.enqueue(obj)
}

func (c *controller) enqueue(obj any) {
	key, err := cache.MetaNamespaceKeyFunc(obj)
	if err == nil {
		c.keys = append(c.keys, key)
	}
}

func (c *controller) expected(obj any) {
	pod, ok := obj.(*corev1.Pod)
	if !ok {
		tombstone, ok := obj.(cache.DeletedFinalStateUnknown)
		if !ok {
			return
		}
		pod, _ = tombstone.Obj.(*corev1.Pod)
	}
	c.keys = append(c.keys, pod.Name)
}

func (c *controller) inHelper(obj any) { c.enqueue(unwrap(obj)) }

func unwrap(obj any) any {
	if tombstone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		return tombstone.Obj
	}
	return obj
}

func (c *controller) tombstoneKey(obj any) {
	key, _ := cache.DeletionHandlingMetaNamespaceKeyFunc(obj)
	c.keys = append(c.keys, key)
}

type handler struct{}

func (*handler) OnAdd(obj any, initial bool) {}
func (*handler) OnUpdate(old, obj any)       {}
func (*handler) OnDelete(obj any) { // want `does not expect cache.DeletedFinalStateUnknown`
	println(obj.(*corev1.Pod).Name)
}
