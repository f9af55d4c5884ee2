package main

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/informer-exporter/informer-exporter/internal/auditlog/report"
)

const auditSample = "../../examples/audit/audit.log.gz"

// The README has the output for the sample in the repository.
func TestAuditReportInREADME(t *testing.T) {
	var out output
	if err := run(context.Background(), []string{"audit", "report", auditSample}, &out, &out); !errors.Is(err, errProblems) {
		t.Fatalf("%v, want the exit code for problems", err)
	}
	_, tables, _ := strings.Cut(out.String(), "\n\n")
	tables, _, _ = strings.Cut(tables, "\nInformers of")
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(readme), strings.TrimSpace(tables)) {
		t.Errorf("README.md does not have the output:\n%s", tables)
	}
}

func TestAuditReport(t *testing.T) {
	for _, c := range []struct {
		args string
		code int
	}{
		{auditSample, exitError},
		{"--client=stock-sync " + auditSample, exitOK},
		{"--until=2020-01-01T00:00:00Z " + auditSample, exitOK},
		{"", exitUsage},
		{"missing", exitUsage},
		{"audit_test.go", exitUsage},
		{"--since=yesterday " + auditSample, exitUsage},
	} {
		var out, stderr output
		err := run(context.Background(), append([]string{"audit", "report"}, strings.Fields(c.args)...), &out, &stderr)
		if code := exitCode(err); code != c.code {
			t.Errorf("%s: exit code %d (%v), want %d", c.args, code, err, c.code)
		}
	}
	var out, stderr output
	if err := run(context.Background(), []string{"audit", "report", "-o", "json", auditSample}, &out, &stderr); !errors.Is(err, errProblems) {
		t.Fatal(err)
	}
	var r report.Report
	if err := json.Unmarshal([]byte(out.String()), &r); err != nil || r.Lost() != 1 || r.Events == 0 {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestParseTime(t *testing.T) {
	now := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Time{"": {}, "2h": now.Add(-2 * time.Hour), "2026-11-01T11:00:00Z": now.Add(-time.Hour)} {
		if got, err := parseTime(text, now); err != nil || !got.Equal(want) {
			t.Errorf("%q: %s, %v, want %s", text, got, err, want)
		}
	}
}
