package finalizerwrite_test

import (
	"testing"

	"github.com/informer-exporter/informer-exporter/lint/finalizerwrite"
	"github.com/informer-exporter/informer-exporter/lint/internal/rulestest"
)

func TestRule(t *testing.T) { rulestest.Run(t, finalizerwrite.Analyzer) }
