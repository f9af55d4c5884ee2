// Package audit compares the cache of an informer with the API server and with itself. It has no metrics and no schedule.
//
// Nothing here writes to a store, holds a lock during a request, or starts a goroutine. Functions that read a store hold its read
// lock as List does, for a few milliseconds per 100,000 objects. Values are not safe for concurrent use.
package audit
