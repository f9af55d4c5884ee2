package main

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/informer-exporter/informer-exporter/internal/testenv/await"
)

// BenchmarkExporter compares the exporter with kube-state-metrics, one after the other on the same objects: 100 kinds of
// custom resources without any objects of Kubernetes' own kinds, then with 25,000 and with 100,000 of five kinds. It
// reports memory, CPU time, requests and the time of a scrape, and prints a table of them.
//
// Each has its defaults, and no limit of memory. Besides, the audits of the exporter follow one another in two rounds,
// instead of every ten minutes, in one of them without the custom resources.
func BenchmarkExporter(b *testing.B) {
	if runtime.GOOS != "linux" {
		b.Skip("reads /proc")
	}
	exporter, stateMetrics := buildExporter(b), stateMetrics(b)
	plane := startAudited(b)
	m := &measurement{plane: plane, kubeconfigs: map[string]string{}}
	for _, account := range []string{"exporter", "kube-state-metrics"} {
		m.kubeconfigs[account] = plane.kubeconfig(b, account)
	}
	c := newCluster(b, plane.Config())
	c.extend(b)
	for _, objects := range []int{0, 25_000, 100_000} {
		c.grow(b, objects)
		all := objects == 100_000
		m.exporter(b, exporter, "{}\n", subject{name: "exporter", objects: objects, rest: all})
		if all {
			m.exporter(b, exporter, "checks: {audit: 1s}\n", subject{name: "exporter-auditing", objects: objects, rest: all})
			m.exporter(b, exporter, "customResources: false\nchecks: {audit: 1s}\n", subject{name: "exporter-auditing-without-custom-resources", objects: objects, rest: all})
		}
		if objects > 0 { // of nothing it cannot be told when it has synced
			m.stateMetrics(b, stateMetrics, objects, all)
		}
	}
	fmt.Fprintf(os.Stdout, "\n%s\n", m.table()) // the log of a benchmark that has others in it is not shown
}

// measurement measures programs on one control plane.
type measurement struct {
	plane       *audited
	kubeconfigs map[string]string // by account
	rows        []row
}

// restWindow is how long a program that has synced is watched.
const restWindow = time.Minute

// exporter measures the exporter at a path, with p's name, objects and rest.
func (m *measurement) exporter(b *testing.B, path, config string, p subject) {
	b.Run(rowName(p.name, p.objects), func(b *testing.B) {
		p.account = "exporter"
		p.start = func() *running { return startExporter(b, path, m.kubeconfigs["exporter"], config, "off") }
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

// waitAudits waits until every informer has been compared with the API server once: the first audits begin together
// soon after the start.
func waitAudits(b *testing.B, r *running) {
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
