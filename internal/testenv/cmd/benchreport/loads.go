package main

import (
	"fmt"
	"regexp"

	"github.com/informer-exporter/informer-exporter/internal/testenv/page"
)

const (
	bench     = "test/bench"
	informers = "collectors/informer"
)

// loads are rows of the table of load figures in docs/dev/decisions.md.
var loads = []part{
	load("B1", "p99: get 26 ms, list 892 ms, watch 15 ms; 92% of misses are lists", func(f *figures) string {
		return fmt.Sprintf("%s ms; %s%% of gets and %s%% of lists read etcd", f.list("ServerReads", "unset-get-p99-ms", "unset-list-p99-ms", "unset-watch-p99-ms"),
			f.list("ServerReads", "unset-get-misses-%"), f.list("ServerReads", "unset-list-misses-%"))
	}, benchmarks{bench, "ServerReads$"}),
	load("B2", "p99 lag: synchronous 182 ms, channel 94 ms, rate-limited queue 67 ms", func(f *figures) string {
		return f.list("Handlers", "sync-p99-ms", "channel-p99-ms", "limited-p99-ms") + " ms; queue with `Add` " + f.list("Handlers", "queue-p99-ms") + " ms"
	}, benchmarks{bench, "Handlers$"}),
	load("B3, B8", "operations per second: lock 1,200, 16 shards 8,900, `sync.Map` 41,200, copy-on-write 39,800, RWMutex 28,500", func(f *figures) string {
		return f.list("Stores", "mutex-ops/s", "shards-ops/s", "syncmap-ops/s", "copyonwrite-ops/s", "rwmutex-ops/s") +
			"; client-go's indexer, plain and decorated: " + f.list("Stores", "indexer-ops/s", "decorated-ops/s")
	}, benchmarks{bench, "Stores$"}),
	load("B4", "one informer 1.2 GB, 100 informers of a namespace each 380 MB", func(f *figures) string {
		one := f.get("Namespaces", "one-MiB")
		return fmt.Sprintf("%s MiB / %s MiB", number(one), number(one*f.get("Namespaces", "memory-ratio")))
	}, benchmarks{informers, "Namespaces$"}),
	load("B5", "resync every 30 s: 8.7% CPU, 42 requests per second", func(f *figures) string {
		return fmt.Sprintf("%s%% / %s requests", f.list("Resync", "cpu-%-at-30s"), f.list("Resync", "requests/resync"))
	}, benchmarks{informers, "Resync$"}),
	load("B6", "broken watch 4.2 s, with a hint 317 ms", func(f *figures) string {
		return fmt.Sprintf("resumed %s ms, relisted %s ms, %s ms after an outage of 5 s", f.list("Recovery/resumed", "behind-p50-ms"),
			f.list("Recovery/relisted", "behind-p50-ms"), f.list("Recovery/after-5s", "behind-p50-ms"))
	}, benchmarks{informers, "Recovery$"}),
	load("B7", "p99 of handling 120 ms; reconcile mean 42 ms, p99 187 ms", func(f *figures) string {
		return f.list("Controller", "handled-p99-ms", "reconcile-mean-ms", "reconcile-p99-ms") + " ms"
	}, benchmarks{bench, "Controller$"}),
	load("B9", "`reflect.DeepEqual` takes 64% of CPU time; restart takes seconds", func(f *figures) string {
		return fmt.Sprintf("at most %s%%; %s s", f.list("Comparisons", "deepequal-cpu-%"), f.list("Restart", "synced-p50-s"))
	}, benchmarks{bench, "Restart$"}, benchmarks{bench, "Comparisons$"}),
	load("B10", "memory stays flat during a cold start", func(f *figures) string {
		return fmt.Sprintf("peak and held: streaming list %s MiB, one LIST %s MiB", f.list("ColdStart", "streaming-plain-peak-MiB", "streaming-plain-held-MiB"),
			f.list("ColdStart", "list-plain-peak-MiB", "list-plain-held-MiB"))
	}, benchmarks{bench, "ColdStart$"}),
	load("B11", "status subresource saves 300 to 800 ms", func(f *figures) string {
		return fmt.Sprintf("p99: whole object, subresource, patch %s ms", f.list("StatusUpdates", "whole-p99-ms", "update-p99-ms", "patch-p99-ms"))
	}, benchmarks{bench, "StatusUpdates$"}),
	load("S25", "zstd compresses events 4.7:1", func(f *figures) string {
		ratio := func(name string) string {
			return number(f.get("Encodings", name+"-identity-MiB") / f.get("Encodings", name+"-gzip-MiB"))
		}
		return fmt.Sprintf("gzip: list %s:1, streaming list %s:1", ratio("list-json"), ratio("streaming-json"))
	}, benchmarks{bench, "Encodings$"}),
}

// load returns a row of the table: what the articles state, and what benchmarks report.
func load(id, documented string, measured func(*figures) string, runs ...benchmarks) part {
	return part{id: id, page: "docs/dev/decisions.md", runs: runs, render: func(text string, f *figures) (string, error) {
		row := regexp.MustCompile(`(?m)^\| ` + id + ` \| .*\n`)
		if n := len(row.FindAllString(text, -1)); n != 1 {
			return "", fmt.Errorf("%d rows of %s", n, id)
		}
		return row.ReplaceAllLiteralString(text, page.Row(id, documented, measured(f))), nil
	}}
}
