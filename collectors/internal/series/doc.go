// Package series bounds the number of time series, and deletes them together with the object that they describe.
//
//	cap.go   Cap: a limit for the values of a label, with the overflow value other
//	pool.go  Pool: values that several users share, such as series with the same labels
//	set.go   Set: the owners of series, which end when they are unreachable
package series
