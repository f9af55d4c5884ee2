// Package e2e tests generated artifacts with real servers and with Prometheus' own parser. It is a nested module because it needs
// packages that the library must not import: Prometheus' PromQL parser, kustomize, and the CustomResourceDefinitions of the
// Prometheus operator.
//
//	promql_test.go                   every query of rules, runbooks and dashboards parses and matches the catalog; invalid ones are rejected
//	promql_series_test.go            whether a selector names an existing series, and uses it according to its type
//	promql_labels_test.go            the labels of an expression, and whether grouping and matching fit them
//	promql_configured_test.go        the same with other label names and a selector
//	clusters_test.go                 every query and rule with the series of two clusters, without the label cluster, and with other label names
//	synthetic_test.go                the series for that, of the whole catalog, in memory
//	native_test.go                   queries for native histograms read the same histograms as the classic ones
//	native_scrape_test.go            both forms on a real Prometheus
//	elections_test.go                panels for two elections of one name
//	panels_server_test.go            panels of writes, generations and stores, with a real API server
//	main_test.go                     one chain of real servers for all tests, with no process left afterwards
//	patience_test.go                 the timeout of waits
//	chain_test.go                    Prometheus has every signal, every rule and every target
//	names_test.go                    no series carries an object's name
//	dashboard_test.go                every query of every panel, and every variable, returns data
//	server_events_test.go            API server events that a healthy cluster does not have
//	dashboard_lint_test.go           every dashboard passes the rules of dashboard-linter and our own
//	dashboard_model_test.go          the dashboards as Grafana reads them
//	dashboard_rules_test.go          the rules for dashboards
//	dashboard_linter_rules_test.go   the rules of dashboard-linter
//	undecorated_test.go              panels and alerts for programs without the library
//	alone_test.go                    the samples of some jobs alone
//	request_info_test.go             the label resource of requests agrees with the API server's own parsing of their paths
//	controllers_test.go              one query for the queues of three kinds of controllers; a new leader after a kill
//	fault_test.go                    cutting a connection fires an alert that Alertmanager delivers to the webhook, and that
//	                                 resolves, with the default thresholds and `for`
//	demo_faults_test.go              the documented alert of every other fault of the demo is delivered as well; rare panels get data
//	replay_test.go                   all rules, evaluated on the recording of each fault: exactly the right alerts fire
//	recordings_test.go               the recordings and the table of faults
//	intervals_test.go                the same at scrape intervals of 30 s and a minute
//	failed_scrape_test.go            a failed scrape resolves no alert
//	quiet_faults_test.go             recordings without alerts show their faults
//	recorded_zeros_test.go           series begin in recordings as they do in programs
//	healthy_test.go                  all rules, evaluated on the recording of a healthy cluster: no page, and few tickets
//	outage_test.go                   an outage of the API server mutes the pages that follow from it
//	inhibit_test.go                  which alerts inhibit which, by Alertmanager's own code
//	runbook_commands_test.go         the commands of runbooks parse
//	runbook_run_test.go              the commands of runbooks work on a real API server
//	runbook_labels_test.go           links and variables of alerts, with any values of labels
//	kubectl_test.go                  kubectl and curl for these commands
//	recording                        the format of a recording, and how scrapes become one
//	record                           the command that makes the recordings: `make record`
//	cost                             the samples that rules and dashboards read in a fleet of 300 clusters
//	apply_test.go                    rendering manifests, and applying them strictly
//	kustomize_test.go                the real API server accepts every manifest
//	rights_test.go                   the service account of the manifests has the permissions that the exporter needs, and no others
//	identity_test.go                 the exporter works as that service account, and reports forbidden resources
//	types_test.go                    every generated file decodes into the type of its program, without unknown fields
//	tools_test.go                    promtool and amtool accept what is served and generated
//
// Tests are independent: `go test -run TestFault -v .`. With -short, only tests without servers run.
package e2e
