package cachemutation

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

func (c *controller) appends(pod *corev1.Pod) []corev1.Container {
	pod, _ = c.pods.Pods("ns").Get("a")
	all := append(pod.Spec.InitContainers, pod.Spec.Containers...) // want `append may write to the array`
	all = append(pod.Spec.InitContainers[:1:1], pod.Spec.Containers...)
	all = append(slices.Clip(pod.Spec.InitContainers), pod.Spec.Containers...)
	return append(all, pod.Spec.Containers...)
}
