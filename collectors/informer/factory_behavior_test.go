//go:build !clientgo_before_0_36

package informer_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/collectors/informer"
	"github.com/informer-exporter/informer-exporter/internal/testenv/fakeapi"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
)

// TestFactoryBehavesAsClientGos compares the observable behavior of client-go's factory and of a decorated one.
func TestFactoryBehavesAsClientGos(t *testing.T) {
	want := []string{
		"the same informer: true",
		"nothing to wait for: map[]",
		"started twice: *v1.Pod=true",
		"asked for since then: synced false, *v1.Pod=true",
		"started again: *v1.Node=true *v1.Pod=true",
		"with a context: *v1.Node=true *v1.Pod=true, <nil>",
		"by resource: true, <nil>",
		"no such resource: no informer found for /v1, Resource=nothings",
		"context ended: *v1.Node=true *v1.Pod=true *v1.Secret=false, failed to sync all caches: *v1.Secret: test",
		"Shutdown waits: true",
		"Shutdown has waited: true",
		"started after that: false",
		"stopped: true",
	}
	for _, decorated := range []bool{false, true} {
		t.Run(fmt.Sprintf("decorated=%t", decorated), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var diary []string
				note := func(format string, args ...any) { diary = append(diary, fmt.Sprintf(format, args...)) }
				client := fake.NewClientset(fakeapi.Pod("a", 1))
				f := informers.NewSharedInformerFactory(client, 0)
				if decorated {
					obs, _ := observertest.New(t)
					f = informer.NewSharedInformerFactory(obs, client, 0, informer.FactoryOptions{})
				}
				playFactory(t, f, note)
				if !slices.Equal(diary, want) {
					t.Errorf("the factory does:\n\t%s\nwanted:\n\t%s", strings.Join(diary, "\n\t"), strings.Join(want, "\n\t"))
				}
			})
		})
	}
}

func playFactory(t *testing.T, f informers.SharedInformerFactory, note func(string, ...any)) {
	release := make(chan struct{})
	podInformer := f.Core().V1().Pods().Informer()
	addHandler(t, podInformer, cache.ResourceEventHandlerFuncs{AddFunc: func(any) { <-release }})
	again := f.InformerFor(&corev1.Pod{}, func(kubernetes.Interface, time.Duration) cache.SharedIndexInformer {
		t.Error("a second informer was asked for")
		return nil
	})
	note("the same informer: %t", again.GetIndexer() == podInformer.GetIndexer())
	never := make(chan struct{})
	note("nothing to wait for: %v", f.WaitForCacheSync(never))

	ctx, cancel := context.WithCancel(t.Context())
	f.Start(ctx.Done())
	f.StartWithContext(ctx)
	note("started twice: %s", syncedTypes(f.WaitForCacheSync(never)))
	nodes := f.Core().V1().Nodes().Informer()
	synctest.Wait()
	note("asked for since then: synced %t, %s", nodes.HasSynced(), syncedTypes(f.WaitForCacheSync(never)))
	f.StartWithContext(ctx)
	note("started again: %s", syncedTypes(f.WaitForCacheSync(never)))
	result := f.WaitForCacheSyncWithContext(ctx)
	note("with a context: %s, %v", syncedTypes(result.Synced), result.AsError())
	generic, err := f.ForResource(podsResource)
	note("by resource: %t, %v", generic.Informer().GetIndexer() == podInformer.GetIndexer(), err)
	_, err = f.ForResource(schema.GroupVersionResource{Version: "v1", Resource: "nothings"})
	note("no such resource: %v", err)

	f.InformerFor(&corev1.Secret{}, func(kubernetes.Interface, time.Duration) cache.SharedIndexInformer {
		failing := fakeapi.NewServer()
		failing.OnList = func(metav1.ListOptions) (runtime.Object, error) { return nil, errTest }
		return cache.NewSharedIndexInformer(failing, &corev1.Secret{}, 0, cache.Indexers{})
	})
	f.StartWithContext(ctx)
	waiting, giveUp := context.WithCancelCause(ctx)
	giveUp(errTest)
	result = f.WaitForCacheSyncWithContext(waiting)
	if !errors.Is(result.AsError(), errTest) {
		t.Errorf("the cause is lost: %v", result.AsError())
	}
	note("context ended: %s, %v", syncedTypes(result.Synced), result.AsError())

	down := make(chan struct{})
	go func() { f.Shutdown(); close(down) }()
	cancel()
	synctest.Wait()
	select {
	case <-down:
		note("Shutdown waits: false")
	default:
		note("Shutdown waits: true")
	}
	close(release)
	<-down
	f.Shutdown()
	note("Shutdown has waited: %t", podInformer.IsStopped() && nodes.IsStopped())
	services := f.Core().V1().Services().Informer()
	f.Start(never)
	synctest.Wait()
	note("started after that: %t", services.HasSynced())
	note("stopped: %t", podInformer.IsStopped())
}

// syncedTypes formats which types have synced.
func syncedTypes(synced map[reflect.Type]bool) string {
	var list []string
	for t, ok := range synced {
		list = append(list, fmt.Sprintf("%v=%t", t, ok))
	}
	slices.Sort(list)
	return strings.Join(list, " ")
}
