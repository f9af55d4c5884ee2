// Package cost predicts the cost of an exporter in a cluster: series, requests to the API server and memory.
package cost

import (
	"cmp"
	"slices"
	"time"

	"github.com/informer-exporter/informer-exporter/internal/exporter/config"
	"github.com/informer-exporter/informer-exporter/internal/exporter/watchcache"
)

// Informer is one informer of an exporter.
type Informer struct {
	// Resource is the value of the label informer_type, such as "deployments.apps".
	Resource string
	// Namespace is empty for all namespaces.
	Namespace string
	// Objects is the number of objects.
	Objects int64
}

// Requests are requests per minute of an idle exporter.
type Requests struct {
	// Watches replace watches that have ended at their timeout.
	Watches float64 `json:"watches"`
	// FreshnessChecks are short watches. The number assumes that the API server sends bookmarks.
	FreshnessChecks float64 `json:"freshnessChecks"`
	// AuditLists are lists of up to 1,000 objects.
	AuditLists float64 `json:"auditLists"`
	// WatchCacheLists are lists of one object, which check the API server's watch cache.
	WatchCacheLists float64 `json:"watchCacheLists"`
	// Discovery requests find new resources.
	Discovery float64 `json:"discovery"`
	// Total is the sum.
	Total float64 `json:"total"`
	// WithoutBookmarks is the total if the API server sends no bookmarks.
	WithoutBookmarks float64 `json:"totalWithoutBookmarks"`
}

// Resource is the cost of one resource, in all its namespaces.
type Resource struct {
	Resource  string `json:"resource"`
	Informers int    `json:"informers"`
	Objects   int64  `json:"objects"`
	Series    int    `json:"series"`
	// MemoryBytes is the memory that excluding the resource saves.
	MemoryBytes int64 `json:"memoryBytes"`
	// AuditLists per minute.
	AuditLists float64 `json:"auditListsPerMinute"`
}

// Estimate is the cost of an exporter.
type Estimate struct {
	Resources int   `json:"resources"`
	Informers int   `json:"informers"`
	Objects   int64 `json:"objects"`
	Series    int   `json:"series"`
	// Requests per minute.
	Requests Requests `json:"requestsPerMinute"`
	// MemoryBytes is the peak of the resident memory without a memory limit.
	MemoryBytes int64 `json:"memoryBytes"`
	// ByResource has the resource with the most memory first.
	ByResource []Resource `json:"byResource"`
}

// Of returns the cost of an exporter with a valid configuration and these informers. It ignores the resources in the
// configuration.
func Of(c config.Config, informers []Informer) Estimate {
	series, seriesEach := fullSeries, fullSeriesEach
	if c.Detail == config.DetailEssential {
		series, seriesEach = essentialSeries, essentialSeriesEach
	}
	freshness, audit := c.Checks.Intervals()
	e := Estimate{Informers: len(informers), Series: series, MemoryBytes: memory}
	byName := map[string]*Resource{}
	for _, i := range informers {
		r := byName[i.Resource]
		if r == nil {
			r = &Resource{Resource: i.Resource}
			byName[i.Resource] = r
		}
		r.Informers++
		r.Objects += i.Objects
		r.Series += seriesEach
		r.MemoryBytes += memoryInformer + i.Objects*memoryObject
		interval := audit
		if i.Objects <= auditSmall {
			interval = min(audit, max(audit/auditSooner, audit/auditShare*time.Duration(len(informers)), time.Minute))
		}
		r.AuditLists += perMinute(float64(max(1, (i.Objects+auditPage-1)/auditPage)), interval)
	}
	for _, r := range byName {
		e.Resources++
		e.Objects += r.Objects
		e.Series += r.Series
		e.MemoryBytes += r.MemoryBytes
		e.Requests.AuditLists += r.AuditLists
		e.ByResource = append(e.ByResource, *r)
	}
	slices.SortFunc(e.ByResource, func(a, b Resource) int {
		return cmp.Or(cmp.Compare(b.MemoryBytes, a.MemoryBytes), cmp.Compare(a.Resource, b.Resource))
	})
	n := float64(len(informers))
	r := &e.Requests
	r.Watches = perMinute(n, watchPeriod)
	r.FreshnessChecks = perMinute(min(n, 1), freshness)
	r.WatchCacheLists = perMinute(min(n, 1)*watchCacheLists, watchcache.Interval)
	r.Discovery = perMinute(discoveryRequests, discoveryPeriod)
	r.Total = r.Watches + r.FreshnessChecks + r.AuditLists + r.WatchCacheLists + r.Discovery
	r.WithoutBookmarks = r.Total + perMinute(n/silentChecks, freshness)
	return e
}

// perMinute converts n requests per interval to requests per minute. An interval of 0 means never.
func perMinute(n float64, interval time.Duration) float64 {
	if interval == 0 {
		return 0
	}
	return n * float64(time.Minute) / float64(interval)
}
