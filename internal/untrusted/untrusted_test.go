package untrusted

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestCut(t *testing.T) {
	for text, want := range map[string]string{
		"":                              "",
		strings.Repeat("x", MaxText):    strings.Repeat("x", MaxText),
		strings.Repeat("x", MaxText+1):  strings.Repeat("x", MaxText) + "... (1025 bytes)",
		"x" + strings.Repeat("é", 1000): "x" + strings.Repeat("é", MaxText/2-1) + "... (2001 bytes)",
	} {
		if got := Cut(text); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestPrintable(t *testing.T) {
	for text, want := range map[string]string{
		"a\tb\n\x1b[31m\x7f\u0085c":                   "ab[31mc",
		"\u202Eevil\u202C \u2066x\u2069\u200f\u200b!": "evil x!",
		"line\u2028paragraph\u2029":                   "lineparagraph",
		"é\u00a0漢字 👩 שלום":                            "é\u00a0漢字 👩 שלום",
		"\xff":                                        "\uFFFD",
		strings.Repeat("x", MaxText) + "\u202E":       strings.Repeat("x", MaxText) + "... (1027 bytes)",
	} {
		if got := Printable(text); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// logged returns the lines that log writes.
func logged(t *testing.T, log func(*slog.Logger)) (lines []map[string]any) {
	t.Helper()
	var out bytes.Buffer
	log(slog.New(NewLogHandler(slog.NewJSONHandler(&out, nil))))
	for line := range strings.Lines(out.String()) {
		var fields map[string]any
		if err := json.Unmarshal([]byte(line), &fields); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, fields)
	}
	return lines
}

// A flood of one message is limited, and its lines are counted. Others are logged.
func TestFlood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const flood = 10_000
		lines := logged(t, func(log *slog.Logger) {
			send := func(n int) {
				for i := range n {
					log.With("k", "v").Warn(fmt.Sprintf("garbage from %d", i))
				}
			}
			send(flood)
			log.Info("another")
			time.Sleep(LogInterval + time.Second)
			send(flood)
			time.Sleep(time.Hour)
			send(1)
		})
		suppressed, messages := 0.0, 0
		for _, l := range lines {
			if strings.HasPrefix(l["msg"].(string), "garbage") {
				messages++
			}
			if l["msg"] == "similar messages suppressed" {
				suppressed += l["suppressed"].(float64)
				if l["level"] != "WARN" || !strings.HasPrefix(l["first"].(string), "garbage from") {
					t.Errorf("%v", l)
				}
			}
		}
		if messages != LogBurst+2 || suppressed != 2*flood-LogBurst-1 || len(lines) != messages+3 {
			t.Errorf("%d messages and %v suppressed in %d lines", messages, suppressed, len(lines))
		}
	})
}

type lazy string

func (l lazy) LogValue() slog.Value { return slog.StringValue(string(l)) }

// Values of any type are truncated. Short ones are logged as without the handler.
func TestLongValues(t *testing.T) {
	long := strings.Repeat("x", 10<<20)
	lines := logged(t, func(log *slog.Logger) {
		log.With("with", long).WithGroup("g").Error(long,
			"text", long, "err", errors.New(long), "list", []string{long}, "lazy", lazy(long), slog.Group("in", "text", long))
		log.Info("short", "err", errors.New("why"), "n", 7, "list", []string{"a"}, "lazy", lazy("b"), slog.Group("in", "text", "c"))
	})
	if text := fmt.Sprint(lines[0]); len(text) > 7*(MaxText+100) || strings.Count(text, "bytes)") != 7 {
		t.Errorf("a line of %d bytes with %d truncated values", len(text), strings.Count(text, "bytes)"))
	}
	delete(lines[1], "time")
	want := map[string]any{"level": "INFO", "msg": "short", "err": "why", "n": 7.0, "list": []any{"a"}, "lazy": "b", "in": map[string]any{"text": "c"}}
	if got := fmt.Sprint(lines[1]); got != fmt.Sprint(want) {
		t.Errorf("%s, want %v", got, want)
	}
}
