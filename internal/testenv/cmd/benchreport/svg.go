package main

import (
	"fmt"
	"math"
	"strings"
)

var colors = []string{"#1f77b4", "#d62728", "#2ca02c", "#9467bd"}

// bar is a bar of a chart.
type bar struct {
	name  string
	value float64
	ours  bool
}

// bars returns an SVG image of a bar chart with a logarithmic axis. The image includes its background, so that it is readable
// on dark pages.
func bars(title, unit string, all []bar) string {
	const left, width, step = 200.0, 560.0, 30.0
	low, high := math.Inf(1), math.Inf(-1)
	for _, b := range all {
		low, high = min(low, max(b.value, 1e-9)), max(high, max(b.value, 1e-9))
	}
	low /= 2
	height := 50 + step*float64(len(all))
	var svg strings.Builder
	begin(&svg, title, height)
	for i, b := range all {
		y := 40 + step*float64(i)
		length := max(1, width*math.Log(max(b.value, 1e-9)/low)/math.Log(high*1.05/low))
		color := colors[0]
		if b.ours {
			color = colors[1]
		}
		fmt.Fprintf(&svg, `<text x="%.0f" y="%.0f" text-anchor="end">%s</text><rect x="%.0f" y="%.0f" width="%.1f" height="20" fill="%s"/><text x="%.1f" y="%.0f">%s %s</text>`+"\n",
			left-10, y+15, b.name, left, y, length, color, left+length+8, y+15, number(b.value), unit)
	}
	svg.WriteString("</svg>\n")
	return svg.String()
}

// lines returns an SVG image of curves with linear axes. All curves have the same number of points, at equal distances.
func lines(title, xTitle, unit string, names []string, curves [][]float64) string {
	const left, width, top, bottom = 70.0, 660.0, 40.0, 290.0
	high := 0.0
	for _, c := range curves {
		for _, v := range c {
			high = max(high, v*1.1)
		}
	}
	var svg strings.Builder
	begin(&svg, title, 340)
	step := math.Pow(10, math.Floor(math.Log10(max(high, 1))))
	if high/step < 3 {
		step /= 2
	}
	for y := 0.0; y <= high; y += step {
		py := bottom - (bottom-top)*y/max(high, 1e-9)
		fmt.Fprintf(&svg, `<path d="M%.0f %.1fh%.0f" stroke="#ddd"/><text x="%.0f" y="%.1f" text-anchor="end">%g</text>`+"\n", left, py, width, left-8, py+4, y)
	}
	fmt.Fprintf(&svg, `<text x="%.0f" y="325" text-anchor="middle">%s</text><text x="%.0f" y="34">%s</text>`+"\n", left+width/2, xTitle, left-60, unit)
	for i, c := range curves {
		var points strings.Builder
		for n, v := range c {
			fmt.Fprintf(&points, "%.1f,%.1f ", left+width*float64(n+1)/float64(len(c)), bottom-(bottom-top)*max(v, 0)/max(high, 1e-9))
		}
		fmt.Fprintf(&svg, `<polyline points="%s" fill="none" stroke="%s" stroke-width="2"/>`+"\n", strings.TrimSpace(points.String()), colors[i])
		fmt.Fprintf(&svg, `<text x="%.0f" y="%.0f" fill="%s">%s</text>`+"\n", left+12, top+16+18*float64(i), colors[i], names[i])
	}
	svg.WriteString("</svg>\n")
	return svg.String()
}

func begin(svg *strings.Builder, title string, height float64) {
	fmt.Fprintf(svg, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 960 %.0f" font-family="sans-serif" font-size="13">`+"\n", height)
	fmt.Fprintf(svg, `<title>%s</title>`+"\n"+`<rect width="960" height="%.0f" fill="white"/><text x="20" y="18" font-weight="bold">%s</text>`+"\n", title, height, title)
}
