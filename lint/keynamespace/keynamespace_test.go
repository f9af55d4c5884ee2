package keynamespace_test

import (
	"testing"

	"github.com/informer-exporter/informer-exporter/lint/internal/rulestest"
	"github.com/informer-exporter/informer-exporter/lint/keynamespace"
)

func TestRule(t *testing.T) { rulestest.Run(t, keynamespace.Analyzer) }
