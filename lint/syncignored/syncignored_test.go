package syncignored_test

import (
	"testing"

	"github.com/informer-exporter/informer-exporter/lint/internal/rulestest"
	"github.com/informer-exporter/informer-exporter/lint/syncignored"
)

func TestRule(t *testing.T) { rulestest.Run(t, syncignored.Analyzer) }
