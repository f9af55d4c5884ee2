package functions

// Values of the label cause of k8s_informer_transform_drops_total.
const (
	DropError = "error"
	DropNil   = "nil"
)

// Values of the label reason of k8s_informer_events_lost_total.
const (
	// LostTransform is an event with an object that a Transform function dropped.
	LostTransform = "transform"
	// LostList is an object of a list that client-go does not store, because a Transform returned nil for another one.
	LostList = "list"
	// LostIndex is an event that reached no handler, because an index function failed for its object.
	LostIndex = "index"
)
