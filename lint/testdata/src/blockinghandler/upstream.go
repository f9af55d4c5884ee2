package blockinghandler

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

// serving823 reconciles secondary resources in the handler, as in knative/serving#823.
func (c *controller) serving823(informer cache.SharedIndexInformer) {
	informer.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: c.addRevision})
}

func (c *controller) addRevision(obj any) {
	pod, ok := obj.(*corev1.Pod)
	if !ok {
		return
	}
	c.updateConfiguration(pod.DeepCopy())
}

func (c *controller) updateConfiguration(pod *corev1.Pod) {
	c.pods.Update(context.Background(), pod, metav1.UpdateOptions{}) // want `Update blocks an event handler`
}

func (c *controller) serving823Fixed(informer cache.SharedIndexInformer) {
	informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(obj any) {
			if key, err := cache.MetaNamespaceKeyFunc(obj); err == nil {
				c.buffered <- key
			}
		},
	})
}
