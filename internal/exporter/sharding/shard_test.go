package sharding

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/informer-exporter/informer-exporter/internal/exporter/kinds"
)

func TestParseShard(t *testing.T) {
	for text, want := range map[string]Shard{"0/1": {0, 1}, "0/3": {0, 3}, "2/3": {2, 3}, "999/1000": {999, 1000}} {
		got, err := Parse(text)
		if err != nil || got != want || got.String() != text {
			t.Errorf("%s is %v, %v", text, got, err)
		}
	}
	for text, part := range map[string]string{
		"": "is not a shard; write ORDINAL/SHARDS", "3": "is not a shard", "1/": "is not a shard", "-1/3": "is not a shard", "0/3/4": "is not a shard", "0 /3": "is not a shard",
		"$(POD_INDEX)/3": `"$(POD_INDEX)/3" is not a shard`, "99999999999999999999/3": "is not a shard",
		"3/3": "must be 0 to 2", "0/0": "must be 1 to 1000", "0/1001": "must be 1 to 1000",
	} {
		if got, err := Parse(text); err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%q is %v, %v; want an error with %q", text, got, err, part)
		}
	}
}

func TestShardName(t *testing.T) {
	for shard, want := range map[Shard]string{{}: "informer-exporter", {0, 1}: "informer-exporter", {0, 2}: "informer-exporter-0", {12, 20}: "informer-exporter-12"} {
		if got := shard.Name(); got != want {
			t.Errorf("%v is called %s, want %s", shard, got, want)
		}
	}
}

// Shards of different versions of this program run at the same time during a rollout, so the owners must never change.
func TestOwnersAreForEver(t *testing.T) {
	for _, tc := range []struct {
		resource, namespace string
		owners              [4]int // of 2, 3, 5 and 1000 shards
	}{
		{"pods", "", [4]int{0, 2, 2, 63}},
		{"pods", "shop", [4]int{0, 0, 4, 65}},
		{"deployments.apps", "", [4]int{1, 1, 1, 772}},
		{"widgets.example.com", "shop", [4]int{1, 1, 1, 921}},
	} {
		for i, total := range []int{2, 3, 5, 1000} {
			if got := Owner(tc.resource, tc.namespace, total); got != tc.owners[i] {
				t.Errorf("%s in %q belongs to %d of %d, want %d", tc.resource, tc.namespace, got, total, tc.owners[i])
			}
		}
	}
}

// someKinds are the kinds of a cluster: the default kinds and 100 custom resources.
func someKinds() []string {
	var all []string
	for _, k := range kinds.Default() {
		all = append(all, k.Type())
	}
	for i := range 100 {
		all = append(all, fmt.Sprintf("kind%ds.group%d.example.com", i, i%7))
	}
	return all
}

// Each resource belongs to exactly one shard, and each shard has between half and twice its share.
func TestShardsShareTheKinds(t *testing.T) {
	for _, total := range []int{1, 2, 3, 5} {
		have, defaults := make([]int, total), make([]int, total)
		for i, kind := range someKinds() {
			var owners []int
			for ordinal := range total {
				if (Shard{ordinal, total}).Owns(kind, "") {
					owners = append(owners, ordinal)
				}
			}
			if len(owners) != 1 {
				t.Fatalf("%s belongs to %v of %d", kind, owners, total)
			}
			have[owners[0]]++
			if i < len(kinds.Default()) {
				defaults[owners[0]]++
			}
		}
		t.Logf("%d shards: %v resources, %v of them default kinds", total, have, defaults)
		part := len(someKinds()) / total
		if slices.Min(have) < part/2 || slices.Max(have) > part*2 {
			t.Errorf("%d shards have %v resources", total, have)
		}
	}
	// The same holds for namespaces, even if their names differ only in a digit.
	have := make([]int, 4)
	for i := range 1000 {
		have[Owner("pods", fmt.Sprintf("team-%d", i), 4)]++
	}
	t.Logf("4 shards: %v of 1000 namespaces", have)
	if slices.Min(have) < 200 || slices.Max(have) > 300 {
		t.Errorf("4 shards have %v of 1000 namespaces", have)
	}
}

// An added shard takes its share, and all other resources stay on their shards.
func TestOneShardMoreMovesLittle(t *testing.T) {
	for total := range 8 {
		moved := 0
		for i := range 1000 {
			namespace := fmt.Sprintf("team-%d", i)
			before, after := Owner("pods", namespace, total+1), Owner("pods", namespace, total+2)
			if before != after {
				moved++
				if after != total+1 {
					t.Fatalf("pods of %s move from %d to %d, which is not the new one of %d", namespace, before, after, total+2)
				}
			}
		}
		part := 1000 / (total + 2)
		if moved < part*7/10 || moved > part*13/10 {
			t.Errorf("%d of 1000 move from %d shards to %d", moved, total+1, total+2)
		}
	}
}

func TestOneShardOwnsEverything(t *testing.T) {
	for _, shard := range []Shard{{}, {0, 1}} {
		if !shard.Owns("pods", "") || !shard.Owns("nodes", "shop") {
			t.Errorf("%v does not own everything", shard)
		}
	}
}
