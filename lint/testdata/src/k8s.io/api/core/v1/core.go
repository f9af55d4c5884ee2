package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

type Container struct{ Name, Image string }

type PodSpec struct {
	Containers     []Container
	InitContainers []Container
	NodeName       string
}

type PodStatus struct {
	Phase string
	Since *metav1.Time
}

type Pod struct {
	metav1.ObjectMeta
	Spec   PodSpec
	Status PodStatus
}

func (p *Pod) DeepCopy() *Pod { c := *p; return &c }

func (p *Pod) DeepCopyInto(out *Pod) { *out = *p }

type Node struct {
	metav1.ObjectMeta
	Status PodStatus
}
