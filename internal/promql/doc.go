// Package promql looks at queries as closely as is possible without Prometheus' parser, which would bring Prometheus'
// server and all its dependencies into the module: it splits them into tokens, finds the series that they select, and
// compares names, labels, label values and functions with the catalog.
//
//	scan.go   Scan: the series, functions and grouping labels of a query
//	check.go  Check: whether they exist in the catalog and are used as their type asks for
//
// What needs a real parser, such as vector matching, is checked by promtool and by the tests of the nested module
// test/e2e.
package promql
