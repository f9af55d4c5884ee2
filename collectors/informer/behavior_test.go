package informer_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/go-logr/logr/funcr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/informer-exporter/informer-exporter/collectors/informer"
	"github.com/informer-exporter/informer-exporter/collectors/internal/rv"
	"github.com/informer-exporter/informer-exporter/internal/testenv/fakeapi"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
)

// stage is the fixture of a scenario: an informer, plain or decorated, and a log of its observable behavior.
type stage struct {
	*testing.T
	server      *fakeapi.Server
	newInformer func(cache.SharedIndexInformerOptions) cache.SharedIndexInformer

	mu    sync.Mutex
	diary []string
	// settled is the number of log entries that are in their final order.
	settled int
}

func (s *stage) note(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.diary = append(s.diary, fmt.Sprintf(format, args...))
}

// quiesce waits until all goroutines are blocked, and sorts the entries that handlers have written concurrently.
func (s *stage) quiesce() {
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	slices.Sort(s.diary[s.settled:])
	s.settled = len(s.diary)
}

// handler records its calls under a name.
func (s *stage) handler(name string) cache.ResourceEventHandlerDetailedFuncs {
	describe := func(obj any) string {
		if unknown, ok := obj.(cache.DeletedFinalStateUnknown); ok {
			return "unknown " + unknown.Key + "@" + rv.Of(unknown.Obj)
		}
		p := obj.(*corev1.Pod)
		return p.Name + "@" + p.ResourceVersion
	}
	return cache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(obj any, initial bool) { s.note("%s adds %s initial=%t", name, describe(obj), initial) },
		UpdateFunc: func(oldObj, newObj any) {
			s.note("%s updates %s to %s same=%t", name, describe(oldObj), describe(newObj), oldObj == newObj)
		},
		DeleteFunc: func(obj any) { s.note("%s deletes %s", name, describe(obj)) },
	}
}

func (s *stage) add(inf cache.SharedInformer, h cache.ResourceEventHandler) cache.ResourceEventHandlerRegistration {
	registration, err := inf.AddEventHandler(h)
	if err != nil {
		s.Error(err)
	}
	return registration
}

// run runs an informer and returns its first watch.
func (s *stage) run(inf cache.SharedInformer) (stream *fakeapi.Stream, stop func()) {
	stop = start(s.T, inf)
	return <-s.server.Streams, stop
}

// show runs a scenario with a plain or a decorated informer and returns the log.
func show(t *testing.T, story func(*stage), decorated bool) (diary []string) {
	synctest.Test(t, func(t *testing.T) {
		s := &stage{T: t, server: fakeapi.NewServer()}
		s.server.OnList = func(metav1.ListOptions) (runtime.Object, error) {
			return fakeapi.PodList(10, fakeapi.Pod("a", 7), fakeapi.Pod("b", 8)), nil
		}
		obs, _ := observertest.New(t)
		s.newInformer = func(options cache.SharedIndexInformerOptions) cache.SharedIndexInformer {
			if decorated {
				return informer.NewSharedIndexInformer(obs, pods, s.server, &corev1.Pod{}, options)
			}
			return cache.NewSharedIndexInformerWithOptions(s.server, &corev1.Pod{}, options)
		}
		logger := funcr.New(func(_, args string) {
			if at := strings.Index(args, `"msg"="Warning`); at >= 0 {
				s.note("log: %s", args[at:])
			}
		}, funcr.Options{})
		klog.SetLogger(logger)
		defer klog.ClearLogger()
		story(s)
		s.quiesce()
		diary = s.diary
	})
	return diary
}

// A decorated informer behaves like a plain one in each scenario. The expected logs are those of the newest client-go.
func TestDecoratedInformersBehaveAsPlainOnes(t *testing.T) {
	surviveHandlers(t)
	for name, b := range merged(handlerBehaviors, informerBehaviors, storeBehaviors, behaviorsSince036, behaviorsSince037) {
		t.Run(name, func(t *testing.T) {
			plain, decorated := show(t, b.story, false), show(t, b.story, true)
			if newest && !slices.Equal(plain, b.want) {
				t.Errorf("client-go does:\n\t%s\nwanted:\n\t%s", strings.Join(plain, "\n\t"), strings.Join(b.want, "\n\t"))
			}
			if !slices.Equal(plain, decorated) {
				t.Errorf("decorated:\n\t%s\nplain:\n\t%s", strings.Join(decorated, "\n\t"), strings.Join(plain, "\n\t"))
			}
		})
	}
}

func merged(tables ...map[string]behavior) map[string]behavior {
	all := map[string]behavior{}
	for _, table := range tables {
		maps.Copy(all, table)
	}
	return all
}

// behavior is a scenario and the expected log.
type behavior struct {
	story func(*stage)
	want  []string
}
