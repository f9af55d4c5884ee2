// Package handlers finds the functions that informers call: event handlers, filters and transforms.
package handlers
