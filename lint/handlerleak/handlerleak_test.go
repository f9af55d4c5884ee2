package handlerleak_test

import (
	"testing"

	"github.com/informer-exporter/informer-exporter/lint/handlerleak"
	"github.com/informer-exporter/informer-exporter/lint/internal/rulestest"
)

func TestRule(t *testing.T) { rulestest.Run(t, handlerleak.Analyzer) }
