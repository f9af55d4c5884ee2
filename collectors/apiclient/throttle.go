package apiclient

import (
	"context"
	"net/url"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/tools/metrics"
	"k8s.io/client-go/util/flowcontrol"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/collectors/internal/core"
)

// limiter decorates a client-side rate limiter. TryAccept is passed on unobserved, because it never waits.
type limiter struct {
	flowcontrol.RateLimiter
	registry *registry
	wait     prometheus.Observer
}

func (r *registry) wrapLimiter(inner flowcontrol.RateLimiter) *limiter {
	if l, ok := inner.(*limiter); ok && l.registry == r {
		return l // config is a copy of a result of WrapConfig
	}
	return &limiter{RateLimiter: inner, registry: r, wait: r.Metrics.Histogram(catalog.ClientThrottleWait)}
}

// Wait implements flowcontrol.RateLimiter. It also observes a wait that the context ends.
func (l *limiter) Wait(ctx context.Context) error {
	begin := l.registry.Now()
	err := l.RateLimiter.Wait(ctx)
	l.observe(begin)
	return err
}

// Accept implements flowcontrol.RateLimiter.
func (l *limiter) Accept() {
	begin := l.registry.Now()
	l.RateLimiter.Accept()
	l.observe(begin)
}

func (l *limiter) observe(begin int64) {
	if metrics.RateLimiterLatency == metrics.LatencyMetric(l.registry) {
		return // client-go reports the wait to NewMetrics
	}
	l.wait.Observe(core.Seconds(l.registry.Now() - begin))
}

// NewMetrics returns a hook for client-go's metrics that reports how long the clients of the process wait for their rate
// limiters, including default limiters, which WrapConfig cannot observe:
//
//	metrics.Register(apiclient.NewMetrics(obs)) // k8s.io/client-go/tools/metrics, once per process
//
// WrapConfig never registers it: client-go accepts only the first registration of a process, and controller-runtime and
// component-base register their own hooks. Waits for a limiter that WrapConfig observes are not counted twice. The hook is safe
// for concurrent use.
func NewMetrics(obs *collectors.Observer) metrics.RegisterOpts {
	return metrics.RegisterOpts{RateLimiterLatency: registryOf(obs)}
}

// Observe implements metrics.LatencyMetric. client-go reports each wait to it.
func (r *registry) Observe(_ context.Context, _ string, _ url.URL, wait time.Duration) {
	r.Metrics.Histogram(catalog.ClientThrottleWait).Observe(wait.Seconds())
}
