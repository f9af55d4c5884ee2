package queuedone_test

import (
	"testing"

	"github.com/informer-exporter/informer-exporter/lint/internal/rulestest"
	"github.com/informer-exporter/informer-exporter/lint/queuedone"
)

func TestRule(t *testing.T) { rulestest.Run(t, queuedone.Analyzer) }
