package chaos

import (
	"strings"

	"github.com/informer-exporter/informer-exporter/internal/testenv/page"
)

// Row is a fault, and a row of docs/dev/chaos.md. A series with a condition in backquotes, without its prefix, is a claim that
// the test must verify.
type Row struct {
	// Test injects the fault.
	Test string
	// Fault is what happens.
	Fault string
	// Reports is what the exporter reports.
	Reports string
	// Meanwhile is what holds at every poll during the fault. The page does not show it.
	Meanwhile string
	// Recovery is when the exporter recovers, and what it reports then.
	Recovery string
}

// Healthy lists the claims that hold before each fault and after it. The claim that a series grows refers to the last mark.
var Healthy = []string{
	"readyz 200", "kind_up 1", "synced 1", "watch_connected 1", "sync_lag_seconds < 1", "consecutive_failures absent",
	`audits_total{result="consistent"} grows`, `audits_total{result="different"} 0`, "audit_differences 0",
	`state{state="synced"} 1`, `state{state="unreachable"} absent`, `state{state="forbidden"} absent`, `state{state="missing"} absent`, `state{state="unauthorized"} absent`,
	"config_last_reload_successful 1",
}

// Markdown returns the table for docs/dev/chaos.md.
func Markdown() string {
	var b strings.Builder
	b.WriteString(page.Head("Fault", "The exporter reports", "Recovery", "Test"))
	for _, r := range Rows {
		b.WriteString(page.Row(r.Fault, page.Quote(r.Reports), page.Quote(r.Recovery), r.Test))
	}
	return b.String()
}
