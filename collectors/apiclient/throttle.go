package apiclient

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/util/flowcontrol"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/collectors/internal/core"
)

// limiter decorates a client's own rate limiter. TryAccept is passed on unobserved, because it never waits.
type limiter struct {
	flowcontrol.RateLimiter
	registry *registry
	wait     prometheus.Observer
}

func (r *registry) wrapLimiter(inner flowcontrol.RateLimiter) *limiter {
	if l, ok := inner.(*limiter); ok && l.registry == r {
		return l // config is a copy of one that WrapConfig has returned
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
	l.wait.Observe(core.Seconds(l.registry.Now() - begin))
}
