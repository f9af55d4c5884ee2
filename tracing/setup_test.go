package tracing

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.uber.org/goleak"

	"github.com/informer-exporter/informer-exporter/collectors/spans"
	"github.com/informer-exporter/informer-exporter/internal/testenv/leaktest"
)

// clean removes every OTEL_* variable for the duration of the test.
func clean(t *testing.T) {
	t.Helper()
	for _, kv := range os.Environ() {
		if key, value, _ := strings.Cut(kv, "="); strings.HasPrefix(key, "OTEL_") {
			t.Setenv(key, value) // restores it afterwards
			if err := os.Unsetenv(key); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestEnabledByEnv(t *testing.T) {
	for _, tc := range []struct {
		name string
		env  map[string]string
		want bool
	}{
		{"nothing set", nil, false},
		{"endpoint", map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://localhost:4318"}, true},
		{"endpoint for traces", map[string]string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://localhost:4318"}, true},
		{"exporter", map[string]string{"OTEL_TRACES_EXPORTER": "otlp"}, true},
		{"exporter none", map[string]string{"OTEL_TRACES_EXPORTER": "none", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://localhost:4318"}, false},
		{"disabled", map[string]string{"OTEL_TRACES_EXPORTER": "otlp", "OTEL_SDK_DISABLED": "TRUE"}, false},
		{"disabled is something else", map[string]string{"OTEL_TRACES_EXPORTER": "otlp", "OTEL_SDK_DISABLED": "yes"}, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			clean(t)
			for k, v := range tc.env {
				t.Setenv(k, v)
			}
			provider, err := Setup(t.Context(), Config{ServiceName: "test"})
			if err != nil {
				t.Fatal(err)
			}
			if got := provider.Enabled(); got != tc.want {
				t.Errorf("Enabled() is %t, want %t", got, tc.want)
			}
			// Nothing has been traced, so Shutdown sends nothing and returns immediately.
			if err := provider.Shutdown(t.Context()); err != nil {
				t.Errorf("Shutdown: %v", err)
			}
		})
	}
}

func TestRatioByEnv(t *testing.T) {
	for _, tc := range []struct {
		sampler, arg string
		want         float64
	}{
		{"", "", DefaultRatio},
		{"", "0.5", DefaultRatio}, // the argument is ignored without a sampler
		{"always_on", "", 1},
		{"always_off", "", 0},
		{"parentbased_always_on", "", 1},
		{"parentbased_always_off", "", 0},
		{"traceidratio", "0.5", .5},
		{"PARENTBASED_TRACEIDRATIO", " 0.25 ", .25},
		{"traceidratio", "", 1},
		{"traceidratio", "half", 1},
		{"traceidratio", "1.5", 1},
		{"traceidratio", "-1", 1},
		{"unheard_of", "", DefaultRatio},
	} {
		t.Run(tc.sampler+" "+tc.arg, func(t *testing.T) {
			clean(t)
			t.Setenv("OTEL_TRACES_SAMPLER", tc.sampler)
			t.Setenv("OTEL_TRACES_SAMPLER_ARG", tc.arg)
			if got := ratioByEnv(); got != tc.want {
				t.Errorf("got %v, want %v", got, tc.want)
			}
		})
	}
}

func TestSetupErrorNamesTheVariable(t *testing.T) {
	for key, value := range map[string]string{
		"OTEL_TRACES_EXPORTER":     "carrier_pigeon",
		"OTEL_RESOURCE_ATTRIBUTES": "no-equals-sign",
	} {
		t.Run(key, func(t *testing.T) {
			clean(t)
			t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://localhost:4318")
			t.Setenv(key, value)
			_, err := Setup(t.Context(), Config{ServiceName: "test"})
			if err == nil || !strings.Contains(err.Error(), key) {
				t.Errorf("error is %v, want one that names %s", err, key)
			}
		})
	}
}

func TestResource(t *testing.T) {
	for _, tc := range []struct {
		name    string
		env     map[string]string
		service string
	}{
		{"default", nil, "informer-exporter"},
		{"OTEL_SERVICE_NAME", map[string]string{"OTEL_SERVICE_NAME": "mine"}, "mine"},
		{"OTEL_RESOURCE_ATTRIBUTES", map[string]string{"OTEL_RESOURCE_ATTRIBUTES": "service.name=theirs,k8s.cluster.name=c"}, "theirs"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			clean(t)
			for k, v := range tc.env {
				t.Setenv(k, v)
			}
			res, err := newResource(t.Context(), Config{ServiceName: "informer-exporter", ServiceVersion: "1.2.3"})
			if err != nil {
				t.Fatal(err)
			}
			for key, want := range map[attribute.Key]string{"service.name": tc.service, "service.version": "1.2.3"} {
				if got, _ := res.Set().Value(key); got.AsString() != want {
					t.Errorf("%s is %q, want %q", key, got.AsString(), want)
				}
			}
		})
	}
}

// Spans reach a collector over OTLP, the last ones at shutdown, and nothing keeps running afterwards.
func TestSetupExportsAtShutdown(t *testing.T) {
	clean(t)
	bodies := make(chan []byte, 16)
	collector := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body bytes.Buffer
		_, _ = body.ReadFrom(r.Body)
		bodies <- body.Bytes()
		w.Header().Set("Content-Type", "application/x-protobuf")
	}))
	defer leaktest.None(t, goleak.IgnoreCurrent())
	defer collector.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.URL)
	t.Setenv("OTEL_EXPORTER_OTLP_COMPRESSION", "none")
	t.Setenv("OTEL_TRACES_SAMPLER", "always_on")

	provider, err := Setup(t.Context(), Config{ServiceName: "informer-exporter", Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	NewTracer(provider, TracerOptions{}).Start(t.Context(), spans.Operation{Kind: spans.Deliver, Name: "pods"}).End(spans.Result{})
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := provider.Shutdown(ctx); err != nil {
		t.Fatalf("Shutdown: %v", err)
	}
	select {
	case body := <-bodies:
		for _, want := range []string{"informer.deliver pods", "informer-exporter"} {
			if !bytes.Contains(body, []byte(want)) {
				t.Errorf("the export does not contain %q", want)
			}
		}
	default:
		t.Error("nothing was exported when Shutdown returned")
	}
}
