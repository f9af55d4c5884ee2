// Package rv reads resourceVersions as numbers.
//
// Kubernetes promises since 1.35 (KEP-5504) that the resourceVersions of one resource are decimal integers without
// leading zeros that can be compared. Aggregated API servers may still use anything; what is no such number is reported
// as unusable and never as an error.
package rv

import "math"

// Parse returns s as a number. It reports false for everything that cannot be compared: the empty string, "0" (which
// means "any" to an API server), leading zeros, signs, other characters, and numbers above 64 bits. It does not
// allocate.
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
		if n > (math.MaxUint64-d)/10 {
			return 0, false
		}
		n = n*10 + d
	}
	return n, true
}
