package ratelimitedhandler_test

import (
	"testing"

	"github.com/informer-exporter/informer-exporter/lint/internal/rulestest"
	"github.com/informer-exporter/informer-exporter/lint/ratelimitedhandler"
)

func TestRule(t *testing.T) { rulestest.Run(t, ratelimitedhandler.Analyzer) }
