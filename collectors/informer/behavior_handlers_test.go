package informer_test

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/internal/testenv/fakeapi"
)

// Calls, registration and removal of handlers.
var handlerBehaviors = map[string]behavior{
	"handlers get all objects, added before the start or after": {func(s *stage) {
		inf := s.newInformer(cache.SharedIndexInformerOptions{})
		s.add(inf, s.handler("early"))
		stream, _ := s.run(inf)
		s.quiesce()
		stream.Send(watch.Added, fakeapi.Pod("c", 11))
		s.quiesce()
		s.add(inf, s.handler("late"))
		s.quiesce()
		stream.Send(watch.Deleted, fakeapi.Pod("a", 12))
	}, []string{
		"early adds a@7 initial=true", "early adds b@8 initial=true",
		"early adds c@11 initial=false",
		"late adds a@7 initial=true", "late adds b@8 initial=true", "late adds c@11 initial=true",
		"early deletes a@12", "late deletes a@12",
	}},
	"a handler that is removed gets what it is busy with, and nothing more": {func(s *stage) {
		inf := s.newInformer(cache.SharedIndexInformerOptions{})
		release := make(chan struct{})
		busy := s.add(inf, cache.ResourceEventHandlerFuncs{AddFunc: func(obj any) {
			<-release
			s.note("busy got an object")
		}})
		s.add(inf, s.handler("other"))
		stream, _ := s.run(inf)
		s.quiesce()
		for range 2 {
			s.note("removed: %v", inf.RemoveEventHandler(busy))
		}
		stream.Send(watch.Added, fakeapi.Pod("c", 11))
		s.quiesce()
		close(release)
		s.quiesce()
		s.note("removed: %v", inf.RemoveEventHandler(busy))
	}, []string{
		"other adds a@7 initial=true", "other adds b@8 initial=true",
		"other adds c@11 initial=false", "removed: <nil>", "removed: <nil>",
		"busy got an object", "removed: <nil>",
	}},
	"a handler can add and remove handlers": {func(s *stage) {
		inf := s.newInformer(cache.SharedIndexInformerOptions{})
		var once cache.ResourceEventHandlerRegistration
		once = s.add(inf, cache.ResourceEventHandlerFuncs{AddFunc: func(obj any) {
			s.note("once adds %s: %v", obj.(*corev1.Pod).Name, inf.RemoveEventHandler(once))
			s.add(inf, s.handler("second"))
		}})
		s.server.OnList = nil
		stream, _ := s.run(inf)
		stream.Send(watch.Added, fakeapi.Pod("a", 11))
		s.quiesce()
		stream.Send(watch.Added, fakeapi.Pod("b", 12))
	}, []string{"once adds a: <nil>", "second adds a@11 initial=true", "second adds b@12 initial=false"}},
	"an informer ignores registrations of other informers": {func(s *stage) {
		inf, other := s.newInformer(cache.SharedIndexInformerOptions{}), s.newInformer(cache.SharedIndexInformerOptions{})
		registration := s.add(other, s.handler("other"))
		s.add(inf, s.handler("own"))
		s.note("removed from the wrong one: %v", inf.RemoveEventHandler(registration))
		s.note("removed nothing: %t", inf.RemoveEventHandler(nil) != nil)
		s.note("not synced: %t", !registration.HasSynced())
		s.run(other)
		s.quiesce()
		s.run(inf)
	}, []string{
		"not synced: true", "other adds a@7 initial=true", "other adds b@8 initial=true", "removed from the wrong one: <nil>", "removed nothing: true",
		"own adds a@7 initial=true", "own adds b@8 initial=true",
	}},
	"one handler can be registered twice": {func(s *stage) {
		inf := s.newInformer(cache.SharedIndexInformerOptions{})
		h := s.handler("h")
		first, second := s.add(inf, h), s.add(inf, &h)
		s.note("different: %t", first != second)
		s.note("removed: %v", inf.RemoveEventHandler(first))
		s.run(inf)
	}, []string{"different: true", "h adds a@7 initial=true", "h adds b@8 initial=true", "removed: <nil>"}},
	"resyncs are updates of the same object": {func(s *stage) {
		inf := s.newInformer(cache.SharedIndexInformerOptions{ResyncPeriod: time.Hour})
		s.add(inf, s.handler("hourly"))
		minute, second, never := time.Minute, time.Millisecond, time.Duration(0)
		for name, period := range map[string]*time.Duration{"minute": &minute, "never": &never} {
			if _, err := inf.AddEventHandlerWithOptions(s.handler(name), cache.HandlerOptions{ResyncPeriod: period}); err != nil {
				s.Error(err)
			}
		}
		s.server.OnList = func(metav1.ListOptions) (runtime.Object, error) { return fakeapi.PodList(10, fakeapi.Pod("a", 7)), nil }
		s.run(inf)
		s.quiesce()
		if _, err := inf.AddEventHandlerWithResyncPeriod(s.handler("late"), second); err != nil {
			s.Error(err)
		}
		time.Sleep(2*time.Minute + time.Second)
	}, []string{
		"hourly adds a@7 initial=true", "minute adds a@7 initial=true", "never adds a@7 initial=true",
		"late adds a@7 initial=true",
		"late updates a@7 to a@7 same=true", "late updates a@7 to a@7 same=true",
		`log: "msg"="Warning: resync period is smaller than resync check period and the informer has already started. Changing it to the resync check period" "resyncPeriod"="1s" "resyncCheckPeriod"="1m0s"`,
		`log: "msg"="Warning: resync period is too small. Changing it to the minimum allowed value" "resyncPeriod"="1ms" "minimumResyncPeriod"="1s"`,
		"minute updates a@7 to a@7 same=true", "minute updates a@7 to a@7 same=true",
	}},
	"an object that a relist lacks has been deleted in an unknown state": {func(s *stage) {
		inf := s.newInformer(cache.SharedIndexInformerOptions{})
		s.add(inf, s.handler("h"))
		stream, _ := s.run(inf)
		s.quiesce()
		s.server.OnList = func(metav1.ListOptions) (runtime.Object, error) {
			return fakeapi.PodList(20, fakeapi.Pod("b", 8), fakeapi.Pod("c", 15)), nil
		}
		stream.Fail(&metav1.Status{Code: 410, Reason: metav1.StatusReasonExpired})
		<-s.server.Streams
	}, []string{
		"h adds a@7 initial=true", "h adds b@8 initial=true",
		"h adds c@15 initial=false", "h deletes unknown default/a@7", "h updates b@8 to b@8 same=false",
	}},
	"a handler that panics continues with the next object": {func(s *stage) {
		inf := s.newInformer(cache.SharedIndexInformerOptions{})
		registration := s.add(inf, cache.ResourceEventHandlerFuncs{AddFunc: func(obj any) {
			s.note("panics at %s", obj.(*corev1.Pod).Name)
			panic("at an object")
		}})
		s.add(inf, s.handler("other"))
		began := time.Now()
		s.run(inf)
		time.Sleep(time.Minute)
		s.quiesce()
		s.note("synced %t, registration %t, %v later", inf.HasSynced(), registration.HasSynced(), time.Since(began))
	}, []string{
		"other adds a@7 initial=true", "other adds b@8 initial=true", "panics at a", "panics at b",
		"synced true, registration false, 1m0s later",
	}},
}
