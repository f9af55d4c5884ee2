package informer_test

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/collectors/internal/rv"
)

// callRecorder is a handler that records its calls.
type callRecorder struct {
	began        time.Time
	registration cache.ResourceEventHandlerRegistration
	// delay is the duration of each call.
	delay time.Duration
	// panics reports whether it panics at a version, nil for never.
	panics func(version string) bool

	mu    sync.Mutex
	calls []recordedCall
}

type recordedCall struct {
	at        time.Duration
	key, what string
}

func (r *callRecorder) record(obj any, format string, args ...any) {
	key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(obj)
	if err != nil {
		key = err.Error()
	}
	r.mu.Lock()
	r.calls = append(r.calls, recordedCall{time.Since(r.began), key, fmt.Sprintf(format, args...)})
	r.mu.Unlock()
	time.Sleep(r.delay)
	if r.panics != nil && r.panics(rv.Of(obj)) {
		panic("a handler's own")
	}
}

func (r *callRecorder) OnAdd(obj any, isInInitialList bool) {
	r.record(obj, "add %s initial=%t %v", rv.Of(obj), isInInitialList, obj.(*corev1.Pod).Labels)
}

func (r *callRecorder) OnUpdate(oldObj, newObj any) {
	r.record(newObj, "update %s -> %s same=%t", rv.Of(oldObj), rv.Of(newObj), oldObj == newObj)
}

func (r *callRecorder) OnDelete(obj any) {
	if unknown, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		r.record(obj, "delete unknown %s", rv.Of(unknown.Obj))
		return
	}
	r.record(obj, "delete %s", rv.Of(obj))
}

// inOrder returns the calls in order. client-go passes some objects at the same time, in the order of a map; calls at the same
// time are therefore sorted by key. A handler that is slow, or waits after a panic, receives such objects one after the other:
// all of its calls are sorted by key, without their times.
func (r *callRecorder) inOrder() []string {
	slow := r.delay > 0 || r.panics != nil
	slices.SortStableFunc(r.calls, func(a, b recordedCall) int {
		if slow {
			return cmp.Compare(a.key, b.key)
		}
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.key, b.key))
	})
	var list []string
	for _, c := range r.calls {
		if slow {
			list = append(list, c.key+" "+c.what)
		} else {
			list = append(list, fmt.Sprint(c.at, " ", c.key, " ", c.what))
		}
	}
	return list
}
