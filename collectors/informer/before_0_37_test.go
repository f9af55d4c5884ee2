//go:build clientgo_before_0_37

package informer_test

import "k8s.io/client-go/tools/cache"

const newest = false

var behaviorsSince037 map[string]behavior

func addTypedRecorder(inf cache.SharedIndexInformer, w *callRecorder) (cache.ResourceEventHandlerRegistration, error) {
	return inf.AddEventHandler(w)
}
