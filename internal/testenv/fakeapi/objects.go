package fakeapi

import (
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Pod returns a Pod in the namespace default.
func Pod(name string, version int) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: "default", Name: name, UID: "uid", ResourceVersion: strconv.Itoa(version),
	}}
}

// PodList returns a list of Pods at a resource version.
func PodList(version int, pods ...*corev1.Pod) *corev1.PodList {
	list := &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: strconv.Itoa(version)}}
	for _, p := range pods {
		list.Items = append(list.Items, *p)
	}
	return list
}

// Bookmark returns the object of a bookmark event.
func Bookmark(version int) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{ResourceVersion: strconv.Itoa(version)}}
}

// EndOfList returns the object of the bookmark that ends the initial events of a streaming list.
func EndOfList(version int) *corev1.Pod {
	p := Bookmark(version)
	p.Annotations = map[string]string{metav1.InitialEventsAnnotationKey: "true"}
	return p
}
