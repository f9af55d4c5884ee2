package bench_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

// BenchmarkServerReads reads 10,000 Pods from a real API server (B1): 38% lists of all Pods, as documented, 50% gets and 12% writes
// that a watch receives. It reports the latency of each, and how many lists and gets the API server answered from etcd and not from
// its watch cache, by its requests to etcd. Clients ask with resourceVersion unset, 0, or exact, and in pages.
func BenchmarkServerReads(b *testing.B) { benchmark(b, serverReads) }

func serverReads(r *run) {
	config := stacktest.Config(r)
	client, namespace := protobuf(config), stacktest.Namespace(r)
	pods := r.size(10_000, 50)
	r.fill(client, namespace, pods)
	list, err := client.CoreV1().Pods(namespace).List(r.Context(), metav1.ListOptions{})
	if err != nil {
		r.Fatal(err)
	}
	for _, mode := range []struct {
		name, get string
		list      metav1.ListOptions
	}{
		{"unset", "", metav1.ListOptions{}},
		{"zero", "0", metav1.ListOptions{ResourceVersion: "0"}},
		// A get cannot ask for an exact version.
		{"exact", "0", metav1.ListOptions{ResourceVersion: list.ResourceVersion, ResourceVersionMatch: metav1.ResourceVersionMatchExact}},
		{"paged", "", metav1.ListOptions{Limit: 500}},
	} {
		w := r.deliveries(client, namespace)
		before := etcdReads(r, client)
		var mu sync.Mutex
		spent := map[string][]time.Duration{}
		parallel(4, r.size(200, 50), func(i int) {
			verb, name := "list", podName(rand.IntN(pods))
			var err error
			begin := time.Now()
			switch kind := (i * 37) % 100; {
			case kind < 38:
				err = readAll(r, client, namespace, mode.list)
			case kind < 88:
				verb = "get"
				_, err = client.CoreV1().Pods(namespace).Get(r.Context(), name, metav1.GetOptions{ResourceVersion: mode.get})
			default:
				verb = "watch"
				err = w.write(r, client, namespace, podName(i%pods), fmt.Sprint(mode.name, i))
			}
			took := time.Since(begin)
			if err != nil {
				r.Errorf("%s %s: %v", mode.name, verb, err)
			}
			mu.Lock()
			defer mu.Unlock()
			spent[verb] = append(spent[verb], took)
		})
		w.stop()
		if r.Failed() {
			return
		}
		after := etcdReads(r, client)
		for verb, all := range spent {
			r.latencies(mode.name+"-"+verb, all)
		}
		lists, gets := float64(len(spent["list"])), float64(len(spent["get"]))
		// A write also reads its object from etcd if the cached one is too old.
		listMisses, getMisses := after.lists-before.lists, min(after.gets-before.gets, gets)
		r.report(100*listMisses/lists, mode.name+"-list-misses-%")
		r.report(100*getMisses/gets, mode.name+"-get-misses-%")
		r.report(100*(listMisses+getMisses)/(lists+gets), mode.name+"-misses-%")
		r.report((after.versions-before.versions)/lists, mode.name+"-version-reads/list")
	}
}

// readAll lists Pods, page by page if there is a limit.
func readAll(r *run, client kubernetes.Interface, namespace string, o metav1.ListOptions) error {
	for {
		list, err := client.CoreV1().Pods(namespace).List(r.Context(), o)
		if err != nil || list.Continue == "" {
			return err
		}
		o.Continue = list.Continue
	}
}

// deliveries waits for writes to arrive on a watch.
type deliveries struct {
	mu      sync.Mutex
	arrived map[string]chan struct{} // by the value of the annotation
	stop    func()
}

func (r *run) deliveries(client kubernetes.Interface, namespace string) *deliveries {
	current, err := client.CoreV1().Pods(namespace).List(r.Context(), metav1.ListOptions{Limit: 1})
	if err != nil {
		r.Fatal(err)
	}
	w, err := client.CoreV1().Pods(namespace).Watch(r.Context(), metav1.ListOptions{ResourceVersion: current.ResourceVersion})
	if err != nil {
		r.Fatal(err)
	}
	d := &deliveries{arrived: map[string]chan struct{}{}}
	var running sync.WaitGroup
	running.Go(func() {
		for event := range w.ResultChan() {
			object, err := meta.Accessor(event.Object)
			if err != nil {
				continue // the watch has ended
			}
			d.mu.Lock()
			if c := d.arrived[object.GetAnnotations()["bench"]]; c != nil {
				close(c)
				delete(d.arrived, object.GetAnnotations()["bench"])
			}
			d.mu.Unlock()
		}
	})
	d.stop = func() { w.Stop(); running.Wait() }
	return d
}

// write writes to a Pod and returns when the watch has received it.
func (d *deliveries) write(r *run, client kubernetes.Interface, namespace, name, value string) error {
	arrived := make(chan struct{})
	d.mu.Lock()
	d.arrived[value] = arrived
	d.mu.Unlock()
	patch := fmt.Appendf(nil, `{"metadata":{"annotations":{"bench":%q}}}`, value)
	if _, err := client.CoreV1().Pods(namespace).Patch(r.Context(), name, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		return err
	}
	select {
	case <-arrived:
		return nil
	case <-time.After(time.Minute):
		return fmt.Errorf("the write to %s did not arrive", name)
	}
}

// reads are requests of the API server to etcd for Pods. versions are those that only ask for the current version, before a
// list with resourceVersion unset is answered from the watch cache; etcd_requests_total counts them as gets.
type reads struct{ gets, lists, versions float64 }

func etcdReads(r *run, client kubernetes.Interface) reads {
	r.Helper()
	raw, err := client.Discovery().RESTClient().Get().AbsPath("/metrics").DoRaw(r.Context())
	if err != nil {
		r.Fatal(err)
	}
	all, err := metricstest.Parse(bytes.NewReader(raw))
	if err != nil {
		r.Fatal(err)
	}
	versions := all.Sum("apiserver_watch_cache_consistent_read_total", "resource", "pods")
	return reads{
		gets:     all.Sum("etcd_requests_total", "resource", "pods", "operation", "get") - versions,
		lists:    all.Sum("etcd_requests_total", "resource", "pods", "operation", "list"),
		versions: versions,
	}
}
