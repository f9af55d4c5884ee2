package audit

// Values of the label difference of k8s_informer_audit_differences.
const (
	// DifferenceMissing is an object that the API server has and the cache lacks.
	DifferenceMissing = "missing"
	// DifferenceExtra is an object that the API server lacks, or that the cache has twice.
	DifferenceExtra = "extra"
	// DifferenceStale is an object with a different resourceVersion than in the API server.
	DifferenceStale = "stale"
	// DifferenceWrongUID is an object with the UID of another object with the same name.
	DifferenceWrongUID = "wrong_uid"
	// DifferenceIndex is an object that an index lists under a wrong value, does not list under the right one, or cannot list,
	// because its function fails.
	DifferenceIndex = "index"
	// DifferenceKeyCollision is an object that is missing because another has its key.
	DifferenceKeyCollision = "key_collision"
)
