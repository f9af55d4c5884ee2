package readbeforesync

import (
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
)

func early(stop chan struct{}, factory informers.SharedInformerFactory) {
	pods := factory.Core().V1().Pods().Lister()
	factory.Start(stop)
	pods.List(labels.Everything()) // want `does not wait for their initial sync`
}

func waiting(stop chan struct{}, factory informers.SharedInformerFactory) {
	pods := factory.Core().V1().Pods()
	informer := pods.Informer()
	factory.Start(stop)
	if !cache.WaitForCacheSync(stop, informer.HasSynced) {
		return
	}
	pods.Lister().List(labels.Everything())
}

func inHelper(stop chan struct{}, factory informers.SharedInformerFactory) {
	pods := factory.Core().V1().Pods().Lister()
	factory.Start(stop)
	waitForAll(factory)
	pods.List(labels.Everything())
}

func waitForAll(informers.SharedInformerFactory) {}

func later(stop chan struct{}, factory informers.SharedInformerFactory) func() {
	pods := factory.Core().V1().Pods().Lister()
	factory.Start(stop)
	return func() { pods.List(labels.Everything()) }
}
