//go:build faults

package faults

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/collectors/internal/metricstest"
)

// blocking is a handler that does not return from an event of the object with the name before it is released.
func blocking(name string) (h cache.ResourceEventHandler, entered, release chan struct{}) {
	entered, release = make(chan struct{}), make(chan struct{})
	return cache.ResourceEventHandlerFuncs{AddFunc: func(obj any) {
		if obj.(*corev1.ConfigMap).Name == name {
			close(entered)
			<-release
		}
	}}, entered, release
}

// A handler that does not return is seen before it returns, and does not hold up the others.
func TestBlockedHandler(t *testing.T) {
	t.Parallel()
	r := newRig(t, options{})
	h, _, release := blocking("blocks")
	r.handle("blocked", h)
	r.handle("other", cache.ResourceEventHandlerFuncs{})
	before := r.startBusy()
	r.create("blocks", "waits")
	received := changes{
		"watch_events_total{type=added}": 2, "objects": 2,
		"event_lag_seconds_count": 2, "handler_duration_seconds_count{handler=other}": 2,
	}
	r.waitFor("the lag grows", func(s metricstest.Snapshot) bool { return s[syncLag] > 1 })
	r.expect(before, received.with(changes{"handler_pending_events{handler=blocked}": 2}), syncLag, lastEvent, bookmarks)
	close(release)
	after := r.expect(before, received.with(changes{
		"event_lag_seconds_count": 4, "handler_duration_seconds_count{handler=blocked}": 2,
	}), lastEvent, bookmarks)
	if lag := after["k8s_informer_event_lag_seconds_sum"] - before["k8s_informer_event_lag_seconds_sum"]; lag < 2 {
		t.Errorf("two events waited for more than a second; the lags add up to %v", lag)
	}
}

// A handler is removed while it is busy. Its series and what waits for it are gone at once; the event that it is busy
// with still counts when it returns.
func TestHandlerRemovedWhileBusy(t *testing.T) {
	t.Parallel()
	r := newRig(t, options{})
	h, entered, release := blocking("blocks")
	registration := r.handle("removed", h)
	r.handle("other", cache.ResourceEventHandlerFuncs{})
	before := r.startBusy()
	r.create("blocks", "waits")
	<-entered
	r.waitFor("both events", func(s metricstest.Snapshot) bool {
		return s["k8s_informer_handler_pending_events{handler=removed}"] == 2
	})
	if err := r.informer.RemoveEventHandler(registration); err != nil {
		t.Fatal(err)
	}
	want := changes{
		"watch_events_total{type=added}": 2, "objects": 2, "handlers": -1, "events_lost_total{reason=stop}": 1,
		"event_lag_seconds_count": 2, "handler_duration_seconds_count{handler=other}": 2,
	}
	after := r.expect(before, want, lastEvent, bookmarks)
	for series := range after {
		if strings.Contains(series, "handler=removed") {
			t.Errorf("%s is still there", series)
		}
	}
	close(release)
	r.expect(before, want.with(changes{"event_lag_seconds_count": 3}), lastEvent, bookmarks)
}

// A handler that is added late gets every object from the store, and has waited since it was added.
func TestLateHandler(t *testing.T) {
	t.Parallel()
	r := newRig(t, options{})
	r.create("listed")
	before := r.startBusy()
	r.handle("late", cache.ResourceEventHandlerFuncs{})
	added := changes{"handlers": 1, "event_lag_seconds_count": 2, "handler_duration_seconds_count{handler=late}": 2}
	after := r.expect(before, added, lastEvent, bookmarks)
	if after["k8s_informer_event_lag_seconds_sum"] > after["k8s_informer_handler_duration_seconds_sum{handler=late}"]+1 {
		t.Errorf("the objects waited since they were received, not since the handler was added:\n%s", after)
	}
	r.create("later")
	r.expect(before, changes{
		"handlers": 1, "event_lag_seconds_count": 3, "handler_duration_seconds_count{handler=late}": 3,
		"watch_events_total{type=added}": 1, "objects": 1,
	}, lastEvent, bookmarks)
}

// panicVariable tells a child process of the test binary what to do.
const panicVariable = "FAULTS_PANIC"

// A handler panics. By default client-go lets the program die of it; the counter is a last word that only a panic
// handler can read, and the stack is that of the panic. With ReallyCrash off, the handler goes on with the next event.
func TestPanickingHandler(t *testing.T) {
	if mode := os.Getenv(panicVariable); mode != "" {
		panicking(t, mode)
		return
	}
	t.Parallel()
	child := func(mode, report string) (string, error) {
		cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
		cmd.Env = append(os.Environ(), panicVariable+"="+mode, "FAULTS_REPORT="+report)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	report := filepath.Join(t.TempDir(), "report.json")
	out, err := child("crash", report)
	if err == nil || !strings.Contains(out, "panic: broken handler") || !strings.Contains(out, "collectors/faults.panicking") {
		t.Errorf("the program should have died of the panic, with its stack: %v\n%s", err, out)
	}
	written, err := os.ReadFile(report)
	if err != nil {
		t.Fatal(err)
	}
	var last metricstest.Snapshot
	if err := json.Unmarshal(written, &last); err != nil {
		t.Fatal(err)
	}
	if last["k8s_informer_handler_panics_total{handler=broken}"] != 1 {
		t.Errorf("the last words:\n%s", last)
	}
	if out, err := child("go on", report); err != nil {
		t.Errorf("with ReallyCrash off: %v\n%s", err, out)
	}
}

// panicking is what the child process does, with a control plane of its own.
func panicking(t *testing.T, mode string) {
	r := newRig(t, options{})
	utilruntime.ReallyCrash = mode == "crash" //nolint:reassign // the switch that client-go has
	r.handle("broken", cache.ResourceEventHandlerFuncs{AddFunc: func(obj any) {
		if obj.(*corev1.ConfigMap).Name == "breaks" {
			panic("broken handler")
		}
	}})
	before := r.startBusy()
	if mode == "crash" {
		utilruntime.PanicHandlers = append(utilruntime.PanicHandlers, lastWords(r, before)) //nolint:reassign // as above
	}
	r.create("breaks", "later")
	r.expect(before, changes{
		"handler_panics_total{handler=broken}": 1, "handler_duration_seconds_count{handler=broken}": 1,
		"event_lag_seconds_count": 1, "watch_events_total{type=added}": 2, "objects": 2,
	}, lastEvent, bookmarks)
}

// lastWords writes what has changed to the report before the program dies.
func lastWords(r *rig, before metricstest.Snapshot) func(context.Context, any) {
	return func(context.Context, any) {
		b, err := json.Marshal(r.now().Since(before))
		if err != nil {
			r.Error(err)
		}
		if err := os.WriteFile(os.Getenv("FAULTS_REPORT"), b, 0o600); err != nil {
			r.Error(err)
		}
	}
}
