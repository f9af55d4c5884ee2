// Package flow follows objects of a cache through a package: through local variables, fields, ranges, function literals and functions
// of the package. It prefers to miss a write over a false alarm: a value that may also be a copy is not followed.
package flow
