package main

import (
	"fmt"

	"github.com/alecthomas/kingpin/v2"

	"github.com/informer-exporter/informer-exporter/internal/exporter"
)

// shardFlag is the value of --shard.
type shardFlag struct{ exporter.Shard }

var _ kingpin.Value = (*shardFlag)(nil)

// Set implements kingpin.Value.
func (f *shardFlag) Set(text string) (err error) {
	if f.Shard, err = exporter.ParseShard(text); err != nil {
		return fmt.Errorf("--shard: %w", err)
	}
	return nil
}
