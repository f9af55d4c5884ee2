package transformresult_test

import (
	"testing"

	"github.com/informer-exporter/informer-exporter/lint/internal/rulestest"
	"github.com/informer-exporter/informer-exporter/lint/transformresult"
)

func TestRule(t *testing.T) { rulestest.Run(t, transformresult.Analyzer) }
