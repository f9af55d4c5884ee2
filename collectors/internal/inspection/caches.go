package inspection

// Caches is implemented by the part that knows informers.
type Caches interface {
	// Caches returns the estimated memory of each informer's cache, the largest first.
	Caches() []CacheMemory
}

// CacheMemory is the estimated memory of one informer's cache, and what would take less.
type CacheMemory struct {
	// InformerType and WatchNamespace are the values of these labels.
	InformerType   string `json:"informerType"`
	WatchNamespace string `json:"watchNamespace"`
	Objects        int    `json:"objects"`
	// Bytes are the values of k8s_informer_cache_bytes by part, empty before the first estimate and without estimates. TotalBytes is
	// their sum.
	Bytes      map[string]float64 `json:"bytes"`
	TotalBytes float64            `json:"totalBytes"`
	// BytesPerObject is what a selector saves for each object that it excludes.
	BytesPerObject float64 `json:"bytesPerObject"`
	Savings        Savings `json:"savings"`
}

// Savings are the bytes that other forms of a cache would save.
type Savings struct {
	// WithoutManagedFields is for a transform that removes managedFields.
	WithoutManagedFields float64 `json:"withoutManagedFields"`
	// MetadataOnly is for an informer of metadata, and Both for one with that transform.
	MetadataOnly float64 `json:"metadataOnly"`
	Both         float64 `json:"both"`
}
