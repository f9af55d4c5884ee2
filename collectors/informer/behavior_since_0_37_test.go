//go:build !clientgo_before_0_37

package informer_test

import (
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/internal/testenv/fakeapi"
)

// newest reports whether this client-go is the newest supported version. Expected behavior is that of this version.
const newest = true

// behaviorsSince037 need functions that client-go has had since v0.37.
var behaviorsSince037 = map[string]behavior{
	"shutting a handler down waits for it": {func(s *stage) {
		inf := s.newInformer(cache.SharedIndexInformerOptions{})
		registration := s.add(inf, cache.ResourceEventHandlerFuncs{AddFunc: func(any) {
			time.Sleep(time.Minute)
			s.note("returns")
		}})
		s.run(inf)
		synctest.Wait()
		err := cache.ShutDownEventHandler(inf, registration)
		s.quiesce()
		s.note("shut down: %v", err)
	}, []string{"returns", "shut down: <nil>"}},
	"typed handlers, indexers and listers go through": {func(s *stage) {
		inf := cache.NewTypedSharedIndexInformer[*corev1.Pod](s.newInformer(cache.SharedIndexInformerOptions{Indexers: cache.Indexers{}}))
		s.server.OnList = func(metav1.ListOptions) (runtime.Object, error) {
			return fakeapi.PodList(10, podOn("x", "a", 7), podOn("y", "b", 8)), nil
		}
		byNode := func(p *corev1.Pod) ([]string, error) { return []string{p.Spec.NodeName}, nil }
		s.note("indexers: %v", inf.AddTypedIndexers(cache.TypedIndexers[*corev1.Pod]{"node": byNode}))
		registration, err := inf.AddTypedEventHandler(cache.TypedResourceEventHandlerDetailedFuncs[*corev1.Pod]{
			AddFunc: func(p *corev1.Pod, initial bool) { s.note("adds %s initial=%t", p.Name, initial) },
			UpdateFunc: func(oldPod, newPod *corev1.Pod) {
				s.note("updates %s to %s", oldPod.ResourceVersion, newPod.ResourceVersion)
			},
			DeleteFunc: func(d cache.DeletedObject[*corev1.Pod]) {
				s.note("deletes %s, unknown %t, %v", d.GetKey(), d.FinalStateUnknown != nil, d.OptionalObj.ResourceVersion)
			},
		}, cache.HandlerOptions{})
		s.note("handler: %v", err)
		_, err = inf.AddTypedEventHandler(cache.TypedResourceEventHandlerFuncs[*corev1.Pod]{}, cache.HandlerOptions{}, cache.HandlerOptions{})
		s.note("options twice: %v", err)
		stream, _ := s.run(inf)
		s.quiesce()
		i := inf.GetTypedIndexer()
		s.note("more indexers: %v", i.AddTypedIndexers(cache.TypedIndexers[*corev1.Pod]{"again": byNode}))
		s.note("on x: %s, %s", namesOf(i.ByTypedIndex("node", "x")), namesOf(i.TypedIndex("again", podOn("x", "", 0))))
		stream.Send(watch.Modified, podOn("x", "a", 11))
		stream.Send(watch.Deleted, podOn("x", "a", 12))
		s.quiesce()
		s.server.OnList = func(metav1.ListOptions) (runtime.Object, error) { return fakeapi.PodList(20), nil }
		stream.Fail(&metav1.Status{Code: 410, Reason: metav1.StatusReasonExpired})
		<-s.server.Streams
		s.quiesce()
		s.note("synced %t, removed: %v", registration.HasSynced(), inf.RemoveEventHandler(registration))
	}, []string{
		"adds a initial=true", "adds b initial=true", "handler: <nil>", "indexers: <nil>",
		"options twice: at most one HandlerOptions may be passed, got 2",
		"deletes default/a, unknown false, 12", "more indexers: <nil>", "on x: a, a", "updates 7 to 11",
		"deletes default/b, unknown true, 8",
		"synced true, removed: <nil>",
	}},
}

// addTypedRecorder adds a callRecorder as a typed handler.
func addTypedRecorder(inf cache.SharedIndexInformer, w *callRecorder) (cache.ResourceEventHandlerRegistration, error) {
	return cache.NewTypedSharedIndexInformer[*corev1.Pod](inf).AddTypedEventHandler(typedRecorder{w})
}

// typedRecorder is a callRecorder for client-go's typed handlers.
type typedRecorder struct{ *callRecorder }

var _ cache.TypedResourceEventHandler[*corev1.Pod] = typedRecorder{}

func (r typedRecorder) OnAdd(p *corev1.Pod, isInInitialList bool) {
	r.callRecorder.OnAdd(p, isInInitialList)
}

func (r typedRecorder) OnUpdate(oldPod, newPod *corev1.Pod) { r.callRecorder.OnUpdate(oldPod, newPod) }

func (r typedRecorder) OnDelete(deleted cache.DeletedObject[*corev1.Pod]) {
	if deleted.FinalStateUnknown != nil {
		r.callRecorder.OnDelete(*deleted.FinalStateUnknown)
		return
	}
	r.callRecorder.OnDelete(deleted.OptionalObj)
}
