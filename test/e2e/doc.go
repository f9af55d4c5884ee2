// Package e2e proves with real servers, and with Prometheus' own parser, that what is generated here works where it is
// used. It is a module of its own because it needs packages that the library must not: Prometheus' PromQL parser,
// kustomize, and the CustomResourceDefinitions of the Prometheus operator.
//
//	promql_test.go        every query of rules, runbooks and dashboards parses and fits the catalog; bad ones are refused
//	promql_series_test.go   whether a selector names a series that exists, and uses it as its type asks for
//	promql_labels_test.go   which labels an expression has, and whether grouping and matching fit them
//	clusters_test.go      every query and rule with the series of two clusters, of none, and with labels under other names
//	synthetic_test.go       series of the whole catalog for that, in memory
//	main_test.go          one chain of real servers for all tests that need it, and no process of it left afterwards
//	patience_test.go      the timeout of waits
//	chain_test.go         Prometheus has every signal, every rule and every target
//	names_test.go         no series carries an object's name
//	dashboard_test.go     every query of every panel, and every variable, returns data
//	request_info_test.go  the label resource of requests agrees with the API server's own reading of their paths
//	controllers_test.go   queues of three kinds of controllers answer to one query; another replica leads when one is killed
//	fault_test.go         a cut connection reaches the webhook behind Alertmanager as an alert, and is resolved, with the
//	                      thresholds and the `for` that its alerts have by default
//	demo_faults_test.go   so does every other fault of the demo, as the alert that the demo promises; it fills rare panels
//	replay_test.go        all rules, evaluated on what was recorded under each fault: exactly the right alerts fire
//	recordings_test.go      the recordings and the table of faults that they are about
//	failed_scrape_test.go   and no scrape that fails resolves one of them
//	quiet_faults_test.go    the recordings in which nothing fires are of their faults all the same
//	recording             the form of a recording, and how it comes from scrapes
//	record                the command that makes the recordings: `make record`
//	apply_test.go         rendering manifests, and applying them strictly
//	kustomize_test.go     the real API server accepts every manifest
//	rights_test.go        the service account of the manifests may do what the exporter needs, and nothing else
//	identity_test.go      the exporter works as that service account, and reports what it may not watch
//	types_test.go         every generated file fits the type of the program that it is for, without unknown fields
//	tools_test.go         promtool and amtool have nothing to say about what is served and generated
//
// Tests do not depend on one another and may run alone: `go test -run TestFault -v .`. With -short only those run that
// need no servers.
package e2e
