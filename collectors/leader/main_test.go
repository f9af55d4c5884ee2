package leader_test

import (
	"testing"

	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

func TestMain(m *testing.M) { stacktest.Main(m) }
