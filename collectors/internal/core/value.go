package core

import "time"

// Seconds converts nanoseconds to seconds.
func Seconds(nanoseconds int64) float64 { return float64(nanoseconds) / 1e9 }

// Bool returns 1 for true and 0 for false.
func Bool(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// Unix returns the Unix time in seconds, or 0 for the zero time.
func Unix(t time.Time) float64 {
	if t.IsZero() {
		return 0
	}
	return float64(t.UnixNano()) / 1e9
}
