package functions

import (
	"strconv"
	"testing"

	"k8s.io/apimachinery/pkg/types"
)

// The object that was renamed last is remembered, and the number of remembered objects is bounded.
func TestRenamesAreBounded(t *testing.T) {
	var r Renames
	if _, ok := r.Key("none"); ok {
		t.Error("an object was renamed")
	}
	for n := range 2 * maxRenames {
		uid := types.UID(strconv.Itoa(n))
		r.remember(uid, "default/same")
		if key, ok := r.Key(uid); !ok || key != "default/same" {
			t.Fatalf("object %d has the key %q", n, key)
		}
	}
	if len(r.keys) != maxRenames {
		t.Errorf("%d objects are remembered, want %d", len(r.keys), maxRenames)
	}
}
