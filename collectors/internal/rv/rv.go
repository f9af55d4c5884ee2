// Package rv parses resourceVersions as numbers.
//
// Since Kubernetes 1.35 (KEP-5504), the resourceVersions of a resource are decimal integers without leading zeros, which can be
// compared. Aggregated API servers may still use other strings, which are valid but not comparable.
package rv

import (
	"math"

	"k8s.io/apimachinery/pkg/api/meta"
)

// safeDigits is the length of numbers that always have at most 64 bits.
const safeDigits = 19

// Parse returns s as a number. It returns false if s cannot be compared: if it is empty, has leading zeros, a sign or other
// characters, is "0" (which means any version), or has more than 64 bits. It does not allocate.
func Parse(s string) (uint64, bool) {
	if s == "" || s[0] == '0' {
		return 0, false
	}
	var n uint64
	for i := range len(s) {
		d := uint64(s[i] - '0')
		if d > 9 {
			return 0, false
		}
		if i >= safeDigits && n > (math.MaxUint64-d)/10 {
			return 0, false
		}
		n = n*10 + d
	}
	return n, true
}

// Of returns the resourceVersion of an object, or the empty string if it has none.
func Of(obj any) string {
	if object, err := meta.Accessor(obj); err == nil {
		return object.GetResourceVersion()
	}
	return ""
}
