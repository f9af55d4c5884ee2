// Package echo measures how long a program's own writes take to come back on its own watches: from the response of the API server,
// which has the resourceVersion of the write, to the event with that version.
//
// An event is an echo only if it has exactly the version of a write. Versions are unique within a resource, so an informer that cannot
// see the object, because of its namespace or its selector, has no echo of it. The same holds for a write that changes nothing: its
// version is that of an earlier event.
//
// It also finds the reconciles that a controller causes itself: the handler of an echo adds an item to its queue. Writes
// are assigned to controllers by the context of the request, and added items to events by the goroutine of the handler.
package echo
