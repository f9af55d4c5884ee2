package stack

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
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
	program, err := Binary(ctx, JaegerProgram, o.Log)
	if err != nil {
		return nil, err
	}
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
	j.Server = newServer(Command{Name: "jaeger", Program: program, Args: args, Dir: o.Dir, Ready: answers("http://"+others[2]+"/", nil, ""), Log: o.Log})
	return j, j.Start(ctx)
}

// TraceSpan is a span as Jaeger stores it.
type TraceSpan struct {
	TraceID, SpanID, Service, Name string
	// Parent is the ID of the parent span, "" for a root.
	Parent string
	// Links are the IDs of the traces that the span links to.
	Links    []string
	Start    time.Time
	Duration time.Duration
	// Tags are the attributes, with status and kind.
	Tags map[string]string
	// Events are in the order of their times.
	Events []TraceEvent
}

// TraceEvent is an event of a span.
type TraceEvent struct {
	Name string
	Time time.Time
}

// Trace returns the spans of a trace in the order of their start, nil if Jaeger does not have it.
func (j *Jaeger) Trace(ctx context.Context, id string) ([]TraceSpan, error) {
	traces, err := j.get(ctx, "/api/traces/"+url.PathEscape(id), nil)
	if err != nil || len(traces) == 0 {
		return nil, err
	}
	return traces[0], nil
}

// Traces returns the last traces of a service, at most limit, that have a span with the given name; "" stands for any.
func (j *Jaeger) Traces(ctx context.Context, service, name string, limit int) ([][]TraceSpan, error) {
	q := url.Values{"service": {service}, "limit": {fmt.Sprint(limit)}, "lookback": {"1h"}}
	if name != "" {
		q.Set("operation", name)
	}
	return j.get(ctx, "/api/traces", q)
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
		Tags []jaegerTag `json:"tags"`
		Logs []struct {
			Time   int64       `json:"timestamp"` // microseconds
			Fields []jaegerTag `json:"fields"`
		} `json:"logs"`
	} `json:"spans"`
	Processes map[string]struct {
		Service string `json:"serviceName"`
	} `json:"processes"`
}

type jaegerTag struct {
	Key   string `json:"key"`
	Value any    `json:"value"`
}

func (j *Jaeger) get(ctx context.Context, path string, query url.Values) ([][]TraceSpan, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, j.URL+path+"?"+query.Encode(), nil)
	if err != nil {
		return nil, err
	}
	req.Close = true // tests that count goroutines must not see idle connections
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode == http.StatusNotFound {
		return nil, nil
	}
	var answer struct {
		Data []jaegerTrace `json:"data"`
	}
	if err := json.Unmarshal(body, &answer); err != nil || resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s returned %s: %.200s", path, resp.Status, body)
	}
	traces := make([][]TraceSpan, len(answer.Data))
	for i, t := range answer.Data {
		traces[i] = t.spans()
	}
	return traces, nil
}

func (t jaegerTrace) spans() []TraceSpan {
	all := make([]TraceSpan, len(t.Spans))
	for i, s := range t.Spans {
		span := TraceSpan{
			TraceID: s.TraceID, SpanID: s.SpanID, Service: t.Processes[s.Process].Service, Name: s.Name,
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
		for _, l := range s.Logs {
			for _, field := range l.Fields {
				if field.Key == "event" {
					span.Events = append(span.Events, TraceEvent{Name: fmt.Sprint(field.Value), Time: time.UnixMicro(l.Time)})
				}
			}
		}
		slices.SortStableFunc(span.Events, func(a, b TraceEvent) int { return a.Time.Compare(b.Time) })
		all[i] = span
	}
	slices.SortStableFunc(all, func(a, b TraceSpan) int { return cmp.Or(a.Start.Compare(b.Start), cmp.Compare(a.SpanID, b.SpanID)) })
	return all
}
