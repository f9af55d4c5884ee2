package audit

// Values of the label kind of k8s_informer_audit_differences.
const (
	// DifferenceMissing is an object that the API server has and the cache has not.
	DifferenceMissing = "missing"
	// DifferenceExtra is an object that the cache has and the API server has not, or a second time.
	DifferenceExtra = "extra"
	// DifferenceStale is an object with another resourceVersion than the API server has.
	DifferenceStale = "stale"
	// DifferenceWrongUID is an object with the UID of another object of the same name.
	DifferenceWrongUID = "wrong_uid"
	// DifferenceIndex is an object that an index lists under a value that it does not have, or does not list under one that
	// it has.
	DifferenceIndex = "index"
	// DifferenceKeyCollision is an object that is missing because another has its key.
	DifferenceKeyCollision = "key_collision"
)
