package auditlog

import (
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stack"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

// BenchmarkPolicy measures what the generated policy costs an API server: the same reads and writes of two API servers on one etcd, in
// turns. Only one has an audit log. cpu-ratio compares the CPU time of the servers, requests-ratio their requests per second.
func BenchmarkPolicy(b *testing.B) {
	dir := b.TempDir()
	policy, err := filepath.Abs(auditFiles + "policy.yaml")
	if err != nil {
		b.Fatal(err)
	}
	plane := stacktest.Private(b, stack.Options{})
	audited, err := plane.AddAPIServer(b.Context(), plane.Etcd.URL, nil, "--audit-policy-file="+policy, "--audit-log-path="+filepath.Join(dir, "audit.log"))
	if err != nil {
		b.Fatal(err)
	}
	namespace := stacktest.NamespaceIn(b, plane.Config())
	to := func(config *rest.Config) *kubernetes.Clientset {
		config.QPS = -1
		return kubernetes.NewForConfigOrDie(config)
	}
	servers := []*kubernetes.Clientset{to(plane.Config()), to(audited.Config())}
	cpu := func(client *kubernetes.Clientset) float64 {
		raw, err := client.RESTClient().Get().AbsPath("/metrics").DoRaw(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		s, err := metricstest.Parse(strings.NewReader(string(raw)))
		if err != nil {
			b.Fatal(err)
		}
		return s.Sum("process_cpu_seconds_total")
	}
	const requests, clients, rounds = 400, 4, 10
	var used, took [2]float64
	for b.Loop() {
		for round := range rounds {
			for i, client := range servers {
				if round == 0 { // warm caches and connections
					load(b, client, namespace, clients, requests/clients)
				}
				before, start := cpu(client), time.Now()
				load(b, client, namespace, clients, requests/clients)
				took[i] += time.Since(start).Seconds()
				used[i] += cpu(client) - before
			}
		}
	}
	b.ReportMetric(used[1]/used[0], "cpu-ratio")
	b.ReportMetric(took[0]/took[1], "requests-ratio")
}

// load sends three reads for each write, from several clients at the same time.
func load(b *testing.B, client *kubernetes.Clientset, namespace string, clients, requests int) {
	b.Helper()
	var all sync.WaitGroup
	for range clients {
		all.Go(func() {
			object, err := client.CoreV1().ConfigMaps(namespace).Create(b.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "c-"}}, metav1.CreateOptions{})
			for n := 0; err == nil && n < requests; n++ {
				if n%4 == 0 {
					object.Labels = map[string]string{"n": strings.Repeat("x", 1+n%2)}
					object, err = client.CoreV1().ConfigMaps(namespace).Update(b.Context(), object, metav1.UpdateOptions{})
					continue
				}
				_, err = client.CoreV1().ConfigMaps(namespace).Get(b.Context(), object.Name, metav1.GetOptions{})
			}
			if err == nil {
				err = client.CoreV1().ConfigMaps(namespace).Delete(b.Context(), object.Name, metav1.DeleteOptions{})
			}
			if err != nil {
				b.Error(err)
			}
		})
	}
	all.Wait()
}
