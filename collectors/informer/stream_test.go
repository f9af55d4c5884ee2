package informer_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"syscall"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-exporter/informer-exporter/collectors/informer"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
)

// These tests use client-go's REST client and watch.StreamWatcher, because both hide some errors from a decorator and replace
// others with text.

// brokenServer serves every request with a handler and returns a ListerWatcher that connects to it.
func brokenServer(t *testing.T, handle http.HandlerFunc, configure ...func(*httptest.Server, *rest.Config)) cache.ListerWatcher {
	t.Helper()
	server := httptest.NewUnstartedServer(handle)
	server.Config.ErrorLog = nil
	config := &rest.Config{QPS: -1}
	for _, c := range configure {
		c(server, config)
	}
	if server.EnableHTTP2 {
		server.StartTLS()
		config.Insecure = true
	} else {
		server.Start()
	}
	t.Cleanup(server.Close)
	config.Host = server.URL
	pods := kubernetes.NewForConfigOrDie(config).CoreV1().Pods("default")
	return &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) { return pods.List(ctx, o) },
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			return pods.Watch(ctx, o)
		},
	}
}

// event is an event of a watch on the wire.
func event(eventType, object string) string {
	return fmt.Sprintf(`{"type":%q,"object":%s}`, eventType, object) + "\n"
}

const (
	podOnTheWire  = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","namespace":"default","resourceVersion":"2"}}`
	expiredStatus = `{"apiVersion":"v1","kind":"Status","status":"Failure","reason":"Expired","code":410,"message":"too old resource version"}`
	slowStatus    = `{"apiVersion":"v1","kind":"Status","status":"Failure","reason":"TooManyRequests","code":429}`
	brokenStatus  = `{"apiVersion":"v1","kind":"Status","status":"Failure","reason":"InternalError","code":500}`
)

// hangUp ends a connection in the middle of a response.
func hangUp(t *testing.T, w http.ResponseWriter, reset bool) {
	conn, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		t.Error(err)
		return
	}
	if reset {
		_ = conn.(*net.TCPConn).SetLinger(0)
	}
	_ = conn.Close()
}

// Streams that break after an event (S4, S6).
func TestBrokenStreams(t *testing.T) {
	// The connection is cut while client-go decodes, which client-go treats as the end of the stream.
	closed := metricstest.Snapshot{"k8s_informer_watch_disconnects_total{reason=server_close}": 1}
	// client-go notices the end of a stream of HTTP/2 and makes an error event.
	broken := metricstest.Snapshot{
		"k8s_informer_watch_disconnects_total{reason=error}": 1, "k8s_informer_sync_errors_total{error_type=server}": 1,
	}
	failed := func(reason, errorType string) metricstest.Snapshot {
		return metricstest.Snapshot{
			"k8s_informer_watch_disconnects_total{reason=" + reason + "}":  1,
			"k8s_informer_sync_errors_total{error_type=" + errorType + "}": 1,
			"k8s_informer_watch_events_total{type=error}":                  1,
		}
	}
	for name, c := range map[string]struct {
		end       func(*testing.T, http.ResponseWriter, *http.Request)
		want      metricstest.Snapshot
		configure func(*httptest.Server, *rest.Config)
	}{
		"no JSON":             {end: send("<html>"), want: failed("error", "decode")},
		"no event":            {end: send(`{"a":"b"}`), want: failed("error", "decode")},
		"an unknown type":     {end: send(event("RENAMED", podOnTheWire)), want: failed("error", "decode")},
		"an unknown kind":     {end: send(event("ADDED", `{"apiVersion":"v1","kind":"Nope"}`)), want: failed("error", "decode")},
		"a wrong field":       {end: send(event("ADDED", `{"apiVersion":"v1","kind":"Pod","metadata":{"name":1}}`)), want: failed("error", "decode")},
		"expired":             {end: send(event("ERROR", expiredStatus)), want: failed("expired", "expired")},
		"throttled":           {end: send(event("ERROR", slowStatus)), want: failed("throttled", "throttled")},
		"internal error":      {end: send(event("ERROR", brokenStatus)), want: failed("error", "server")},
		"an end":              {end: send(""), want: closed},
		"half an event":       {end: send(`{"type":"ADD`), want: closed},
		"a closed connection": {end: func(t *testing.T, w http.ResponseWriter, _ *http.Request) { hangUp(t, w, false) }, want: closed},
		"a reset connection":  {end: func(t *testing.T, w http.ResponseWriter, _ *http.Request) { hangUp(t, w, true) }, want: closed},
		"a reset HTTP/2 stream": {
			end:       func(*testing.T, http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
			want:      broken,
			configure: func(s *httptest.Server, _ *rest.Config) { s.EnableHTTP2 = true },
		},
		"a timeout of the client": {
			end:       func(_ *testing.T, _ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
			want:      closed,
			configure: func(_ *httptest.Server, c *rest.Config) { c.Timeout = 2 * time.Second },
		},
	} {
		t.Run(name, func(t *testing.T) {
			end := make(chan struct{})
			lw := brokenServer(t, func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				_, _ = io.WriteString(w, event("ADDED", podOnTheWire))
				w.(http.Flusher).Flush()
				<-end
				c.end(t, w, r)
			}, func(s *httptest.Server, config *rest.Config) {
				if c.configure != nil {
					c.configure(s, config)
				}
			})
			obs, reg := observertest.New(t)
			w, err := informer.NewListerWatcher(obs, pods, lw).Watch(metav1.ListOptions{ResourceVersion: "1"})
			if err != nil {
				t.Fatal(err)
			}
			if first := <-w.ResultChan(); first.Type != watch.Added {
				t.Fatalf("the first event is %+v", first)
			}
			before := metricstest.Take(t, reg)
			close(end)
			drain(w)
			w.Stop()
			after := metricstest.Take(t, reg).Since(before, "k8s_informer_last_event", "k8s_informer_sync_lag", "k8s_informer_watch_connected", "k8s_informer_watch_duration")
			after.Equal(t, c.want)
		})
	}
}

// send writes the rest of a stream.
func send(text string) func(*testing.T, http.ResponseWriter, *http.Request) {
	return func(_ *testing.T, w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, text) }
}

// Lists and watches that are rejected (S4).
func TestRefusedRequests(t *testing.T) {
	answer := func(code int, contentType, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", contentType)
			w.WriteHeader(code)
			_, _ = io.WriteString(w, body)
		}
	}
	status := func(code int, reason metav1.StatusReason) http.HandlerFunc {
		return answer(code, "application/json", fmt.Sprintf(`{"apiVersion":"v1","kind":"Status","status":"Failure","reason":%q,"code":%d}`, reason, code))
	}
	hang := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	dial := func(err error) func(*httptest.Server, *rest.Config) {
		return func(_ *httptest.Server, c *rest.Config) {
			c.Dial = func(context.Context, string, string) (net.Conn, error) {
				return nil, &net.OpError{Op: "dial", Net: "tcp", Err: err}
			}
		}
	}
	for name, c := range map[string]struct {
		handle    http.HandlerFunc
		configure func(*httptest.Server, *rest.Config)
		// list and watch are the error types. watch is empty if client-go returns an empty watch after ten attempts in ten
		// seconds.
		list, watch, reason string
	}{
		"expired":           {handle: status(410, metav1.StatusReasonExpired), list: "expired", watch: "expired", reason: "expired"},
		"gone":              {handle: status(410, metav1.StatusReasonGone), list: "expired", watch: "expired", reason: "expired"},
		"throttled":         {handle: status(429, metav1.StatusReasonTooManyRequests), list: "throttled", watch: "throttled", reason: "throttled"},
		"forbidden":         {handle: status(403, metav1.StatusReasonForbidden), list: "forbidden", watch: "forbidden", reason: "error"},
		"unauthorized":      {handle: status(401, metav1.StatusReasonUnauthorized), list: "unauthorized", watch: "unauthorized", reason: "error"},
		"server timeout":    {handle: status(504, metav1.StatusReasonTimeout), list: "timeout", watch: "timeout", reason: "error"},
		"internal error":    {handle: status(500, metav1.StatusReasonInternalError), list: "server", watch: "server", reason: "error"},
		"a proxy's error":   {handle: answer(502, "text/html", "<html>bad gateway"), list: "server", watch: "server", reason: "error"},
		"a proxy's timeout": {handle: answer(504, "text/plain", "upstream timed out"), list: "timeout", watch: "timeout", reason: "error"},
		"no answer in time": {
			handle: hang, list: "timeout",
			configure: func(_ *httptest.Server, c *rest.Config) { c.Timeout = 100 * time.Millisecond },
		},
		"no header in time": {
			handle: hang, list: "timeout",
			configure: func(_ *httptest.Server, c *rest.Config) {
				c.Wrap(func(http.RoundTripper) http.RoundTripper {
					return &http.Transport{ResponseHeaderTimeout: 100 * time.Millisecond}
				})
			},
		},
		"no connection in time": {handle: hang, configure: dial(syscall.ETIMEDOUT), list: "timeout"},
		"refused connection":    {handle: hang, configure: dial(syscall.ECONNREFUSED), list: "refused", watch: "refused", reason: "refused"},
		"no route":              {handle: hang, configure: dial(syscall.EHOSTUNREACH), list: "refused", watch: "refused", reason: "refused"},
		"an unknown host":       {handle: hang, configure: dial(&net.DNSError{Err: "no such host", IsNotFound: true}), list: "refused", watch: "refused", reason: "refused"},
		"no JSON":               {handle: answer(200, "application/json", "<html>log in"), list: "decode"},
		"no JSON, and it says":  {handle: answer(200, "text/html", "<html>log in"), list: "decode"},
		"an unknown kind":       {handle: answer(200, "application/json", `{"apiVersion":"v1","kind":"Nope"}`), list: "decode"},
		"a wrong field":         {handle: answer(200, "application/json", `{"apiVersion":"v1","kind":"PodList","items":"a"}`), list: "decode"},
		"half a list":           {handle: answer(200, "application/json", `{"apiVersion":"v1","kind":"PodList","items":[`), list: "decode"},
	} {
		t.Run(name, func(t *testing.T) {
			obs, reg := observertest.New(t)
			configure := c.configure
			if configure == nil {
				configure = func(*httptest.Server, *rest.Config) {}
			}
			lw := informer.NewListerWatcher(obs, pods, brokenServer(t, c.handle, configure))
			before := metricstest.Take(t, reg)
			_, err := lw.List(metav1.ListOptions{})
			if err == nil {
				t.Fatal("the list was not rejected")
			}
			after := metricstest.Take(t, reg)
			after.Since(before).Equal(t, metricstest.Snapshot{
				"k8s_informer_sync_errors_total{error_type=" + c.list + "}": 1, "k8s_informer_sync_duration_seconds_count{result=error}": 1,
			})
			if c.watch == "" {
				return
			}
			if _, err := lw.Watch(metav1.ListOptions{ResourceVersion: "1"}); err == nil {
				t.Fatal("the watch was not rejected")
			}
			metricstest.Take(t, reg).Since(after).Equal(t, metricstest.Snapshot{
				"k8s_informer_sync_errors_total{error_type=" + c.watch + "}": 1, "k8s_informer_watch_disconnects_total{reason=" + c.reason + "}": 1,
			})
		})
	}
}
