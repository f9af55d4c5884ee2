package bench_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/informer-exporter/informer-exporter/collectors/apiclient"
	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

// BenchmarkEncodings receives 10,000 Pods from a real API server as JSON and as protobuf, with and without gzip, in a list
// and in a streaming list (S25). It reports the bytes on the wire, as the client's metrics do, and the shortest time until
// all Pods are decoded.
func BenchmarkEncodings(b *testing.B) { benchmark(b, encodings) }

func encodings(r *run) {
	config := rest.CopyConfig(stacktest.Config(r))
	config.RateLimiter, config.QPS = nil, -1
	namespace, pods := stacktest.Namespace(r), r.size(10_000, 50)
	r.fill(protobuf(config), namespace, pods)
	for _, format := range []string{"json", "protobuf"} {
		for _, compression := range []string{"identity", "gzip"} {
			obs, registry := observertest.New(r)
			decorated := apiclient.WrapConfig(obs, config, apiclient.Options{CompressedBytes: true})
			decorated.DisableCompression = compression == "identity"
			decorated.ContentType = runtime.ContentTypeJSON
			decorated.AcceptContentTypes = runtime.ContentTypeJSON // otherwise clients of built-in resources accept protobuf
			client := kubernetes.Interface(kubernetes.NewForConfigOrDie(decorated))
			if format == "protobuf" {
				client = protobuf(decorated)
			}
			for _, way := range []struct {
				name    string
				receive func(*run, kubernetes.Interface, string) (int, error)
			}{{"list", listOnce}, {"streaming", streamOnce}} {
				rounds := r.size(7, 1)
				before := onWire(r, registry)
				var spent []time.Duration
				for range rounds {
					begin := time.Now()
					n, err := way.receive(r, client, namespace)
					if err != nil || n != pods {
						r.Fatalf("%d Pods, %v", n, err)
					}
					spent = append(spent, time.Since(begin))
				}
				name := way.name + "-" + format + "-" + compression
				r.report((onWire(r, registry)-before)/float64(rounds)/(1<<20), name+"-MiB")
				r.report(milliseconds(slices.Min(spent)), name+"-ms")
			}
		}
	}
}

// onWire returns the bytes of lists and watches so far.
func onWire(r *run, registry prometheus.Gatherer) float64 {
	r.Helper()
	all := metricstest.Gather(r, registry)
	return all.Sum(catalog.ClientCompressedBytes.Name) + all.Sum(catalog.ClientReadBytes.Name, "encoding", "identity")
}

// listOnce returns the number of Pods in one list.
func listOnce(r *run, client kubernetes.Interface, namespace string) (int, error) {
	list, err := client.CoreV1().Pods(namespace).List(r.Context(), metav1.ListOptions{})
	if err != nil {
		return 0, err
	}
	return len(list.Items), nil
}

// streamOnce returns the number of Pods in one streaming list.
func streamOnce(r *run, client kubernetes.Interface, namespace string) (int, error) {
	w, err := client.CoreV1().Pods(namespace).Watch(r.Context(), metav1.ListOptions{
		SendInitialEvents: new(true), ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan, AllowWatchBookmarks: true,
	})
	if err != nil {
		return 0, err
	}
	defer w.Stop()
	n := 0
	for event := range w.ResultChan() {
		switch event.Type {
		case watch.Added:
			n++
		case watch.Bookmark:
			return n, nil
		default:
			return n, errors.New("unexpected event " + string(event.Type))
		}
	}
	return n, errors.New("the watch has ended")
}
