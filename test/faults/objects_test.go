package faults

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// create creates objects in the rig's namespace, bypassing the gate and the proxy.
func (r *rig) create(names ...string) {
	r.Helper()
	for _, name := range names {
		r.createWith(name, map[string]string{"some": "data"}) // without any, the server does not record the time of the write
	}
}

func (r *rig) createWith(name string, data map[string]string) {
	r.Helper()
	object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: data}
	if _, err := r.client.CoreV1().ConfigMaps(r.namespace).Create(r.Context(), object, metav1.CreateOptions{}); err != nil {
		r.Fatal(err)
	}
}

func (r *rig) update(name, value string) {
	r.Helper()
	patch := []byte(`{"data":{"value":"` + value + `"}}`)
	if _, err := r.client.CoreV1().ConfigMaps(r.namespace).Patch(r.Context(), name, "application/merge-patch+json", patch, metav1.PatchOptions{}); err != nil {
		r.Fatal(err)
	}
}

func (r *rig) delete(name string) {
	r.Helper()
	if err := r.client.CoreV1().ConfigMaps(r.namespace).Delete(r.Context(), name, metav1.DeleteOptions{}); err != nil {
		r.Fatal(err)
	}
}

// stored returns an object of the informer's store by name.
func (r *rig) stored(name string) *corev1.ConfigMap {
	r.Helper()
	obj, there, err := r.informer.GetStore().GetByKey(r.namespace + "/" + name)
	if err != nil || !there {
		r.Fatal(name, there, err)
	}
	return obj.(*corev1.ConfigMap)
}

// holds fails unless the store has exactly what the API server has, and the gauge matches.
func (r *rig) holds() {
	r.Helper()
	list, err := r.client.CoreV1().ConfigMaps(r.namespace).List(r.Context(), metav1.ListOptions{})
	if err != nil {
		r.Fatal(err)
	}
	r.is(r.now(), "objects", float64(len(list.Items)))
	stored := map[string]string{}
	for _, obj := range r.informer.GetStore().List() {
		stored[obj.(*corev1.ConfigMap).Name] = obj.(*corev1.ConfigMap).ResourceVersion
	}
	if len(stored) != len(list.Items) {
		r.Errorf("the API server has %d objects, the store %d", len(list.Items), len(stored))
	}
	for _, item := range list.Items {
		if stored[item.Name] != item.ResourceVersion {
			r.Errorf("%s has version %s, the store has %s", item.Name, item.ResourceVersion, stored[item.Name])
		}
	}
}
