package cache

import "context"

type KeyFunc func(obj any) (string, error)
type TransformFunc func(any) (any, error)
type InformerSynced func() bool
type Indexers map[string]func(any) ([]string, error)

type Store interface {
	Add(obj any) error
	List() []any
	Get(obj any) (item any, exists bool, err error)
	GetByKey(key string) (item any, exists bool, err error)
}

type Indexer interface {
	Store
	ByIndex(name, value string) ([]any, error)
}

func NewStore(key KeyFunc) Store                        { return nil }
func NewIndexer(key KeyFunc, indexers Indexers) Indexer { return nil }

type ResourceEventHandler interface {
	OnAdd(obj any, isInInitialList bool)
	OnUpdate(oldObj, newObj any)
	OnDelete(obj any)
}

type ResourceEventHandlerRegistration interface{ HasSynced() bool }

type ResourceEventHandlerFuncs struct {
	AddFunc    func(obj any)
	UpdateFunc func(oldObj, newObj any)
	DeleteFunc func(obj any)
}

func (ResourceEventHandlerFuncs) OnAdd(any, bool)   {}
func (ResourceEventHandlerFuncs) OnUpdate(any, any) {}
func (ResourceEventHandlerFuncs) OnDelete(any)      {}

type FilteringResourceEventHandler struct {
	FilterFunc func(obj any) bool
	Handler    ResourceEventHandler
}

type DeletedFinalStateUnknown struct {
	Key string
	Obj any
}

type SharedIndexInformer interface {
	AddEventHandler(handler ResourceEventHandler) (ResourceEventHandlerRegistration, error)
	RemoveEventHandler(handle ResourceEventHandlerRegistration) error
	GetStore() Store
	GetIndexer() Indexer
	HasSynced() bool
	Run(stop <-chan struct{})
	RunWithContext(ctx context.Context)
	SetTransform(f TransformFunc) error
}

func WaitForCacheSync(stop <-chan struct{}, synced ...InformerSynced) bool { return true }

func MetaNamespaceKeyFunc(obj any) (string, error)                 { return "", nil }
func DeletionHandlingMetaNamespaceKeyFunc(obj any) (string, error) { return "", nil }
