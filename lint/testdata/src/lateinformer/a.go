package lateinformer

import "k8s.io/client-go/informers"

func late(stop chan struct{}) {
	factory := informers.NewSharedInformerFactory(nil, 0)
	pods := factory.Core().V1().Pods()
	pods.Informer()
	factory.Start(stop)
	factory.Core().V1().Pods().Lister()
	factory.Core().V1().Nodes().Lister() // want `Core.V1.Nodes is requested after Start`
}

func again(stop chan struct{}) {
	factory := informers.NewSharedInformerFactory(nil, 0)
	factory.Start(stop)
	factory.Core().V1().Nodes().Informer()
	factory.Start(stop)
}

func passed(stop chan struct{}) {
	factory := informers.NewSharedInformerFactory(nil, 0)
	register(factory)
	factory.Start(stop)
	factory.Core().V1().Nodes().Informer()
}

func register(factory informers.SharedInformerFactory) { factory.Core().V1().Nodes().Informer() }

func given(stop chan struct{}, factory informers.SharedInformerFactory) {
	factory.Start(stop)
	factory.Core().V1().Nodes().Informer()
}
