package statusupdate_test

import (
	"testing"

	"github.com/informer-exporter/informer-exporter/lint/internal/rulestest"
	"github.com/informer-exporter/informer-exporter/lint/statusupdate"
)

func TestRule(t *testing.T) { rulestest.Run(t, statusupdate.Analyzer) }
