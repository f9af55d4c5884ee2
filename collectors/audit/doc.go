// Package audit compares the cache of an informer with the API server and with itself. It holds the mechanisms and knows
// neither metrics nor schedules:
//
//	freshness.go  what has the API server sent since, that the store does not have yet? (a short second watch)
//	compare.go    do store and API server agree at one resourceVersion? (an exact, paged LIST)
//	index.go      do the entries of the indexes agree with the items?
//	mutation.go   has a cached object changed although its resourceVersion has not?
//
// Nothing here writes to a store, keeps a lock while a request is under way, or starts a goroutine. Functions that read
// a store hold its read lock as List does, for some milliseconds per 100,000 objects. Unless said otherwise, values
// are for one goroutine at a time.
package audit
