// Package sharding assigns resources, and parts of their objects, to exporters that share the work.
package sharding

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"regexp"
	"strconv"

	"github.com/informer-exporter/informer-exporter/internal/exporter/buildinfo"
)

// maxShards is far more than any cluster needs. Each owner of a subject is found by looking at all of them.
const maxShards = 1000

// Shard is which part of the work an exporter does when several share it. The zero value is all of it, as is the only one
// of one.
type Shard struct {
	// Ordinal is the number of this shard, from 0.
	Ordinal int
	// Total is how many there are.
	Total int
}

var shardForm = regexp.MustCompile(`^([0-9]{1,9})/([0-9]{1,9})$`)

// ParseShard reads a shard that is written as its number, from 0, and how many there are: "0/3".
func Parse(text string) (Shard, error) {
	parts := shardForm.FindStringSubmatch(text)
	if parts == nil {
		return Shard{}, fmt.Errorf("%q is not a shard; write its number, from 0, and how many there are, like 0/3", text)
	}
	ordinal, _ := strconv.Atoi(parts[1]) // nine digits fit
	total, _ := strconv.Atoi(parts[2])
	switch {
	case total < 1 || total > maxShards:
		return Shard{}, fmt.Errorf("%q: there can be 1 to %d shards", text, maxShards)
	case ordinal >= total:
		return Shard{}, fmt.Errorf("%q: the shards of %d have the numbers 0 to %d", text, total, total-1)
	}
	return Shard{ordinal, total}, nil
}

// String is how the shard is written: "0/3", or "0/1" for everything.
func (s Shard) String() string { return fmt.Sprintf("%d/%d", s.Ordinal, max(s.Total, 1)) }

// MarshalText implements encoding.TextMarshaler, for logs.
func (s Shard) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Name is the value of the label name of what the shard's informers report. Replicas of the same shard have the same one,
// and different shards have different ones, so that what they watch of one resource can be added up.
func (s Shard) Name() string {
	if !s.Partial() {
		return buildinfo.Name
	}
	return buildinfo.Name + "-" + strconv.Itoa(s.Ordinal)
}

// partial tells whether there are others.
func (s Shard) Partial() bool { return s.Total > 1 }

// owns tells whether a resource, by its Type, is this shard's in a namespace, or in all of them if that is empty. Exactly
// one shard owns it, whatever the version of the resource.
func (s Shard) Owns(resource, namespace string) bool {
	return !s.Partial() || Owner(resource, namespace, s.Total) == s.Ordinal
}

// ownerOf returns the shard that gives the highest weight to a resource in a namespace (rendezvous hashing). If there is
// one shard more, it takes from each of the others its part, and nothing else moves.
func Owner(resource, namespace string, total int) int {
	owner, highest := 0, uint64(0)
	for shard := range total {
		// Neither of the separators can be part of a name.
		sum := sha256.Sum256([]byte(namespace + "/" + resource + "#" + strconv.Itoa(shard)))
		if weight := binary.BigEndian.Uint64(sum[:]); weight > highest {
			owner, highest = shard, weight
		}
	}
	return owner
}
