package queuedone_test

import (
	"testing"

	"github.com/informer-exporter/informer-exporter/lint/queuedone"
	"github.com/informer-exporter/informer-exporter/lint/internal/rulestest"
)

func TestRule(t *testing.T) { rulestest.Run(t, queuedone.Analyzer) }
