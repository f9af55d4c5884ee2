package chaos

import (
	"sync"
	"testing"
)

// shown are, by test, the claims that have been shown.
var shown = struct {
	sync.Mutex
	by map[string]map[string]bool
}{by: map[string]map[string]bool{}}

// showing takes down that a test shows claims, or fails.
func showing(t *testing.T, claims []string) {
	shown.Lock()
	defer shown.Unlock()
	if shown.by[t.Name()] == nil {
		shown.by[t.Name()] = map[string]bool{}
	}
	for _, c := range claims {
		shown.by[t.Name()][c] = true
	}
}

// row marks a test as the proof of a row of docs/chaos.md, and lets it run beside others.
func row(t *testing.T) {
	t.Helper()
	t.Parallel()
}
