package main

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/informer-exporter/informer-exporter/internal/testenv/machine"
)

// row has the measurements of a program.
type row struct {
	program string
	objects int

	syncTime      time.Duration
	syncCPU       time.Duration
	syncServerCPU time.Duration // of the API server
	synced, peak  float64       // MiB
	syncRequests  requests
	scrapes       scrapes
	restMeasured  bool
	restCPU       time.Duration // in restWindow
	restServerCPU time.Duration
	restRequests  requests
}

func rowName(program string, objects int) string { return fmt.Sprintf("%s-%d", program, objects) }

// subject is a program to measure.
type subject struct {
	name, account string
	objects       int
	// rest enables measurements of the idle program.
	rest  bool
	start func() *running
	// synced waits until the program has synced, and returns that time.
	synced func(*running) time.Time
	// settle verifies that the program has synced, and waits until its load is constant.
	settle func(*running)
}

// measure measures a program from its start.
func (m *measurement) measure(b *testing.B, p subject) {
	b.ReportMetric(0, "ns/op")
	r := row{program: p.name, objects: p.objects}
	server := m.plane.APIServer.PID()
	begin, serverBefore := time.Now(), cpu(b, server)
	program := p.start()
	end := p.synced(program)
	r.syncTime, r.syncCPU, r.syncServerCPU = end.Sub(begin), cpu(b, program.pid), cpu(b, server)-serverBefore
	r.synced = memory(b, program.pid, "VmRSS")
	r.syncRequests = m.plane.requests(b, p.account, begin, end)
	p.settle(program)
	if p.rest {
		from, own, servers := time.Now(), cpu(b, program.pid), cpu(b, server)
		time.Sleep(restWindow)
		r.restMeasured, r.restCPU, r.restServerCPU = true, cpu(b, program.pid)-own, cpu(b, server)-servers
		r.restRequests = m.plane.requests(b, p.account, from, time.Now())
	}
	if program.metrics != "" {
		r.scrapes = scrapeTimes(b, program, 20)
	}
	r.peak = memory(b, program.pid, "VmHWM")
	m.rows = append(m.rows, r)
	load, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		b.Fatal(err)
	}
	b.Logf("load %s%+v", load, r)

	b.ReportMetric(r.synced, "synced-MiB")
	b.ReportMetric(r.peak, "peak-MiB")
	b.ReportMetric(r.syncTime.Seconds(), "sync-s")
	b.ReportMetric(r.syncCPU.Seconds(), "sync-cpu-s")
	b.ReportMetric(float64(r.scrapes.median.Milliseconds()), "scrape-ms")
	b.ReportMetric(float64(r.scrapes.slowest.Milliseconds()), "slowest-scrape-ms")
	b.ReportMetric(float64(r.scrapes.series), "series")
	if p.rest {
		b.ReportMetric(r.restCPU.Seconds(), "rest-cpu-s/min")
		b.ReportMetric(float64(r.restRequests.total()), "rest-requests/min")
	}
}

// table returns a Markdown table with a column for each program, and facts about the machine.
func (m *measurement) table() string {
	lines := []struct {
		name  string
		value func(row) string
	}{
		{"objects", func(r row) string { return fmt.Sprint(r.objects) }},
		{"time until synced", func(r row) string { return fmt.Sprintf("%.1f s", r.syncTime.Seconds()) }},
		{"CPU time until synced", func(r row) string { return fmt.Sprintf("%.1f s", r.syncCPU.Seconds()) }},
		{"CPU time of the API server until synced", func(r row) string { return fmt.Sprintf("%.1f s", r.syncServerCPU.Seconds()) }},
		{"requests until synced", func(r row) string { return r.syncRequests.String() }},
		{"resident memory when synced", func(r row) string { return fmt.Sprintf("%.0f MiB", r.synced) }},
		{"peak resident memory, during scrapes", func(r row) string { return fmt.Sprintf("%.0f MiB", r.peak) }},
		{"CPU time per scrape", func(r row) string { return r.ifScraped("%d ms", r.scrapes.cpu.Milliseconds()) }},
		{"duration of a scrape, median of 20", func(r row) string { return r.ifScraped("%d ms", r.scrapes.median.Milliseconds()) }},
		{"duration of a scrape, maximum", func(r row) string { return r.ifScraped("%d ms", r.scrapes.slowest.Milliseconds()) }},
		{"size of a scrape, uncompressed", func(r row) string { return r.ifScraped("%.1f MB", float64(r.scrapes.bytes)/1e6) }},
		{"series", func(r row) string { return r.ifScraped("%d", r.scrapes.series) }},
		{"CPU time per idle minute, without scrapes", func(r row) string { return r.ifIdle("%.2f s", r.restCPU.Seconds()) }},
		{"CPU time of the API server in that minute", func(r row) string { return r.ifIdle("%.1f s", r.restServerCPU.Seconds()) }},
		{"requests in that minute", func(r row) string { return r.ifIdle("%s", r.restRequests) }},
	}
	var t strings.Builder
	fmt.Fprintf(&t, "%s\n\n|", machine.Describe())
	for _, r := range m.rows {
		fmt.Fprintf(&t, " | %s", r.program)
	}
	fmt.Fprintf(&t, " |\n|---|%s\n", strings.Repeat("---|", len(m.rows)))
	for _, line := range lines {
		fmt.Fprintf(&t, "| %s", line.name)
		for _, r := range m.rows {
			fmt.Fprintf(&t, " | %s", line.value(r))
		}
		t.WriteString(" |\n")
	}
	return t.String()
}

func (r row) ifScraped(format string, value any) string {
	if r.scrapes.series == 0 {
		return ""
	}
	return fmt.Sprintf(format, value)
}

func (r row) ifIdle(format string, value any) string {
	if !r.restMeasured {
		return ""
	}
	return fmt.Sprintf(format, value)
}
