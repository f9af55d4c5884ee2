package readbeforesync_test

import (
	"testing"

	"github.com/informer-exporter/informer-exporter/lint/internal/rulestest"
	"github.com/informer-exporter/informer-exporter/lint/readbeforesync"
)

func TestRule(t *testing.T) { rulestest.Run(t, readbeforesync.Analyzer) }
