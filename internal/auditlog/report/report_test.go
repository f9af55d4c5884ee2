package report

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/informer-exporter/informer-exporter/internal/reason"
)

var start = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)

// line returns an event of the audit log.
func line(id, verb, stage, query string, received, at float64) string {
	stamp := func(seconds float64) string {
		return start.Add(time.Duration(seconds * float64(time.Second))).Format(time.RFC3339Nano)
	}
	return fmt.Sprintf(`{"kind":"Event","auditID":%q,"stage":%q,"requestURI":"/api/v1/pods?%s","verb":%q,"user":{"username":"system:serviceaccount:ns:op"},"userAgent":"op/v1","sourceIPs":["10.0.0.1"],"objectRef":{"resource":"pods"},"responseStatus":{"code":200},"requestReceivedTimestamp":%q,"stageTimestamp":%q}`+"\n",
		id, stage, query, verb, stamp(received), stamp(at))
}

const query = "allowWatchBookmarks=true&timeoutSeconds=300&resourceVersion=5"

// life is a log of a program that lists and watches, loses its watch, and lives.
func life() []string {
	return []string{
		line("1", "list", "ResponseComplete", "resourceVersion=0", 0, 0.1),
		line("2", "watch", "ResponseStarted", query, 1, 1),
		line("2", "watch", "ResponseComplete", query, 1, 301),
		line("3", "watch", "ResponseStarted", query, 302, 302),
		line("3", "watch", "ResponseComplete", query, 302, 400),
		line("4", "get", "ResponseComplete", "", 500, 500),
	}
}

func compressed(text string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write([]byte(text))
	_ = w.Close()
	return b.String()
}

func read(t *testing.T, stdin string, o Options, texts ...string) (Report, error) {
	t.Helper()
	var paths []string
	for i, text := range texts {
		path := filepath.Join(t.TempDir(), fmt.Sprint(i))
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	if stdin != "" {
		paths = append(paths, "-")
	}
	files, err := Open(paths, strings.NewReader(stdin))
	if err != nil {
		t.Fatal(err)
	}
	return Of(t.Context(), files, o)
}

// However a log is split, compressed and ordered, the report is the same.
func TestFiles(t *testing.T) {
	l := life()
	all := strings.Join(l, "")
	for name, c := range map[string]struct {
		stdin string
		files []string
	}{
		"one":                   {"", []string{all}},
		"standard input":        {all, nil},
		"compressed":            {"", []string{compressed(all)}},
		"compressed input":      {compressed(all), nil},
		"rotated, newest first": {"", []string{strings.Join(l[4:], ""), compressed(strings.Join(l[2:4], "")), strings.Join(l[:2], "")}},
		"two API servers":       {"", []string{l[0] + l[1] + l[2] + l[5], l[3] + l[4]}},
		"cut in a line":         {"", []string{l[0] + l[1] + l[2][:200], l[2][200:] + l[2] + l[3] + l[4] + l[5][:len(l[5])-1]}},
		"read twice":            {"", []string{all, all}},
	} {
		r, err := read(t, c.stdin, Options{}, c.files...)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if len(r.Clients) != 1 || len(r.Clients[0].Informers) != 1 {
			t.Fatalf("%s: %+v", name, r)
		}
		client := r.Clients[0]
		i := client.Informers[0]
		if i.Opened != 2 || i.Ends[reason.Timeout] != 1 || i.Ends[reason.ServerClose] != 1 || i.Relists[reason.Initial] != 1 || i.Gaps != 1 || r.Lost() != 1 || client.Requests != 4 {
			t.Errorf("%s: %+v", name, r)
		}
		if malformed := uint64(0); name == "cut in a line" {
			malformed = 2
			if r.Malformed != malformed {
				t.Errorf("%s: %d malformed, want %d", name, r.Malformed, malformed)
			}
		}
		var text bytes.Buffer
		if err := r.Print(&text); err != nil {
			t.Fatal(err)
		}
		if want := "ns/op has no watch on pods since 2026-11-01 12:06:40, and still sends requests"; !strings.Contains(text.String(), want) {
			t.Errorf("%s: want %q in\n%s", name, want, &text)
		}
	}
}

func TestFilters(t *testing.T) {
	all := strings.Join(life(), "")
	if r, err := read(t, "", Options{Client: "other"}, all); err != nil || len(r.Clients) != 0 || r.Events != 6 {
		t.Errorf("%+v, %v", r, err)
	}
	r, err := read(t, "", Options{Since: start.Add(302 * time.Second), Until: start.Add(450 * time.Second)}, all)
	if err != nil || r.Lost() != 0 || r.Clients[0].Informers[0].Opened != 1 {
		t.Errorf("%+v, %v", r, err)
	}
}

// What can be read of a file is reported.
func TestIncompleteFiles(t *testing.T) {
	all := strings.Repeat(strings.Join(life(), ""), 1)
	gz := compressed(all)
	r, err := read(t, "", Options{}, gz[:len(gz)-9])
	if !errors.Is(err, io.ErrUnexpectedEOF) || r.Events != 6 {
		t.Errorf("%d events, %v", r.Events, err)
	}
	if _, err := Open([]string{filepath.Join(t.TempDir(), "missing")}, nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing file: %v", err)
	}
	if _, err := Open([]string{t.TempDir()}, nil); err == nil {
		t.Error("no error for a directory")
	}
	if r, err := read(t, "", Options{}, ""); err != nil || r.Events != 0 {
		t.Errorf("empty file: %+v, %v", r, err)
	}
}

func TestCanceled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	files, err := Open([]string{"-"}, strings.NewReader(strings.Join(life(), "")))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Of(ctx, files, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want canceled", err)
	}
}
