package web

import (
	"cmp"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"time"

	"github.com/informer-exporter/informer-exporter/collectors/informer"
	"github.com/informer-exporter/informer-exporter/internal/exporter/status"
)

var (
	//go:embed landing.html
	landing string
	//go:embed landing.css
	style string
)

// styleHash is the hash of the page's style for the Content-Security-Policy.
var styleHash = func() string {
	sum := sha256.Sum256([]byte(style))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}()

// markup is the template of the page.
var markup = template.Must(template.New("landing").Funcs(template.FuncMap{
	"style":     func() template.CSS { return template.CSS(style) }, //nolint:gosec // a file of this package
	"namespace": namespace,
	"cells":     cells,
	"age":       age,
	"at":        timestamp,
	"failed":    func(result string) bool { return result == informer.AuditError },
}).Parse(landing))

func namespace(s status.Informer) string {
	if !s.Kind.Namespaced {
		return "cluster"
	}
	return cmp.Or(s.ID.Namespace, "all")
}

// none is shown for missing values.
const none = "\u2013"

// cell is a cell of the table.
type cell struct{ Class, Title, Text string }

// cells returns the cells between the state and the last audit.
func cells(s status.Informer) []cell {
	blank := s.Refused && !s.Synced
	number := func(notable bool, class, text string) cell {
		switch {
		case blank:
			return cell{Class: "n dim", Text: none}
		case notable:
			return cell{Class: class, Text: text}
		}
		return cell{Class: "n dim", Text: text}
	}
	event, watch, last := cell{Class: "n dim", Text: none}, cell{Class: "n dim", Text: none}, none
	if at := timestamp(s.LastEvent); at != "" {
		event = cell{"n dim", at, age(s.LastEvent) + " ago"}
	}
	if at := timestamp(s.WatchOpened); at != "" {
		watch = cell{"n", "since " + at, age(s.WatchOpened)}
	}
	if s.LastSync > 0 {
		last = short(s.LastSync)
	}
	return []cell{
		number(s.Objects > 0, "n", fmt.Sprint(s.Objects)),
		number(s.Lagging(), "n late", short(s.SyncLag)),
		number(s.Pending > 0, "n", fmt.Sprint(s.Pending)),
		event,
		watch,
		number(s.Relists > 0, "n", fmt.Sprint(s.Relists)),
		{Class: "n dim", Text: last},
	}
}

// timestamp formats a time, the zero time as an empty string.
func timestamp(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.UTC().Format(time.RFC3339)
}

// age formats the age of a time.
func age(at time.Time) string { return short(time.Since(at)) }
