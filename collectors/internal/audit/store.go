package audit

import "k8s.io/client-go/tools/cache"

// Store is a cache.Store that also returns the resourceVersion of its whole content. client-go's stores implement it since
// v0.36.
type Store interface {
	cache.Store
	LastStoreSyncResourceVersion() string
}

// Indexer is a cache.Indexer that also returns the resourceVersion of its whole content. client-go's indexers implement it
// since v0.36.
type Indexer interface {
	cache.Indexer
	LastStoreSyncResourceVersion() string
}
