package audit

import "k8s.io/client-go/tools/cache"

// Store is a cache.Store with the resourceVersion of its whole content, as client-go's own have been since v0.36.
type Store interface {
	cache.Store
	LastStoreSyncResourceVersion() string
}

// Indexer is a cache.Indexer with the resourceVersion of its whole content, as client-go's own have been since v0.36.
type Indexer interface {
	cache.Indexer
	LastStoreSyncResourceVersion() string
}
