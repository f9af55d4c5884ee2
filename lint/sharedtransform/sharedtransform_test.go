package sharedtransform_test

import (
	"testing"

	"github.com/informer-exporter/informer-exporter/lint/internal/rulestest"
	"github.com/informer-exporter/informer-exporter/lint/sharedtransform"
)

func TestRule(t *testing.T) { rulestest.Run(t, sharedtransform.Analyzer) }
