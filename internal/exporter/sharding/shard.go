// Package sharding assigns resources and parts of their objects to shards.
package sharding

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"regexp"
	"strconv"

	"github.com/informer-exporter/informer-exporter/internal/exporter/buildinfo"
)

// maxShards is more than any cluster needs. Finding an owner takes time proportional to the number of shards.
const maxShards = 1000

// Shard is one exporter's share of the work. The zero value, like shard 0 of 1, is all of it.
type Shard struct {
	// Ordinal is the number of the shard, starting at 0.
	Ordinal int
	// Total is the number of shards.
	Total int
}

var shardForm = regexp.MustCompile(`^([0-9]{1,9})/([0-9]{1,9})$`)

// Parse reads a shard such as "0/3": its ordinal, starting at 0, and the number of shards.
func Parse(text string) (Shard, error) {
	parts := shardForm.FindStringSubmatch(text)
	if parts == nil {
		return Shard{}, fmt.Errorf("%q is not a shard; write ORDINAL/SHARDS, such as 0/3", text)
	}
	ordinal, _ := strconv.Atoi(parts[1]) // nine digits fit
	total, _ := strconv.Atoi(parts[2])
	switch {
	case total < 1 || total > maxShards:
		return Shard{}, fmt.Errorf("%q: the number of shards must be 1 to %d", text, maxShards)
	case ordinal >= total:
		return Shard{}, fmt.Errorf("%q: the ordinal of one of %d shards must be 0 to %d", text, total, total-1)
	}
	return Shard{ordinal, total}, nil
}

// String returns a shard such as "0/3", or "0/1" for the zero value.
func (s Shard) String() string { return fmt.Sprintf("%d/%d", s.Ordinal, max(s.Total, 1)) }

// MarshalText implements encoding.TextMarshaler for logs.
func (s Shard) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Name returns the value of the label "name". It is the same for replicas of a shard and differs between shards, so sums over
// shards are correct.
func (s Shard) Name() string {
	if !s.Partial() {
		return buildinfo.Name
	}
	return buildinfo.Name + "-" + strconv.Itoa(s.Ordinal)
}

// Partial reports whether there are other shards.
func (s Shard) Partial() bool { return s.Total > 1 }

// Owns reports whether the shard owns a resource, given by its Type, in a namespace or, if that is empty, in all namespaces.
// Exactly one shard owns it, in all versions.
func (s Shard) Owns(resource, namespace string) bool {
	return !s.Partial() || Owner(resource, namespace, s.Total) == s.Ordinal
}

// Owner returns the shard with the highest weight for a resource in a namespace (rendezvous hashing). An added shard takes its
// share from each of the others; no other resources move.
func Owner(resource, namespace string, total int) int {
	owner, highest := 0, uint64(0)
	for shard := range total {
		// Neither separator can be part of a name.
		sum := sha256.Sum256([]byte(namespace + "/" + resource + "#" + strconv.Itoa(shard)))
		if weight := binary.BigEndian.Uint64(sum[:]); weight > highest {
			owner, highest = shard, weight
		}
	}
	return owner
}
