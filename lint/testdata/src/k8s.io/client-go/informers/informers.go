package informers

import (
	"reflect"

	listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
)

type SharedInformerFactory interface {
	Start(stop <-chan struct{})
	Shutdown()
	WaitForCacheSync(stop <-chan struct{}) map[reflect.Type]bool
	Core() Interface
}

type Interface interface{ V1() Version }

type Version interface {
	Pods() PodInformer
	Nodes() PodInformer
}

type PodInformer interface {
	Informer() cache.SharedIndexInformer
	Lister() listers.PodLister
}

func NewSharedInformerFactory(client any, resync int) SharedInformerFactory { return nil }
