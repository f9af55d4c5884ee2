package main

import (
	"context"
	"errors"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"

	"github.com/informer-exporter/informer-exporter/internal/testenv/await"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

// TestShutdownReleasesTheLock covers S23 and O2 with a real Lease: the controller keeps its caches and the lock while a
// reconcile runs. After the shutdown, the next replica leads long before the lease expires. A worker that hangs delays
// that, but does not prevent it.
func TestShutdownReleasesTheLock(t *testing.T) {
	for _, hangs := range []bool{false, true} {
		name := "workers return"
		if hangs {
			name = "a worker hangs"
		}
		t.Run(name, func(t *testing.T) {
			config, namespace := stacktest.Config(t), stacktest.Namespace(t)
			all := dynamic.NewForConfigOrDie(config)
			defineWidgets(t, all)
			client := all.Resource(widgets).Namespace(namespace)
			o := testOptions(namespace)
			o.lease = time.Hour
			if hangs {
				o.grace = 10 * time.Second // each step after the workers has a tenth
			}
			began, release, over := make(chan struct{}), make(chan struct{}), make(chan struct{})
			r := start(t, config, o, func(r *replica, c *controller) {
				c.reconciler.cleanup = func(context.Context, *Widget) error {
					close(began)
					<-release
					if hangs {
						<-over
						return errors.New("the worker was hung")
					}
					if _, err := c.reconciler.widgets.ByNamespace(namespace).Get("last"); err != nil {
						t.Errorf("a reconcile has no cache: %v", err)
					}
					if n := r.sum("k8s_informer_synced", "informer_type", "widgets.example.com"); n != 1 {
						t.Errorf("%v informers of widgets are synced", n)
					}
					if h := holder(t, config, namespace); h != o.identity {
						t.Errorf("during a reconcile, %q holds the lock", h)
					}
					return nil
				}
			})
			createWidget(t, client, "last", map[string]any{"content": "x"})
			if err := client.Delete(t.Context(), "last", metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
			<-began
			r.stop()
			await.True(t, "intake is stopped", func() bool {
				return r.sum("controller_shutdown_duration_seconds", "step", "stop_intake") > 0
			})
			close(release)
			defer close(over)
			if err := r.end(); errors.Is(err, context.DeadlineExceeded) != hangs || !hangs && err != nil {
				t.Errorf("run returned %v", err)
			}

			drained := "success"
			if hangs {
				drained = "timeout"
			}
			for step, result := range map[string]string{
				"stop_intake": "success", "drain_workers": drained,
				"stop_informers": "success", "release_lock": "success",
			} {
				if r.sum("controller_shutdown_duration_seconds", "step", step, "result", result) == 0 {
					t.Errorf("%s is not reported as %s", step, result)
				}
			}
			if n := r.sum("k8s_informer_synced"); n != 0 {
				t.Errorf("%v informers still run", n)
			}
			if h := holder(t, config, namespace); h != "" {
				t.Errorf("%q holds the lock", h)
			}
			next := start(t, config, o, nil)
			next.awaitLeadership() // the lease would have lasted for an hour
			if err := next.end(); err != nil {
				t.Error(err)
			}
		})
	}
}
