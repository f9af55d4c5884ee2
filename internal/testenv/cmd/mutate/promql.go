package main

import (
	"bytes"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// looksLikeQuery matches literals with PromQL, which have a selector or an aggregation.
var looksLikeQuery = regexp.MustCompile(`\{@|\{[a-z_]+=|\b(sum|max|min|count|group)( by \([^)]*\))? ?\(|\b(rate|increase)\(|\b(unless|and|or) on \(`)

var (
	window     = regexp.MustCompile(`\[(\d+)([smhd])`)
	quantile   = regexp.MustCompile(`histogram_quantile\((0\.\d+)`)
	number     = regexp.MustCompile(`(?:^|[ (])(\d+) ?[*<>=]|[*<>=+-] (\d+)\b`)
	labelList  = regexp.MustCompile(`\b(?:by|on|without|ignoring|group_left|group_right) ?\(([^()]+)\)`)
	word       = regexp.MustCompile(`\b(sum|max|min|rate|increase|unless|or|and)\b`)
	operator   = regexp.MustCompile(` (>=|<=|==|!=|>|<|\+|-|\*|/) `)
	matcher    = regexp.MustCompile(`[a-z_@](=~|!~|!=|=)"`)
	opposite   = map[string]string{"sum": "max", "max": "min", "min": "max", "rate": "increase", "increase": "rate", "unless": "and", "or": "and", "and": "unless"}
	otherSigns = map[string]string{
		">": ">=", ">=": ">", "<": "<=", "<=": "<", "==": "!=", "!=": "==", "+": "-", "-": "+", "*": "/", "/": "*",
		"=": "!=", "=~": "!~", "!~": "=~",
	}
)

// queryMutants returns the mutants of a text with PromQL in a file: windows, quantiles, numbers, operators, matchers, aggregations,
// and labels that are dropped. Other texts have none.
func queryMutants(path string, source []byte, begin, end int) (all []mutant) {
	literal := string(source[begin:end])
	if !looksLikeQuery.MatchString(literal) {
		return nil
	}
	change := func(from, to int, with string) {
		all = append(all, mutant{file: path, begin: begin + from, end: begin + to, with: with, source: source})
	}
	each := func(r *regexp.Regexp, replace func(string) string) {
		for _, at := range r.FindAllStringSubmatchIndex(literal, -1) {
			for group := 2; group < len(at); group += 2 {
				if at[group] < 0 {
					continue
				}
				if with := replace(literal[at[group]:at[group+1]]); with != literal[at[group]:at[group+1]] {
					change(at[group], at[group+1], with)
				}
				break
			}
		}
	}
	increment := func(n string) string {
		value, _ := strconv.Atoi(n)
		return strconv.Itoa(2*value + 1)
	}
	each(window, increment)
	each(number, increment)
	each(quantile, func(q string) string {
		if q == "0.9" {
			return "0.99"
		}
		return "0.9"
	})
	each(word, func(w string) string { return opposite[w] })
	each(operator, func(o string) string { return otherSigns[o] })
	each(matcher, func(m string) string { return otherSigns[m] })
	for _, at := range labelList.FindAllStringSubmatchIndex(literal, -1) {
		labels := strings.Split(literal[at[2]:at[3]], ",")
		for i := range labels {
			if len(labels) > 1 {
				rest := slices.Delete(slices.Clone(labels), i, i+1)
				change(at[2], at[3], strings.TrimSpace(strings.Join(rest, ",")))
			}
		}
	}
	return all
}

// embeddedMutants returns the mutants of the queries in an embedded file: of the values in YAML, which continue in lines that are indented
// further, and of the indented lines in Markdown.
func embeddedMutants(path string, source []byte) (all []mutant) {
	indentation := func(line []byte) int { return len(line) - len(bytes.TrimLeft(line, " -")) } // of the first key of an item
	markdown := filepath.Ext(path) == ".md"
	lines := bytes.SplitAfter(source, []byte("\n"))
	for i, begin := 0, 0; i < len(lines); {
		value := lines[i]
		comment := bytes.HasPrefix(bytes.TrimSpace(value), []byte("#"))
		outer := indentation(value)
		for i++; !markdown && !comment && i < len(lines) && indentation(lines[i]) > outer && !bytes.HasSuffix(value, []byte(":\n")); i++ {
			value = append(bytes.Clone(value), lines[i]...)
		}
		if !comment && (!markdown || outer > 0) {
			all = append(all, queryMutants(path, source, begin, begin+len(value))...)
		}
		begin += len(value)
	}
	return all
}
