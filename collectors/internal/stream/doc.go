// Package stream observes the connection of an informer to the API server: lists, watches, the events of watches, and the
// ends and errors of all of them.
//
//	listerwatcher.go   ListerWatcher: the decorator through which a reflector lists and watches
//	watch.go           the proxy around a watch: when it opens and how it ends
//	events.go          the events of a watch, and how to undo those that the reflector has not received
//	objects.go         objects of other namespaces, and without a comparable resourceVersion
//	propagation.go     the time from the write of an object to its receipt
//	lists.go           lists of several pages and streaming lists: why they were needed and how they end
//	watches.go         open watches, gaps between them, and disconnects
//	connection.go      Connection: the state that all of the above write, and that handlers, checks and scrapes read
//	metrics.go         Metrics: the series of connections with the same labels
//	values.go          values of labels with a closed set
package stream
