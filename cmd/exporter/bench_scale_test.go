package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/informer-exporter/informer-exporter/internal/testenv/page"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

// point has the measurements of one program with one size of the cluster.
type point struct {
	program            string
	objects, resources int
	sync, cpu          time.Duration // until synced
	peak               float64       // resident memory, MiB
	scrape             time.Duration // CPU time
	series             int
}

// BenchmarkScale measures how memory, CPU time and scrapes grow with objects and resources, and compares memory and CPU time with
// those of a program with client-go's plain metadata informers for the same resources. Objects come from a stand-in that streams
// metadata, because a million objects need more than one machine for an API server and etcd. UPDATE=1 writes the table to
// docs/benchmarks.md.
//
// SCALE selects the sizes, such as 10000x123,1000000x123; the default is all.
func BenchmarkScale(b *testing.B) {
	if runtime.GOOS != "linux" {
		b.Skip("reads /proc")
	}
	sizes := "10000x123,100000x10,100000x23,100000x123,100000x500,300000x123,1000000x123"
	if selected := os.Getenv("SCALE"); selected != "" {
		sizes = selected
	}
	exporter, plain := buildExporter(b), buildProgram(b, "../../internal/testenv/cmd/plaininformer")
	var points []point
	for size := range strings.SplitSeq(sizes, ",") {
		var objects, resources int
		if _, err := fmt.Sscanf(size, "%dx%d", &objects, &resources); err != nil {
			b.Fatalf("SCALE: %q: %v", size, err)
		}
		b.Run(size, func(b *testing.B) {
			b.ReportMetric(0, "ns/op")
			server := startStandIn(objects, resources)
			defer server.Close()
			kubeconfig := stacktest.Kubeconfig(b, server.Config())
			p := point{program: "plain metadata informers", objects: objects, resources: resources}
			points = append(points, p.measure(b, func(b *testing.B) *running { return startProgram(b, nil, plain, "--kubeconfig="+kubeconfig) }, false))
			p.program = "exporter"
			p = p.measure(b, func(b *testing.B) *running { return startExporter(b, exporter, kubeconfig, "{}\n") }, true)
			points = append(points, p)
		})
	}
	points = slices.DeleteFunc(points, func(p point) bool { return p.sync == 0 }) // not selected by -bench
	writeBlock(b, "bench-scale", scaleTable(points))
}

// buildProgram compiles a program with the flags of the exporter.
func buildProgram(b *testing.B, directory string) string {
	b.Helper()
	program := filepath.Join(b.TempDir(), filepath.Base(directory))
	cmd := exec.CommandContext(b.Context(), "go", "build", "-trimpath", "-ldflags=-s -w", "-o", program, directory)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	return program
}

// measure runs a program until it has synced and, if it is an exporter, has audited every informer and served 20 scrapes.
func (p point) measure(b *testing.B, start func(*testing.B) *running, exporter bool) point {
	b.Run(p.program, func(b *testing.B) { // its end stops the program
		b.ReportMetric(0, "ns/op")
		begin := time.Now()
		r := start(b)
		waitSynced(b, r)
		p.sync, p.cpu = time.Since(begin), cpu(b, r.pid)
		if exporter {
			if held := samples(b, r).Sum("k8s_informer_objects"); int(held) < p.objects {
				b.Fatalf("%v objects are cached", held)
			}
			waitAudits(b, r)
			s := scrapeTimes(b, r, 20)
			p.scrape, p.series = s.cpu, s.series
		}
		p.peak = memory(b, r.pid, "VmHWM")
		b.ReportMetric(p.peak, "peak-MiB")
		b.ReportMetric(p.sync.Seconds(), "sync-s")
		b.ReportMetric(p.cpu.Seconds(), "sync-cpu-s")
		if exporter {
			b.ReportMetric(float64(p.scrape.Microseconds())/1000, "scrape-cpu-ms")
			b.ReportMetric(float64(p.series), "series")
		}
	})
	return p
}

// waitSynced waits until a program logs that its informers have synced. A million objects take longer than the deadline of other
// waits.
func waitSynced(b *testing.B, r *running) {
	b.Helper()
	for deadline := time.Now().Add(5 * time.Minute); !strings.Contains(r.log.String(), "informers synced"); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			b.Fatalf("not synced:\n%s", r.log)
		}
	}
}

// scaleTable returns a Markdown table with a row for each size.
func scaleTable(points []point) string {
	text := page.Head("Objects", "Resources", "Synced after", "Peak memory", "Plain informers", "CPU per scrape", "Series")
	for _, p := range points {
		if p.program == "exporter" {
			plain := slices.IndexFunc(points, func(o point) bool {
				return o.program != p.program && o.objects == p.objects && o.resources == p.resources
			})
			other := ""
			if plain >= 0 {
				other = fmt.Sprintf("%.0f MiB", points[plain].peak)
			}
			text += page.Row(fmt.Sprint(p.objects), fmt.Sprint(p.resources), fmt.Sprintf("%.1f s", p.sync.Seconds()), fmt.Sprintf("%.0f MiB", p.peak), other,
				fmt.Sprintf("%.1f ms", float64(p.scrape.Microseconds())/1000), fmt.Sprint(p.series))
		}
	}
	return text
}

// writeBlock prints the figures of a make target. If $UPDATE is set, it also replaces them in docs/benchmarks.md.
func writeBlock(b *testing.B, target, figures string) {
	b.Helper()
	fmt.Fprintf(os.Stdout, "\n%s\n", figures) // go test does not show the log of a benchmark with sub-benchmarks
	if os.Getenv("UPDATE") == "" {
		return
	}
	const path = "../../docs/benchmarks.md"
	old, err := os.ReadFile(path)
	if err != nil {
		b.Fatal(err)
	}
	text, err := page.Replace(string(old), "by UPDATE=1 make "+target, figures)
	if err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		b.Fatal(err)
	}
}
