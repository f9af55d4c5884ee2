package inspect_test

import (
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/inspect"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
)

// The caches have their estimate by part, and savings that are parts of it.
func TestCaches(t *testing.T) {
	type response struct {
		Name   string
		Caches []struct {
			InformerType, WatchNamespace string
			Objects                      int
			Bytes                        map[string]float64
			TotalBytes, BytesPerObject   float64
			Savings                      struct{ WithoutManagedFields, MetadataOnly, Both float64 }
		}
	}
	synctest.Test(t, func(t *testing.T) {
		empty, _ := observertest.New(t)
		if r := get[response](t, empty, inspect.CachesPath); r.Name != "test" || r.Caches == nil || len(r.Caches) != 0 {
			t.Errorf("without informers: %+v", r)
		}
		off := newProgram(t, 1)
		off.wait(time.Hour)
		if c := get[response](t, off.obs, inspect.CachesPath).Caches; len(c) != 1 || c[0].Objects != 1 || c[0].Bytes == nil || c[0].TotalBytes != 0 {
			t.Errorf("without estimates: %+v", c)
		}
		p := newProgram(t, 1, collectors.Checks{Memory: time.Minute})
		p.wait(time.Hour)
		c := get[response](t, p.obs, inspect.CachesPath).Caches[0]
		sum := 0.0
		for _, n := range c.Bytes {
			sum += n
		}
		if c.InformerType != "pods" || c.WatchNamespace != "*" || c.TotalBytes < 500 || math.Abs(sum-c.TotalBytes) > 1 || c.BytesPerObject != c.TotalBytes {
			t.Errorf("%+v", c)
		}
		if s := c.Savings; s.MetadataOnly != c.Bytes["spec"]+c.Bytes["status"] || s.MetadataOnly < 300 || s.WithoutManagedFields != c.Bytes["managed_fields"] || s.Both != s.MetadataOnly+s.WithoutManagedFields {
			t.Errorf("%+v", s)
		}
	})
}
