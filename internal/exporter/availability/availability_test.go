package availability

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/informer-exporter/informer-exporter/internal/testenv/logtest"
)

var (
	pods           = schema.GroupResource{Resource: "pods"}
	errForbidden   = apierrors.NewForbidden(pods, "", errors.New("no"))
	errMissing     = apierrors.NewNotFound(pods, "")
	errExpired     = apierrors.NewResourceExpired("too old")
	errThrottled   = apierrors.NewTooManyRequests("busy", 1)
	errInternal    = apierrors.NewInternalError(errors.New("etcd"))
	errInvalid     = apierrors.NewInvalid(schema.GroupKind{Kind: "ListOptions"}, "", nil)
	errUnreachable = fmt.Errorf("dial: %w", syscall.ECONNREFUSED)
)

// result is one request of an informer and its result.
type result struct {
	request string // "list", "watch" or "stream", a streaming list
	err     error
}

func (r result) tell(a *Tracker) {
	ctx, yes := context.Background(), true
	switch r.request {
	case "list":
		if r.err != nil {
			a.Failed(ctx, r.err)
		}
	case "watch":
		a.Watched(ctx, metav1.ListOptions{}, r.err)
	case "stream":
		a.Watched(ctx, metav1.ListOptions{SendInitialEvents: &yes}, r.err)
	}
}

func TestAvailability(t *testing.T) {
	const refused, available, trouble, again = "cannot watch the resource", "resource is available", "cannot read the resource", "reachable again"
	const fallback, retried = "streaming lists are not supported", "request failed again"

	for _, tc := range []struct {
		name     string
		results  []result
		up       bool
		answer   string
		troubled bool
		log      []string
		debug    string // logged at level debug with the first error
	}{
		{name: "nothing yet", answer: Pending},
		{name: "streaming list", results: []result{{"stream", nil}}, up: true, answer: Up},
		{
			name: "server without streaming lists", up: true, answer: Up,
			results: []result{{"stream", errInvalid}, {"list", nil}, {"watch", nil}}, debug: fallback,
		},
		{
			name: "forbidden, retried", answer: Forbidden, log: []string{refused}, debug: retried,
			results: []result{{"stream", errForbidden}, {"list", errForbidden}, {"stream", errForbidden}, {"list", errForbidden}},
		},
		{
			name: "may list but not watch", answer: Forbidden, log: []string{refused},
			results: []result{{"stream", errForbidden}, {"list", nil}, {"watch", errForbidden}, {"stream", errForbidden}, {"list", nil}, {"watch", errForbidden}},
		},
		{
			name: "may watch but not list, and need not", up: true, answer: Up,
			results: []result{{"stream", nil}},
		},
		{
			name: "granted later", up: true, answer: Up, log: []string{refused, available},
			results: []result{{"stream", errForbidden}, {"list", errForbidden}, {"stream", nil}},
		},
		{
			name: "taken away and granted again", up: true, answer: Up, log: []string{refused, available, refused, available},
			results: []result{{"stream", errForbidden}, {"stream", nil}, {"watch", errForbidden}, {"stream", nil}},
		},
		{
			name: "missing, then forbidden", answer: Forbidden, log: []string{refused, refused},
			results: []result{{"list", errMissing}, {"list", errForbidden}},
		},
		{
			name: "unreachable says nothing about the kind", up: true, answer: Up, troubled: true, log: []string{trouble},
			results: []result{{"stream", nil}, {"watch", errUnreachable}, {"watch", errThrottled}, {"list", errInternal}},
		},
		{
			name: "unreachable and back", up: true, answer: Up, log: []string{trouble, again},
			results: []result{{"stream", nil}, {"watch", errUnreachable}, {"watch", errUnreachable}, {"watch", nil}},
		},
		{
			name: "unreachable from the start", answer: Pending, troubled: true, log: []string{trouble},
			results: []result{{"stream", errUnreachable}, {"list", errUnreachable}},
		},
		{
			name: "unreachable stays forbidden", answer: Forbidden, troubled: true, log: []string{refused, trouble},
			results: []result{{"list", errForbidden}, {"list", errUnreachable}},
		},
		{
			name: "expired is routine", up: true, answer: Up,
			results: []result{{"stream", nil}, {"watch", errExpired}, {"stream", nil}},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var written logtest.Recorder
			a := NewTracker(written.Logger())
			for _, r := range tc.results {
				r.tell(a)
			}
			now := a.Status()
			if a.Up() != tc.up || now.Answer != tc.answer || now.Unreachable != tc.troubled {
				t.Errorf("up %t, answer %q, troubled %t; want %t, %q, %t", a.Up(), now.Answer, now.Unreachable, tc.up, tc.answer, tc.troubled)
			}
			lines := written.Find("")
			if len(lines) != len(tc.log) {
				t.Fatalf("%d log lines, want %d: %v", len(lines), len(tc.log), lines)
			}
			for i, part := range tc.log {
				if got := written.Find(part); len(got) == 0 {
					t.Errorf("line %d is %q, want %q", i, lines[i].Message, part)
				}
			}
			if tc.debug != "" && len(written.FindDebug(tc.debug, "err", tc.results[0].err.Error())) == 0 {
				t.Errorf("debug lines %v, want %q with %v", written.FindDebug(""), tc.debug, tc.results[0].err)
			}
		})
	}
}

func TestAvailabilityIgnoresWhatStopCutsOff(t *testing.T) {
	var written logtest.Recorder
	a := NewTracker(written.Logger())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	a.Failed(ctx, context.Canceled)
	a.Watched(ctx, metav1.ListOptions{}, errForbidden)
	if now := a.Status(); now.Answer != Pending || now.Unreachable {
		t.Errorf("a request that was cut off changed the answer to %+v", now)
	}
	if lines := written.Find(""); len(lines) != 0 {
		t.Errorf("a request that was cut off was logged: %v", lines)
	}
}

// client-go's watch error handler receives the wrapped error of a request. It must log only errors that are not logged yet.
func TestAvailabilityReported(t *testing.T) {
	var written logtest.Recorder
	a := NewTracker(slog.New(slog.DiscardHandler))
	ctx := klog.NewContext(t.Context(), logr.FromSlogHandler(written.Logger().Handler()))
	reflector := cache.NewReflector(&cache.ListWatch{}, &metav1.PartialObjectMetadata{}, cache.NewStore(cache.MetaNamespaceKeyFunc), 0)
	expect := func(what string, err error, logged bool) {
		t.Helper()
		a.WatchError(ctx, reflector, err)
		if lines := written.Find("", "err", err.Error()); (len(lines) == 1) != logged {
			t.Errorf("%s: client-go logs %v, want a line: %t", what, lines, logged)
		}
	}
	expect("before a request has failed", errForbidden, true)
	a.Failed(t.Context(), errMissing)
	expect("the error of the last list", fmt.Errorf("failed to list pods: %w", errMissing), false)
	expect("an error that no request returned", errors.New("unable to sync list result"), true)
}

func TestEveryRefusalSaysWhatToDo(t *testing.T) {
	for _, answer := range []string{Forbidden, Unauthorized, Missing, Unsupported} {
		if fixes[answer] == "" {
			t.Errorf("no fix for %q", answer)
		}
		if !(Status{Answer: answer}).Refused() {
			t.Errorf("%q is not a refusal", answer)
		}
	}
	for err, answer := range map[error]string{
		errForbidden:                      Forbidden,
		apierrors.NewUnauthorized("who?"): Unauthorized,
		errMissing:                        Missing,
		apierrors.NewMethodNotSupported(pods, "watch"): Unsupported,
		errInternal:    "",
		errUnreachable: "",
	} {
		if got := Classify(err); got != answer {
			t.Errorf("%v: answer %q, want %q", err, got, answer)
		}
	}
}

// A refusal closes a channel once and is logged with its remedy. OnMissing is called once each time that a resource becomes
// missing.
func TestRefusalsAreReported(t *testing.T) {
	var written logtest.Recorder
	a := NewTracker(written.Logger())
	missing := 0
	a.OnMissing = func() { missing++ }
	refused := func() bool {
		select {
		case <-a.Refusal:
			return true
		default:
			return false
		}
	}
	a.Failed(t.Context(), errUnreachable)
	if lines := written.Find("cannot read the resource; retrying", "err", errUnreachable.Error()); len(lines) != 1 || refused() || a.Status().WasRefused {
		t.Errorf("an unreachable server is a refusal, or not logged: %v", written.Find(""))
	}
	a.Watched(t.Context(), metav1.ListOptions{}, nil)
	if refused() || missing != 0 {
		t.Error("an opened watch is a refusal")
	}
	for i, step := range []struct {
		err     error
		answer  string
		missing int
	}{{errForbidden, Forbidden, 0}, {errMissing, Missing, 1}, {errMissing, Missing, 1}, {errForbidden, Forbidden, 1}, {errMissing, Missing, 2}} {
		a.Failed(t.Context(), step.err)
		lines := written.Find("cannot watch the resource", "reason", step.answer, "fix", Fix(step.answer), "err", step.err.Error())
		if now := a.Status(); !refused() || !now.WasRefused || !now.Refused() || missing != step.missing || len(lines) == 0 {
			t.Errorf("step %d: %+v, %d times missing, want %d; log %v", i, now, missing, step.missing, written.Find(""))
		}
	}
	a.Watched(t.Context(), metav1.ListOptions{}, nil)
	if now := a.Status(); now.Refused() || !now.WasRefused || len(written.Find("resource is available", "before", Missing)) != 1 {
		t.Errorf("available again: %+v, log %v", now, written.Find(""))
	}
}

// An outage has one line for all resources, and so has its end. A resource that fails alone is named.
func TestOutages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var written logtest.Recorder
		outages := NewOutages(written.Logger())
		var all []*Tracker
		for _, name := range []string{"pods", "nodes", "jobs"} {
			a := NewTracker(written.Logger().With("informer_type", name))
			a.Outages = outages
			all = append(all, a)
		}
		expect := func(message string, attrs ...string) {
			t.Helper()
			time.Sleep(2 * outageBatch)
			synctest.Wait()
			if lines := written.Find(""); len(lines) != 1 || len(written.Find(message, attrs...)) != 1 {
				t.Errorf("%v, want one line %q with %v", lines, message, attrs)
			}
			written = logtest.Recorder{}
		}
		for _, a := range all {
			a.Failed(t.Context(), errUnreachable)
			time.Sleep(outageBatch / 5)
		}
		expect("cannot read resources; retrying", "resources", "3", "err", errUnreachable.Error())
		for _, a := range all {
			a.Watched(t.Context(), metav1.ListOptions{}, nil)
		}
		expect("API server is reachable again", "resources", "3")
		all[1].Failed(t.Context(), errInternal)
		expect("cannot read the resource; retrying", "informer_type", "nodes")
		all[1].Watched(t.Context(), metav1.ListOptions{}, nil)
		expect("API server is reachable again", "informer_type", "nodes")
	})
}
