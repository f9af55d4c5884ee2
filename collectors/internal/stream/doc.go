// Package stream observes the connection of an informer to the API server: lists, watches, the events of watches, and the
// ends and errors of all of them.
package stream
