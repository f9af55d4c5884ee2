package informer

import "github.com/informer-exporter/informer-exporter/collectors/internal/checks"

// Values of the label reason of k8s_informer_events_lost_total.
const (
	// lostOverrun is an event whose time of receipt was overwritten before a handler had finished with it.
	lostOverrun = "overrun"
	// lostTransform is an event whose object a Transform function dropped.
	lostTransform = "transform"
	// lostStop is an event that a handler had not been given when it was removed.
	lostStop = "stop"
)

// Values of the label cause of k8s_informer_unchanged_updates_total.
const (
	// unchangedResync is a resync: the object comes from the cache again.
	unchangedResync = "resync"
	// unchangedRelist is an object that a relist found at the same resourceVersion. client-go gives it to every handler
	// of an informer without a resync period.
	unchangedRelist = "relist"
)

// Values of the label stage of k8s_informer_resource_version.
const (
	stageReceived = "received"
	stageStored   = "stored"
	stageHandled  = "handled"
)

// Values of the label cause of k8s_informer_transform_drops_total.
const (
	dropError = "error"
	dropNil   = "nil"
)

// Values of AuditStatus.Result, which are those of the label result of k8s_informer_audits_total.
const (
	// AuditConsistent is a cache that equals the API server.
	AuditConsistent = checks.AuditConsistent
	// AuditDifferent is a cache with differences, confirmed or not.
	AuditDifferent = checks.AuditDifferent
	// AuditSkipped is an audit that could not run: the watch is down, the cache has no version or changes faster than it can
	// be read, or the API server no longer has the version.
	AuditSkipped = checks.AuditSkipped
	// AuditError is an audit whose list failed.
	AuditError = checks.AuditError
)
