package web

import (
	"strings"
	"testing"

	"github.com/informer-exporter/informer-exporter/collectors/informer"
	"github.com/informer-exporter/informer-exporter/internal/exporter/kinds"
	"github.com/informer-exporter/informer-exporter/internal/exporter/status"
)

func (p page) html() string {
	var b strings.Builder
	if err := markup.Execute(&b, p); err != nil {
		return err.Error()
	}
	return b.String()
}

// No value can add markup to the page.
func TestMarkupIsEscaped(t *testing.T) {
	const hostile = `"><script>alert('1')</script>&`
	s := status.Informer{State: hostile, Kind: kinds.Kind{Namespaced: true}}
	s.ID = informer.ID{Resource: hostile, Namespace: hostile}
	s.LastAudit.Result = hostile
	text := page{
		Name: hostile, Version: hostile, Server: hostile, Metrics: hostile, API: hostile, Up: hostile, Leader: hostile,
		Columns:   []header{{Title: hostile, Sorted: hostile, Link: hostile}},
		Informers: []status.Informer{s},
	}.html()
	const escaped = `&#34;&gt;&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;&amp;`
	const link = `"%22%3e%3cscript%3ealert%28%271%27%29%3c/script%3e&amp;"`
	if n, links := strings.Count(text, escaped), strings.Count(text, link); n != 13 || links != 3 {
		t.Errorf("%d values and %d links, want 13 and 3:\n%s", n, links, text)
	}
	if strings.Contains(text, "<script") || strings.Contains(text, "%!") {
		t.Errorf("a value is not escaped, or not formatted:\n%s", text)
	}
}
