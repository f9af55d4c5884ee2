// Package bugs reproduces the kind of published bugs of controllers and API servers, each in a small controller of its own, and records
// which alert detects it and when. `make bugs` runs all, and `make generate` writes docs/detection.md.
//
//	bugs, and the alerts expected before the first run   cases.yaml, cases.go
//	alerts of the first and the last run                 testdata/results.yaml, results.go
//	the page                                             page.go
//	runs without a fault, with a short and a long one    bugs_test.go
//	servers, exporters, Prometheus                       rig_test.go
//	a program, and the objects that it manages           program_test.go
//	what goes wrong                                      reproductions_test.go, controllers_test.go
//	programs without informers, lost events              clients_test.go
package bugs
