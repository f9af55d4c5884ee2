// Command informerlint finds mistakes with informers, work queues and reconcilers. It runs on packages, and as the tool of
// go vet -vettool.
package main

import (
	"golang.org/x/tools/go/analysis/multichecker"

	"github.com/informer-exporter/informer-exporter/lint/rules"
)

func main() { multichecker.Main(rules.All()...) }
