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

	"github.com/informer-exporter/informer-exporter/internal/testenv/machine"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/standin"
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
// metadata, because a million objects need more than one machine for an API server and etcd. UPDATE=1 writes the table and the
// plots to docs.
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
			server := standin.Start(objects, resources)
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
	fmt.Fprintf(os.Stdout, "\n%s\n", scaleTable(points))
	writeBlock(b, "bench-scale", scaleTable(points))
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(scalePlot, []byte(plot(points)), 0o644); err != nil {
			b.Fatal(err)
		}
	}
}

// buildProgram compiles a program with the flags of the exporter.
func buildProgram(b *testing.B, directory string) string {
	b.Helper()
	program := filepath.Join(b.TempDir(), filepath.Base(directory))
	cmd := exec.CommandContext(b.Context(), "go", "build", "-trimpath", "-tags=grpcnotrace", "-ldflags=-s -w", "-o", program, directory)
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

// scaleTable returns a Markdown table with facts about the machine.
func scaleTable(points []point) string {
	var t strings.Builder
	fmt.Fprintf(&t, "%s\n\n", machine.Describe())
	t.WriteString("| Objects | Resources | Program | Until synced | CPU time until synced | Peak resident memory | CPU time of a scrape | Series |\n|---|---|---|---|---|---|---|---|\n")
	for _, p := range points {
		scrape := "| |"
		if p.series > 0 {
			scrape = fmt.Sprintf("| %.1f ms | %d |", float64(p.scrape.Microseconds())/1000, p.series)
		}
		fmt.Fprintf(&t, "| %d | %d | %s | %.1f s | %.1f s | %.0f MiB %s\n",
			p.objects, p.resources, p.program, p.sync.Seconds(), p.cpu.Seconds(), p.peak, scrape)
	}
	return t.String()
}

const (
	benchmarksPage = "../../docs/benchmarks.md"
	scalePlot      = "../../docs/scale.svg"
)

// writeBlock replaces the table of a make target in docs/benchmarks.md, if $UPDATE is set.
func writeBlock(b *testing.B, target, table string) {
	b.Helper()
	if os.Getenv("UPDATE") == "" {
		return
	}
	page, err := os.ReadFile(benchmarksPage)
	if err != nil {
		b.Fatal(err)
	}
	begin, end := "<!-- Written by UPDATE=1 make "+target+" -->\n", "<!-- End of make "+target+" -->\n"
	before, rest, begun := strings.Cut(string(page), begin)
	_, after, ended := strings.Cut(rest, end)
	if !begun || !ended {
		b.Fatalf("%s has no place for the table of %s", benchmarksPage, target)
	}
	if err := os.WriteFile(benchmarksPage, []byte(before+begin+"\n"+table+"\n"+end+after), 0o644); err != nil {
		b.Fatal(err)
	}
}
