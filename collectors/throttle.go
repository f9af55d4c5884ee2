package collectors

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/util/flowcontrol"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
)

// clientLimiter decorates a client's own rate limiter. Tries are passed on: nobody waits in them.
type clientLimiter struct {
	flowcontrol.RateLimiter
	obs  *Observer
	wait prometheus.Observer
}

func (o *Observer) clientLimiter(limiter flowcontrol.RateLimiter) *clientLimiter {
	if l, ok := limiter.(*clientLimiter); ok && l.obs == o {
		return l // as it is in a copy of a configuration that WrapConfig has returned
	}
	return &clientLimiter{RateLimiter: limiter, obs: o, wait: o.vecs.histogram(catalog.ClientThrottleWait)}
}

// Wait implements flowcontrol.RateLimiter. A wait that the context ends is one too.
func (l *clientLimiter) Wait(ctx context.Context) error {
	begin := l.obs.now()
	err := l.RateLimiter.Wait(ctx)
	l.observe(begin)
	return err
}

// Accept implements flowcontrol.RateLimiter.
func (l *clientLimiter) Accept() {
	begin := l.obs.now()
	l.RateLimiter.Accept()
	l.observe(begin)
}

func (l *clientLimiter) observe(begin int64) {
	l.wait.Observe(seconds(l.obs.now() - begin))
}
