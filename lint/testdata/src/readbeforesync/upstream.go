package readbeforesync

import (
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
)

// kyverno507 reads policies before the first sync, as in kyverno/kyverno#507.
func kyverno507(stop chan struct{}) error {
	factory := informers.NewSharedInformerFactory(nil, 0)
	policies := factory.Core().V1().Pods()
	lister := policies.Lister()
	factory.Start(stop)
	_, err := lister.List(labels.Everything()) // want `does not wait for their initial sync`
	return err
}

func kyverno507Fixed(stop chan struct{}) error {
	factory := informers.NewSharedInformerFactory(nil, 0)
	policies := factory.Core().V1().Pods()
	lister, synced := policies.Lister(), policies.Informer().HasSynced
	factory.Start(stop)
	if !cache.WaitForCacheSync(stop, synced) {
		return nil
	}
	_, err := lister.List(labels.Everything())
	return err
}
