package waterfall_test

import (
	"encoding/xml"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/informer-exporter/informer-exporter/internal/testenv/stack"
	"github.com/informer-exporter/informer-exporter/internal/testenv/waterfall"
)

const ms = time.Millisecond

var begin = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func traces() [][]stack.TraceSpan {
	at := begin.Add
	return [][]stack.TraceSpan{{
		{TraceID: "2", SpanID: "c", Parent: "b", Service: "demo", Name: "workqueue.wait <widgets>", Start: at(10 * ms), Duration: 10 * ms, Events: []stack.TraceEvent{{Name: "workqueue.ready", Time: at(15 * ms)}}},
		{TraceID: "2", SpanID: "b", Service: "demo", Name: "reconcile widgets", Links: []string{"1", "gone"}, Start: at(20 * ms), Duration: 80 * ms, Tags: map[string]string{"controller.result": "error", "error": "true"}},
		{TraceID: "2", SpanID: "d", Parent: "b", Name: "update widgets", Start: at(30 * ms), Duration: 40 * ms, Tags: map[string]string{"http.response.status_code": "409"}},
	}, {
		{TraceID: "1", SpanID: "a", Parent: "lost", Service: "demo", Name: "informer.deliver widgets", Start: at(0), Duration: 11 * ms},
	}, nil}
}

func TestSVG(t *testing.T) {
	svg := waterfall.SVG(traces())
	decoder := xml.NewDecoder(strings.NewReader(svg))
	var texts []string
	for {
		token, err := decoder.Token()
		if token == nil {
			if err.Error() != "EOF" {
				t.Fatalf("not XML: %v\n%s", err, svg)
			}
			break
		}
		if text, ok := token.(xml.CharData); ok && strings.TrimSpace(string(text)) != "" {
			texts = append(texts, string(text))
		}
	}
	i := slices.Index(texts, "Trace 1, service demo")
	want := []string{
		"Trace 1, service demo", "informer.deliver widgets", "11.0 ms", "Trace 2, service demo", "reconcile widgets", "80.0 ms · error",
		"workqueue.wait <widgets>", "10.0 ms · ◆ workqueue.ready +5.0 ms", "update widgets", "40.0 ms · 409",
	}
	if i < 0 || !slices.Equal(texts[i:], want) {
		t.Errorf("got %q, want %q last", texts, want)
	}
	if axis := strings.Join(texts[1:max(i, 1)], " "); axis != "0 ms 20 ms 40 ms 60 ms 80 ms 100 ms" {
		t.Errorf("got the axis %s", axis)
	}
	// 100 ms are 480 pixels, from 380 on.
	bars := regexp.MustCompile(`class="(\w+)" x="([\d.]+)" y="[\d.]+" width="([\d.]+)"`).FindAllStringSubmatch(svg, -1)
	var got []string
	for _, b := range bars {
		got = append(got, strings.Join(b[1:], " "))
	}
	if want := []string{"informer 380.0 52.8", "failed 476.0 384.0", "queue 428.0 48.0", "request 524.0 192.0"}; !slices.Equal(got, want) {
		t.Errorf("got the bars %q, want %q", got, want)
	}
	if strings.Contains(svg, "%!") || !strings.Contains(svg, `viewBox="0 0 1000 244" width="1000" height="244"`) {
		t.Errorf("got the head %.200s", svg)
	}
	if n := strings.Count(svg, `marker-end`); n != 1 {
		t.Errorf("got %d arrows, want one: the other link is to a trace that is not given\n%s", n, svg)
	}
}
