package main

import (
	"fmt"
	"strings"

	"github.com/informer-exporter/informer-exporter/internal/testenv/page"
)

// narrow is the bandwidth of a narrow link in bytes per millisecond: 10 Mbit/s.
const narrow = 10e6 / 8 / 1000

var encodings = section{
	id: "encodings", title: "Encodings: gzip and protobuf",
	documented: "zstd compresses events 4.7:1, for narrow links (S25)",
	runs:       []benchmarks{{bench, "Encodings$"}},
	measured: func(f *figures, t *strings.Builder) {
		size := func(name string) float64 { return f.get("Encodings", name+"-MiB") }
		took := func(name string) float64 { return f.get("Encodings", name+"-ms") }
		onNarrow := func(name string) float64 { return (took(name) + size(name)*(1<<20)/narrow) / 1000 }
		t.WriteString("A client receives and decodes 10,000 Pods from a real API server. The Pods differ only in names, UIDs and times; real Pods compress less. Times are the minimum of seven runs, on loopback; for a link of 10 Mbit/s, the time for the bytes is added.\n\n")
		t.WriteString(page.Head("Request", "Encoding", "On the wire", "Of JSON", "Time", "Time on a link of 10 Mbit/s"))
		for _, way := range [][2]string{{"list", "list"}, {"streaming", "streaming list (default)"}} {
			for _, e := range [][2]string{{"json-identity", "JSON"}, {"json-gzip", "JSON, gzip accepted"}, {"protobuf-identity", "protobuf"}, {"protobuf-gzip", "protobuf, gzip accepted"}} {
				name := way[0] + "-" + e[0]
				t.WriteString(page.Row(way[1], e[1], number(size(name))+" MiB", number(100*size(name)/size(way[0]+"-json-identity"))+"%",
					number(took(name))+" ms", number(onNarrow(name))+" s"))
			}
		}
		ratio := func(format string) string {
			return number(size("list-"+format+"-identity") / size("list-"+format+"-gzip"))
		}
		added := took("list-protobuf-gzip") - took("list-protobuf-identity") // milliseconds
		saved := (size("list-protobuf-identity") - size("list-protobuf-gzip")) * (1 << 20) * 8 / 1e6
		fmt.Fprintf(t, "\nThe API server compresses a list %s:1 in JSON and %s:1 in protobuf. %s. ", ratio("json"), ratio("protobuf"),
			either(added > 0, fmt.Sprintf("That takes %s ms more for protobuf, so that gzip is slower on links above %s Mbit/s", number(added), number(1000*saved/max(added, 1e-3))), "Compression does not take longer"))
		t.WriteString(either(size("streaming-json-gzip") > size("streaming-json-identity")/2,
			"kube-apiserver 1.36 does not compress streaming lists, although the client accepts gzip; 1.37 does. Over a narrow link, use protobuf or metadata-only informers.",
			"A streaming list is compressed too."))
		t.WriteString(" No other watch is compressed. The API server does not support zstd.\n")
	},
}
