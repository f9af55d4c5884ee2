package functions

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// maxRenames is the number of renamed objects that are remembered, at about 150 bytes each.
const maxRenames = 1000

// Renames remembers the keys that a Transform gave to objects that it renamed. The zero value is empty. All methods are safe for
// concurrent use.
type Renames struct {
	mu   sync.Mutex
	keys map[types.UID]string
}

// Key returns the key of an object in the store, if it was renamed.
func (r *Renames) Key(uid types.UID) (key string, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	key, ok = r.keys[uid]
	return key, ok
}

func (r *Renames) remember(uid types.UID, key string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.keys == nil {
		r.keys = map[types.UID]string{}
	}
	if _, known := r.keys[uid]; !known && len(r.keys) >= maxRenames {
		for forgotten := range r.keys {
			delete(r.keys, forgotten)
			break
		}
	}
	r.keys[uid] = key
}
