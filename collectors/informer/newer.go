package informer

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/collectors/internal/audit"
)

// This file uses fields and methods that client-go has had since v0.36, and compiles with older versions. Go selects the
// field or method at the shallowest depth of embedding: client-go's if it has one, otherwise the fallback, which is one
// level deeper. Their types are inferred, never named. Methods that the decorators do not use are forwarded by embedding.

// InformerName is a *cache.InformerName, which client-go has had since v0.36.
type InformerName interface { //nolint:revive // the name is client-go's
	// Name returns the name that was reserved.
	Name() string
	// Release makes the name available to others.
	Release()
}

// sharedOptions and controllerOptions have the fields of client-go's newer options, regardless of the client-go version.
type (
	sharedOptions struct {
		cache.SharedIndexInformerOptions
		older
	}
	controllerOptions struct {
		cache.InformerOptions
		older
	}
)

type older struct{ absentOptions }

type absentOptions struct {
	Identifier              absentIdentifier
	InformerMetricsProvider absentProvider
}

type absentIdentifier struct{}

func (absentIdentifier) Name() string   { return "" }
func (absentIdentifier) Reserved() bool { return false }
func (absentIdentifier) GroupVersionResource() schema.GroupVersionResource {
	return schema.GroupVersionResource{}
}

type absentProvider interface {
	metricsProvider[absentIdentifier, observer]
}

// doneChecker is client-go's DoneChecker.
type doneChecker interface{ Done() <-chan struct{} }

// syncedInformer and syncedController return client-go's check that the given informer or controller has synced, or the fallback.
func syncedInformer(inner cache.SharedIndexInformer) doneChecker {
	return struct {
		cache.SharedIndexInformer
		olderInformer
	}{inner, olderInformer{absentChecker{inner.HasSynced}}}.HasSyncedChecker()
}

func syncedController(inner cache.Controller) doneChecker {
	return struct {
		cache.Controller
		olderInformer
	}{inner, olderInformer{absentChecker{inner.HasSynced}}}.HasSyncedChecker()
}

type olderInformer struct{ absentChecker }

type absentChecker struct{ synced func() bool }

// HasSyncedChecker is the fallback for client-go's method of this name.
func (c absentChecker) HasSyncedChecker() *polled {
	return &polled{synced: c.synced, done: make(chan struct{})}
}

func isDone(checker doneChecker) bool {
	select {
	case <-checker.Done():
		return true
	default:
		return false
	}
}

// pollInterval is the time between two polls.
const pollInterval = 20 * time.Millisecond

// polled is a doneChecker that polls.
type polled struct {
	synced func() bool
	done   chan struct{}
}

// Done implements doneChecker.
func (p *polled) Done() <-chan struct{} { return p.done }

// poll polls a doneChecker that needs it until it is done or ctx ends. It must be called at most once.
func poll(ctx context.Context, checker doneChecker) {
	p, ok := checker.(*polled)
	if !ok {
		return
	}
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	for !p.synced() {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
	close(p.done)
}

// versionedStore returns a store with the version of its content, given the informer's LastSyncResourceVersion. Stores of
// older versions of client-go do not have it. For them, it is the version of the last event received. The store has that
// event, or will have it in a moment if it is still in client-go's queue.
func versionedStore(store cache.Store, received func() string) audit.Store {
	if versioned, ok := store.(audit.Store); ok {
		return versioned
	}
	return receivedStore{store, received}
}

// versionedIndexer is versionedStore for an Indexer.
func versionedIndexer(indexer cache.Indexer, received func() string) audit.Indexer {
	if versioned, ok := indexer.(audit.Indexer); ok {
		return versioned
	}
	return receivedIndexer{indexer, received}
}

type receivedStore struct {
	cache.Store
	received func() string
}

// LastStoreSyncResourceVersion implements audit.Store.
func (s receivedStore) LastStoreSyncResourceVersion() string { return s.received() }

type receivedIndexer struct {
	cache.Indexer
	received func() string
}

// LastStoreSyncResourceVersion implements audit.Indexer.
func (s receivedIndexer) LastStoreSyncResourceVersion() string { return s.received() }
