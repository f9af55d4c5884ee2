package churn

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/informer-exporter/informer-exporter/internal/testenv/chain"
)

// betweenReplicas is about the time that a rolling update waits for a Pod to be available.
const betweenReplicas = 10 * time.Second

// rollingRestart restarts one replica after the other, as a rolling update does.
func rollingRestart(replicas []*chain.Replica) func(context.Context) error {
	return func(ctx context.Context) error {
		for _, r := range replicas {
			if err := r.Restart(ctx); err != nil {
				return err
			}
			if !sleep(ctx, betweenReplicas) {
				return nil
			}
		}
		return nil
	}
}

// handOver ends the leading replica, so that another one is elected.
func handOver(replicas []*chain.Replica, end func(context.Context, *chain.Replica) error) func(context.Context) error {
	return func(ctx context.Context) error {
		for _, r := range replicas {
			if r.Leads(ctx) == nil {
				return end(ctx, r)
			}
		}
		return errors.New("no replica leads")
	}
}

func restart(ctx context.Context, r *chain.Replica) error { return r.Restart(ctx) }

// crash ends a replica, which the chain restarts.
func crash(_ context.Context, r *chain.Replica) error { return r.Crash() }

// scale starts and stops replicas so that the given number of them runs.
func (c *Churn) scale(replicas []*chain.Replica, number int) func(context.Context) error {
	return func(ctx context.Context) error {
		var all errgroup.Group
		for i, r := range replicas {
			c.setGone(r.Identity, i >= number)
			all.Go(func() error {
				switch {
				case i >= number:
					return r.Stop(ctx)
				case r.PID() == 0:
					return r.Start(ctx)
				}
				return nil
			})
		}
		return all.Wait()
	}
}

func (c *Churn) setGone(identity string, gone bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.gone[identity] = gone
}

// Gone reports whether a replica or a node is unavailable on purpose: its program is scaled down, or the node reboots. Prometheus
// would not discover such a replica.
func (c *Churn) Gone(identity string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.gone[identity]
}
