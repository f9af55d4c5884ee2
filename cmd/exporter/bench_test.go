package main

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/informer-exporter/informer-exporter/internal/testenv/await"
	"github.com/informer-exporter/informer-exporter/internal/testenv/statemetrics"
)

// BenchmarkExporter compares the exporter with kube-state-metrics, one after the other on the same objects: 25,000 and then
// 100,000 objects of five built-in resources, and 100 custom resources. The exporter also runs with the custom resources alone.
// The benchmark reports memory, CPU time, requests and scrape duration, and prints them as a table.
//
// With 100,000 objects, it also measures two programs that only cache metadata, the exporter without the custom resources, and
// the exporter with an audit every second instead of every ten minutes, with and without the custom resources. Other settings
// are the defaults, without a memory limit.
//
// UPDATE=1 writes the table to docs/benchmarks.md. The make variable BENCH selects sub-benchmarks.
func BenchmarkExporter(b *testing.B) {
	if runtime.GOOS != "linux" {
		b.Skip("reads /proc")
	}
	exporter, stateMetrics := buildExporter(b), statemetrics.Program(b)
	plane := startAudited(b)
	m := &measurement{plane: plane, kubeconfigs: map[string]string{}}
	plain := buildProgram(b, "../../internal/testenv/cmd/plaininformer")
	cache := buildProgram(b, "../../integrations/controllerruntime/internal/metadatacache")
	for _, account := range []string{"exporter", "kube-state-metrics", plainInformers, metadataCache} {
		m.kubeconfigs[account] = plane.kubeconfig(b, account)
	}
	c := newCluster(b, plane.Config())
	c.extend(b)
	for _, objects := range []int{0, 25_000, 100_000} {
		c.grow(b, objects)
		all := objects == 100_000
		m.exporter(b, exporter, "{}\n", subject{name: "exporter", objects: objects, rest: all})
		if all {
			m.cache(b, plainInformers, plain, objects)
			m.cache(b, metadataCache, cache, objects)
			m.exporter(b, exporter, "customResources: false\n", subject{name: "exporter-without-custom-resources", objects: objects, rest: all})
			m.exporter(b, exporter, "checks: {audit: 1s}\n", subject{name: "exporter-auditing", objects: objects, rest: all})
			m.exporter(b, exporter, "customResources: false\nchecks: {audit: 1s}\n", subject{name: "exporter-auditing-without-custom-resources", objects: objects, rest: all})
		}
		if objects > 0 { // without objects, kube-state-metrics does not show when it has synced
			m.stateMetrics(b, stateMetrics, objects, all)
		}
	}
	writeBlock(b, "bench-exporter", m.table())
}

// measurement measures programs on one control plane.
type measurement struct {
	plane       *audited
	kubeconfigs map[string]string // by account
	rows        []row
}

// restWindow is how long an idle program is measured.
const restWindow = time.Minute

// exporter measures the exporter binary at path, for the name, objects and rest of p.
func (m *measurement) exporter(b *testing.B, path, config string, p subject) {
	b.Run(rowName(p.name, p.objects), func(b *testing.B) {
		p.account = "exporter"
		p.start = func() *running { return startExporter(b, path, m.kubeconfigs["exporter"], config) }
		p.synced = func(r *running) time.Time {
			r.log.wait(b, `"msg":"informers synced"`, "\n")
			return time.Now()
		}
		p.settle = func(r *running) {
			if held := samples(b, r).Sum("k8s_informer_objects"); int(held) < p.objects {
				b.Fatalf("%v objects are cached", held)
			}
			if p.rest {
				waitAudits(b, r)
			}
		}
		m.measure(b, p)
	})
}

// waitAudits waits until every informer has been audited once: the first audits begin soon after the start.
func waitAudits(b testing.TB, r *running) {
	b.Helper()
	await.Within(b, 5*time.Minute, "every informer is audited", func(context.Context) error {
		time.Sleep(time.Second) // a scrape costs CPU time, which is measured
		audits := samples(b, r).By("k8s_informer_audits_total", "informer_type")
		waiting := len(slices.DeleteFunc(slices.Collect(maps.Values(audits)), func(n float64) bool { return n > 0 }))
		if len(audits) == 0 || waiting > 0 {
			return fmt.Errorf("%d of %d informers have not been audited:\n%s", waiting, len(audits), r.log)
		}
		return nil
	})
}

// Programs that only cache the metadata of the same resources, with client-go's informers and with controller-runtime's cache.
// The names are also those of their accounts.
const (
	plainInformers = "plain-metadata-informers"
	metadataCache  = "controller-runtime-metadata-cache"
)

// cache measures a program that only caches metadata.
func (m *measurement) cache(b *testing.B, name, path string, objects int) {
	b.Run(rowName(name, objects), func(b *testing.B) {
		m.measure(b, subject{
			name: name, account: name, objects: objects, rest: true,
			start: func() *running { return startProgram(b, nil, path, "--kubeconfig="+m.kubeconfigs[name]) },
			synced: func(r *running) time.Time {
				waitSynced(b, r)
				return time.Now()
			},
			settle: func(*running) {},
		})
	})
}

func (m *measurement) stateMetrics(b *testing.B, path string, objects int, rest bool) {
	const name = "kube-state-metrics"
	b.Run(rowName(name, objects), func(b *testing.B) {
		kubeconfig := m.kubeconfigs[name]
		m.measure(b, subject{
			name: name, account: name, objects: objects, rest: rest,
			start:  func() *running { return startStateMetrics(b, path, kubeconfig) },
			synced: func(r *running) time.Time { return waitRest(b, r) },
			settle: func(r *running) {
				if held := bytes.Count(scrape(b, r.metrics), []byte("\nkube_pod_info{")); held < objects*4/10 {
					b.Fatalf("%v Pods are reported", held)
				}
			},
		})
	})
}
