package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// curve is a line of a plot.
type curve struct {
	name, color string
	x, y        []float64
}

// plot returns an SVG image of two plots side by side: peak memory by objects, with 123 resources, and by resources, with 100,000
// objects. Both axes are logarithmic. It has its own background, so that it is readable on dark pages.
func plot(points []point) string {
	var svg strings.Builder
	svg.WriteString(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 960 360" font-family="sans-serif" font-size="13">` + "\n")
	svg.WriteString(`<title>Peak resident memory by objects and by resources</title>` + "\n" + `<rect width="960" height="360" fill="white"/>` + "\n")
	half := func(left float64, title string, x func(point) int, same func(point) bool) {
		curves := []curve{{name: "exporter", color: "#1f77b4"}, {name: "plain metadata informers", color: "#d62728"}}
		chosen := slices.DeleteFunc(slices.Clone(points), func(p point) bool { return !same(p) })
		slices.SortFunc(chosen, func(a, b point) int { return cmp.Compare(x(a), x(b)) })
		for _, p := range chosen {
			for i := range curves {
				if c := &curves[i]; c.name == p.program {
					c.x, c.y = append(c.x, float64(x(p))), append(c.y, p.peak)
				}
			}
		}
		axes(&svg, left, title, curves)
	}
	half(0, "objects, with 123 resources", func(p point) int { return p.objects }, func(p point) bool { return p.resources == 123 })
	half(480, "resources, with 100,000 objects", func(p point) int { return p.resources }, func(p point) bool { return p.objects == 100_000 })
	svg.WriteString("</svg>\n")
	return svg.String()
}

// axes draws curves in a half of the image.
func axes(svg *strings.Builder, left float64, title string, curves []curve) {
	const width, top, bottom = 380.0, 50.0, 310.0
	left += 70
	low, high := [2]float64{math.Inf(1), math.Inf(1)}, [2]float64{math.Inf(-1), math.Inf(-1)}
	for _, c := range curves {
		for i := range c.x {
			for axis, v := range []float64{c.x[i], c.y[i]} {
				low[axis], high[axis] = min(low[axis], v), max(high[axis], v)
			}
		}
	}
	if high[0] <= low[0] {
		return // nothing to compare
	}
	low[1], high[1] = low[1]/1.5, high[1]*1.5
	at := func(x, y float64) (px, py float64) {
		px = left + width*math.Log(x/low[0])/math.Log(high[0]/low[0])
		return px, bottom - (bottom-top)*math.Log(y/low[1])/math.Log(high[1]/low[1])
	}
	fmt.Fprintf(svg, `<text x="%.0f" y="345" text-anchor="middle">%s</text>`+"\n", left+width/2, title)
	fmt.Fprintf(svg, `<text x="%.0f" y="20">peak resident memory, MiB</text>`+"\n", left-60)
	for _, y := range []float64{25, 50, 100, 200, 400, 800, 1600, 3200, 6400} {
		if _, py := at(low[0], y); y >= low[1] && y <= high[1] {
			fmt.Fprintf(svg, `<path d="M%.1f %.1fh%.0f" stroke="#ddd"/><text x="%.1f" y="%.1f" text-anchor="end">%.0f</text>`+"\n", left, py, width, left-8, py+4, y)
		}
	}
	for _, x := range curves[0].x {
		px, _ := at(x, low[1])
		fmt.Fprintf(svg, `<text x="%.1f" y="327" text-anchor="middle">%s</text>`+"\n", px, short(x))
	}
	for i, c := range curves {
		var line strings.Builder
		for n := range c.x {
			px, py := at(c.x[n], c.y[n])
			fmt.Fprintf(&line, "%.1f,%.1f ", px, py)
			fmt.Fprintf(svg, `<circle cx="%.1f" cy="%.1f" r="3.5" fill="%s"><title>%.0f MiB</title></circle>`+"\n", px, py, c.color, c.y[n])
		}
		fmt.Fprintf(svg, `<polyline points="%s" fill="none" stroke="%s" stroke-width="2"/>`+"\n", strings.TrimSpace(line.String()), c.color)
		fmt.Fprintf(svg, `<text x="%.0f" y="%.0f" fill="%s">%s</text>`+"\n", left+12, top+16+18*float64(i), c.color, c.name)
	}
}

// short returns a number such as 300k.
func short(x float64) string {
	switch {
	case x >= 1e6:
		return fmt.Sprintf("%gM", x/1e6)
	case x >= 1e3:
		return fmt.Sprintf("%gk", x/1e3)
	}
	return fmt.Sprintf("%g", x)
}
