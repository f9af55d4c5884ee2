package faults

import (
	"flag"
	"testing"

	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

func TestMain(m *testing.M) {
	// These tests mostly wait. An explicit -parallel takes precedence.
	if err := flag.Set("test.parallel", "4"); err != nil {
		panic(err)
	}
	stacktest.Main(m)
}
