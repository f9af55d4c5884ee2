package main

import (
	"fmt"

	"github.com/alecthomas/kingpin/v2"

	"github.com/informer-exporter/informer-exporter/internal/exporter/sharding"
)

// shardFlag is the value of --shard.
type shardFlag struct{ sharding.Shard }

var _ kingpin.Value = (*shardFlag)(nil)

// Set implements kingpin.Value.
func (f *shardFlag) Set(text string) (err error) {
	if f.Shard, err = sharding.Parse(text); err != nil {
		return fmt.Errorf("--shard: %w", err)
	}
	return nil
}
