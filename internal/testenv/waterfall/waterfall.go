// Package waterfall draws traces as an SVG for the documentation: one row per span, on a common time axis.
package waterfall

import (
	"cmp"
	"fmt"
	"html"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/informer-exporter/informer-exporter/internal/testenv/stack"
)

// Sizes in pixels. The picture is as wide as the text of a page on GitHub.
const (
	width    = 1000
	margin   = 16
	plot     = 380 // left edge of the bars
	end      = 860 // right edge of the bars; the captions need the rest
	line     = 26
	bar      = 14
	indent   = 16
	headline = 30
	letter   = 6.7 // width of a letter of a caption
)

// SVG draws traces, in the order of their first spans. Links between them are arrows; those to other traces are left out.
func SVG(traces [][]stack.TraceSpan) string {
	traces = slices.DeleteFunc(slices.Clone(traces), func(t []stack.TraceSpan) bool { return len(t) == 0 })
	slices.SortStableFunc(traces, func(a, b []stack.TraceSpan) int { return start(a).Compare(start(b)) })
	d := drawing{y: margin, roots: map[string]float64{}}
	d.first, d.last = bounds(traces)
	for i, t := range traces {
		d.trace(i+1, t)
	}
	d.arrows(traces)
	d.y += margin
	return d.head() + d.axis() + d.body.String() + "</svg>\n"
}

type drawing struct {
	body        strings.Builder
	first, last time.Time
	y           float64
	rows        []row
	// roots has the row of each trace's first span by trace ID.
	roots map[string]float64
}

// row is the position of a span.
type row struct {
	span stack.TraceSpan
	y    float64
}

func bounds(traces [][]stack.TraceSpan) (first, last time.Time) {
	for _, t := range traces {
		for _, s := range t {
			if first.IsZero() || s.Start.Before(first) {
				first = s.Start
			}
			if e := s.Start.Add(s.Duration); e.After(last) {
				last = e
			}
		}
	}
	return first, last
}

func start(t []stack.TraceSpan) time.Time {
	return slices.MinFunc(t, func(a, b stack.TraceSpan) int { return a.Start.Compare(b.Start) }).Start
}

func (d *drawing) x(t time.Time) float64 {
	return plot + (end-plot)*float64(t.Sub(d.first))/float64(max(d.last.Sub(d.first), time.Microsecond))
}

func (d *drawing) trace(number int, t []stack.TraceSpan) {
	if number > 1 {
		d.y += margin
	}
	d.text(margin, d.y+headline/2, "title", fmt.Sprintf("Trace %d, service %s", number, t[0].Service))
	d.y += headline
	d.children(t, "", 0)
}

// children draws the spans below a parent; "" stands for the roots. A span with a missing parent is a root.
func (d *drawing) children(t []stack.TraceSpan, parent string, depth int) {
	if depth > len(t) {
		return // a loop
	}
	t = slices.SortedStableFunc(slices.Values(t), func(a, b stack.TraceSpan) int { return a.Start.Compare(b.Start) })
	for _, s := range t {
		above := s.Parent
		if !slices.ContainsFunc(t, func(o stack.TraceSpan) bool { return o.SpanID == above }) {
			above = ""
		}
		if above == parent {
			d.span(s, depth)
			d.children(t, s.SpanID, depth+1)
		}
	}
}

func (d *drawing) span(s stack.TraceSpan, depth int) {
	from, to := d.x(s.Start), d.x(s.Start.Add(s.Duration))
	to = max(to, from+2)
	middle := d.y + line/2
	d.text(margin+float64(depth)*indent, middle, "", s.Name)
	fmt.Fprintf(&d.body, `<rect class="%s" x="%.1f" y="%.1f" width="%.1f" height="%d" rx="2"/>`+"\n", class(s), from, middle-bar/2, to-from, bar)
	for _, e := range s.Events {
		x := d.x(e.Time)
		fmt.Fprintf(&d.body, `<path class="event" d="M%.1f %.1fl5 7l-5 7l-5 -7z"/>`+"\n", x, middle-7)
		to = max(to, x+5)
	}
	text := caption(s)
	if left := from - 6 - letter*float64(len([]rune(text))); left > plot && to+from-left > width {
		to = left - 6 // no room on the right
	}
	d.text(to+6, middle, "small", text)
	d.rows = append(d.rows, row{span: s, y: middle})
	if _, known := d.roots[s.TraceID]; !known {
		d.roots[s.TraceID] = middle
	}
	d.y += line
}

// class returns the CSS class of a bar, which has its color.
func class(s stack.TraceSpan) string {
	if s.Tags["error"] == "true" {
		return "failed"
	}
	kind, _, _ := strings.Cut(s.Name, " ")
	switch kind {
	case "informer.deliver", "informer.list":
		return "informer"
	case "workqueue.wait":
		return "queue"
	case "reconcile":
		return "reconcile"
	}
	return "request"
}

// caption returns the text next to a bar: duration, result, events.
func caption(s stack.TraceSpan) string {
	words := []string{short(s.Duration)}
	if r := cmp.Or(s.Tags["http.response.status_code"], s.Tags["controller.result"], s.Tags["informer.event"]); r != "" {
		words = append(words, r)
	}
	for _, e := range s.Events {
		words = append(words, "◆ "+e.Name+" +"+short(e.Time.Sub(s.Start)))
	}
	return strings.Join(words, " · ")
}

// short formats a duration for a label, in µs, ms or s.
func short(t time.Duration) string {
	switch {
	case t < time.Millisecond:
		return fmt.Sprintf("%d µs", t.Microseconds())
	case t < 100*time.Millisecond:
		return fmt.Sprintf("%.1f ms", t.Seconds()*1000)
	case t < time.Second:
		return fmt.Sprintf("%.0f ms", t.Seconds()*1000)
	}
	return fmt.Sprintf("%.2f s", t.Seconds())
}

// arrows draws the links: from the cause, which is another trace, to the span that it caused.
func (d *drawing) arrows(traces [][]stack.TraceSpan) {
	for _, r := range d.rows {
		for _, id := range r.span.Links {
			from, known := d.roots[id]
			if !known {
				continue
			}
			i := slices.IndexFunc(traces, func(t []stack.TraceSpan) bool { return t[0].TraceID == id })
			x, to := d.x(start(traces[i])), d.x(r.span.Start)
			fmt.Fprintf(&d.body, `<path class="link" marker-end="url(#arrow)" d="M%.1f %.1fV%.1fH%.1f"/>`+"\n", x+1, from+bar/2, r.y, max(to-2, x+6))
		}
	}
}

func (d *drawing) text(x, y float64, class, text string) {
	fmt.Fprintf(&d.body, `<text class="%s" x="%.1f" y="%.1f">%s</text>`+"\n", class, x, y, html.EscapeString(text))
}

// axis draws at most eight vertical lines with their times.
func (d *drawing) axis() string {
	total := d.last.Sub(d.first)
	step := time.Microsecond
	for i := 0; total/step > 8; i++ {
		step = step * []time.Duration{2, 5, 2}[i%3] / []time.Duration{1, 2, 1}[i%3]
	}
	var b strings.Builder
	for t := time.Duration(0); t <= total; t += step {
		x := d.x(d.first.Add(t))
		fmt.Fprintf(&b, `<path class="grid" d="M%.1f %dV%.1f"/><text class="small" text-anchor="middle" x="%.1f" y="%.1f">%s</text>`+"\n",
			x, margin, d.y, x, d.y+margin/2, axisText(t))
	}
	return b.String()
}

func axisText(t time.Duration) string {
	if t < time.Second {
		return strconv.FormatFloat(t.Seconds()*1000, 'f', -1, 64) + " ms"
	}
	return strconv.FormatFloat(t.Seconds(), 'f', -1, 64) + " s"
}

// head returns the head of the image, with the colors for light and dark pages. The background is part of the image, because the
// reader's color scheme may differ from that of the page.
func (d *drawing) head() string {
	height := d.y + 2*margin
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %[1]d %.0[2]f" width="%[1]d" height="%.0[2]f">
<style>
text { font: 13px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; fill: #1f2328; dominant-baseline: central }
.title { font-weight: bold } .small { font-size: 11px; fill: #59636e }
.back { fill: #ffffff } .grid { stroke: #d1d9e0 } .link { stroke: #59636e; stroke-dasharray: 3 2; fill: none } .arrow { fill: #59636e }
.informer { fill: #5794f2 } .queue { fill: #e0b400 } .reconcile { fill: #56a64b } .request { fill: #a97bd6 } .failed { fill: #e02f44 }
.event { fill: #1f2328 }
@media (prefers-color-scheme: dark) {
text { fill: #f0f6fc } .small { fill: #9198a1 } .back { fill: #0d1117 } .grid { stroke: #3d444d }
.link { stroke: #9198a1 } .arrow { fill: #9198a1 } .event { fill: #f0f6fc }
}
</style>
<defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path class="arrow" d="M0 0L8 4L0 8z"/></marker></defs>
<rect class="back" width="%[1]d" height="%.0[2]f" rx="6"/>
`, width, height)
}
