package stream_test

import (
	"testing"

	"github.com/informer-exporter/informer-exporter/internal/testenv/docmap"
)

func TestDocNamesEveryFile(t *testing.T) { docmap.Check(t) }
