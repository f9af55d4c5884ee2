package informers

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"

	"github.com/informer-exporter/informer-exporter/collectors/objects"
)

// generationSource reads whole objects if the kind has status.observedGeneration, and metadata otherwise. It checks that
// before each initial list, because a CustomResourceDefinition may gain or lose the field, and before each watch while it is not
// known.
type generationSource struct {
	kind     *objects.Handler
	log      *slog.Logger
	observed func(context.Context) (bool, error)
	metadata metadata.ResourceInterface
	whole    dynamic.ResourceInterface
	reads    atomic.Bool // whole objects
	unsure   atomic.Bool // it is not known whether the kind has the field
	audits   auditPages
}

// auditPages recognizes the lists of audits. They are for an exact version. Requests for later pages have no ResourceVersionMatch,
// but the continue token of the page before. It is safe for concurrent use.
type auditPages struct{ next atomic.Value }

func (p *auditPages) have(options metav1.ListOptions) bool {
	return options.ResourceVersionMatch == metav1.ResourceVersionMatchExact || options.Continue != "" && options.Continue == p.next.Load()
}

// listed records a page of an audit. The token is empty after the last one.
func (p *auditPages) listed(token string) { p.next.Store(token) }

// List lists the objects of the informer. Audits list only metadata.
func (g *generationSource) List(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
	if g.audits.have(options) {
		list, err := g.metadata.List(ctx, options)
		if err != nil {
			return nil, err
		}
		g.audits.listed(list.Continue)
		return list, nil
	}
	if options.Continue == "" { // later pages follow the first one
		g.decide(ctx)
	}
	if g.reads.Load() {
		return untyped(g.whole.List)(ctx, options)
	}
	return untyped(g.metadata.List)(ctx, options)
}

// Watch watches the objects that List has listed.
func (g *generationSource) Watch(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	if isStreaming(options) {
		g.decide(ctx)
	} else if g.unsure.Load() && g.revise(ctx) {
		return nil, apierrors.NewResourceExpired("relist required: the assumption about status.observedGeneration was wrong")
	}
	if g.reads.Load() {
		return g.whole.Watch(ctx, options)
	}
	return g.metadata.Watch(ctx, options)
}

const (
	// describedWithin is how long to wait for the description of a new CustomResourceDefinition. It does not limit requests.
	describedWithin = 5 * time.Second
	// decidedWithin is how long a list waits for the description, so that an API server that hangs does not delay informers for
	// long.
	decidedWithin = 15 * time.Second
	// revisedWithin is how long a watch waits for the description. It is short, because events are delayed meanwhile.
	revisedWithin = time.Second
)

func (g *generationSource) decide(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, decidedWithin)
	defer cancel()
	var observed bool
	var err error
	_ = wait.PollUntilContextTimeout(ctx, time.Second, describedWithin, true, func(context.Context) (bool, error) {
		observed, err = g.observed(ctx) // has its own deadline, and may wait for others
		return !errors.Is(err, objects.ErrUndescribed), nil
	})
	if err != nil { // Schemas logs failures, once for all resources
		g.log.Debug("support of status.observedGeneration is not known", "assumed", observed, "err", err)
	}
	g.unsure.Store(err != nil)
	g.reads.Store(observed)
	g.kind.SetGenerations(observed)
}

// revise checks again and reports whether the previous assumption was wrong. If so, the assumption stays until the next list
// replaces it.
func (g *generationSource) revise(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, revisedWithin)
	defer cancel()
	observed, err := g.observed(ctx)
	if err != nil {
		return false
	}
	wrong := observed != g.reads.Load()
	g.unsure.Store(wrong)
	return wrong
}
