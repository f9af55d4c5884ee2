package informer

import (
	"cmp"
	"slices"

	"github.com/informer-exporter/informer-exporter/collectors/internal/footprint"
	"github.com/informer-exporter/informer-exporter/collectors/internal/inspection"
)

var _ inspection.Caches = &registry{}

// Caches implements inspection.Caches.
func (r *registry) Caches() (all []inspection.CacheMemory) {
	informers := r.informers.Owners()
	readStores(informers)
	for _, inf := range informers {
		bytes := footprint.Bytes{}
		inf.checks.AddBytes(bytes)
		c := inspection.CacheMemory{
			InformerType: inf.id.Type(), WatchNamespace: inf.id.WatchNamespace(), Objects: int(inf.stored.objects.Load()),
			Bytes: bytes, TotalBytes: bytes.Total(),
		}
		if c.Objects > 0 {
			c.BytesPerObject = c.TotalBytes / float64(c.Objects)
		}
		c.Savings.WithoutManagedFields, c.Savings.MetadataOnly = bytes.Savings()
		c.Savings.Both = c.Savings.WithoutManagedFields + c.Savings.MetadataOnly
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b inspection.CacheMemory) int {
		return cmp.Or(cmp.Compare(b.TotalBytes, a.TotalBytes), cmp.Compare(a.InformerType, b.InformerType), cmp.Compare(a.WatchNamespace, b.WatchNamespace))
	})
	return all
}
