package main

import (
	"fmt"
	"strings"

	"github.com/informer-exporter/informer-exporter/internal/testenv/page"
)

const bench = "test/bench"

// sections are the parts of the page, in its order.
var sections = []section{
	reads, handlers, stores, namespaces, resync, recovery, controller, restart, coldStart, statusUpdates, encodings, budgets,
}

var reads = section{
	id: "B1", title: "B1: reads of 10,000 Pods",
	documented: "10,000 Pods, a mix of list (38%), get and watch: cache miss ratio 12.7%, 92% of the misses are lists; p99 of get 26 ms, list 892 ms, watch 15 ms",
	runs:       []benchmarks{{bench, "ServerReads$"}},
	measured: func(f *figures, t *strings.Builder) {
		t.WriteString("Four clients read Pods without a kubelet from a real API server. A list returns all Pods. A watch is timed from a write to its event. Misses are requests that the API server answers from etcd and not from its watch cache.\n\n![p99 of reads](bench-reads.svg)\n\n")
		t.WriteString(page.Head("resourceVersion", "Get, p50 / p99", "List, p50 / p99", "Watch, p50 / p99", "Gets from etcd", "Lists from etcd", "Misses of both", "Reads of the current version in etcd, per list"))
		for _, mode := range [][2]string{{"unset", "unset"}, {"zero", "0"}, {"exact", "exact (get: 0)"}, {"paged", "unset, pages of 500"}} {
			get := func(unit string) string { return f.number("ServerReads", mode[0]+unit) }
			t.WriteString(page.Row(mode[1], f.pair("ServerReads", mode[0]+"-get", "ms"), f.pair("ServerReads", mode[0]+"-list", "ms"), f.pair("ServerReads", mode[0]+"-watch", "ms"),
				get("-get-misses-%")+"%", get("-list-misses-%")+"%", get("-misses-%")+"%", get("-version-reads/list")))
		}
		lists, gets := f.get("ServerReads", "unset-list-misses-%"), f.get("ServerReads", "unset-get-misses-%")
		fmt.Fprintf(t, "\nWith resourceVersion unset, %s.\n", either(lists < gets,
			"gets miss and lists do not: since Kubernetes 1.31, a consistent list only asks etcd for its current version, and is then answered from the watch cache",
			"lists miss at least as often as gets"))
		fmt.Fprintf(t, "Version 0 avoids etcd entirely, and the median of a list is %.2f times that with the version unset: the duration of a list depends mostly on its size. Read Pods from an informer instead.\n",
			f.get("ServerReads", "zero-list-p50-ms")/f.get("ServerReads", "unset-list-p50-ms"))
	},
	plots: map[string]func(*figures) string{"bench-reads.svg": func(f *figures) string {
		var all []bar
		for _, mode := range []string{"unset", "zero", "exact", "paged"} {
			for _, verb := range []string{"get", "list", "watch"} {
				all = append(all, bar{name: verb + ", " + mode, value: f.get("ServerReads", mode+"-"+verb+"-p99-ms")})
			}
		}
		return bars("p99 of reads by resourceVersion (B1)", "ms", all)
	}},
}

var handlers = section{
	id: "B2", title: "B2: handlers at 2,000 events per second",
	documented: "p99 of the event lag at 2,000 writes per second: 182 ms for a synchronous handler (3.2 GB of memory), 94 ms with a channel of capacity 100, 67 ms with a rate-limited queue (200 per second, burst 1,000, 5 ms to 10 s)",
	runs:       []benchmarks{{bench, "Handlers$"}},
	measured: func(f *figures, t *strings.Builder) {
		t.WriteString("A fake watch sends events of 10,000 Pods for ten seconds, because an API server and etcd on this machine cannot write as fast. Two of every hundred objects take 20 ms to process; the others take almost no time. Events that are not handled when the last one is sent count with their lag until then.\n\n![p99 of the event lag](bench-handlers.svg)\n\n")
		t.WriteString(page.Head("Handler", "Events per second", "Event lag, p50 / p99", "Not handled", "Growth of the heap"))
		for _, h := range [][2]string{
			{"sync", "synchronous"}, {"overload", "synchronous, three slow objects per hundred"}, {"channel", "channel of 100, four workers"},
			{"queue", "queue with Add, four workers"}, {"limited", "queue with AddRateLimited, four workers"},
		} {
			t.WriteString(page.Row(h[1], f.number("Handlers", h[0]+"-events/s"), f.pair("Handlers", h[0], "ms"),
				f.number("Handlers", h[0]+"-left-%")+"%", f.number("Handlers", h[0]+"-heap-MiB")+" MiB"))
		}
		fmt.Fprintf(t, "\nWorkers help because a synchronous handler waits for each slow object. %s. ", either(f.get("Handlers", "limited-p99-ms") > f.get("Handlers", "queue-p99-ms"),
			"AddRateLimited in a handler makes events wait for the limiter: it is for retries after errors, and the documented figure is only possible with Add",
			"The rate limiter did not limit this load"))
		fmt.Fprintf(t, "A handler slower than its events has no stable lag: the lag and the %s MiB grow for as long as the overload lasts. A channel blocks the handler once it is full, and so has the same limit.\n", f.number("Handlers", "overload-heap-MiB"))
	},
	plots: map[string]func(*figures) string{"bench-handlers.svg": func(f *figures) string {
		var all []bar
		for _, h := range []string{"sync", "overload", "channel", "queue", "limited"} {
			all = append(all, bar{name: h, value: f.get("Handlers", h+"-p99-ms")})
		}
		return bars("p99 of the event lag by handler (B2)", "ms", all)
	}},
}

// storeNames are the stores of BenchmarkStores.
var storeNames = [][2]string{
	{"mutex", "one mutex"}, {"rwmutex", "map and RWMutex"}, {"shards", "16 shards"}, {"syncmap", "sync.Map"}, {"copyonwrite", "copy-on-write"},
	{"threadsafestore", "client-go's ThreadSafeStore"}, {"indexer", "client-go's Indexer"}, {"decorated", "the same, decorated"},
}

var stores = section{
	id: "B3", title: "B3, B8: stores under 100 goroutines",
	documented: "100 goroutines, 10,000 keys, 70% updates. One lock: 1,200 operations per second, p99 48 ms; 16 shards: 8,900; sync.Map: 41,200, 8.3 ms; copy-on-write: 39,800, 6.1 ms; map and RWMutex: 28,500, 12.7 ms, 12 µs held. Lock conflicts fall from 92% to 11%",
	runs:       []benchmarks{{bench, "Stores$"}},
	measured: func(f *figures, t *strings.Builder) {
		t.WriteString("The Indexer computes keys and maintains the index by namespace, as in an informer of a factory.\n\n![Operations per second by store](bench-stores.svg)\n\n")
		t.WriteString(page.Head("Store", "Operations per second", "Latency, p50 / p99", "Time spent waiting for a lock"))
		for _, s := range storeNames {
			t.WriteString(page.Row(s[1], f.number("Stores", s[0]+"-ops/s"), f.pair("Stores", s[0], "µs"), f.number("Stores", s[0]+"-wait-%")+"%"))
		}
		slowest := f.get("Stores", "mutex-ops/s")
		fmt.Fprintf(t, "\nOne mutex is %s as fast as copy-on-write, which copies all keys for each update and is the slowest store here, not the second fastest. ", times(slowest/f.get("Stores", "copyonwrite-ops/s")))
		fmt.Fprintf(t, "It is also %s as fast as documented, so the documented figure is not limited by the lock. ", times(slowest/1200))
		fmt.Fprintf(t, "The decorated Indexer is %.2f times as fast as the plain one. An informer has one writer, so these rates say little about a controller.\n",
			f.get("Stores", "decorated-ops/s")/f.get("Stores", "indexer-ops/s"))
	},
	plots: map[string]func(*figures) string{"bench-stores.svg": func(f *figures) string {
		var all []bar
		for _, s := range storeNames {
			all = append(all, bar{s[1], f.get("Stores", s[0]+"-ops/s"), s[0] == "decorated"})
		}
		return bars("Operations per second by store (B3, B8)", "", all)
	}},
}

// times formats a ratio, such as "12 times".
func times(ratio float64) string { return number(ratio) + " times" }
