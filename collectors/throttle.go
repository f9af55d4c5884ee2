package collectors

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/util/flowcontrol"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
)

// rateLimiter decorates a client's own rate limiter. Tries are passed on: nobody waits in them.
type rateLimiter struct {
	flowcontrol.RateLimiter
	obs  *Observer
	wait prometheus.Observer
}

func (o *Observer) rateLimiter(limiter flowcontrol.RateLimiter) *rateLimiter {
	return &rateLimiter{RateLimiter: limiter, obs: o, wait: o.vecs.histogram(catalog.ClientThrottleWait)}
}

// Wait implements flowcontrol.RateLimiter. A wait that the context ends is one too.
func (l *rateLimiter) Wait(ctx context.Context) error {
	begin := l.obs.now()
	err := l.RateLimiter.Wait(ctx)
	l.observe(begin)
	return err
}

// Accept implements flowcontrol.RateLimiter.
func (l *rateLimiter) Accept() {
	begin := l.obs.now()
	l.RateLimiter.Accept()
	l.observe(begin)
}

func (l *rateLimiter) observe(begin int64) {
	l.wait.Observe(time.Duration(l.obs.now() - begin).Seconds())
}
