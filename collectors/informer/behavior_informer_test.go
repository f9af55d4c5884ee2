package informer_test

import (
	"context"
	"errors"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/internal/testenv/fakeapi"
)

// Setup, run and end of informers.
var informerBehaviors = map[string]behavior{
	"an informer that has been started cannot be changed any more": {func(s *stage) {
		inf := s.newInformer(cache.SharedIndexInformerOptions{})
		change := func() {
			s.note("SetTransform: %v", inf.SetTransform(func(obj any) (any, error) { return obj, nil }))
			s.note("SetWatchErrorHandler: %v", inf.SetWatchErrorHandler(func(*cache.Reflector, error) {}))
			s.note("SetWatchErrorHandlerWithContext: %v", inf.SetWatchErrorHandlerWithContext(func(context.Context, *cache.Reflector, error) {}))
			s.quiesce()
		}
		change()
		s.run(inf)
		change()
	}, []string{
		"SetTransform: <nil>", "SetWatchErrorHandler: <nil>", "SetWatchErrorHandlerWithContext: <nil>",
		"SetTransform: informer has already started", "SetWatchErrorHandler: informer has already started",
		"SetWatchErrorHandlerWithContext: informer has already started",
	}},
	"an informer that has ended stays so": {func(s *stage) {
		inf := s.newInformer(cache.SharedIndexInformerOptions{})
		early := s.add(inf, s.handler("early"))
		s.note("stopped %t", inf.IsStopped())
		_, stop := s.run(inf)
		s.quiesce()
		s.note("stopped %t", inf.IsStopped())
		stop()
		s.quiesce()
		_, err := inf.AddEventHandler(cache.FilteringResourceEventHandler{})
		s.note("stopped %t, add: %v, remove: %v", inf.IsStopped(), err, inf.RemoveEventHandler(early))
		s.note("indexers: %v, synced %t, %d objects", inf.AddIndexers(cache.Indexers{}), inf.HasSynced(), len(inf.GetStore().List()))
		inf.RunWithContext(s.Context())
	}, []string{
		"early adds a@7 initial=true", "early adds b@8 initial=true", "stopped false", "stopped false",
		"indexers: indexer was not added because it has stopped already, synced true, 2 objects",
		`log: "msg"="Warning: the sharedIndexInformer has started, run more than once is not allowed"`,
		"stopped true, add: handler {<nil> <nil>} was not added to shared informer because it has stopped already, remove: <nil>",
	}},
	"an informer is run once": {func(s *stage) {
		inf := s.newInformer(cache.SharedIndexInformerOptions{})
		stream, _ := s.run(inf)
		s.add(inf, s.handler("h"))
		s.quiesce()
		inf.RunWithContext(s.Context())
		inf.Run(nil)
		stream.Send(watch.Added, fakeapi.Pod("c", 11))
	}, []string{
		"h adds a@7 initial=true", "h adds b@8 initial=true", "h adds c@11 initial=false",
		`log: "msg"="Warning: the sharedIndexInformer has started, run more than once is not allowed"`,
		`log: "msg"="Warning: the sharedIndexInformer has started, run more than once is not allowed"`,
	}},
	"errors of lists reach the error handler as they are": {func(s *stage) {
		inf := s.newInformer(cache.SharedIndexInformerOptions{})
		failures := 2
		s.server.OnList = func(metav1.ListOptions) (runtime.Object, error) {
			if failures--; failures >= 0 {
				return nil, errTest
			}
			return fakeapi.PodList(10), nil
		}
		type key struct{}
		if err := inf.SetWatchErrorHandlerWithContext(func(ctx context.Context, r *cache.Reflector, err error) {
			s.note("%v %v, is it: %t, reflector of %s", ctx.Value(key{}), err, errors.Is(err, errTest), r.TypeDescription())
		}); err != nil {
			s.Error(err)
		}
		ctx, cancel := context.WithCancel(context.WithValue(s.Context(), key{}, "the caller's context:"))
		done := make(chan struct{})
		go func() { defer close(done); inf.RunWithContext(ctx) }()
		<-s.server.Streams
		cancel()
		<-done
	}, []string{
		"the caller's context: failed to list *v1.Pod: test, is it: true, reflector of *v1.Pod",
		"the caller's context: failed to list *v1.Pod: test, is it: true, reflector of *v1.Pod",
	}},
	"an informer that backs off can be ended": {func(s *stage) {
		inf := s.newInformer(cache.SharedIndexInformerOptions{})
		s.server.OnList = func(metav1.ListOptions) (runtime.Object, error) { return nil, errTest }
		s.add(inf, s.handler("h"))
		stop := start(s.T, inf)
		s.quiesce()
		began := time.Now()
		stop()
		s.note("took %v, synced %t", time.Since(began), inf.HasSynced())
	}, []string{"took 0s, synced false"}},
}
