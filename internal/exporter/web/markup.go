package web

import (
	"cmp"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html"
	"strings"

	"github.com/informer-exporter/informer-exporter/collectors/informer"
	"github.com/informer-exporter/informer-exporter/internal/exporter/status"
)

//go:embed landing.css
var style string

// styleHash is the hash of the page's style for the Content-Security-Policy.
var styleHash = func() string {
	sum := sha256.Sum256([]byte(style))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}()

// markup builds HTML without html/template, which would make the linker keep every exported method of the program (see
// docs/dev/decisions.md).
type markup struct{ strings.Builder }

// add appends formatted text. Strings in args are escaped for elements and quoted attributes, so that only formats have markup.
func (m *markup) add(format string, args ...any) {
	for i, arg := range args {
		if text, ok := arg.(string); ok {
			args[i] = html.EscapeString(text)
		}
	}
	fmt.Fprintf(m, format, args...)
}

// attribute appends an attribute unless its value is empty. The name must be a constant.
func (m *markup) attribute(name, value string) {
	if value != "" {
		m.add(" "+name+`="%s"`, value)
	}
}

// html returns the page.
func (p page) html() string {
	var m markup
	m.add(`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="refresh" content="10">
<title>%s: %d of %d synced</title>
<style>`, p.Name, p.Synced, len(p.Informers))
	m.WriteString(style)
	m.add(`</style>
</head>
<body>
<header>
<h1>%s <small>%s</small></h1>
<p>%d informers watch %s. Uptime: %s.</p>
</header>
<nav>
<a href="%s">Metrics</a>
<a href="%s">JSON</a>
<a href="readyz?verbose">Readiness</a>
<a href="livez">Liveness</a>
`, p.Name, p.Version, len(p.Informers), p.Server, p.Up, p.Metrics, p.API)
	if p.Pprof {
		m.add(`<a href="debug/pprof/">Profiles</a>` + "\n")
	}
	m.add("</nav>\n<dl>\n")
	p.addSummary(&m)
	m.add("</dl>\n" + `<div class="table">
<table>
<caption>Informers</caption>
<thead>
<tr>
`)
	for _, c := range p.Columns {
		m.add(`<th scope="col"`)
		m.attribute("class", when(c.Numeric, "n", ""))
		m.attribute("aria-sort", c.Sorted)
		m.add(`><a href="%s">%s</a></th>`+"\n", c.Link, c.Title)
	}
	m.add("</tr>\n</thead>\n<tbody>\n")
	for _, s := range p.Informers {
		m.row(s)
	}
	m.add(`</tbody>
</table>
</div>
<footer>This page refreshes every 10 seconds. Click a column to sort. Events include bookmarks; an idle resource has no other events. Audits compare a cache with the API server.</footer>
</body>
</html>
`)
	return m.String()
}

// addSummary appends the figures above the table.
func (p page) addSummary(m *markup) {
	if p.Ready {
		m.add("<div><dt>Ready</dt><dd>yes</dd></div>\n")
	} else {
		m.add(`<div><dt>Ready</dt><dd><span class="late">no</span></dd></div>` + "\n")
	}
	if p.Leader != "" {
		m.add("<div><dt>Leader</dt><dd>%s</dd></div>\n", p.Leader)
	}
	m.add("<div><dt>Synced</dt><dd>%d of %d</dd></div>\n", p.Synced, len(p.Informers))
	for _, problem := range []struct {
		title string
		count int
	}{{"Unavailable", p.Refused}, {"Lagging", p.Late}, {"Inconsistent", p.Different}} {
		if problem.count == 0 {
			m.add("<div><dt>%s</dt><dd>0</dd></div>\n", problem.title)
		} else {
			m.add(`<div><dt>%s</dt><dd><span class="late">%d</span></dd></div>`+"\n", problem.title, problem.count)
		}
	}
	m.add("<div><dt>Objects</dt><dd>%d</dd></div>\n", p.Objects)
}

// none is shown for missing values.
const none = "\u2013"

// row appends the row of an informer.
func (m *markup) row(s status.Informer) {
	namespace := cmp.Or(s.ID.Namespace, "all")
	if !s.Kind.Namespaced {
		namespace = "cluster"
	}
	m.add("<tr>\n"+`<th scope="row">%s</th>
<td class="dim">%s</td>
<td><span class="state %s">%s</span>`, s.ID.Type(), namespace, s.State, s.State)
	if s.Degraded {
		m.add(` <span class="late">degraded</span>`)
	}
	m.add("</td>\n")
	cell := func(class, title, text string) {
		m.add("<td")
		m.attribute("class", class)
		m.attribute("title", title)
		m.add(">%s</td>\n", text)
	}
	blank := s.Refused && !s.Synced
	number := func(notable bool, class, text string) {
		if blank {
			notable, text = false, none
		}
		cell(when(notable, class, "n dim"), "", text)
	}
	number(s.Objects > 0, "n", fmt.Sprint(s.Objects))
	number(s.Lagging(), "n late", short(s.SyncLag))
	number(s.Pending > 0, "n", fmt.Sprint(s.Pending))
	event, at := since(s.LastEvent)
	cell("n dim", at, when(at != "", event+" ago", none))
	watch, at := since(s.WatchOpened)
	cell(when(at != "", "n", "n dim"), when(at != "", "since "+at, ""), cmp.Or(watch, none))
	number(s.Relists > 0, "n", fmt.Sprint(s.Relists))
	cell("n dim", "", when(s.LastSync > 0, short(s.LastSync), none))
	audited, at := since(s.LastAudit.At)
	m.add("<td")
	m.attribute("title", at)
	switch result := s.LastAudit.Result; {
	case result == "":
		m.add(`><span class="dim">%s</span></td>`, none)
	case s.Inconsistent():
		m.add(`><span class="late">%s (%d)</span> <span class="dim">%s ago</span></td>`, result, s.LastAudit.Differences, audited)
	default:
		m.add("><span")
		m.attribute("class", when(result == informer.AuditError, "late", ""))
		m.add(`>%s</span> <span class="dim">%s ago</span></td>`, result, audited)
	}
	m.add("\n</tr>\n")
}

func when(condition bool, text, otherwise string) string {
	if condition {
		return text
	}
	return otherwise
}
