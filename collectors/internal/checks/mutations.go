package checks

import (
	"context"
	"fmt"
	"time"

	"github.com/informer-exporter/informer-exporter/collectors/internal/audit"
	"github.com/informer-exporter/informer-exporter/collectors/internal/schedule"
)

// mutationSamples is the number of objects that each check adds to the sample.
const mutationSamples = 10

// checkMutations looks for cached objects that were modified in place, until ctx ends.
func (c *Checks) checkMutations(ctx context.Context) {
	sampler := &audit.Sampler{PerRound: mutationSamples}
	schedule.Every(ctx, c.Intervals.Mutations, func() time.Duration {
		c.Shared.mutations.Do(ctx, func() { c.countMutations(sampler) })
		return 0
	})
}

func (c *Checks) countMutations(sampler *audit.Sampler) {
	mutations, err := c.sample(sampler)
	if err != nil {
		// A consumer may have left an object in a state that cannot be encoded.
		c.logger().Debug("mutation check failed", "err", err)
		return
	}
	c.Metrics.mutations.Add(float64(len(mutations)))
	for _, m := range mutations {
		c.logger().Warn("cached object was modified in place, although all consumers share it: copy objects before changing them",
			"object", m.Key, "resourceVersion", m.Version)
	}
}

func (c *Checks) sample(sampler *audit.Sampler) (mutations []audit.Mutation, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	return sampler.Round(c.Store), nil
}
