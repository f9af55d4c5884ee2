package bench_test

import (
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/informer-exporter/informer-exporter/internal/testenv/stack"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

// BenchmarkStatusUpdates compares ways to write a status on a real API server (B11) while users change the spec: spec and status in
// one update, an update of the status subresource, and a patch of it. A user changes the spec of each of 20 objects ten times a
// second. A controller reads the object, takes 10 ms, and writes the status; after a conflict it begins again. It reports conflicts
// per status, and the total time.
func BenchmarkStatusUpdates(b *testing.B) { benchmark(b, statusUpdates) }

func statusUpdates(r *run) {
	config := stacktest.Config(r)
	with := schema.GroupVersionResource{Group: "bench.example.com", Version: "v1", Resource: "machines"}
	without := schema.GroupVersionResource{Group: "bench.example.com", Version: "v1", Resource: "engines"}
	stacktest.Define(r, config, stack.Definition(with.Group, "Machine", stack.Version{Name: "v1", Subresources: map[string]any{"status": map[string]any{}}}))
	stacktest.Define(r, config, stack.Definition(without.Group, "Engine"))
	client, namespace := dynamic.NewForConfigOrDie(config), stacktest.Namespace(r)

	r.statuses("whole", client.Resource(without).Namespace(namespace), "Engine", func(objects dynamic.ResourceInterface, o *unstructured.Unstructured) error {
		_, err := objects.Update(r.Context(), o, metav1.UpdateOptions{})
		return err
	})
	r.statuses("update", client.Resource(with).Namespace(namespace), "Machine", func(objects dynamic.ResourceInterface, o *unstructured.Unstructured) error {
		_, err := objects.UpdateStatus(r.Context(), o, metav1.UpdateOptions{})
		return err
	})
	r.statuses("patch", client.Resource(with).Namespace(namespace), "Machine", func(objects dynamic.ResourceInterface, o *unstructured.Unstructured) error {
		patch, err := json.Marshal(map[string]any{"status": o.Object["status"]})
		if err != nil {
			return err
		}
		_, err = objects.Patch(r.Context(), o.GetName(), types.MergePatchType, patch, metav1.PatchOptions{}, "status")
		return err
	})
}

// statuses measures users and controllers that write to the same objects, with one way to write a status.
func (r *run) statuses(name string, objects dynamic.ResourceInterface, kind string, write func(dynamic.ResourceInterface, *unstructured.Unstructured) error) {
	count, each := r.size(20, 2), r.size(50, 3)
	const pause = 100 * time.Millisecond
	var mu sync.Mutex
	var spent []time.Duration
	conflicts := 0
	var users, controllers sync.WaitGroup
	for i := range count {
		object := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "bench.example.com/v1", "kind": kind, "metadata": map[string]any{"name": fmt.Sprint(name, "-", i)}, "spec": map[string]any{"size": int64(0)},
		}}
		created, err := objects.Create(r.Context(), object, metav1.CreateOptions{})
		if err != nil {
			r.Fatal(err)
		}
		end := make(chan struct{})
		users.Go(func() {
			for size := 1; ; size++ {
				select {
				case <-end:
					return
				case <-time.After(pause):
				}
				patch := fmt.Appendf(nil, `{"spec":{"size":%d}}`, size)
				if _, err := objects.Patch(r.Context(), created.GetName(), types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
					r.Error(err)
					return
				}
			}
		})
		controllers.Go(func() {
			defer close(end)
			for n := range each {
				begin := time.Now()
				for {
					o, err := objects.Get(r.Context(), created.GetName(), metav1.GetOptions{})
					if err != nil {
						r.Error(err)
						return
					}
					time.Sleep(10 * time.Millisecond)
					o.Object["status"] = map[string]any{"observedGeneration": o.GetGeneration(), "run": int64(n)}
					err = write(objects, o)
					if err != nil && !apierrors.IsConflict(err) {
						r.Error(err)
						return
					}
					mu.Lock()
					if err != nil {
						conflicts++
					} else {
						spent = append(spent, time.Since(begin))
					}
					mu.Unlock()
					if err == nil {
						break
					}
				}
			}
		})
	}
	controllers.Wait()
	users.Wait()
	if r.Failed() {
		r.FailNow()
	}
	r.latencies(name, spent)
	r.report(100*float64(conflicts)/float64(len(spent)), name+"-conflicts-%")
}
