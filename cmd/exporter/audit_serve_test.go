package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/informer-exporter/informer-exporter/internal/testenv/await"
)

// auditLine returns an event of a watch or list at a time in seconds.
func auditLine(id, stage, verb, query string, received, at int) string {
	stamp := func(s int) string {
		return time.Unix(1767225600+int64(s), 0).UTC().Format("2006-01-02T15:04:05.000000Z")
	}
	return fmt.Sprintf(`{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"Metadata","auditID":%q,"stage":%q,"requestURI":"/api/v1/pods?%s","verb":%q,"user":{"username":"system:serviceaccount:shop:shop"},"sourceIPs":["192.0.2.1"],"userAgent":"controller/v1 (linux/amd64)","objectRef":{"resource":"pods","apiVersion":"v1"},"responseStatus":{"code":200},"requestReceivedTimestamp":%q,"stageTimestamp":%q}`,
		id, stage, query, verb, stamp(received), stamp(at))
}

// auditServe runs the command until the end of the test or the returned stop.
func auditServe(t *testing.T, args ...string) (url string, stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	log, done := &output{}, make(chan error, 1)
	go func() {
		done <- run(ctx, append([]string{"audit", "serve", "--log.format=json", "--web.listen-address=127.0.0.1:0"}, args...), io.Discard, log)
		close(done)
	}()
	stop = func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("audit serve: %v", err)
		}
	}
	t.Cleanup(stop)
	return "http://" + log.wait(t, `"msg":"Listening on","address":"`, `"`), stop
}

const auditPods = `{client="system:serviceaccount:shop:shop/controller",informer_type="pods",`

// waitFor waits until the metrics have a sample.
func waitFor(t *testing.T, url, sample string) {
	t.Helper()
	await.NoError(t, sample, func() error {
		if _, body := get(t, url+"/metrics"); !strings.Contains(body, "\n"+sample+"\n") {
			return fmt.Errorf("not in:\n%s", strings.Join(grep(body, "k8s_audit_"), "\n"))
		}
		return nil
	})
}

func grep(text, part string) (lines []string) {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, part) {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	return lines
}

// A watch that began before a restart and ends after it is the same watch: no relist is invented, and nothing is counted twice.
func TestAuditServeRestarts(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "audit.log")
	write := func(lines ...string) {
		file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err == nil {
			_, err = file.WriteString(strings.Join(lines, "\n") + "\n")
		}
		if err != nil {
			t.Fatal(err)
		}
		_ = file.Close() // written
	}
	args := []string{"--log.file=" + path, "--log.position-dir=" + dir}
	url, stop := auditServe(t, args...)
	write(auditLine("l", "ResponseComplete", "list", "limit=500&resourceVersion=0", 0, 1),
		auditLine("w", "ResponseStarted", "watch", "allowWatchBookmarks=true&resourceVersion=7&timeoutSeconds=400&watch=true", 1, 1), "garbage")
	waitFor(t, url, `k8s_audit_watches_total`+auditPods+`watch_namespace="*"} 1`)
	waitFor(t, url, `k8s_audit_events_total{result="malformed"} 1`)
	waitFor(t, url, `k8s_audit_relists_total`+auditPods+`reason="initial",watch_namespace="*"} 1`)
	for _, probe := range []string{"/healthz", "/livez", "/readyz"} {
		if code, _ := get(t, url+probe); code != http.StatusOK {
			t.Errorf("%s: %d", probe, code)
		}
	}
	if code, _ := get(t, url+webhookPath); code != http.StatusNotFound {
		t.Errorf("%s without --webhook: %d", webhookPath, code)
	}
	stop()

	write(auditLine("w", "ResponseComplete", "watch", "allowWatchBookmarks=true&resourceVersion=7&timeoutSeconds=400&watch=true", 1, 401),
		auditLine("w2", "ResponseStarted", "watch", "allowWatchBookmarks=true&resourceVersion=9&timeoutSeconds=400&watch=true", 401, 401))
	url, _ = auditServe(t, args...)
	waitFor(t, url, `k8s_audit_watch_ends_total`+auditPods+`reason="timeout",watch_namespace="*"} 1`)
	waitFor(t, url, `k8s_audit_watches_total`+auditPods+`watch_namespace="*"} 1`)
	waitFor(t, url, `k8s_audit_watches_open`+auditPods+`watch_namespace="*"} 1`)
	_, body := get(t, url+"/metrics")
	for _, line := range grep(body, "k8s_audit_relists_total") {
		if !strings.HasSuffix(line, " 0") {
			t.Errorf("after the restart: %s", line)
		}
	}
	if !strings.Contains(body, `k8s_audit_events_total{result="observed"} 2`) {
		t.Errorf("events: %v", grep(body, "k8s_audit_events"))
	}
}

// Events that a sender with the token posts are in the metrics.
func TestAuditServeWebhook(t *testing.T) {
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	url, _ := auditServe(t, "--webhook", "--webhook.token-file="+token)
	for authorization, want := range map[string]int{"Bearer secret": http.StatusOK, "Bearer other": http.StatusUnauthorized} {
		body := `{"kind":"EventList","items":[` + auditLine("w", "ResponseStarted", "watch", "watch=true", 1, 1) + `]}`
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+webhookPath, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Authorization", authorization)
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if response.StatusCode != want {
			t.Errorf("%s: status %d, want %d", authorization, response.StatusCode, want)
		}
	}
	waitFor(t, url, `k8s_audit_watches_open`+auditPods+`watch_namespace="*"} 1`)
	waitFor(t, url, `k8s_audit_webhook_requests_total{outcome="unauthorized"} 1`)
}

// Command lines that cannot work are rejected with the flag.
func TestAuditServeUsage(t *testing.T) {
	for args, want := range map[string]string{
		"": "--log.file", "--webhook.token-file=x --log.file=y": "--webhook.token-file needs", "--webhook --log.position-dir=x": "--log.position-dir needs",
		"--webhook --limit.series=0": "--limit.series", "--webhook --limit.clients=-1": "--limit.clients", "extra": "extra",
	} {
		err := run(t.Context(), append([]string{"audit", "serve"}, strings.Fields(args)...), io.Discard, io.Discard)
		if exitCode(err) != exitUsage || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", args, err)
		}
	}
	for _, args := range []string{"audit", "audit x", "audit --nope"} {
		if err := run(t.Context(), strings.Fields(args), io.Discard, io.Discard); exitCode(err) != exitUsage {
			t.Errorf("%s: %v", args, err)
		}
	}
	if err := run(t.Context(), []string{"audit", "serve", "--webhook", "--webhook.token-file=/missing"}, io.Discard, io.Discard); err == nil || !strings.Contains(err.Error(), "token") {
		t.Errorf("a token that cannot be read: %v", err)
	}
}
