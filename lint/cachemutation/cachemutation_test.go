package cachemutation_test

import (
	"testing"

	"github.com/informer-exporter/informer-exporter/lint/cachemutation"
	"github.com/informer-exporter/informer-exporter/lint/internal/rulestest"
)

func TestRule(t *testing.T) { rulestest.Run(t, cachemutation.Analyzer) }
