// Package series bounds the number of time series, and deletes them together with the object that they describe.
package series
