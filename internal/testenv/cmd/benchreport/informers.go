package main

import (
	"fmt"
	"strings"

	"github.com/informer-exporter/informer-exporter/internal/testenv/page"
)

const informers = "collectors/informer"

var namespaces = section{
	id: "B4", title: "B4: one informer or one per namespace",
	documented: "100 namespaces: one informer 1.2 GB and 1 watch, one per namespace 380 MB and 100 watches",
	runs:       []benchmarks{{informers, "Namespaces$"}},
	measured: func(f *figures, t *strings.Builder) {
		t.WriteString("The same 2,000 ConfigMaps of 1 KiB each; the lag is from the write request to the handler.\n\n")
		t.WriteString(page.Head("Layout", "Memory", "Watches", "Lag, p50 / p99"))
		one, ratio := f.get("Namespaces", "one-MiB"), f.get("Namespaces", "memory-ratio")
		t.WriteString(page.Row("one informer", number(one)+" MiB", f.number("Namespaces", "one-watches"), f.pair("Namespaces", "one", "ms")))
		t.WriteString(page.Row("one per namespace", number(one*ratio)+" MiB", f.number("Namespaces", "each-watches"), f.pair("Namespaces", "each", "ms")))
		fmt.Fprintf(t, "\nInformers per namespace take %s the memory for the same objects: each additional informer costs about %.0f KiB, decorators included. They save memory only if some namespaces are left out, as in the article.\n",
			times(ratio), (one*ratio-one)*1024/99)
	},
}

var resync = section{
	id: "B5", title: "B5: cost of resyncs",
	documented: "resync 0, 30 s and 5 min on 500 Pods: CPU +0.2, +8.7 and +1.1%, API requests 0, 42 and 3 per second",
	runs:       []benchmarks{{informers, "Resync$"}},
	measured: func(f *figures, t *strings.Builder) {
		t.WriteString("500 ConfigMaps and an empty handler.\n\n")
		t.WriteString(page.Head("Per resync", "Measured"))
		t.WriteString(page.Row("handler calls", f.number("Resync", "calls/resync")))
		t.WriteString(page.Row("requests", f.number("Resync", "requests/resync")))
		t.WriteString(page.Row("CPU time", f.number("Resync", "cpu-µs/resync")+" µs"))
		t.WriteString(page.Row("share of a core at 30 s", fmt.Sprintf("%.4f%%", f.get("Resync", "cpu-%-at-30s"))))
		t.WriteString(page.Row("share of a core at 5 min", fmt.Sprintf("%.5f%%", f.get("Resync", "cpu-%-at-300s"))))
		t.WriteString("\nA resync replays the cache and never calls the API server. Its cost is that of the handler. Requests during a resync come from the handler or its reconciles.\n")
	},
}

var recovery = section{
	id: "B6", title: "B6: recovery of a broken watch",
	documented: "a broken watch recovers in 4.2 s, with a hint in 317 ms",
	runs:       []benchmarks{{informers, "Recovery$"}},
	measured: func(f *figures, t *strings.Builder) {
		t.WriteString(page.Head("Fault", "Time without a watch, median / maximum", "From the end of the fault until missed writes are handled, median / maximum"))
		for _, c := range [][2]string{
			{"Recovery/resumed", "connection reset, watch resumed"},
			{"Recovery/relisted", "watch ended within a second without an event, relist"},
			{"Recovery/after-5s", "API server unreachable for 5 s"},
		} {
			t.WriteString(page.Row(c[1], f.number(c[0], "gap-p50-ms")+" / "+f.number(c[0], "gap-max-ms")+" ms", f.number(c[0], "behind-p50-ms")+" / "+f.number(c[0], "behind-max-ms")+" ms"))
		}
		t.WriteString("\nThe time depends on whether client-go resumes the watch or backs off, not on the network. After an outage, most of the delay is backoff. client-go has no API for a hint.\n")
	},
}

var controller = section{
	id: "B7", title: "B7: a controller with 10,000 objects",
	documented: "one informer at ten thousand objects: p99 of handling below 120 ms; reconciles 42 ms on average, p99 187 ms",
	runs:       []benchmarks{{bench, "Controller$"}},
	measured: func(f *figures, t *strings.Builder) {
		t.WriteString("A client writes to 50 of 10,000 Pods per second on a real API server; each of four workers answers a write with one write. Handling is from the request of the client to the end of the handler.\n\n")
		t.WriteString(page.Head("What", "Measured"))
		t.WriteString(page.Row("initial sync", f.number("Controller", "sync-s")+" s"))
		t.WriteString(page.Row("handling, p50 / p99", f.pair("Controller", "handled", "ms")))
		t.WriteString(page.Row("reconcile, mean", f.number("Controller", "reconcile-mean-ms")+" ms"))
		t.WriteString(page.Row("reconcile, p50 / p99", f.pair("Controller", "reconcile", "ms")))
		fmt.Fprintf(t, "\nThe documented p99 of handling %s here. A reconcile takes as long as its requests: a read from the cache takes nanoseconds.\n", either(f.get("Controller", "handled-p99-ms") < 120, "is met", "is not met"))
	},
}

var restart = section{
	id: "B9", title: "B9: restarts and the cost of DeepEqual",
	documented: "`reflect.DeepEqual` takes 64% of the CPU time; recovery after a power cut takes seconds",
	runs:       []benchmarks{{bench, "Restart$"}, {bench, "Comparisons$"}},
	measured: func(f *figures, t *strings.Builder) {
		t.WriteString("Restarts of a decorated informer of 10,000 Pods on a real API server, with a new connection; comparisons of Pods in a handler.\n\n")
		t.WriteString(page.Head("From start to", "Median", "Maximum"))
		t.WriteString(page.Row("synced", f.number("Restart", "synced-p50-s")+" s", f.number("Restart", "synced-max-s")+" s"))
		t.WriteString(page.Row("last object handled", f.number("Restart", "handled-p50-s")+" s", f.number("Restart", "handled-max-s")+" s"))
		t.WriteString("\n" + page.Head("Comparison", "Same object (resync)", "Equal objects", "Changed object", "Share of CPU time at most"))
		for _, c := range [][2]string{{"deepequal", "reflect.DeepEqual"}, {"version", "resourceVersion"}} {
			get := func(what string) string { return f.number("Comparisons", c[0]+"-"+what+"-ns") + " ns" }
			t.WriteString(page.Row(c[1], get("same-object"), get("equal"), get("changed"), f.number("Comparisons", c[0]+"-cpu-%")+"%"))
		}
		fmt.Fprintf(t, "\nThe share is an upper bound: the informer decodes nothing, and its handler only compares the specs of each update. For equal objects, comparing versions is %s as fast. ",
			times(f.get("Comparisons", "deepequal-equal-ns")/f.get("Comparisons", "version-equal-ns")))
		t.WriteString("In a resync, old and new are the same object, and DeepEqual returns early too. It is expensive only after relists and updates that change nothing of interest.\n")
	},
}

// ways are the ways in which BenchmarkColdStart lists.
var ways = [][2]string{{"streaming", "streaming list (default)"}, {"list", "LIST at version 0"}, {"paged", "LIST in pages of 500"}}

var coldStart = section{
	id: "B10", title: "B10: memory of a cold start",
	documented: "memory stays flat during a cold start",
	runs:       []benchmarks{{bench, "ColdStart$"}},
	measured: func(f *figures, t *strings.Builder) {
		t.WriteString("Heap of an informer of 10,000 Pods, from its start until it has synced, above the heap before. The minimum of five runs.\n\n![Heap during a cold start](bench-coldstart.svg)\n\n")
		t.WriteString(page.Head("First list", "Peak", "Peak, decorated", "Held afterwards", "Held, decorated", "Until synced", "Until synced, decorated"))
		for _, w := range ways {
			get := func(unit string) string { return f.number("ColdStart", w[0]+"-"+unit) }
			t.WriteString(page.Row(w[1], get("plain-peak-MiB")+" MiB", get("decorated-peak-MiB")+" MiB", get("plain-held-MiB")+" MiB", get("decorated-held-MiB")+" MiB", get("plain-s")+" s", get("decorated-s")+" s"))
		}
		peak := func(way string) float64 { return f.get("ColdStart", way+"-plain-peak-MiB") }
		fmt.Fprintf(t, "\nMemory does not stay flat: with a streaming list, the peak is %.1f times the heap held afterwards; with one LIST, %.1f times. The client's peak is %s with a streaming list, which decodes one object at a time; one LIST holds the whole response and its objects in memory at once. ",
			peak("streaming")/f.get("ColdStart", "streaming-plain-held-MiB"), peak("list")/f.get("ColdStart", "list-plain-held-MiB"),
			either(peak("streaming") < peak("list"), "lower", "no lower"))
		fmt.Fprintf(t, "The decorator changes the peak by a factor of %.2f.\n", f.get("ColdStart", "streaming-decorated-peak-MiB")/peak("streaming"))
	},
	plots: map[string]func(*figures) string{"bench-coldstart.svg": func(f *figures) string {
		var names []string
		var curves [][]float64
		for _, w := range ways {
			curve := make([]float64, 20)
			for i := range curve {
				curve[i] = f.get("ColdStart", fmt.Sprintf("%s-at-%02d-MiB", w[0], i+1))
			}
			names, curves = append(names, w[1]), append(curves, curve)
		}
		return lines("Heap of a cold start, 10,000 Pods (B10)", "time, from start to synced", "MiB", names, curves)
	}},
}

var statusUpdates = section{
	id: "B11", title: "B11: status subresource",
	documented: "the status subresource reduces the delay by 300 to 800 ms",
	runs:       []benchmarks{{bench, "StatusUpdates$"}},
	measured: func(f *figures, t *strings.Builder) {
		t.WriteString("Users change the spec of each of 20 custom resources ten times per second. A controller reads an object, takes 10 ms, and writes its status; after a conflict, it begins again.\n\n")
		t.WriteString(page.Head("Status is written by", "Conflicts per 100 statuses", "From the first read to the write, p50 / p99"))
		for _, w := range [][2]string{{"whole", "one update of spec and status, without subresource"}, {"update", "an update of the subresource"}, {"patch", "a merge patch of the subresource"}} {
			t.WriteString(page.Row(w[1], f.number("StatusUpdates", w[0]+"-conflicts-%"), f.pair("StatusUpdates", w[0], "ms")))
		}
		saved := f.get("StatusUpdates", "whole-p99-ms") - f.get("StatusUpdates", "update-p99-ms")
		fmt.Fprintf(t, "\nThe subresource alone changes the p99 by %s ms: an update of it carries the object's resourceVersion, and conflicts with every write in between, as any update does. ", number(-saved))
		fmt.Fprintf(t, "A patch without resourceVersion has %s conflicts. The subresource protects spec from controllers, and lets metadata.generation count changes of spec only.\n", either(f.get("StatusUpdates", "patch-conflicts-%") == 0, "no", "fewer"))
	},
}
