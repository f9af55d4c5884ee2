package main

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

// row is what was measured of a program.
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
	// rest also measures it at rest.
	rest  bool
	start func() *running
	// synced waits until it has synced and returns when that was.
	synced func(*running) time.Time
	// settle checks that it has synced, and waits until its load is constant.
	settle func(*running)
}

// measure measures a program from its start on.
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
	r.scrapes = scrapeTimes(b, program, 20)
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

// table is in Markdown.
func (m *measurement) table() string {
	var t strings.Builder
	header := []string{
		"program", "objects", "until synced", "CPU", "CPU of the API server", "requests", "resident", "at its peak",
		"scrape, median and slowest", "CPU", "MB", "series", "a minute at rest: CPU", "CPU of the API server", "requests",
	}
	fmt.Fprintf(&t, "| %s |\n|%s\n", strings.Join(header, " | "), strings.Repeat(" --- |", len(header)))
	for _, r := range m.rows {
		rest := " | | "
		if r.restMeasured {
			rest = fmt.Sprintf("%.2f s | %.1f s | %s", r.restCPU.Seconds(), r.restServerCPU.Seconds(), r.restRequests)
		}
		fmt.Fprintf(&t, "| %s | %d | %.1f s | %.1f s | %.1f s | %s | %.0f MiB | %.0f MiB | %d and %d ms | %d ms | %.1f | %d | %s |\n",
			r.program, r.objects, r.syncTime.Seconds(), r.syncCPU.Seconds(), r.syncServerCPU.Seconds(), r.syncRequests,
			r.synced, r.peak, r.scrapes.median.Milliseconds(), r.scrapes.slowest.Milliseconds(), r.scrapes.cpu.Milliseconds(),
			float64(r.scrapes.bytes)/1e6, r.scrapes.series, rest)
	}
	return t.String()
}
