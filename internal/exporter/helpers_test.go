package exporter

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"go.uber.org/goleak"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

func TestMain(m *testing.M) { stacktest.Main(m) }

// logs records what is logged.
type logs struct {
	mu    sync.Mutex
	lines []line
}

// line is one record: its message and, by key, everything that came with it.
type line struct {
	level   slog.Level
	message string
	attrs   map[string]string
}

func (l *logs) logger() *slog.Logger { return slog.New(&logHandler{logs: l}) }

// find returns the lines from info upwards whose message has the given part and which have the given attributes,
// alternately keys and values.
func (l *logs) find(part string, attrs ...string) []line {
	l.mu.Lock()
	defer l.mu.Unlock()
	var found []line
	for _, ln := range l.lines {
		matches := ln.level >= slog.LevelInfo && strings.Contains(ln.message, part)
		for pair := range slices.Chunk(attrs, 2) {
			matches = matches && ln.attrs[pair[0]] == pair[1]
		}
		if matches {
			found = append(found, ln)
		}
	}
	return found
}

type logHandler struct {
	logs  *logs
	attrs []slog.Attr
}

func (h *logHandler) Enabled(context.Context, slog.Level) bool { return true }

func (h *logHandler) Handle(_ context.Context, r slog.Record) error {
	ln := line{level: r.Level, message: r.Message, attrs: map[string]string{}}
	for _, a := range h.attrs {
		ln.attrs[a.Key] = a.Value.String()
	}
	r.Attrs(func(a slog.Attr) bool {
		ln.attrs[a.Key] = a.Value.String()
		return true
	})
	h.logs.mu.Lock()
	defer h.logs.mu.Unlock()
	h.logs.lines = append(h.logs.lines, ln)
	return nil
}

func (h *logHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &logHandler{logs: h.logs, attrs: slices.Concat(h.attrs, attrs)}
}

func (h *logHandler) WithGroup(string) slog.Handler { return h }

// run starts e and stops it at the end of the test, after which nothing of it may be running. Connections that the test
// itself has opened with the other configurations are closed before that is checked.
func run(t *testing.T, e *Exporter, others ...*rest.Config) {
	t.Helper()
	// What client-go logs goes where the exporter logs, as the program has it.
	ctx := klog.NewContext(t.Context(), logr.FromSlogHandler(e.log.Handler()))
	leaks := goleak.IgnoreCurrent()
	e.Start(ctx)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		if err := e.Stop(ctx); err != nil {
			t.Errorf("Stop: %v", err)
		}
		for _, config := range others {
			transport, err := rest.TransportFor(config)
			if err != nil {
				t.Error(err)
			}
			utilnet.CloseIdleConnectionsFor(transport)
		}
		// A server that a test has restarted is waited for by the package that started it.
		goleak.VerifyNone(t, leaks, goleak.IgnoreAnyFunction("os/exec.(*Cmd).Wait"))
	})
}

// eventually waits until condition holds. explain says what was there instead.
func eventually(t *testing.T, what string, condition func() bool, explain func() string) {
	t.Helper()
	deadline := time.After(90 * time.Second)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !condition() {
		select {
		case <-deadline:
			t.Fatalf("%s: not within 90 s\n%s", what, explain())
		case <-tick.C:
		}
	}
}

// get asks e for a path.
func get(e *Exporter, target string, headers ...string) *httptest.ResponseRecorder {
	request := httptest.NewRequest(http.MethodGet, target, http.NoBody)
	for pair := range slices.Chunk(headers, 2) {
		request.Header.Set(pair[0], pair[1])
	}
	response := httptest.NewRecorder()
	e.Handler().ServeHTTP(response, request)
	return response
}

// values returns the samples of a gauge or counter by the value of one of its labels.
func values(t *testing.T, g prometheus.Gatherer, name, label string) map[string]float64 {
	t.Helper()
	families, err := g.Gather()
	if err != nil {
		t.Fatalf("Gather: %v", err)
	}
	found := map[string]float64{}
	for _, family := range families {
		if family.GetName() != name {
			continue
		}
		for _, m := range family.GetMetric() {
			at := slices.IndexFunc(m.GetLabel(), func(l *dto.LabelPair) bool { return l.GetName() == label })
			if at < 0 {
				t.Fatalf("%s has no label %s", name, label)
			}
			found[m.GetLabel()[at].GetValue()] += m.GetGauge().GetValue() + m.GetCounter().GetValue()
		}
	}
	return found
}
