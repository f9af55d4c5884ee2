package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/informer-exporter/informer-exporter/internal/testenv/await"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

// costOf runs the command cost.
func costOf(t *testing.T, args ...string) string {
	t.Helper()
	var out output
	if err := run(t.Context(), append([]string{"cost", kubeconfigOf(t, stacktest.Config(t))}, args...), &out, io.Discard); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// The command counts the objects of the cluster and predicts the cost of a real exporter: series within 10%, and peak memory within
// 25%, because audits every second add garbage and the kernel decides how much of the binary is resident. Checks send at most 20%
// more requests than predicted. They may send fewer, because a busy machine delays them.
func TestCostPredictsARealExporter(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("reads /proc")
	}
	namespace := stacktest.Namespace(t)
	maps := kubernetes.NewForConfigOrDie(stacktest.Config(t)).CoreV1().ConfigMaps(namespace)
	const objects = 1200 // two lists per audit
	var batch []string
	for i := range objects {
		batch = append(batch, fmt.Sprint("m", i))
	}
	create := make(chan error, len(batch))
	for chunk := range slices.Chunk(batch, objects/8) {
		go func() {
			for _, name := range chunk {
				_, err := maps.Create(context.Background(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
				create <- err
			}
		}()
	}
	for range batch {
		if err := <-create; err != nil {
			t.Fatal(err)
		}
	}
	limited := "resources: [configmaps, pods]\nnamespaces: [" + namespace + "]\nchecks: {freshness: 1s, audit: 1s}\n"
	file := write(t, "config.yaml", limited)
	var report costReport
	if err := json.Unmarshal([]byte(costOf(t, "--config.file="+file, "-o=json")), &report); err != nil {
		t.Fatal(err)
	}
	predicted := *report.Configured
	if predicted.Resources != 2 || predicted.Objects < objects || predicted.Objects > objects+1 { // kube-root-ca.crt
		t.Fatalf("predicted %+v", predicted)
	}
	if report.Default.Resources < 23 || report.Default.Objects <= predicted.Objects || report.Default.Series <= predicted.Series {
		t.Errorf("by default %+v", report.Default)
	}

	program := startExporter(t, buildExporter(t), stacktest.Kubeconfig(t, stacktest.Config(t)), limited)
	program.log.wait(t, `"msg":"informers synced"`, "\n")
	read := func() metricstest.Samples {
		samples, err := metricstest.Scrape(t.Context(), program.metrics)
		if err != nil {
			t.Fatal(err)
		}
		return samples
	}
	audits := func(s metricstest.Samples) float64 { return s.Sum("k8s_informer_audits_total") }
	await.True(t, "audits", func() bool { return audits(read()) >= 4 })
	begin, first := time.Now(), read()
	await.True(t, "more audits", func() bool { return audits(read()) >= audits(first)+12 })
	last := read()
	minutes := time.Since(begin).Minutes()
	rate := func(verb string) float64 {
		return (last.By("k8s_client_requests_total", "verb")[verb] - first.By("k8s_client_requests_total", "verb")[verb]) / minutes
	}
	checks := predicted.Requests.WithoutBookmarks - predicted.Requests.AuditLists - predicted.Requests.Discovery
	for _, c := range []struct {
		what                string
		measured, predicted float64
	}{
		{"lists per minute", rate("list"), predicted.Requests.AuditLists},
		{"watches per minute", rate("watch"), checks},
	} {
		if c.measured > c.predicted*1.2 {
			t.Errorf("%s: %v, predicted %v", c.what, c.measured, c.predicted)
		}
	}
	if lists, done := last.By("k8s_client_requests_total", "verb")["list"], audits(last); lists < done || lists > 2*done+2 {
		t.Errorf("%v lists for %v audits", lists, done)
	}
	_, page := get(t, program.metrics)
	series := strings.Count("\n"+page, "\n") - strings.Count("\n"+page, "\n#") - 1
	if off := float64(predicted.Series) / float64(series); off < .9 || off > 1.1 {
		t.Errorf("%d series, predicted %d", series, predicted.Series)
	}
	peak := memory(t, program.pid, "VmHWM")
	expected := float64(predicted.MemoryBytes) / (1 << 20)
	if off := expected / peak; off < .75 || off > 1.25 {
		t.Errorf("peak of %v MiB, predicted %v", peak, expected)
	}
	t.Logf("%d series, predicted %d; %.0f lists, predicted %.0f; %.0f watches, predicted up to %.0f; peak of %.1f MiB, predicted %.1f",
		series, predicted.Series, rate("list"), predicted.Requests.AuditLists, rate("watch"), checks, peak, expected)
}

func TestCostTable(t *testing.T) {
	file := write(t, "config.yaml", "detail: essential\nlabelSelector: a=b\n")
	table := costOf(t, "--config.file="+file)
	for _, want := range []string{"DEFAULT", "config.yaml", "requests per minute", "configmaps", "Note: labelSelector is ignored"} {
		if !strings.Contains(table, want) {
			t.Errorf("no %q in\n%s", want, table)
		}
	}
	if alone := costOf(t); strings.Contains(alone, "config.yaml") || !strings.Contains(alone, "series") {
		t.Errorf("without a configuration file:\n%s", alone)
	}
}

// Without an API server there is nothing to estimate.
func TestCostWithoutACluster(t *testing.T) {
	if err := run(t.Context(), []string{"cost", "--kubeconfig=" + unreachable(t)}, io.Discard, io.Discard); err == nil || !strings.Contains(err.Error(), "discovery") {
		t.Errorf("error %v", err)
	}
}
