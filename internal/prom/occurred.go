package prom

// Occurred returns an expression for the increase of counters in a window, including first occurrences. Most label values have a series
// only once they have occurred, and increase ignores the first value of a series, so a new series counts with its value.
//
// The result is not enclosed in parentheses. Series of processes that were not scraped at the start of the window count from their
// beginning.
func Occurred(series, window string) string {
	return series + ` unless ` + series + ` offset ` + window + ` or increase(` + series + `[` + window + `])`
}
