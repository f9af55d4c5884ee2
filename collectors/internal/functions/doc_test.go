package functions

import (
	"testing"

	"github.com/informer-exporter/informer-exporter/internal/testenv/docmap"
)

func TestPackageComment(t *testing.T) { docmap.Check(t) }
