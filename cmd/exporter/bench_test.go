package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"

	"github.com/informer-exporter/informer-exporter/deploy/local/stack"
	"github.com/informer-exporter/informer-exporter/deploy/local/stack/stacktest"
)

// BenchmarkExporter runs the program on a cluster of 100,000 objects and reports its memory once it has synced and at its
// peak, the time of a scrape and the number of metrics, where a histogram is one. The budget is 120 MiB at the peak and
// 50 ms. Where there are audits, they follow one another instead of every ten minutes.
func BenchmarkExporter(b *testing.B) {
	if runtime.GOOS != "linux" {
		b.Skip("reads /proc")
	}
	const each = 50_000
	fill(b, each)
	program := filepath.Join(b.TempDir(), "exporter")
	if out, err := exec.CommandContext(b.Context(), "go", "build", "-trimpath", "-ldflags=-s -w", "-o", program, ".").CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	kubeconfig := filepath.Join(b.TempDir(), "kubeconfig")
	if err := stack.WriteKubeconfig(kubeconfig, stacktest.Config(b)); err != nil {
		b.Fatal(err)
	}
	for _, c := range []struct{ name, limit, audit string }{
		{"without-audits", "off", "0s"},
		{"with-audits", "off", "1s"},
		{"limited-without-audits", "100MiB", "0s"},
		{"limited-with-audits", "100MiB", "1s"},
	} {
		b.Run(c.name, func(b *testing.B) {
			config := filepath.Join(b.TempDir(), "config.yaml")
			if err := os.WriteFile(config, []byte("checks: {audit: "+c.audit+"}\n"), 0o600); err != nil {
				b.Fatal(err)
			}
			log := &output{}
			cmd := exec.CommandContext(b.Context(), program, "--kubeconfig="+kubeconfig, "--config.file="+config,
				"--web.listen-address=127.0.0.1:0", "--log.format=json")
			cmd.Stderr = log
			cmd.Env = append(os.Environ(), "GOMEMLIMIT="+c.limit)
			if err := cmd.Start(); err != nil {
				b.Fatal(err)
			}
			defer func() {
				_ = cmd.Process.Signal(syscall.SIGTERM)
				_ = cmd.Wait()
			}()
			metrics := "http://" + log.wait(b, `"msg":"Listening on","address":"`, `"`) + "/metrics"
			log.wait(b, `"msg":"Informers have synced"`, "\n")
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(resident(b, cmd.Process.Pid, "VmRSS"), "synced-MiB")
			if held := sum(b, scrape(b, metrics), "k8s_informer_objects", nil); held < 2*each {
				b.Fatalf("%v objects are cached", held)
			}
			for _, kind := range []string{"pods", "configmaps"} {
				for end := time.Now().Add(5 * time.Minute); c.audit != "0s"; time.Sleep(time.Second) {
					of := map[string]string{"informer_type": kind, "result": "consistent"}
					if sum(b, scrape(b, metrics), "k8s_informer_audits_total", of) >= 3 {
						break
					}
					if time.Now().After(end) {
						b.Fatalf("no three audits of the %s:\n%s", kind, log)
					}
				}
			}
			var slowest time.Duration
			for range 50 {
				begin := time.Now()
				scrape(b, metrics)
				slowest = max(slowest, time.Since(begin))
			}
			series := 0
			for _, f := range families(b, scrape(b, metrics)) {
				series += len(f.GetMetric())
			}
			b.ReportMetric(float64(series), "metrics")
			b.ReportMetric(slowest.Seconds()*1000, "slowest-scrape-ms")
			b.ReportMetric(resident(b, cmd.Process.Pid, "VmHWM"), "peak-MiB")
		})
	}
}

// fill creates Pods and ConfigMaps with the metadata that such objects have in clusters.
func fill(b *testing.B, each int) {
	b.Helper()
	config := stacktest.Config(b)
	config.QPS, config.ContentType = -1, apiruntime.ContentTypeProtobuf
	client := kubernetes.NewForConfigOrDie(config)
	namespace := stacktest.Namespace(b)
	meta := func(i int) metav1.ObjectMeta {
		return metav1.ObjectMeta{
			Name: fmt.Sprintf("frontend-7d4b9c6f5d-%05x", i),
			Labels: map[string]string{
				"app.kubernetes.io/name": "frontend", "app.kubernetes.io/instance": fmt.Sprint("shop-", i%100),
				"app.kubernetes.io/managed-by": "helm", "pod-template-hash": "7d4b9c6f5d",
			},
			Annotations:     map[string]string{"checksum/config": "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae"},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "frontend-7d4b9c6f5d", UID: "b0d4e0a6-5c1d-4f37-9a51-0b6a4b1f0d2c"}},
		}
	}
	var next atomic.Int64
	var writers sync.WaitGroup
	for range 32 {
		writers.Go(func() {
			for i := int(next.Add(1)); i <= each && !b.Failed(); i = int(next.Add(1)) {
				pod := &corev1.Pod{ObjectMeta: meta(i), Spec: corev1.PodSpec{Containers: []corev1.Container{{
					Name: "frontend", Image: "registry.example.com/frontend:1.2.3",
					Ports: []corev1.ContainerPort{{ContainerPort: 8080}},
					Env:   []corev1.EnvVar{{Name: "LOG_LEVEL", Value: "info"}},
				}}}}
				if _, err := client.CoreV1().Pods(namespace).Create(b.Context(), pod, metav1.CreateOptions{}); err != nil {
					b.Error(err)
				}
				config := &corev1.ConfigMap{ObjectMeta: meta(i), Data: map[string]string{"config.yaml": "listen: :8080"}}
				if _, err := client.CoreV1().ConfigMaps(namespace).Create(b.Context(), config, metav1.CreateOptions{}); err != nil {
					b.Error(err)
				}
			}
		})
	}
	writers.Wait()
	if b.Failed() {
		b.FailNow()
	}
}

// resident returns a line of /proc/PID/status in MiB: VmRSS, or its peak VmHWM.
func resident(b *testing.B, pid int, line string) float64 {
	b.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		b.Fatal(err)
	}
	found := regexp.MustCompile(line + `:\s+(\d+) kB`).FindSubmatch(status)
	if found == nil {
		b.Fatalf("no %s in\n%s", line, status)
	}
	kib, err := strconv.ParseFloat(string(found[1]), 64)
	if err != nil {
		b.Fatal(err)
	}
	return kib / 1024
}

func scrape(b *testing.B, url string) []byte {
	b.Helper()
	response, err := http.Get(url)
	if err != nil {
		b.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		b.Fatal(response.Status, err)
	}
	return body
}

func families(b *testing.B, text []byte) map[string]*dto.MetricFamily {
	b.Helper()
	parser := expfmt.NewTextParser(model.UTF8Validation)
	found, err := parser.TextToMetricFamilies(bytes.NewReader(text))
	if err != nil {
		b.Fatal(err)
	}
	return found
}

// sum adds up a gauge or counter over the series that have the given labels.
func sum(b *testing.B, text []byte, name string, labels map[string]string) (total float64) {
	b.Helper()
	for _, m := range families(b, text)[name].GetMetric() {
		have := map[string]string{}
		for _, l := range m.GetLabel() {
			have[l.GetName()] = l.GetValue()
		}
		matches := true
		for label, value := range labels {
			matches = matches && have[label] == value
		}
		if matches {
			total += m.GetGauge().GetValue() + m.GetCounter().GetValue()
		}
	}
	return total
}
