package footprint

import (
	"math/bits"
	"reflect"
	"slices"
	"sync"
)

const (
	pointer = 8
	// tiny is the size below which Go packs values without pointers into shared blocks.
	tiny = 16
	// headerFrom is the size above which an allocation with pointers has a header of one word.
	headerFrom = 512
	// largest is the largest size class. Larger sizes are rounded up to pages.
	largest, page = 32 << 10, 8 << 10
)

// classes returns Go's size classes, which append shows.
var classes = sync.OnceValue(func() (sizes []int) {
	for n := 1; n <= largest; n = sizes[len(sizes)-1] + 1 {
		sizes = append(sizes, cap(slices.Grow([]byte(nil), n)))
	}
	return sizes
})

// allocated returns the size of an allocation of n bytes.
func allocated(n int, pointers bool) int {
	switch {
	case n == 0 || n < tiny && !pointers:
		return n
	case pointers && n > headerFrom:
		n += pointer
	}
	if n > largest {
		return (n + page - 1) / page * page
	}
	at, _ := slices.BinarySearch(classes(), n)
	return classes()[at]
}

// The layout of Go's maps.
const (
	mapHeader, tableHeader = 48, 32
	groupSlots             = 8
	maxTable               = 1024
)

// mapped returns the size of a map of n entries with keys and elements of the given sizes, without what these refer to.
func mapped(n, key, elem int) int {
	group := groupSlots + groupSlots*(key+elem)
	switch {
	case n == 0:
		return mapHeader
	case n <= groupSlots:
		return mapHeader + allocated(group, true)
	}
	slots := 1 << bits.Len(uint(n*groupSlots/(groupSlots-1)-1)) // at most 7/8 are used
	tables := max(1, slots/maxTable)
	return mapHeader + allocated(tables*pointer, true) + tables*(allocated(tableHeader, true)+allocated(slots/tables/groupSlots*group, true))
}

// hasPointers reports whether values of a type are scanned by the garbage collector.
func hasPointers(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Array:
		return t.Len() > 0 && hasPointers(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if hasPointers(t.Field(i).Type) {
				return true
			}
		}
		return false
	default:
		return t.Kind() > reflect.Complex128
	}
}
