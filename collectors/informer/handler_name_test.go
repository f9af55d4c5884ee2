//go:build !clientgo_before_0_37

package informer_test

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/informer"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
)

type handlerType struct{}

func (*handlerType) OnAdd(any, bool)   {}
func (*handlerType) OnUpdate(any, any) {}
func (*handlerType) OnDelete(any)      {}

func (*handlerType) method(any) {}

// A handler is named after the code that its author would look for.
func TestHandlerNames(t *testing.T) {
	for _, c := range []struct {
		want string
		add  func(cache.TypedSharedIndexInformer[*corev1.Pod]) (cache.ResourceEventHandlerRegistration, error)
	}{
		{"given", func(i cache.TypedSharedIndexInformer[*corev1.Pod]) (cache.ResourceEventHandlerRegistration, error) {
			return i.AddEventHandler(informer.NamedHandler("given", &handlerType{}))
		}},
		{"\uFFFD", func(i cache.TypedSharedIndexInformer[*corev1.Pod]) (cache.ResourceEventHandlerRegistration, error) {
			return i.AddEventHandler(informer.NamedHandler("\xff", &handlerType{}))
		}},
		{"informer_test.handlerType", func(i cache.TypedSharedIndexInformer[*corev1.Pod]) (cache.ResourceEventHandlerRegistration, error) {
			return i.AddEventHandler(informer.NamedHandler("", &handlerType{}))
		}},
		{"informer_test.handlerType", func(i cache.TypedSharedIndexInformer[*corev1.Pod]) (cache.ResourceEventHandlerRegistration, error) {
			return i.AddEventHandler(&handlerType{})
		}},
		{"informer_test.(*handlerType)", func(i cache.TypedSharedIndexInformer[*corev1.Pod]) (cache.ResourceEventHandlerRegistration, error) {
			return i.AddEventHandler(cache.ResourceEventHandlerFuncs{DeleteFunc: (&handlerType{}).method})
		}},
		{"informer_test.addPointer", addPointer},
		{"informer_test.addDetailed", addDetailed},
		{"informer_test.addTyped", addTyped},
		{"informer_test.addFiltering", addFiltering},
	} {
		reg := prometheus.NewRegistry()
		obs, err := collectors.New(reg, collectors.Options{Name: "test"})
		if err != nil {
			t.Fatal(err)
		}
		inf := observertest.Keep(t, informer.NewSharedIndexInformer(obs, informer.ID{Resource: "pods"}, &cache.ListWatch{}, &corev1.Pod{}, cache.SharedIndexInformerOptions{}))
		if _, err := c.add(cache.NewTypedSharedIndexInformer[*corev1.Pod](inf)); err != nil {
			t.Fatal(err)
		}
		if got := informer.Statuses(obs)[0].Handlers[0].Name; got != c.want {
			t.Errorf("the handler is called %q, want %q", got, c.want)
		}
	}
}

func addPointer(i cache.TypedSharedIndexInformer[*corev1.Pod]) (cache.ResourceEventHandlerRegistration, error) {
	return i.AddEventHandler(&cache.ResourceEventHandlerFuncs{UpdateFunc: func(any, any) {}})
}

func addDetailed(i cache.TypedSharedIndexInformer[*corev1.Pod]) (cache.ResourceEventHandlerRegistration, error) {
	return i.AddEventHandlerWithOptions(cache.ResourceEventHandlerDetailedFuncs{AddFunc: func(any, bool) {}}, cache.HandlerOptions{})
}

func addTyped(i cache.TypedSharedIndexInformer[*corev1.Pod]) (cache.ResourceEventHandlerRegistration, error) {
	return i.AddTypedEventHandler(cache.TypedResourceEventHandlerFuncs[*corev1.Pod]{AddFunc: func(*corev1.Pod) {}})
}

func addFiltering(i cache.TypedSharedIndexInformer[*corev1.Pod]) (cache.ResourceEventHandlerRegistration, error) {
	return i.AddEventHandler(cache.FilteringResourceEventHandler{FilterFunc: func(any) bool { return true }, Handler: &handlerType{}})
}
