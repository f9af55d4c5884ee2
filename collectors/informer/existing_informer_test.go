package informer_test

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/informer"
	"github.com/informer-exporter/informer-exporter/internal/testenv/fakeapi"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
)

// The connection of an existing informer to the API server cannot be observed. No state is reported for it. The store and
// the handlers are observed.
func TestInformersThatExist(t *testing.T) {
	for name, decorate := range map[string]func(*collectors.Observer, cache.SharedIndexInformer) cache.SharedIndexInformer{
		"Informer": func(o *collectors.Observer, inf cache.SharedIndexInformer) cache.SharedIndexInformer {
			return informer.Wrap(o, pods, inf)
		},
		"InformerFor": func(o *collectors.Observer, inf cache.SharedIndexInformer) cache.SharedIndexInformer {
			return informer.NewSharedInformerFactory(o, fake.NewClientset(), 0, informer.FactoryOptions{}).InformerFor(&corev1.Pod{},
				func(kubernetes.Interface, time.Duration) cache.SharedIndexInformer { return inf })
		},
	} {
		t.Run(name, func(t *testing.T) {
			obs, reg := observertest.New(t)
			server := fakeapi.NewServer()
			server.OnList = func(metav1.ListOptions) (runtime.Object, error) { return fakeapi.PodList(10, fakeapi.Pod("a", 7)), nil }
			inf := decorate(obs, cache.NewSharedIndexInformer(server, &corev1.Pod{}, 0, cache.Indexers{}))
			calls := make(chan string)
			addHandler(t, inf, informer.NamedHandler("h", cache.ResourceEventHandlerFuncs{
				AddFunc: func(obj any) { calls <- "add " + obj.(*corev1.Pod).Name },
			}))
			unknown := func() {
				t.Helper()
				s := metricstest.Take(t, reg)
				for series, value := range s {
					for _, prefix := range []string{
						"k8s_informer_watch_connected", "k8s_informer_sync_lag", "k8s_informer_last_event", "k8s_informer_resource_version{stage=received}",
					} {
						if strings.HasPrefix(series, prefix) {
							t.Errorf("%s %v is made up", series, value)
						}
					}
					for _, prefix := range []string{"k8s_informer_watch", "k8s_informer_list", "k8s_informer_relists", "k8s_informer_event_lag", "k8s_informer_coverage"} {
						if strings.HasPrefix(series, prefix) && value != 0 {
							t.Errorf("%s %v is made up", series, value)
						}
					}
				}
				if status := informer.Statuses(obs)[0]; status.Connection || status.Connected || status.SyncLag != 0 || !status.LastEvent.IsZero() || status.Received != 0 {
					t.Errorf("the status is %+v", status)
				}
			}
			unknown()
			start(t, inf)
			stream := <-server.Streams
			expect(t, calls, "add a")
			stream.Send(watch.Added, fakeapi.Pod("b", 11))
			metricstest.Eventually(t, reg, "the handler is called", func(s metricstest.Snapshot) bool {
				return s["k8s_informer_objects"] == 2
			})
			unknown() // with a handler that is busy
			expect(t, calls, "add b")
			_, _, _ = inf.GetStore().GetByKey("default/b")
			s := metricstest.Await(t, reg, metricstest.Snapshot{
				"k8s_informer_handler_duration_seconds_count{handler=h}": 2, "k8s_informer_synced": 1, "k8s_informer_objects": 2, "k8s_informer_handlers": 1, "k8s_informer_cache_hits_total": 1,
				"k8s_informer_handler_pending_events{handler=h}": 0, "k8s_informer_resource_version{stage=stored}": 11,
				"k8s_informer_sync_duration_seconds_count{result=success}": 1,
			})
			if s["k8s_informer_last_sync_duration_seconds"] <= 0 {
				t.Errorf("the sync took no time:\n%s", s)
			}
			stream.Close()
			<-server.Streams // opened again
			unknown()
		})
	}
}
