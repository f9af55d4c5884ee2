package web

import (
	"cmp"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html"
	"strings"
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
<style>`, p.Name, p.Synced, len(p.Rows))
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
`, p.Name, p.Version, len(p.Rows), p.Server, p.Up, p.Metrics, p.API)
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
		m.attribute("class", when(c.Numeric, "n"))
		m.attribute("aria-sort", c.Sorted)
		m.add(`><a href="%s">%s</a></th>`+"\n", c.Link, c.Title)
	}
	m.add("</tr>\n</thead>\n<tbody>\n")
	for _, r := range p.Rows {
		r.add(&m)
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
	m.add("<div><dt>Synced</dt><dd>%d of %d</dd></div>\n", p.Synced, len(p.Rows))
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

// add appends the row of an informer.
func (r row) add(m *markup) {
	m.add("<tr>\n"+`<th scope="row">%s</th>
<td class="dim">%s</td>
<td><span class="state %s">%s</span>`, r.Type, r.Namespace, r.State, r.State)
	if r.Degraded {
		m.add(` <span class="late">degraded</span>`)
	}
	m.add("</td>\n")
	cell := func(class, title, text string) {
		m.add("<td")
		m.attribute("class", class)
		m.attribute("title", title)
		m.add(">%s</td>\n", text)
	}
	number := func(n uint64) {
		if r.Blank {
			cell("n dim", "", none)
			return
		}
		cell("n"+when(n == 0, " dim"), "", fmt.Sprint(n))
	}
	number(uint64(r.Objects))
	switch {
	case r.Blank:
		cell("n dim", "", none)
	case r.Late:
		cell("n late", "", r.SyncLag)
	default:
		cell("n dim", "", r.SyncLag)
	}
	number(r.Pending)
	if r.LastEvent == "" {
		cell("n dim", r.LastEventAt, none)
	} else {
		cell("n dim", r.LastEventAt, r.LastEvent+" ago")
	}
	if r.Watch == "" {
		cell("n dim", "", none)
	} else {
		cell("n", "since "+r.WatchOpenedAt, r.Watch)
	}
	number(r.Relists)
	cell("n dim", "", cmp.Or(r.LastSync, none))
	m.add("<td")
	m.attribute("title", r.AuditedAt)
	if r.Audit == "" {
		m.add(`><span class="dim">%s</span></td>`, none)
	} else {
		m.add("><span")
		m.attribute("class", when(r.Bad, "late"))
		m.add(`>%s</span> <span class="dim">%s ago</span></td>`, r.Audit, r.AuditAge)
	}
	m.add("\n</tr>\n")
}

func when(condition bool, text string) string {
	if condition {
		return text
	}
	return ""
}
