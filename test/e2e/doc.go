// Package e2e tests generated artifacts with real servers and with Prometheus' own parser. It is a nested module because it needs
// packages that the library must not import: Prometheus' PromQL parser, kustomize, and the CustomResourceDefinitions of the
// Prometheus operator.
//
// Tests are independent: `go test -run TestFault -v .`. With -short, only tests without servers run.
package e2e
