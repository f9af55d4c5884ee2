//go:build !clientgo_before_0_36

package informer

import (
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/collectors"
)

// MetricsProvider returns the provider to which an informer of an Observer reports client-go's own metrics.
func MetricsProvider(obs *collectors.Observer, id ID, provider cache.InformerMetricsProvider) cache.InformerMetricsProvider {
	provideMetrics(registryOf(obs).newInformer(id).shared, &provider)
	return provider
}
