package web

import (
	"strings"
	"testing"
)

// No value can add markup to the page.
func TestMarkupIsEscaped(t *testing.T) {
	const hostile = `"><script>alert('1')</script>&`
	text := page{
		Name: hostile, Version: hostile, Server: hostile, Metrics: hostile, API: hostile, Up: hostile, Leader: hostile,
		Columns: []header{{Title: hostile, Sorted: hostile, Link: hostile}},
		Rows: []row{{
			Type: hostile, Namespace: hostile, State: hostile, Watch: hostile, WatchOpenedAt: hostile, SyncLag: hostile, LastSync: hostile,
			LastEvent: hostile, LastEventAt: hostile, Audit: hostile, AuditAge: hostile, AuditedAt: hostile,
		}},
	}.html()
	const escaped = `&#34;&gt;&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;&amp;`
	if n := strings.Count(text, escaped); n != 24 {
		t.Errorf("%d values, want 24:\n%s", n, text)
	}
	if strings.Contains(text, "<script") || strings.Contains(text, "%!") {
		t.Errorf("a value is not escaped, or not formatted:\n%s", text)
	}
}
