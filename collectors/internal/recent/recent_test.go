package recent

import (
	"strconv"
	"testing"
)

// A table has the last values, at most Max of them, and tells tuples apart that have the same text.
func TestTable(t *testing.T) {
	var table Table[int]
	if _, known := table.Get(Key("a")); known {
		t.Error("an empty table has a value")
	}
	table.Swap(Key("a", "b"), 1)
	if last, known := table.Swap(Key("a", "b"), 2); last != 1 || !known {
		t.Errorf("last %d, known %v", last, known)
	}
	if value, known := table.Get(Key("a", "b")); value != 2 || !known {
		t.Errorf("value %d, known %v", value, known)
	}
	for _, other := range []uint64{Key("ab"), Key("ab", ""), Key("", "ab"), Key("a", "b", "")} {
		if _, known := table.Get(other); known {
			t.Error("another tuple has the value")
		}
	}
	for i := range 2 * Max {
		key := Key(strconv.Itoa(i))
		table.Swap(key, i)
		if value, known := table.Get(key); value != i || !known {
			t.Fatalf("value %d, known %v, want %d", value, known, i)
		}
	}
	if len(table.values) != Max {
		t.Errorf("%d values", len(table.values))
	}
}

// A key that is remembered is replaced without an allocation.
func TestTableDoesNotAllocate(t *testing.T) {
	var table Table[int]
	table.Swap(Key("namespace", "name"), 0)
	if n := testing.AllocsPerRun(100, func() { table.Swap(Key("namespace", "name"), 1) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkSwap(b *testing.B) {
	var table Table[int]
	for b.Loop() {
		table.Swap(Key("namespace", "name"), 1)
	}
}
