package cachemutation

import (
	"sort"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/labels"
	listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/event"
)

type controller struct {
	pods    listers.PodLister
	indexer cache.Indexer
	limits  map[string]string
}

func (c *controller) fields(name string) {
	pod, err := c.pods.Pods("ns").Get(name)
	if err != nil {
		return
	}
	pod.Spec.NodeName = "n"              // want `changes an object of the cache`
	pod.Labels["seen"] = "true"          // want `changes an object of the cache`
	pod.Spec.Containers[0].Image = "new" // want `changes an object of the cache`
	spec := &pod.Spec
	spec.NodeName = "n"                           // want `changes an object of the cache`
	delete(pod.Annotations, "a")                  // want `delete changes an object of the cache`
	pod.SetLabels(nil)                            // want `SetLabels changes an object of the cache`
	controllerutil.AddFinalizer(pod, "f")         // want `AddFinalizer changes an object of the cache`
	sort.Strings(pod.Finalizers)                  // want `Strings changes an object of the cache`
	pod.Finalizers = append(pod.Finalizers, name) // want `this changes an object of the cache`
	accessor, _ := meta.Accessor(pod)
	accessor.SetResourceVersion("") // want `SetResourceVersion changes`
	accessor.GetLabels()["a"] = "b" // want `changes an object of the cache`
	relabel(pod)                    // want `relabel changes an object of the cache`
	deeper(pod)                     // want `deeper changes an object of the cache`
	read(pod)

	pod = pod.DeepCopy()
	pod.Spec.NodeName = "n"
	pod.Labels["seen"] = "true"
	relabel(pod)
}

func relabel(pod *corev1.Pod) { pod.Labels["a"] = "b" }

func deeper(pod *corev1.Pod) { relabel(pod) }

func read(pod *corev1.Pod) string {
	pod = pod.DeepCopy()
	pod.Name = "copy"
	return pod.Name
}

func (c *controller) lists() {
	pods, _ := c.pods.List(labels.Everything())
	sort.Slice(pods, func(i, j int) bool { return pods[i].Name < pods[j].Name })
	pods[0] = &corev1.Pod{}
	var mine []*corev1.Pod
	for _, pod := range pods {
		pod.Name = "x" // want `changes an object of the cache`
		mine = append(mine, pod)
		for _, container := range pod.Spec.Containers {
			container.Image = "local"
		}
		for i := range pod.Spec.Containers {
			pod.Spec.Containers[i].Image = "shared" // want `changes an object of the cache`
		}
	}
	mine[0].Name = "x" // want `changes an object of the cache`
	items, _ := c.indexer.ByIndex("node", "a")
	for _, item := range items {
		item.(*corev1.Pod).Name = "x" // want `changes an object of the cache`
	}
}

func (c *controller) shallow() {
	pod, _ := c.pods.Pods("ns").Get("a")
	other := *pod
	other.Name = "mine"
	other.Labels["a"] = "b" // want `changes an object of the cache`
	other.Annotations = map[string]string{}
	other.Annotations["a"] = "b"
	var third corev1.Pod
	pod.DeepCopyInto(&third)
	third.Labels["a"] = "b"
}

func (c *controller) maybe(copied bool) {
	pod, _ := c.pods.Pods("ns").Get("a")
	if copied {
		pod = pod.DeepCopy()
	}
	pod.Name = "not known"
	func() {
		pod.Name = "not known"
	}()
}

func (c *controller) captured() func() {
	pod, _ := c.pods.Pods("ns").Get("a")
	return func() {
		pod.Name = "x" // want `changes an object of the cache`
	}
}

func (c *controller) get(name string) (*corev1.Pod, error) {
	if name == "" {
		return nil, nil
	}
	return c.pods.Pods("ns").Get(name)
}

func (c *controller) throughHelper() {
	pod, _ := c.get("a")
	pod.Name = "x"     // want `changes an object of the cache`
	as(pod).Name = "x" // want `changes an object of the cache`
}

func as(obj any) *corev1.Pod {
	pod, ok := obj.(*corev1.Pod)
	if !ok {
		return nil
	}
	return pod
}

func (c *controller) register(informer cache.SharedIndexInformer) {
	informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: c.add,
		UpdateFunc: func(old, obj any) {
			pod := obj.(*corev1.Pod)
			pod.Name = "x" // want `changes an object of the cache`
			c.limits[pod.Name] = "mine"
		},
	})
	stored, _, _ := informer.GetStore().GetByKey("a")
	stored.(*corev1.Pod).Name = "x" // want `changes an object of the cache`
}

func (c *controller) add(obj any) {
	if pod, ok := obj.(*corev1.Pod); ok {
		pod.Name = "x" // want `changes an object of the cache`
	}
}

func (c *controller) update(e event.UpdateEvent) {
	e.ObjectNew.SetLabels(nil) // want `SetLabels changes an object of the cache`
	e.ObjectNew = nil
}

func (c *controller) generic(e event.GenericEvent) { e.Object.SetLabels(nil) }
