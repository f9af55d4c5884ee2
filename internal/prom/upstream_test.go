package prom_test

import (
	"testing"

	"github.com/informer-exporter/informer-exporter/internal/prom"
)

func TestWithUpstream(t *testing.T) {
	const status = `leader_election_master_status{@upstreamLock}[5m]`
	for query, want := range map[string]string{
		`sum by (name) (rate(controller_reconcile_total{@controller, result=~"error|panic"}[5m]))`: `sum by (name) (rate(controller_reconcile_total{@controller, result=~"error|panic"}[5m]) ` +
			`or on (@cluster, @job, @instance, controller) label_join(sum without (name) (rate(controller_runtime_reconcile_total{@controller, result=~"error|panic"}[5m])), "name", "", "@job"))`,
		// A comparison binds more tightly than or.
		`increase(controller_reconcile_total{@, result="panic"}[15m]) > 0`: `(increase(controller_reconcile_total{@, result="panic"}[15m]) ` +
			`or on (@cluster, @job, @instance, controller) label_join(sum without (name) (label_replace(sum without (result) (increase(controller_runtime_reconcile_panics_total{@}[15m])), "result", "panic", "", "")), "name", "", "@job")) > 0`,
		`rate(controller_reconcile_duration_seconds_bucket{@controller}[5m])`: `rate(controller_reconcile_duration_seconds_bucket{@controller}[5m]) ` +
			`or on (@cluster, @job, @instance, controller) label_join(sum without (name) (rate(controller_runtime_reconcile_time_seconds_bucket{@controller}[5m])), "name", "", "@job")`,
		`max(controller_max_workers{@controller})`: `max(controller_max_workers{@controller} ` +
			`or on (@cluster, @job, @instance, controller) label_join(sum without (name) (controller_runtime_max_concurrent_reconciles{@controller}), "name", "", "@job"))`,
		`sum(rate(k8s_client_requests_total{@program, code=~"5..|429|error"}[5m]))`: `sum(rate(k8s_client_requests_total{@program, code=~"5..|429|error"}[5m]) ` +
			`or on (@cluster, @job, @instance) label_join(sum without (name) (label_replace(label_join(sum without (verb) (rate(rest_client_requests_total{@upstreamProgram, code=~"5..|429|<error>", code!="error"}[5m])), "verb", "", "method"), "code", "error", "code", "<error>")), "name", "", "@job"))`,
		`sum(rate(k8s_client_conflicts_total{@program, subresource!="status"}[5m]))`: `sum(rate(k8s_client_conflicts_total{@program, subresource!="status"}[5m]) ` +
			`or on (@cluster, @job, @instance) label_join(sum without (name) (rate(rest_client_requests_total{@upstreamProgram, code="409", method!="POST"}[5m])), "name", "", "@job"))`,
		`sum(rate(k8s_client_throttle_wait_seconds_count{@, @cluster="$CLUSTER", name="$NAME"}[5m]))`: `sum(rate(k8s_client_throttle_wait_seconds_count{@, @cluster="$CLUSTER", name="$NAME"}[5m]) ` +
			`or on (@cluster, @job, @instance) label_join(sum without (name) (rate(rest_client_rate_limiter_duration_seconds_count{@, @cluster="$CLUSTER", @job="$NAME"}[5m])), "name", "", "@job"))`,
		`sum(controller_leader{@lock})`: `sum(controller_leader{@lock} ` +
			`or on (@cluster, @job, @instance) label_join(sum without (name) (label_join(label_join(sum without (lock, lock_namespace) (leader_election_master_status{@upstreamLock}), "lock", "", "name"), "lock_namespace", "", "@namespace")), "name", "", "@job"))`,
		`sum(increase(controller_leader_transitions_total{@lock, event="acquired"}[5m]))`: `sum(increase(controller_leader_transitions_total{@lock, event="acquired"}[5m]) ` +
			`or on (@cluster, @job, @instance) label_join(sum without (name) (label_join(label_join(sum without (lock, lock_namespace) (floor((changes(` + status + `) + last_over_time(` + status + `)) / 2)), "lock", "", "name"), "lock_namespace", "", "@namespace")), "name", "", "@job"))`,
	} {
		if got := prom.WithUpstream(query); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", query, got, want)
		}
	}
	// No program without the library reports these.
	for _, query := range []string{
		`controller_leader{@, name=~"informer-exporter"} == 0`, // asks for programs with the library
		`increase(controller_dropped_total{@, reason="max_retries"}[5m])`,
		`rate(k8s_client_conflicts_total{@program, subresource="status"}[5m])`,
		`rate(k8s_client_requests_total{@program, resource="pods"}[5m])`,
		`rate(controller_stale_reads_total{@}[5m])`,
		`max_over_time(controller_leader{@}[5m])`,
		`sum(rate(workqueue_adds_total{@queue}[5m]))`,
	} {
		if got := prom.WithUpstream(query); got != query {
			t.Errorf("%s is expanded to %s", query, got)
		}
	}
}
