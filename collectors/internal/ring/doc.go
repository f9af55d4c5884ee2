// Package ring pairs watch events with the calls of handlers.
//
// The handlers of a shared informer are called with an ordered subsequence of the watch events, mixed with calls for lists,
// resyncs and late registrations. Calls therefore cannot be paired with events by counting, only by resourceVersion. A Ring
// remembers the resourceVersion and the time of receipt of the last events, and a Cursor for each handler moves along it.
// Pairing needs no lock and no map, and its memory grows with the backlog of handlers, not with the number of objects.
package ring
