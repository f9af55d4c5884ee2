package tombstone_test

import (
	"testing"

	"github.com/informer-exporter/informer-exporter/lint/internal/rulestest"
	"github.com/informer-exporter/informer-exporter/lint/tombstone"
)

func TestRule(t *testing.T) { rulestest.Run(t, tombstone.Analyzer) }
