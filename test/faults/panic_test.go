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
	"k8s.io/client-go/tools/clientcmd"

	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stack"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

// S21: a handler panics. By default client-go crashes the process: only a panic handler can read the counter, and the stack
// shows the panic. With ReallyCrash off, the handler continues with the next event. This test runs alone because the switch
// is global.
func TestPanickingHandler(t *testing.T) {
	proof(t)
	if will := os.Getenv(lastWill); will != "" {
		crash(t, will)
		return
	}
	t.Run("crash", func(t *testing.T) {
		dir := t.TempDir()
		if err := stack.WriteKubeconfig(filepath.Join(dir, "kubeconfig"), stacktest.Config(t)); err != nil {
			t.Fatal(err)
		}
		child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestPanickingHandler$", "-test.v", "-test.timeout=2m")
		child.Env = append(os.Environ(), lastWill+"="+dir)
		out, err := child.CombinedOutput()
		if err == nil || !strings.Contains(string(out), "panic: broken handler") || !strings.Contains(string(out), ".breaking.func") {
			t.Errorf("the panic should crash the process, with its stack: %v\n%s", err, out)
		}
		written, err := os.ReadFile(filepath.Join(dir, "words"))
		if err != nil {
			t.Fatal(err)
		}
		var words metricstest.Snapshot
		if err := json.Unmarshal(written, &words); err != nil {
			t.Fatal(err)
		}
		words.Equal(t, changes{
			"handler_panics_total{handler=broken}": 1, "watch_events_total{type=added}": 1, "objects": 1,
		}.snapshot())
	})
	t.Run("go on", func(t *testing.T) {
		defer func(before bool) { utilruntime.ReallyCrash = before }(utilruntime.ReallyCrash) //nolint:reassign // client-go's own switch
		utilruntime.ReallyCrash = false
		r := newRig(t, options{})
		defer func() { r.stop() }()
		r.handle("broken", breaking("breaks"))
		before := r.startBusy()
		r.create("breaks", "later")
		r.expect(before, r.received(2).with(r.handled(1)).with(changes{"handler_panics_total{handler=broken}": 1}))
	})
}

// breaking returns a handler that panics on an object.
func breaking(name string) cache.ResourceEventHandler {
	return cache.ResourceEventHandlerFuncs{AddFunc: func(obj any) {
		if obj.(*corev1.ConfigMap).Name == name {
			panic("broken handler")
		}
	}}
}

// lastWill is the environment variable that makes a child process of the test binary crash. Its value is the directory of
// the kubeconfig and the output.
const lastWill = "FAULTS_LAST_WILL"

// crash crashes this process with a panic in a handler, and writes the changes before that.
func crash(t *testing.T, dir string) {
	t.Helper()
	server, err := clientcmd.BuildConfigFromFlags("", filepath.Join(dir, "kubeconfig"))
	if err != nil {
		t.Fatal(err)
	}
	r := newRig(t, options{server: server})
	r.handle("broken", breaking("breaks"))
	before := r.startBusy()
	utilruntime.PanicHandlers = append(utilruntime.PanicHandlers, func(context.Context, any) { //nolint:reassign // client-go's own hook
		words, err := json.Marshal(r.now().Since(before, lastEvent, bookmarks, versions))
		if err != nil {
			t.Error(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "words"), words, 0o600); err != nil {
			t.Error(err)
		}
	})
	r.create("breaks")
	<-t.Context().Done()
}
