package checks

import (
	"context"
	"time"

	"github.com/informer-exporter/informer-exporter/collectors/internal/footprint"
	"github.com/informer-exporter/informer-exporter/collectors/internal/schedule"
)

// checkMemory estimates the memory of the store until ctx ends.
func (c *Checks) checkMemory(ctx context.Context) {
	schedule.Every(ctx, c.Intervals.Memory, func() time.Duration {
		c.Shared.memory.Do(ctx, c.estimateMemory)
		return 0
	})
}

func (c *Checks) estimateMemory() {
	defer func() {
		if r := recover(); r != nil {
			c.logger().Debug("memory estimate failed", "err", r) // an object that a consumer has damaged
		}
	}()
	bytes := footprint.Estimate(c.Store)
	c.bytes.Store(&bytes)
}

// AddBytes adds the estimated memory of the store to total, by part. It adds nothing before the first estimate.
func (c *Checks) AddBytes(total map[string]float64) {
	if bytes := c.bytes.Load(); bytes != nil {
		for part, n := range *bytes {
			total[part] += n
		}
	}
}
