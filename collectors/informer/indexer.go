package informer

import (
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/collectors/internal/audit"
	"github.com/informer-exporter/informer-exporter/collectors/internal/functions"
	"github.com/informer-exporter/informer-exporter/collectors/internal/reads"
)

// indexer counts the reads of an informer's store. Writes pass through uncounted. Listers read through it.
type indexer struct {
	cache.Indexer
	metrics   *metrics
	reads     *reads.Counter
	early     *reads.Early
	functions *functions.Functions
}

// transactionalIndexer keeps the optional transaction interface of a store.
type transactionalIndexer struct {
	indexer
	cache.TransactionStore
}

// decorateIndexer decorates the store of the informer. synced reports whether it has its initial state.
func (inf *informer) decorateIndexer(inner cache.Indexer, synced func() bool) cache.Indexer {
	decorated := indexer{Indexer: inner, metrics: inf.metrics, reads: inf.metrics.reads, functions: &inf.functions}
	if versioned, ok := inner.(audit.Indexer); ok { // older versions of client-go do not reveal when a store is filled
		decorated.early = reads.NewEarly(versioned.LastStoreSyncResourceVersion, synced, inf.metrics.earlyReads.Add)
	}
	if t, ok := inner.(cache.TransactionStore); ok {
		return &transactionalIndexer{decorated, t}
	}
	return &decorated
}

// Get implements cache.Store.
func (i *indexer) Get(obj any) (item any, exists bool, err error) {
	item, exists, err = i.Indexer.Get(obj)
	switch {
	case err != nil:
	case exists:
		i.reads.Hit()
	default:
		i.miss()
	}
	return item, exists, err
}

// GetByKey implements cache.Store. Hit is inlined here: a call would cost half as much as its atomic addition.
func (i *indexer) GetByKey(key string) (item any, exists bool, err error) {
	item, exists, err = i.Indexer.GetByKey(key)
	switch {
	case err != nil:
	case exists:
		i.reads.Hit()
	default:
		i.miss()
	}
	return item, exists, err
}

func (i *indexer) miss() {
	i.reads.Miss()
	i.early.Read()
}

// List implements cache.Store.
func (i *indexer) List() []any {
	i.countList(everything)
	return i.Indexer.List()
}

// ListKeys implements cache.Store.
func (i *indexer) ListKeys() []string {
	i.countList(everything)
	return i.Indexer.ListKeys()
}

// Index implements cache.Indexer.
func (i *indexer) Index(indexName string, obj any) ([]any, error) {
	items, err := i.Indexer.Index(indexName, obj)
	i.countIndex(indexName, err)
	return items, err
}

// IndexKeys implements cache.Indexer.
func (i *indexer) IndexKeys(indexName, indexedValue string) ([]string, error) {
	keys, err := i.Indexer.IndexKeys(indexName, indexedValue)
	i.countIndex(indexName, err)
	return keys, err
}

// ByIndex implements cache.Indexer.
func (i *indexer) ByIndex(indexName, indexedValue string) ([]any, error) {
	items, err := i.Indexer.ByIndex(indexName, indexedValue)
	i.countIndex(indexName, err)
	return items, err
}

// countIndex counts a read through an existing index. The name of a missing index must not become a label value.
func (i *indexer) countIndex(indexName string, err error) {
	if err == nil {
		i.countList(indexName)
	}
}

func (i *indexer) countList(index string) {
	i.early.Read()
	i.metrics.countList(index)
}

// AddIndexers implements cache.Indexer.
func (i *indexer) AddIndexers(indexers cache.Indexers) error {
	return i.Indexer.AddIndexers(i.functions.Indexers(indexers))
}
