package blockinghandler_test

import (
	"testing"

	"github.com/informer-exporter/informer-exporter/lint/blockinghandler"
	"github.com/informer-exporter/informer-exporter/lint/internal/rulestest"
)

func TestRule(t *testing.T) { rulestest.Run(t, blockinghandler.Analyzer) }
