package queueforget_test

import (
	"testing"

	"github.com/informer-exporter/informer-exporter/lint/internal/rulestest"
	"github.com/informer-exporter/informer-exporter/lint/queueforget"
)

func TestRule(t *testing.T) { rulestest.Run(t, queueforget.Analyzer) }
