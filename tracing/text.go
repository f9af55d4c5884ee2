package tracing

import (
	"strings"

	"github.com/informer-exporter/informer-exporter/collectors/spans"
)

// Limits of texts, in bytes.
const (
	maxName        = 256
	maxDescription = 1024 // of errors
)

// withValidTexts returns the operation with texts that can be exported.
func withValidTexts(o spans.Operation) spans.Operation {
	for _, s := range []*string{&o.Name, &o.WatchNamespace, &o.Handler, &o.Event, &o.Finalizer, &o.Verb, &o.Subresource, &o.Method} {
		*s = validText(*s, maxName)
	}
	return o
}

// validText returns s as valid UTF-8 of at most limit bytes. One text that is not valid makes the export of a whole batch fail.
func validText(s string, limit int) string {
	s = strings.ToValidUTF8(s[:min(len(s), limit)], "\uFFFD")
	if len(s) > limit {
		s = strings.ToValidUTF8(s[:limit], "") // removes an incomplete rune at the end
	}
	return s
}
