package stack

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/url"
	"slices"
	"time"

	"github.com/informer-exporter/informer-exporter/internal/testenv/port"
)

// JaegerOptions configure StartJaeger.
type JaegerOptions struct {
	// Dir is the directory for the log. The caller removes it.
	Dir string
	Log *slog.Logger
	// Port of the API on loopback; 0 uses a free one.
	Port int
}

// Jaeger is a Jaeger server with an OTLP receiver, which keeps the last traces in memory. This build has no web UI.
type Jaeger struct {
	*Server
	// URL is the address of the API. GRPC and HTTP are the endpoints of the receiver, for OTEL_EXPORTER_OTLP_ENDPOINT.
	URL, GRPC, HTTP string
}

// maxTraces limits the memory of Jaeger: traces of a controller have about ten spans of a few KiB.
const maxTraces = 20000

// StartJaeger starts Jaeger and waits until its API and its receivers are ready.
func StartJaeger(ctx context.Context, o JaegerOptions) (*Jaeger, error) {
	query := cmp.Or(o.Port, port.Free())
	var others [4]string // on fixed addresses, so that it can be restarted
	for i := range others {
		others[i] = port.Address(port.Free())
	}
	j := &Jaeger{URL: "http://" + port.Address(query), GRPC: "http://" + others[0], HTTP: "http://" + others[1]}
	const anyPort = "127.0.0.1:0" // of servers that are not needed
	args := []string{
		"--query.http-server.host-port=" + port.Address(query),
		"--collector.otlp.grpc.host-port=" + others[0],
		"--collector.otlp.http.host-port=" + others[1],
		"--admin.http.host-port=" + others[2],
		"--collector.grpc-server.host-port=" + others[3],
		"--query.grpc-server.host-port=" + anyPort,
		"--collector.http-server.host-port=" + anyPort,
		"--http-server.host-port=" + anyPort,
		"--processor.jaeger-binary.server-host-port=" + anyPort,
		"--processor.jaeger-compact.server-host-port=" + anyPort,
		"--processor.zipkin-compact.server-host-port=" + anyPort,
		fmt.Sprintf("--memory.max-traces=%d", maxTraces),
		"--log-level=warn",
	}
	var err error
	if j.Server, err = startProgram(ctx, JaegerProgram, Command{Args: args, Dir: o.Dir, Ready: Answers("http://" + others[2] + "/"), Log: o.Log}); err != nil {
		return nil, err
	}
	return j, nil
}

// TraceSpan is a span as Jaeger stores it.
type TraceSpan struct {
	SpanID, Service, Name string
	// Parent is the ID of the parent span, "" for a root.
	Parent string
	// Links are the IDs of the traces that the span links to.
	Links    []string
	Start    time.Time
	Duration time.Duration
	// Tags are the attributes, with status and kind.
	Tags map[string]string
}

// jaegerTrace is a trace in a response of the API.
type jaegerTrace struct {
	Spans []struct {
		TraceID    string `json:"traceID"`
		SpanID     string `json:"spanID"`
		Name       string `json:"operationName"`
		Process    string `json:"processID"`
		Start      int64  `json:"startTime"` // microseconds
		Duration   int64  `json:"duration"`  // microseconds
		References []struct {
			Type    string `json:"refType"`
			TraceID string `json:"traceID"`
			SpanID  string `json:"spanID"`
		} `json:"references"`
		Tags []struct {
			Key   string `json:"key"`
			Value any    `json:"value"`
		} `json:"tags"`
	} `json:"spans"`
	Processes map[string]struct {
		Service string `json:"serviceName"`
	} `json:"processes"`
}

// Trace returns the spans of a trace in the order of their start. It is an error if Jaeger does not have it.
func (j *Jaeger) Trace(ctx context.Context, id string) ([]TraceSpan, error) {
	var answer struct {
		Data []jaegerTrace `json:"data"`
	}
	if err := call(ctx, j.URL+"/api/traces/"+url.PathEscape(id), nil, &answer); err != nil {
		return nil, err
	}
	if len(answer.Data) != 1 {
		return nil, fmt.Errorf("%d traces with the ID %s", len(answer.Data), id)
	}
	return answer.Data[0].spans(), nil
}

func (t jaegerTrace) spans() []TraceSpan {
	all := make([]TraceSpan, len(t.Spans))
	for i, s := range t.Spans {
		span := TraceSpan{
			SpanID: s.SpanID, Service: t.Processes[s.Process].Service, Name: s.Name,
			Start: time.UnixMicro(s.Start), Duration: time.Duration(s.Duration) * time.Microsecond, Tags: map[string]string{},
		}
		for _, r := range s.References {
			if r.Type == "CHILD_OF" && r.TraceID == s.TraceID {
				span.Parent = r.SpanID
			} else {
				span.Links = append(span.Links, r.TraceID)
			}
		}
		for _, tag := range s.Tags {
			span.Tags[tag.Key] = fmt.Sprint(tag.Value)
		}
		all[i] = span
	}
	slices.SortStableFunc(all, func(a, b TraceSpan) int { return cmp.Or(a.Start.Compare(b.Start), cmp.Compare(a.SpanID, b.SpanID)) })
	return all
}
