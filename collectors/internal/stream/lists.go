package stream

import (
	"context"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/informer-exporter/informer-exporter/collectors/internal/core"
	"github.com/informer-exporter/informer-exporter/collectors/internal/errclass"
	"github.com/informer-exporter/informer-exporter/collectors/internal/rv"
	"github.com/informer-exporter/informer-exporter/collectors/spans"
)

// listProgress is a list that may take several pages.
type listProgress struct {
	start int64
	items int
	// restarted is set when a continue token expired and the pager is about to start over.
	restarted bool
}

// beginList is called before each page of a list.
func (c *Connection) beginList(firstPage bool) {
	c.requested.Store(true)
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.clock.Now()
	if c.syncBegin == 0 {
		c.syncBegin = now
		if started := c.started.Load(); started != 0 && c.lastList.Load() == nil {
			c.syncBegin = started
		}
	}
	if !firstPage {
		return
	}
	c.firstTransform, c.transformErrors = c.transforms.Load(), 0
	c.lastTransform.Store(0)
	if c.list.restarted {
		c.list = listProgress{start: c.list.start}
		return
	}
	c.list = listProgress{start: now}
}

// pageReceived records one page of a LIST.
func (c *Connection) pageReceived(page runtime.Object, options metav1.ListOptions) {
	c.metrics.listPages.Add(1)
	c.inspectPage(page)
	c.mu.Lock()
	c.list.items += meta.LenList(page)
	items := c.list.items
	c.mu.Unlock()
	list, err := meta.ListAccessor(page)
	if err != nil {
		// The reflector will report it; a list without metadata has no further pages.
		c.listFailed(errclass.ErrorOther)
		return
	}
	if list.GetContinue() != "" {
		return
	}
	if options.ResourceVersion == "0" {
		// The list may be stale: client-go requests version 0 until it knows a version.
		c.Echo.Version.Store(0)
	}
	c.listCompleted(items, 0, list.GetResourceVersion(), false)
}

// listCompleted records the end of a list. received is the number of events of a streaming list that client-go transforms.
func (c *Connection) listCompleted(items, received int, resourceVersion string, streamed bool) {
	now := c.clock.Now()
	version, _ := rv.Parse(resourceVersion)
	first := c.lastList.Load() == nil || c.StoreSynced != nil && !c.StoreSynced()
	c.mu.Lock()
	reason := c.relistReason(first, streamed)
	start, syncDuration := c.list.start, now-c.syncBegin
	c.syncBegin, c.fallback, c.list = 0, false, listProgress{}
	c.mu.Unlock()

	if version != 0 {
		c.advance(version)
	}
	c.objects.Store(int64(items))
	if c.lastList.Load() != nil {
		c.relists.Add(1)
	}
	span := c.traceList(start, spans.Result{Items: items, End: c.clock.Moment(now)})
	c.lastList.Store(&List{Version: version, At: now, Span: span})
	if version != 0 {
		c.expectTransforms(items, received)
	}
	c.lastReceipt.Store(now)
	c.metrics.listDuration.Observe(core.Seconds(now - start))
	c.metrics.listItems.Observe(float64(items))
	c.metrics.relists.Inc(reason)
	if !first || c.StoreSynced == nil {
		c.synced(syncDuration) // the first sync of an informer ends when its store has the list: see InitialSync
	}
}

// relistReason returns the reason for the list that has just been completed. It is called with the lock held.
func (c *Connection) relistReason(first, streamed bool) string {
	switch {
	case c.fallback && !streamed:
		return relistFallback
	case first && c.lastEnd.reason == "":
		// There may be several lists before the first watch: client-go lists again if a Transform fails for an object.
		return relistInitial
	case c.lastEnd.decode:
		return relistDecode
	}
	switch c.lastEnd.reason {
	case errclass.WatchExpired:
		return relistExpired
	case watchClientStop, watchTimeout, "":
		return relistResyncRequested
	}
	return relistWatchFailed
}

// listError records an error of a list, or of a streaming list before the end of its initial events. Errors after the end of
// ctx are caused by the client and are not recorded.
func (c *Connection) listError(ctx context.Context, err error, options metav1.ListOptions) {
	if ctx.Err() != nil {
		return
	}
	errorType := errclass.ErrorType(err)
	if errorType == errclass.ErrorExpired && options.Continue != "" {
		// client-go's pager starts over without a continue token; the list as a whole has not failed.
		c.mu.Lock()
		c.list.restarted = true
		c.mu.Unlock()
		c.metrics.errors.Inc(errorType)
		return
	}
	if options.SendInitialEvents != nil && errclass.IsStreamingListUnsupported(err) {
		c.mu.Lock()
		c.fallback = true
		c.mu.Unlock()
	}
	c.listFailed(errorType)
}

// listFailed records the end of a list that did not complete.
func (c *Connection) listFailed(errorType string) {
	c.mu.Lock()
	start := c.list.start
	c.list = listProgress{}
	c.mu.Unlock()
	now := c.clock.Now()
	c.failures.Add(1)
	c.traceList(start, spans.Result{Failed: true, ErrorType: errorType, End: c.clock.Moment(now)})
	c.metrics.errors.Inc(errorType)
	c.metrics.syncs.Observe(resultError, core.Seconds(now-start))
}

// traceList records the span of a list that has ended.
func (c *Connection) traceList(start int64, r spans.Result) spans.SpanContext {
	span := c.clock.Tracing.Start(context.Background(), spans.Operation{
		Kind: spans.List, Name: c.metrics.informerType, WatchNamespace: c.metrics.watchNamespace, Start: c.clock.Moment(start),
	})
	span.End(r)
	return span.SpanContext()
}
