package lateinformer_test

import (
	"testing"

	"github.com/informer-exporter/informer-exporter/lint/internal/rulestest"
	"github.com/informer-exporter/informer-exporter/lint/lateinformer"
)

func TestRule(t *testing.T) { rulestest.Run(t, lateinformer.Analyzer) }
