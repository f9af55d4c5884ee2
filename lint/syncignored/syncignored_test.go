package syncignored_test

import (
	"testing"

	"github.com/informer-exporter/informer-exporter/lint/syncignored"
	"github.com/informer-exporter/informer-exporter/lint/internal/rulestest"
)

func TestRule(t *testing.T) { rulestest.Run(t, syncignored.Analyzer) }
