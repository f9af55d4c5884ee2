package sharedtransform

import (
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
)

func strip(obj any) (any, error) { return obj, nil }

func given(factory informers.SharedInformerFactory) {
	factory.Core().V1().Pods().Informer().SetTransform(strip) // want `SetTransform changes Core.V1.Pods for all users`
}

func twice() {
	factory := informers.NewSharedInformerFactory(nil, 0)
	factory.Core().V1().Pods().Informer().SetTransform(strip)
	factory.Core().V1().Nodes().Informer().SetTransform(strip)
	factory.Core().V1().Pods().Informer().SetTransform(strip) // want `already has a transform`
}

func own(informer cache.SharedIndexInformer) {
	informer.SetTransform(strip)
}
