package bench_test

import (
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

func TestMain(m *testing.M) {
	klog.LogToStderr(false) // warnings of the API server and of client-go would appear amid the results
	klog.SetOutput(io.Discard)
	stacktest.Main(m)
}

// run is one run of a benchmark: in full size by go test -bench, or in a small size by TestBenchmarks.
type run struct {
	testing.TB
	small   bool
	figures map[string]float64 // by unit
}

// size returns full, or small in a small run.
func (r *run) size(full, small int) int {
	if r.small {
		return small
	}
	return full
}

// lasts returns how long a part of the benchmark takes.
func (r *run) lasts(full time.Duration) time.Duration {
	if r.small {
		return 100 * time.Millisecond
	}
	return full
}

// report reports a value. It is not safe for concurrent use; callers must synchronize.
func (r *run) report(value float64, unit string) { r.figures[unit] = value }

// latencies reports the median and the 99th percentile of durations in milliseconds, as p50-ms and p99-ms after a prefix.
func (r *run) latencies(prefix string, values []time.Duration) {
	r.Helper()
	if len(values) == 0 {
		r.Fatalf("%s: nothing was measured", prefix)
	}
	r.report(milliseconds(quantile(values, .5)), prefix+"-p50-ms")
	r.report(milliseconds(quantile(values, .99)), prefix+"-p99-ms")
}

// benchmark runs f in full size.
func benchmark(b *testing.B, f func(*run)) {
	r := &run{TB: b, figures: map[string]float64{}}
	f(r)
	b.ReportMetric(0, "ns/op")
	for unit, value := range r.figures {
		b.ReportMetric(value, unit)
	}
}

// All benchmarks work. Their results in a small size are meaningless.
func TestBenchmarks(t *testing.T) {
	for name, f := range map[string]func(*run){
		"ServerReads": serverReads, "Handlers": handlers, "Stores": stores, "Controller": controller, "Comparisons": comparisons,
		"Restart": restart, "ColdStart": coldStart, "StatusUpdates": statusUpdates, "Encodings": encodings,
	} {
		t.Run(name, func(t *testing.T) {
			r := &run{TB: t, small: true, figures: map[string]float64{}}
			f(r)
			if len(r.figures) == 0 {
				t.Error("nothing is reported")
			}
			for _, unit := range slices.Sorted(maps.Keys(r.figures)) {
				if v := r.figures[unit]; math.IsNaN(v) || math.IsInf(v, 0) {
					t.Errorf("%s is %v", unit, v)
				}
			}
		})
	}
}

// parallel calls f for 0 to n-1, from a number of workers.
func parallel(workers, n int, f func(i int)) {
	var next atomic.Int64
	var running sync.WaitGroup
	for range workers {
		running.Go(func() {
			for i := next.Add(1) - 1; i < int64(n); i = next.Add(1) - 1 {
				f(int(i))
			}
		})
	}
	running.Wait()
}

// quantile returns the smallest value that a share q of the values does not exceed.
func quantile(values []time.Duration, q float64) time.Duration {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[min(int(q*float64(len(sorted))), len(sorted)-1)]
}

func milliseconds(d time.Duration) float64 { return d.Seconds() * 1000 }

// protobuf returns a client that speaks protobuf, as controllers of built-in resources do.
func protobuf(config *rest.Config) kubernetes.Interface {
	config = rest.CopyConfig(config)
	config.ContentType, config.AcceptContentTypes = "application/vnd.kubernetes.protobuf", "application/vnd.kubernetes.protobuf,application/json"
	return kubernetes.NewForConfigOrDie(config)
}

// fill creates Pods with names of podName. No kubelet runs them.
func (r *run) fill(client kubernetes.Interface, namespace string, n int) {
	r.Helper()
	parallel(16, n, func(i int) {
		if _, err := client.CoreV1().Pods(namespace).Create(r.Context(), pod(namespace, i), metav1.CreateOptions{}); err != nil {
			r.Error(err)
		}
	})
	if r.Failed() {
		r.FailNow()
	}
}

// pod returns a Pod of typical size: about 2 KiB as JSON, and twice as much with what the API server adds.
func pod(namespace string, i int) *corev1.Pod {
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: podName(i),
			Labels:      map[string]string{"app.kubernetes.io/name": "shop", "app.kubernetes.io/component": "web", "pod-template-hash": "7d9f8b6c5"},
			Annotations: map[string]string{"prometheus.io/scrape": "true", "prometheus.io/port": "8080", "checksum/config": "8f434346648f6b96df89dda901c5176b10a6d83961dd3c1ac88b59b2dc327aa4"},
		},
	}
	for n, name := range []string{"web", "proxy"} {
		p.Spec.Containers = append(p.Spec.Containers, corev1.Container{
			Name: name, Image: "registry.example.com/shop/" + name + ":v1.2.3",
			Env:          []corev1.EnvVar{{Name: "LOG_LEVEL", Value: "info"}, {Name: "DATABASE", Value: "postgres://database.shop.svc:5432/shop"}},
			Ports:        []corev1.ContainerPort{{Name: "http-" + name, ContainerPort: 8080 + int32(n)}},
			VolumeMounts: []corev1.VolumeMount{{Name: "config", MountPath: "/etc/" + name}},
		})
	}
	p.Spec.Volumes = []corev1.Volume{{Name: "config", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}}
	return p
}

func podName(i int) string { return fmt.Sprintf("shop-7d9f8b6c5-%05d", i) }
