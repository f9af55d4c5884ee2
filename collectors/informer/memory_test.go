package informer_test

import (
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/collectors/informer"
	"github.com/informer-exporter/informer-exporter/internal/testenv/fakeapi"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
)

// S51: the memory of caches is estimated by part, for all informers with the same labels, with an interval and only then.
func TestCacheBytes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		obs, reg := observertest.New(t)
		var fields metav1.FieldsV1 // NewFieldsV1 needs client-go 0.36
		if err := fields.UnmarshalJSON(make([]byte, 2<<10)); err != nil {
			t.Fatal(err)
		}
		run := func() {
			server := fakeapi.NewServer()
			server.OnList = func(metav1.ListOptions) (runtime.Object, error) {
				return &corev1.ConfigMapList{ListMeta: metav1.ListMeta{ResourceVersion: "10"}, Items: []corev1.ConfigMap{{
					ObjectMeta: metav1.ObjectMeta{Name: "a", ResourceVersion: "7", ManagedFields: []metav1.ManagedFieldsEntry{{FieldsV1: &fields}}},
					BinaryData: map[string][]byte{"k": make([]byte, 8<<10)},
				}}}, nil
			}
			inf := informer.NewSharedIndexInformer(obs, informer.ID{Resource: "configmaps"}, server, &corev1.ConfigMap{}, cache.SharedIndexInformerOptions{})
			t.Cleanup(start(t, inf))
			<-server.Streams
			time.Sleep(time.Hour)
			synctest.Wait()
		}
		bytes := func(part string) float64 {
			return metricstest.Gather(t, reg).Sum(catalog.InformerCacheBytes.Name, "informer_type", "configmaps", "part", part)
		}
		run()
		if n := metricstest.Gather(t, reg).Sum(catalog.InformerCacheBytes.Name); n != 0 {
			t.Errorf("%v bytes, although estimates are off", n)
		}
		if err := obs.SetChecks(collectors.Checks{Memory: 5 * time.Minute}); err != nil {
			t.Fatal(err)
		}
		for n := range 2 {
			run()
			for part, want := range map[string]float64{"managed_fields": 2 << 10, "data": 8 << 10, "metadata": 300, "spec": 0, "status": 0, "labels_annotations": 0} {
				want *= float64(n + 1)
				if got := bytes(part); got < want || got > 1.5*want+600 || want == 0 && got != 0 {
					t.Errorf("%d informers: %s is %v, want about %v", n+1, part, got, want)
				}
			}
		}
	})
}
