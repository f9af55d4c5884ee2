package lateinformer

import (
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
)

// scheduler68 starts the factory before it requests informers, as before palantir/k8s-spark-scheduler#68.
func scheduler68(stop chan struct{}) {
	factory := informers.NewSharedInformerFactory(nil, 0)
	factory.Start(stop)
	nodes := factory.Core().V1().Nodes().Informer() // want `Core.V1.Nodes is requested after Start`
	cache.WaitForCacheSync(stop, nodes.HasSynced)
}

func scheduler68Fixed(stop chan struct{}) {
	factory := informers.NewSharedInformerFactory(nil, 0)
	nodes := factory.Core().V1().Nodes().Informer()
	factory.Start(stop)
	cache.WaitForCacheSync(stop, nodes.HasSynced)
}
