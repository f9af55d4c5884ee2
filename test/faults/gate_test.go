package faults

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// gate is part of the client's transport. It passes requests to the real server, unless a rule responds to them, and it can
// write into open watch streams.
type gate struct {
	next http.RoundTripper

	mu      sync.Mutex
	rules   []*rule
	streams []*stream
}

// rule answers the next requests of a kind.
type rule struct {
	matches func(*http.Request) bool
	left    int
	answer  answer
}

// answer replaces the server's answer. It may forward the request to the server.
type answer func(*http.Request, http.RoundTripper) (*http.Response, error)

func (g *gate) wrap(next http.RoundTripper) http.RoundTripper {
	g.next = next
	return g
}

// RoundTrip implements http.RoundTripper.
func (g *gate) RoundTrip(r *http.Request) (*http.Response, error) {
	if rule := g.take(r); rule != nil {
		return rule.answer(r, g.next)
	}
	resp, err := g.next.RoundTrip(r)
	if err != nil || resp.StatusCode != http.StatusOK || r.URL.Query().Get("watch") == "" || isFreshnessCheck(r) {
		return resp, err
	}
	return g.observe(resp, ""), nil
}

// observe lets tests write to a watch. It drops events that contain lost, unless lost is empty.
func (g *gate) observe(resp *http.Response, lost string) *http.Response {
	s := newStream(resp.Body, lost)
	resp.Body = s
	g.mu.Lock()
	defer g.mu.Unlock()
	g.streams = append(g.streams, s)
	return resp
}

// losing calls before, and then opens a watch that loses events that contain a text, from the first one on.
func (g *gate) losing(lost string, before func()) answer {
	return func(r *http.Request, next http.RoundTripper) (*http.Response, error) {
		before()
		resp, err := next.RoundTrip(r)
		if err != nil || resp.StatusCode != http.StatusOK {
			return resp, err
		}
		return g.observe(resp, lost), nil
	}
}

func (g *gate) take(r *http.Request) *rule {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, rule := range g.rules {
		if rule.left > 0 && rule.matches(r) {
			rule.left--
			return rule
		}
	}
	return nil
}

// nextGet sets the answer to the next n requests of a kind; 0 means all until open is called.
func (g *gate) nextGet(n int, matches func(*http.Request) bool, answer answer) {
	if n == 0 {
		n = 1 << 30
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.rules = append(g.rules, &rule{matches, n, answer})
}

// open removes all rules.
func (g *gate) open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.rules = nil
}

// spent reports whether every rule has been used up.
func (g *gate) spent() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return !slices.ContainsFunc(g.rules, func(r *rule) bool { return r.left > 0 })
}

// stream returns the latest stream of the informer's own watch.
func (g *gate) stream(t testing.TB) *stream {
	t.Helper()
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.streams) == 0 {
		t.Fatal("no watch was opened")
	}
	return g.streams[len(g.streams)-1]
}

// The kinds of requests. A streaming list is a watch that begins with the list.
func isList(r *http.Request) bool {
	return r.Method == http.MethodGet && r.URL.Query().Get("watch") == ""
}

func isStreamingList(r *http.Request) bool { return r.URL.Query().Get("sendInitialEvents") == "true" }

func isAnyList(r *http.Request) bool { return isList(r) || isStreamingList(r) }

func isFreshnessCheck(r *http.Request) bool { return r.URL.Query().Get("timeoutSeconds") == "1" }

func isWatch(r *http.Request) bool { return !isAnyList(r) }

// status answers with an error. retryAfter is in seconds; if it is negative, the header is left out.
func status(code int, reason metav1.StatusReason, retryAfter int) answer {
	return func(r *http.Request, _ http.RoundTripper) (*http.Response, error) {
		resp := response(r, code, statusJSON(code, reason))
		if retryAfter >= 0 {
			resp.Header.Set("Retry-After", strconv.Itoa(retryAfter))
		}
		return resp, nil
	}
}

// delayed passes a request on after a delay.
func delayed(d time.Duration) answer {
	return func(r *http.Request, next http.RoundTripper) (*http.Response, error) {
		select {
		case <-time.After(d):
			return next.RoundTrip(r)
		case <-r.Context().Done():
			return nil, r.Context().Err()
		}
	}
}

// ended opens a watch and ends it immediately.
func ended(r *http.Request, _ http.RoundTripper) (*http.Response, error) {
	return response(r, http.StatusOK, nil), nil
}

func response(r *http.Request, code int, body []byte) *http.Response {
	return &http.Response{
		StatusCode: code, Status: fmt.Sprint(code, " ", http.StatusText(code)), Request: r,
		Proto: "HTTP/2.0", ProtoMajor: 2,
		Header: http.Header{"Content-Type": {"application/json"}},
		Body:   io.NopCloser(bytes.NewReader(body)),
	}
}

func statusJSON(code int, reason metav1.StatusReason) []byte {
	b, err := json.Marshal(metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"},
		Status:   metav1.StatusFailure, Code: int32(code), Reason: reason, Message: "by the gate",
	})
	if err != nil {
		panic(err)
	}
	return b
}

// errorEvent returns an error event, which ends a watch.
func errorEvent(code int, reason metav1.StatusReason) string {
	return fmt.Sprintf(`{"type":"ERROR","object":%s}`+"\n", statusJSON(code, reason))
}
