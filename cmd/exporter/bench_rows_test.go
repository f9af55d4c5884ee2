package main

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/informer-exporter/informer-exporter/internal/testenv/page"
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

// table returns a Markdown table with a row for each program with objects. The log has all measurements.
func (m *measurement) table() string {
	text := page.Head("Program", "Objects", "Synced after", "Peak memory", "CPU per scrape", "Scrape", "Series", "Requests per idle minute")
	for _, r := range m.rows {
		if r.objects == 0 {
			continue
		}
		cells := []string{r.program, fmt.Sprint(r.objects), fmt.Sprintf("%.1f s", r.syncTime.Seconds()), fmt.Sprintf("%.0f MiB", r.peak), "", "", "", ""}
		if r.scrapes.series > 0 {
			copy(cells[4:], []string{fmt.Sprintf("%d ms", r.scrapes.cpu.Milliseconds()), fmt.Sprintf("%.1f MB", float64(r.scrapes.bytes)/1e6), fmt.Sprint(r.scrapes.series)})
		}
		if r.restMeasured {
			cells[7] = fmt.Sprint(r.restRequests.total())
		}
		text += page.Row(cells...)
	}
	return text
}
