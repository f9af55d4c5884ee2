// Package lint finds mistakes with informers, work queues and reconcilers before the merge, from which metrics and alerts of
// informer-exporter warn in production. Each package below it is one rule, an analyzer with a name of one word. Package
// cmd/informerlint runs all rules, and package plugin adds them to golangci-lint.
package lint
