// Package functions decorates the functions that a program passes to an informer: its Transform and its index functions. It counts
// the objects and events that they lose for all users of the informer.
//
//	functions.go   Functions: the informer that the functions belong to
//	transform.go   Transforms that drop or rename objects
//	places.go      where a Transform was set
//	renames.go     Renames: the keys of objects that a Transform renamed
//	index.go       index functions that fail
//	values.go      values of labels with a closed set
package functions
