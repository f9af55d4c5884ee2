package receiver_test

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/informer-exporter/informer-exporter/internal/testenv/await"
	"github.com/informer-exporter/informer-exporter/internal/testenv/leaktest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/receiver"
)

// A notification as Alertmanager 0.31 sends it.
const notification = `{
  "receiver": "page", "status": "firing", "version": "4", "groupKey": "{}:{}", "truncatedAlerts": 0,
  "groupLabels": {}, "commonLabels": {}, "commonAnnotations": {}, "externalURL": "http://127.0.0.1:9093",
  "alerts": [
    {"status": "firing", "labels": {"alertname": "A", "severity": "page"}, "annotations": {"summary": "it burns"},
     "startsAt": "2026-01-02T03:04:05Z", "endsAt": "0001-01-01T00:00:00Z", "generatorURL": "", "fingerprint": "1"},
    {"status": "resolved", "labels": {"alertname": "B"}, "annotations": {},
     "startsAt": "2026-01-02T03:04:05Z", "endsAt": "2026-01-02T03:05:05Z", "generatorURL": "", "fingerprint": "2"}
  ]
}`

func start(t *testing.T, log *slog.Logger) *receiver.Receiver {
	t.Helper()
	r := receiver.Start(log)
	t.Cleanup(func() {
		r.Close()
		leaktest.None(t)
	})
	return r
}

func post(t *testing.T, url, body string) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Close = true
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	return resp.StatusCode
}

func TestRecordsAndPrints(t *testing.T) {
	var log bytes.Buffer
	r := start(t, slog.New(slog.NewTextHandler(&log, nil)))
	if code := post(t, r.URL("/page"), notification); code != http.StatusOK {
		t.Fatalf("status %d", code)
	}
	got := r.Alerts()
	if len(got) != 2 {
		t.Fatalf("%d alerts, want 2", len(got))
	}
	a, b := got[0], got[1]
	if a.Receiver != "page" || a.Name != "A" || a.Status != "firing" || a.Labels["severity"] != "page" || !a.EndsAt.IsZero() ||
		!a.StartsAt.Equal(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)) || time.Since(a.Arrived) > time.Minute {
		t.Errorf("first alert: %+v", a)
	}
	if b.Name != "B" || b.Status != "resolved" || b.EndsAt.Sub(b.StartsAt) != time.Minute {
		t.Errorf("second alert: %+v", b)
	}
	post(t, r.URL("/ticket"), notification)
	if again := r.Alerts(); a.Notification != 1 || b.Notification != 1 || len(again) != 4 || again[3].Notification != 2 {
		t.Errorf("notifications are numbered %d, %d, and then %+v", a.Notification, b.Notification, again[2:])
	}
	r.Close() // the handler has returned, and the log is complete
	if !strings.Contains(log.String(), `msg="alert firing" alertname=A receiver=page severity=page summary="it burns"`) {
		t.Errorf("log:\n%s", log.String())
	}
}

func TestWait(t *testing.T) {
	r := start(t, nil)
	resolved := func(a receiver.Alert) bool { return a.Status == "resolved" }

	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Wait(ended, resolved); err == nil || !strings.Contains(err.Error(), "none") {
		t.Errorf("Wait returned %v after its context ended", err)
	}

	ctx, cancel := context.WithTimeout(t.Context(), await.Timeout)
	defer cancel()
	found := make(chan receiver.Alert)
	go func() {
		a, err := r.Wait(ctx, resolved)
		if err != nil {
			t.Error(err)
		}
		found <- a
	}()
	post(t, r.URL("ticket"), strings.ReplaceAll(notification, "resolved", "firing")) // not the awaited one
	post(t, r.URL("ticket"), notification)
	if a := <-found; a.Name != "B" {
		t.Errorf("got %+v", a)
	}
	if a, err := r.Wait(ctx, resolved); err != nil || a.Name != "B" {
		t.Errorf("earlier alerts should match: %+v, %v", a, err)
	}
	ended, cancel = context.WithCancel(t.Context())
	cancel()
	_, err := r.Wait(ended, func(receiver.Alert) bool { return false })
	if err == nil || !strings.Contains(err.Error(), "A firing, B firing, B resolved") {
		t.Errorf("the error should list what arrived: %v", err)
	}
}

func TestBadRequests(t *testing.T) {
	r := start(t, nil)
	for body, want := range map[string]int{"{": http.StatusBadRequest, `[]`: http.StatusBadRequest, `{}`: http.StatusOK} {
		if code := post(t, r.URL(""), body); code != want {
			t.Errorf("%s: status %d, want %d", body, code, want)
		}
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, r.URL(""), nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Close = true
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("GET: status %d", resp.StatusCode)
	}
	if len(r.Alerts()) != 0 {
		t.Errorf("alerts from bad requests: %+v", r.Alerts())
	}
}
