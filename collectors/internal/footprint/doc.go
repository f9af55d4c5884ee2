// Package footprint estimates the memory of cached objects by part. It follows Go's allocator: sizes are rounded up to size classes.
package footprint
