package factoryshutdown_test

import (
	"testing"

	"github.com/informer-exporter/informer-exporter/lint/factoryshutdown"
	"github.com/informer-exporter/informer-exporter/lint/internal/rulestest"
)

func TestRule(t *testing.T) { rulestest.Run(t, factoryshutdown.Analyzer) }
