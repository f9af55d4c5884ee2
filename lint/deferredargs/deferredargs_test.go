package deferredargs_test

import (
	"testing"

	"github.com/informer-exporter/informer-exporter/lint/deferredargs"
	"github.com/informer-exporter/informer-exporter/lint/internal/rulestest"
)

func TestRule(t *testing.T) { rulestest.Run(t, deferredargs.Analyzer) }
