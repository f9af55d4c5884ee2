//go:build clientgo_before_0_36

package informer_test

var behaviorsSince036 map[string]behavior

const locked = true
