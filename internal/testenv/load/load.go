// Package load generates load: it creates, updates and deletes Pods, ConfigMaps and Deployments at a steady rate,
// up to a limit, in its own namespaces, and reads the caches of informers by key.
//
// The caller provides the informer factory, so that the same load runs on plain and decorated informers.
package load

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/flowcontrol"
)

// Options configure Start. Client and Factory are required; the defaults are a modest load.
type Options struct {
	// Client sends the writes. Its rate limit must exceed WritesPerSecond.
	Client dynamic.Interface
	// Factory creates the informers, and the caches to read. Start starts it; its namespace must include Namespaces.
	Factory informers.SharedInformerFactory
	// Widgets also writes Widgets, in place of every tenth object. Their definition must exist (examples/controller/widgets.yaml).
	Widgets bool
	// Namespaces are created if missing. Defaults to load-0 and load-1.
	Namespaces []string
	// Objects limits the number of objects at a time, excluding the Pods of Deployments. One in ten is a Deployment, the rest
	// are Pods and ConfigMaps in about equal parts. Defaults to 100.
	Objects int
	// WritesPerSecond and ReadsPerSecond are upper limits. They default to 10 and 100.
	WritesPerSecond float64
	ReadsPerSecond  float64
	// RequestTimeout is the timeout of a write. Defaults to 5 seconds, so that a frozen API server is noticed.
	RequestTimeout time.Duration
	// Handle is called for every event, to make handlers slow. May be nil.
	Handle func()
	// Log reports failures at debug level: writes are expected to fail in a cluster that a test breaks.
	Log *slog.Logger
}

// Stats are the totals of a Load.
type Stats struct {
	Created, Updated, Deleted, Failed int64
	Hits, Misses                      int64
	// Events is the number of handled events.
	Events int64
}

// Load is a running load.
type Load struct {
	options Options
	listers map[schema.GroupVersionResource]cache.GenericLister // of the kinds that are cached: Widgets are not
	slots   []*slot
	cancel  context.CancelFunc
	pause   context.CancelFunc
	workers sync.WaitGroup

	created, updated, deleted, failed, hits, misses, events atomic.Int64
}

const writers = 4

// Start creates the namespaces, starts the informers, waits for their sync, and generates load until Stop. ctx limits
// the start only.
func Start(ctx context.Context, o Options) (*Load, error) {
	if o.Client == nil || o.Factory == nil {
		return nil, errors.New("load: Options.Client and Options.Factory are required")
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if len(o.Namespaces) == 0 {
		o.Namespaces = []string{"load-0", "load-1"}
	}
	o.Objects = orDefault(o.Objects, 100)
	o.WritesPerSecond = orDefault(o.WritesPerSecond, 10)
	o.ReadsPerSecond = orDefault(o.ReadsPerSecond, 100)
	o.RequestTimeout = orDefault(o.RequestTimeout, 5*time.Second)

	for _, ns := range o.Namespaces {
		namespaces := o.Client.Resource(corev1.SchemeGroupVersion.WithResource("namespaces"))
		if _, err := namespaces.Create(ctx, object("v1", "Namespace", ns, "spec", nil), metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
			return nil, fmt.Errorf("load: create namespace %s: %w", ns, err)
		}
	}
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	l := &Load{options: o, listers: map[schema.GroupVersionResource]cache.GenericLister{}, cancel: cancel}
	if err := l.startInformers(ctx, running); err != nil {
		l.Stop()
		return nil, err
	}
	for i := range o.Objects {
		k := []kind{pods, configMaps}[i%2]
		switch {
		case i%10 == 9:
			k = deployments
		case i%10 == 4 && o.Widgets:
			k = widgets
		}
		name := fmt.Sprintf("%s-%d", strings.TrimSuffix(k.resource.Resource, "s"), i)
		l.slots = append(l.slots, &slot{kind: k, namespace: o.Namespaces[i/2%len(o.Namespaces)], name: name})
	}
	writes := flowcontrol.NewTokenBucketRateLimiter(float32(o.WritesPerSecond), 1)
	writing, pause := context.WithCancel(running)
	l.pause = pause
	for w := range writers {
		l.workers.Go(func() { l.write(writing, writes, w) })
	}
	reads := flowcontrol.NewTokenBucketRateLimiter(float32(o.ReadsPerSecond), 10)
	l.workers.Go(func() { l.read(running, reads) })
	return l, nil
}

func orDefault[N int | float64 | time.Duration](n, otherwise N) N {
	if n <= 0 {
		return otherwise
	}
	return n
}

func (l *Load) startInformers(ctx, running context.Context) error {
	f := l.options.Factory
	handle := func() {
		l.events.Add(1)
		if l.options.Handle != nil {
			l.options.Handle()
		}
	}
	for _, k := range []kind{pods, configMaps, deployments} {
		informer, err := f.ForResource(k.resource)
		if err != nil {
			return fmt.Errorf("load: informer of %s: %w", k.resource.Resource, err)
		}
		l.listers[k.resource] = informer.Lister()
		if _, err := informer.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc:    func(any) { handle() },
			UpdateFunc: func(any, any) { handle() },
			DeleteFunc: func(any) { handle() },
		}); err != nil {
			return fmt.Errorf("load: handler for %s: %w", k.resource.Resource, err)
		}
	}
	f.Start(running.Done())
	for kind, synced := range f.WaitForCacheSync(ctx.Done()) {
		if !synced {
			return fmt.Errorf("load: the informer of %v has not synced: %w", kind, context.Cause(ctx))
		}
	}
	return nil
}

// Pause ends the writes; informers and reads continue.
func (l *Load) Pause() { l.pause() }

// Stop ends the load and its informers. It does not delete the objects, which end with the local cluster.
func (l *Load) Stop() {
	l.cancel()
	l.workers.Wait()
	l.options.Factory.Shutdown()
}

// Stats returns the totals so far.
func (l *Load) Stats() Stats {
	return Stats{
		Created: l.created.Load(), Updated: l.updated.Load(), Deleted: l.deleted.Load(), Failed: l.failed.Load(),
		Hits: l.hits.Load(), Misses: l.misses.Load(), Events: l.events.Load(),
	}
}

// slot is the place of one object. Only its writer uses exists.
type slot struct {
	kind      kind
	namespace string
	name      string
	exists    bool
}

func (l *Load) write(ctx context.Context, limit flowcontrol.RateLimiter, writer int) {
	for limit.Wait(ctx) == nil {
		// Each writer has its own slots, so that no two writers write to one object.
		i := rand.IntN((len(l.slots)+writers-1)/writers)*writers + writer
		if i < len(l.slots) {
			l.change(ctx, l.slots[i])
		}
	}
}

// change creates a missing object, and updates or, one time in four, deletes an existing one.
func (l *Load) change(ctx context.Context, s *slot) {
	// A write in progress at Stop is completed, so that its outcome is known.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), l.options.RequestTimeout)
	defer cancel()
	client := l.options.Client.Resource(s.kind.resource).Namespace(s.namespace)
	var err error
	done := &l.updated
	switch {
	case !s.exists:
		done = &l.created
		_, err = client.Create(ctx, s.kind.object(s.name), metav1.CreateOptions{})
		s.exists = err == nil || apierrors.IsAlreadyExists(err) // left over from an earlier load
	case rand.IntN(4) == 0:
		done = &l.deleted
		err = client.Delete(ctx, s.name, metav1.DeleteOptions{})
		s.exists = err != nil && !apierrors.IsNotFound(err)
	default:
		_, err = client.Patch(ctx, s.name, types.MergePatchType, []byte(s.kind.change()), metav1.PatchOptions{})
		s.exists = !apierrors.IsNotFound(err)
	}
	if err == nil {
		done.Add(1)
		return
	}
	if apierrors.IsAlreadyExists(err) {
		return
	}
	l.failed.Add(1)
	l.options.Log.Debug("write failed", "resource", s.kind.resource.Resource, "namespace", s.namespace, "name", s.name, "err", err)
}

func (l *Load) read(ctx context.Context, limit flowcontrol.RateLimiter) {
	for limit.Wait(ctx) == nil {
		s := l.slots[rand.IntN(len(l.slots))]
		lister, cached := l.listers[s.kind.resource]
		if !cached {
			continue
		}
		if _, err := lister.ByNamespace(s.namespace).Get(s.name); err == nil {
			l.hits.Add(1)
		} else {
			l.misses.Add(1)
		}
		if rand.IntN(readsPerList) == 0 {
			_, _ = lister.ByNamespace(s.namespace).List(labels.Everything()) // listing a cache cannot fail
		}
	}
}

// readsPerList is the number of reads by key per list of a namespace.
const readsPerList = 10
