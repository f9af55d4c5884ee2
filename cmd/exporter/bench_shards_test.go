package main

import (
	"fmt"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

// BenchmarkShards compares one exporter with three shards, for a million objects of 123 resources from a stand-in for the API
// server. It fails if a resource is watched twice or not at all. SHARDED overrides the number of objects.
func BenchmarkShards(b *testing.B) {
	if runtime.GOOS != "linux" {
		b.Skip("reads /proc")
	}
	const resources, shards = 123, 3
	objects := 1_000_000
	if selected := os.Getenv("SHARDED"); selected != "" {
		if _, err := fmt.Sscan(selected, &objects); err != nil {
			b.Fatalf("SHARDED: %v", err)
		}
	}
	exporter := buildExporter(b)
	server := startStandIn(objects, resources)
	defer server.Close()
	kubeconfig := stacktest.Kubeconfig(b, server.Config())
	peaks := func(total int) (sum, largest float64) {
		b.Run(fmt.Sprint("shards=", total), func(b *testing.B) {
			server.Requests()
			begin, held := time.Now(), 0
			for shard := range total { // one after the other, so that one machine suffices; all run until the last has synced
				r := startExporter(b, exporter, kubeconfig, "{}\n", fmt.Sprintf("--shard=%d/%d", shard, total))
				waitSynced(b, r)
				held += int(samples(b, r).Sum("k8s_informer_objects"))
				scrapeTimes(b, r, 5)
				peak := memory(b, r.pid, "VmHWM")
				sum, largest = sum+peak, max(largest, peak)
			}
			requests := server.Requests()
			if len(requests) != resources {
				b.Errorf("%d resources are watched, want %d", len(requests), resources)
			}
			for resource, watches := range requests {
				// After 5 minutes, the server ends watches, which are then opened again.
				if watches < 1 || watches > 1 && time.Since(begin) < 5*time.Minute {
					b.Errorf("%s is watched %d times", resource, watches)
				}
			}
			if want := objects + (resources-5)*10; held != want {
				b.Errorf("%d objects are cached, want %d", held, want)
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(sum, "sum-MiB")
			b.ReportMetric(largest, "largest-MiB")
		})
		return sum, largest
	}
	alone, _ := peaks(1)
	sum, largest := peaks(shards)
	writeBlock(b, "bench-shards", fmt.Sprintf("With %d objects, one exporter takes %.0f MiB, and %d shards take %.0f MiB: at most %.0f MiB each.\n",
		objects, alone, shards, sum, largest))
}
