// Package functions decorates the functions that a program passes to an informer: its Transform and its index functions. It counts
// the objects and events that they lose for all users of the informer.
package functions
