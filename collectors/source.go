package collectors

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/collectors/internal/errclass"
	"github.com/informer-exporter/informer-exporter/collectors/internal/rv"
)

// source is the state of an informer's connection to the API server, as seen by the decorated ListerWatcher: which list
// or watch is under way, why, and since when there is none.
//
// It does the same accounting for a LIST and for a streaming list (KEP-3157). The stream is a list until the bookmark
// that ends its initial events, and a watch from there on.
type source struct {
	informer *informer

	// requested tells that a list or a watch has been asked for.
	requested atomic.Bool
	// epoch is the last full state.
	epoch atomic.Pointer[epoch]
	// objects is how many objects the last full state and the events since amount to.
	objects atomic.Int64
	// relists is how many full states came after the first.
	relists atomic.Uint64
	// lastEvent is when something was received last, 0 if nothing was.
	lastEvent atomic.Int64
	// lastEventTime is the time of day of lastEvent, as a scrape has worked it out.
	lastEventTime atomic.Pointer[timestamp]
	// received is the last resourceVersion that was received, 0 if none was a number.
	received atomic.Uint64
	// open is the number of watches that are open.
	open atomic.Int32
	// opened is when the last watch was open and up to date, 0 before the first.
	opened atomic.Int64
	// lost is when the last watch ended, 0 while one is open and before the first.
	lost atomic.Int64

	mu sync.Mutex
	// needed is when the full state that is being obtained became necessary, 0 if none is being obtained.
	needed int64
	// fallback tells that the server rejected the streaming list of this attempt.
	fallback bool
	// list is the list that is under way.
	list listProgress
	// cause is how the last watch ended, or why none could be opened.
	cause watchEnd
}

// timestamp is a moment with its time of day.
type timestamp struct {
	at   int64
	time time.Time
}

// lastEventAt returns when something was received last, and the zero time if nothing was. The time of day is worked out
// once, so that it is the same in each scrape until the next event, and on a scrape, so that no event pays for it.
func (s *source) lastEventAt() time.Time {
	at := s.lastEvent.Load()
	if at == 0 {
		return time.Time{}
	}
	known := s.lastEventTime.Load()
	if known == nil || known.at != at {
		known = &timestamp{at: at, time: s.informer.obs.wall(at)}
		s.lastEventTime.Store(known)
	}
	return known.time
}

// unwatched returns since when nothing can be received: since the last watch ended or, if that came later, the last full
// state. It is 0 while a watch is open and before the first state.
func (s *source) unwatched() (since int64) {
	since = s.lost.Load()
	if since == 0 && s.opened.Load() != 0 {
		return 0
	}
	if state := s.epoch.Load(); state != nil {
		since = max(since, state.at)
	}
	return since
}

// epoch is a full state that was taken in.
type epoch struct {
	// rv is the state's resourceVersion, 0 if it is no number.
	rv uint64
	// at is when the end of the list was received.
	at int64
}

// listProgress is a list over several pages.
type listProgress struct {
	start int64
	items int
	// restarted tells that a continuation expired and that the pager will begin again.
	restarted bool
}

// watchEnd is how a watch ended.
type watchEnd struct {
	// reason is one of the catalog's ends of a watch, empty before the first.
	reason string
	// decode tells that the stream could not be decoded.
	decode bool
}

// beginList is called before the first request of a list and before each further page.
func (s *source) beginList(firstPage bool) {
	s.requested.Store(true)
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.informer.obs.now()
	if s.needed == 0 {
		s.needed = now
		if started := s.informer.started.Load(); started != 0 && s.epoch.Load() == nil {
			s.needed = started
		}
	}
	if !firstPage {
		return
	}
	if s.list.restarted {
		s.list = listProgress{start: s.list.start}
		return
	}
	s.list = listProgress{start: now}
}

// listPage takes in one page of a LIST.
func (s *source) listPage(page runtime.Object, options metav1.ListOptions) {
	s.informer.group.listPages.Inc()
	s.mu.Lock()
	s.list.items += meta.LenList(page)
	items := s.list.items
	s.mu.Unlock()
	list, err := meta.ListAccessor(page)
	if err != nil {
		// The reflector will report it; a list without metadata has no further pages.
		s.failList(catalog.ErrorOther)
		return
	}
	if list.GetContinue() != "" {
		return
	}
	if options.ResourceVersion == "0" {
		// The state may be of any age. client-go asks for that as long as it knows of no version.
		s.received.Store(0)
	}
	s.completeList(items, list.GetResourceVersion(), false)
}

// completeList takes in the end of a list.
func (s *source) completeList(items int, version string, streamed bool) {
	inf := s.informer
	now := inf.obs.now()
	state, _ := rv.Parse(version)
	first := s.epoch.Load() == nil || inf.synced != nil && !inf.synced()
	s.mu.Lock()
	reason := s.relistReason(first, streamed)
	listed, took := now-s.list.start, now-s.needed
	s.needed, s.fallback, s.list = 0, false, listProgress{}
	s.mu.Unlock()

	if state != 0 {
		s.advance(state)
	}
	s.objects.Store(int64(items))
	if s.epoch.Load() != nil {
		s.relists.Add(1)
	}
	s.epoch.Store(&epoch{rv: state, at: now})
	s.lastEvent.Store(now)
	inf.group.listDuration.Observe(seconds(listed))
	inf.group.listItems.Observe(float64(items))
	inf.group.relists[reason].Inc()
	if !first || inf.synced == nil {
		// The first state of an informer is there when its store has it; see sharedIndexInformer.awaitSync.
		inf.syncedAfter(took)
	}
}

// advance takes in a resourceVersion that was received. Where versions go back, which those of one API server do not,
// events of before cannot be compared with those of after.
func (s *source) advance(version uint64) {
	if version < s.received.Load() {
		s.informer.group.regressions.Inc()
		s.informer.ring.Restart()
	}
	s.received.Store(version)
}

// relistReason tells why the state that is complete now was needed.
func (s *source) relistReason(first, streamed bool) string {
	switch {
	case s.fallback && !streamed:
		return catalog.RelistFallback
	case first && s.cause.reason == "":
		// It may come again and again before any watch: client-go lists anew if a Transform fails for an object.
		return catalog.RelistInitial
	case s.cause.decode:
		return catalog.RelistDecode
	}
	switch s.cause.reason {
	case catalog.WatchExpired:
		return catalog.RelistExpired
	case catalog.WatchClientStop, catalog.WatchTimeout, "":
		return catalog.RelistResyncRequested
	}
	return catalog.RelistWatchFailed
}

// listError takes in an error of a list, or of a streaming list before the end of its initial events. An error that
// follows from the end of ctx is the client's own wish.
func (s *source) listError(ctx context.Context, err error, options metav1.ListOptions) {
	if ctx.Err() != nil {
		return
	}
	errorType := errclass.ErrorType(err)
	if errorType == catalog.ErrorExpired && options.Continue != "" {
		// client-go's pager lists again from the start, without a continuation; the list as a whole has not failed.
		s.mu.Lock()
		s.list.restarted = true
		s.mu.Unlock()
		s.informer.group.errors[errorType].Inc()
		return
	}
	if options.SendInitialEvents != nil && errclass.IsStreamingListUnsupported(err) {
		s.mu.Lock()
		s.fallback = true
		s.mu.Unlock()
	}
	s.failList(errorType)
}

func (s *source) failList(errorType string) {
	g := s.informer.group
	s.mu.Lock()
	took := s.informer.obs.now() - s.list.start
	s.list = listProgress{}
	s.mu.Unlock()
	g.errors[errorType].Inc()
	g.syncFail.Observe(seconds(took))
}

// watchOpened takes in that a watch is open and up to date.
func (s *source) watchOpened() {
	g := s.informer.group
	g.watches.Inc()
	s.open.Add(1)
	now := s.informer.obs.now()
	s.opened.Store(now)
	if lost := s.lost.Swap(0); lost != 0 {
		g.gap.Observe(seconds(now - lost))
	}
}

// watchEnded takes in the end of a watch that was opened at the given time.
func (s *source) watchEnded(opened int64, end watchEnd) {
	now := s.informer.obs.now()
	s.informer.group.watchDuration.Observe(seconds(now - opened))
	if s.open.Add(-1) == 0 {
		s.lost.Store(now)
	}
	s.noWatch(end)
}

// noWatch takes in why there is no watch.
func (s *source) noWatch(end watchEnd) {
	g := s.informer.group
	s.mu.Lock()
	s.cause = end
	s.mu.Unlock()
	switch end.reason {
	case catalog.WatchClientStop:
	case catalog.WatchTimeout:
		g.timeouts.Inc()
	default:
		g.disconnects[end.reason].Inc()
	}
}

// watchError takes in an error that kept a watch from opening.
func (s *source) watchError(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return
	}
	s.informer.group.errors[errclass.ErrorType(err)].Inc()
	s.noWatch(watchEnd{reason: errclass.WatchEnd(err), decode: errclass.IsDecode(err)})
}
