package event

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"
)

// sample is an event as kube-apiserver 1.36 writes it.
const sample = `{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"Metadata","auditID":"77f3a9b2-0b9a-4f8c-9d60-7a0a4d1f6c11","stage":"ResponseStarted","requestURI":"/apis/apps/v1/deployments?allowWatchBookmarks=true&labelSelector=a%3Db&resourceVersion=42&timeoutSeconds=586&watch=true","verb":"watch","user":{"username":"system:serviceaccount:ns:operator","uid":"1","groups":["system:serviceaccounts"],"extra":{"x":["y"]}},"sourceIPs":["10.0.0.7","10.0.0.1"],"userAgent":"operator/v1 (linux/amd64) kubernetes/$Format","objectRef":{"resource":"deployments","namespace":"ns","apiGroup":"apps","apiVersion":"v1"},"responseStatus":{"metadata":{},"code":200},"requestReceivedTimestamp":"2026-11-01T12:00:00.000001Z","stageTimestamp":"2026-11-01T12:00:00.500000Z","annotations":{"authorization.k8s.io/decision":"allow"}}`

func TestDecode(t *testing.T) {
	quoted, err := json.Marshal(sample)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"line": sample, "with a time before it": "2026-11-01T12:00:00Z " + sample,
		"wrapped by Azure": `{"category":"kube-audit","properties":{"log":` + string(quoted) + `}}`,
	} {
		var e Event
		if err := Decode([]byte(text), &e); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if e.User != "system:serviceaccount:ns:operator" || e.Source != "10.0.0.7" || e.Group != "apps" || e.Resource != "deployments" || e.Namespace != "ns" ||
			e.Verb != "watch" || e.Stage != StageStarted || e.Code != 200 || e.At.Sub(e.Received) != 499999*time.Microsecond {
			t.Errorf("%s: %+v", name, e)
		}
		want := Options{Version: "42", Labels: "a=b", Timeout: 586 * time.Second, Bookmarks: true}
		if o := e.Options(); o != want {
			t.Errorf("%s: options %+v, want %+v", name, o, want)
		}
	}
}

func TestOptions(t *testing.T) {
	for query, want := range map[string]Options{
		"sendInitialEvents=true&resourceVersionMatch=NotOlderThan": {Streaming: true, Match: "NotOlderThan"},
		"limit=500&resourceVersion=0":                              {Paged: true, Version: "0"},
		"continue=abc":                                             {Paged: true, Continued: true},
		"fieldSelector=metadata.name%3Dx&timeoutSeconds=-1":        {Fields: "metadata.name=x"},
		"%zz&timeoutSeconds=99999999999999999999":                  {},
	} {
		e := Event{URI: "/api/v1/pods?" + query}
		if o := e.Options(); o != want {
			t.Errorf("%s: %+v, want %+v", query, o, want)
		}
	}
}

// A process that is killed in the middle of a line leaves half of it, and another appends to it.
func TestDecodeLine(t *testing.T) {
	for _, c := range []struct {
		name, line    string
		ok, malformed bool
	}{
		{"whole", sample, true, false},
		{"truncated", sample[:500], false, true},
		{"truncated, then whole", sample[:500] + sample, true, true},
		{"whole, then truncated", sample + sample[:300], true, true},
		{"no JSON", "panic: oops", false, true},
		{"no event", `{"kind":"Event","auditID":"1"}`, false, true},
		{"invalid UTF-8", strings.Replace(sample, "operator/v1", "op\xff\xfe/v1", 1), true, false},
		{"deep", strings.Repeat(`{"a":`, 100_000), false, true},
		{"wrapped twice", `{"properties":{"log":"{\"properties\":{\"log\":\"{}\"}}"}}`, false, true},
	} {
		var e Event
		if ok, malformed := DecodeLine([]byte(c.line), &e); ok != c.ok || malformed != c.malformed {
			t.Errorf("%s: %t, %t, want %t, %t", c.name, ok, malformed, c.ok, c.malformed)
		} else if ok && e.Verb != "watch" {
			t.Errorf("%s: %+v", c.name, e)
		}
	}
}

func TestLines(t *testing.T) {
	long := strings.Repeat("x", MaxLine-1)
	log := "first\n\n" + strings.Repeat("y", 10<<20) + "\r\n" + long + "\nlast"
	lines := NewLines(strings.NewReader(log))
	var got []string
	for {
		line, complete, err := lines.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprint(len(line), complete))
	}
	if want := fmt.Sprint([]string{"5 true", fmt.Sprint(len(long), " true"), "4 false"}); fmt.Sprint(got) != want || lines.Oversize != 1 || lines.Read != int64(len(log)) {
		t.Errorf("%v, %d oversize, %d of %d read, want %s, 1", got, lines.Oversize, lines.Read, len(log), want)
	}
}

func TestDecodeList(t *testing.T) {
	const begin = `{"kind":"EventList","apiVersion":"audit.k8s.io/v1","metadata":{},"items":[`
	large := strings.Replace(sample, "operator/v1", strings.Repeat("x", MaxItem), 1)
	for _, c := range []struct {
		name, body        string
		limit             int
		events, malformed int
		err               error
	}{
		{"events, and what is none", begin + sample + `,{"x":1},null,7,` + sample + `]}`, 1 << 20, 2, 3, nil},
		{"none", begin + `]}`, 1 << 20, 0, 0, nil},
		{"of the largest size", begin + `]}`, len(begin) + 2, 0, 0, nil},
		{"too large", begin + `]}`, len(begin) + 1, 0, 0, ErrTooLarge},
		{"cut between events", begin + sample + `,`, 1 << 20, 1, 0, io.ErrUnexpectedEOF},
		{"cut in an event", begin + sample + `,` + sample[:99], 1 << 20, 1, 0, io.ErrUnexpectedEOF},
		{"a large event", begin + sample + `,` + large + `]}`, 8 << 20, 1, 0, ErrTooLarge},
		{"space", strings.Repeat(" ", 2*MaxItem) + begin + `]}`, 8 << 20, 0, 0, ErrTooLarge},
		{"another kind", `{"kind":"Pod"}`, 1 << 20, 0, 0, errNoList},
		{"a kind after its items", `{"items":[` + sample + `],"kind":"EventList"}`, 1 << 20, 0, 0, errNoList},
		{"no list", `{"kind":"EventList","items":{}}`, 1 << 20, 0, 0, errNoList},
		{"no object", `[` + sample + `]`, 1 << 20, 0, 0, errNoList},
		{"empty", "", 1 << 20, 0, 0, io.ErrUnexpectedEOF},
	} {
		n := 0
		malformed, err := DecodeList(strings.NewReader(c.body), int64(c.limit), func(*Event) { n++ })
		if !errors.Is(err, c.err) || malformed != c.malformed || n != c.events {
			t.Errorf("%s: %d events, %d malformed, %v, want %d, %d, %v", c.name, n, malformed, err, c.events, c.malformed, c.err)
		}
	}
}

// Hostile bodies take little memory: the receiver decodes eight at a time, and has 192 MiB in the generated manifests, of which the state
// of clients takes up to 100.
func TestDecodeListMemory(t *testing.T) {
	const begin, most = `{"kind":"EventList","items":[`, 8 << 20
	// What is allocated for one event, even if nothing is collected meanwhile.
	for name, text := range map[string]string{"large": "x", "not UTF-8": "\xff", "escaped": `\u003c`} {
		body := begin + strings.Replace(sample, "operator/v1", strings.Repeat(text, (MaxItem-2000)/len(text)), 1) + "]}"
		before := memory()
		if _, err := DecodeList(strings.NewReader(body), 1<<30, func(*Event) {}); err != nil {
			t.Fatal(err)
		}
		if n := memory().TotalAlloc - before.TotalAlloc; n > most {
			t.Errorf("%s: %d KiB, want at most %d", name, n>>10, most>>10)
		}
	}
	// What is held at the end of a body with many.
	body, held := begin+strings.Repeat("1,", 100_000), uint64(0)
	before := memory()
	end := readerFunc(func([]byte) (int, error) {
		held = memory().HeapAlloc
		return 0, io.EOF
	})
	malformed, _ := DecodeList(io.MultiReader(strings.NewReader(body), end), 1<<30, func(*Event) {})
	if n := int64(held) - int64(before.HeapAlloc); malformed != 100_000 || n > 1<<20 {
		t.Errorf("%d items are held in %d KiB", malformed, n>>10)
	}
}

// memory returns statistics without garbage.
func memory() (s runtime.MemStats) {
	runtime.GC()
	runtime.ReadMemStats(&s)
	return s
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func FuzzDecode(f *testing.F) {
	f.Add([]byte(sample))
	f.Add([]byte(sample[:400] + sample))
	f.Add([]byte(`{"kind":"EventList","items":[` + sample + `]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var e Event
		if ok, _ := DecodeLine(text, &e); ok {
			if e.AuditID == "" || e.Stage == "" || e.At.IsZero() {
				t.Fatalf("%+v", e)
			}
			_ = e.Options()
		}
		_, _ = DecodeList(bytes.NewReader(text), 1<<20, func(e *Event) { _ = e.Options() })
		lines := NewLines(bytes.NewReader(text))
		for {
			if _, _, err := lines.Next(); err != nil {
				break
			}
		}
		if lines.Read != int64(len(text)) {
			t.Fatalf("%d bytes of %d read", lines.Read, len(text))
		}
	})
}

func BenchmarkDecode(b *testing.B) {
	b.SetBytes(int64(len(sample)))
	b.ReportAllocs()
	var e Event
	for b.Loop() {
		if err := Decode([]byte(sample), &e); err != nil {
			b.Fatal(err)
		}
	}
}
