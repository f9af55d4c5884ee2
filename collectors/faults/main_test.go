//go:build faults

package faults

import (
	"testing"

	"github.com/informer-exporter/informer-exporter/deploy/local/stack/stacktest"
)

func TestMain(m *testing.M) { stacktest.Main(m) }
