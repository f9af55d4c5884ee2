package sharedtransform

import "k8s.io/client-go/tools/cache"

// koordinator1736 replaces the transform that it wants to add to, as koordinator-sh/koordinator#1736.
func koordinator1736(informer cache.SharedIndexInformer, transform cache.TransformFunc) {
	informer.SetTransform(transform)
	informer.SetTransform(strip) // want `already has a transform`
}

func koordinator1736Fixed(informer cache.SharedIndexInformer, transform cache.TransformFunc) {
	informer.SetTransform(func(obj any) (any, error) {
		obj, err := transform(obj)
		if err != nil {
			return nil, err
		}
		return strip(obj)
	})
}
