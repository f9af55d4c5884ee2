package discovery

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/informer-exporter/informer-exporter/internal/exporter/config"
)

// Cluster is the set of resources that an API server serves at one time.
type Cluster struct{ served *served }

// Look runs a discovery. It returns an error if there is no response or no resource that can be watched. See Failed for partial failures.
func Look(ctx context.Context, discover discoverFunc) (*Cluster, error) {
	s, err := discover.discover(ctx)
	if err != nil {
		return nil, fmt.Errorf("discovery: %w", err)
	}
	return &Cluster{s}, nil
}

// Failed returns the groups with failed discovery, sorted.
func (c *Cluster) Failed() []string { return slices.Sorted(maps.Keys(c.served.failed)) }

// Select returns the kinds that a valid configuration selects, as an exporter does after its first discovery, and the number of those
// beyond the limit of an exporter.
func (c *Cluster) Select(configured config.Config) (all []Choice, overLimit int) {
	for _, choice := range choose(configured, c.served, nil) {
		if choice.Optional && len(all) >= maxKinds {
			overLimit++
			continue
		}
		all = append(all, choice)
	}
	return all, overLimit
}
