package chaos

import (
	"flag"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/informer-exporter/informer-exporter/internal/testenv/stack"
)

func TestMain(m *testing.M) {
	// These tests mostly wait. An explicit -parallel takes precedence.
	if err := flag.Set("test.parallel", "16"); err != nil {
		panic(err)
	}
	code := m.Run()
	for _, p := range []*plane{killable, steady} {
		if err := p.stop(); err != nil {
			fmt.Fprintln(os.Stderr, "chaos: stop a control plane:", err)
			code = max(code, 1)
		}
	}
	os.Exit(code)
}

// outage is the minimum duration of an outage of the API server. In the short form it lasts until the exporter reports it.
var outage, errOutage = func() (time.Duration, error) {
	if text := os.Getenv("OUTAGE"); text != "" {
		return time.ParseDuration(text)
	}
	return 0, nil
}()

// long reports whether the long forms run.
func long(t *testing.T) bool {
	t.Helper()
	if errOutage != nil {
		t.Fatalf("OUTAGE: %v", errOutage)
	}
	return outage > 0
}

// programFile builds the exporter, with the race detector if the tests have it, and returns its path.
func programFile(t *testing.T) string {
	t.Helper()
	var flags []string
	if raceDetector {
		flags = []string{"-race"}
	}
	program, err := stack.Compile(t.Context(), "cmd/exporter", flags...)
	if err != nil {
		t.Fatal(err)
	}
	return program
}
