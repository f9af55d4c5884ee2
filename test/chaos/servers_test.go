package chaos

import (
	"fmt"
	"testing"
	"time"

	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

// watching returns a configuration for a namespace, with short check intervals.
func watching(namespace string, resources ...string) string {
	list := ""
	for _, r := range resources {
		list += fmt.Sprintf("- %q\n", r)
	}
	return "namespaces: [" + namespace + "]\nchecks: {audit: 1s, freshness: 1s}\nresources:\n" + list
}

const leases = "leases.coordination.k8s.io"

// The API server is killed and restarted. The long form has all default resources.
func TestAPIServerKilled(t *testing.T) {
	row(t)
	plane := killable.take(t)
	namespace := plane.namespace(t)
	config := watching(namespace, "pods", "configmaps", leases)
	if long(t) {
		config = "checks: {audit: 20s}"
	}
	p := start(t, stacktest.Kubeconfig(t, plane.Config()), plane.Config(), config)
	before := p.figures()
	p.mark()
	since, began := p.log, time.Now()
	if err := plane.APIServer.Kill(); err != nil {
		t.Fatal(err)
	}
	p.shows("watch_connected 0", "sync_lag_seconds > 1", `sync_errors_total{error_type="refused"} grows`, `state{state="unreachable"} 1`, "kind_up 1", "readyz 200")
	for ok := true; ok; ok = time.Since(began) < outage {
		p.keeps("watch_connected 0", "sync_lag_seconds > 1", `state{state="synced"} absent`, `audits_total{result="consistent"} stays`, `freshness_checks_total{result="fresh"} stays`)
	}
	t.Logf("after %.0f s: %v", time.Since(began).Seconds(), p.figures())
	if err := plane.APIServer.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Logf("the API server was down for %.0f s", time.Since(began).Seconds())
	plane.change(t, namespace)
	returned := p.mark()
	p.shows("watch_connected 1", "sync_lag_seconds < 1")
	now := p.look()
	t.Logf("until all watches were open again: requests %v, relists %v, errors %v", now.since(returned, "k8s_client_requests_total", "verb"),
		now.since(returned, "k8s_informer_relists_total", "reason"), now.since(returned, "k8s_informer_sync_errors_total", "error_type"))
	p.well()
	p.quiet(since, 2)
	p.bounded(before)
}

// etcd is killed and restarted. The API server keeps serving watches and lists from its cache, which cannot change.
// Requests that need etcd hang or fail: renewals of Leases, and the first list of a resource.
func TestEtcdKilled(t *testing.T) {
	row(t)
	plane := killable.take(t)
	namespace := plane.namespace(t)
	holder := plane.hold(t, namespace, "lock", 5*time.Second, 0)
	defer holder.stop()
	config := watching(namespace, "pods", "configmaps", leases)
	p := start(t, stacktest.Kubeconfig(t, plane.Config()), plane.Config(), config)
	p.shows(`lease_expired{lease="lock"} 0`)
	before := p.figures()
	since := p.logEnd()
	if err := plane.Etcd.Kill(); err != nil {
		t.Fatal(err)
	}
	p.mark()
	p.write(watching(namespace, "pods", "configmaps", leases, "services"))
	p.shows(`synced{informer_type="services"} 0`, `watch_connected{informer_type="services"} 0`, `lease_expired{lease="lock"} 1`, "readyz 200")
	p.keeps(`synced{informer_type="services"} 0`, `state{informer_type="services",state="synced"} absent`, `lease_expired{lease="lock"} 1`, `lease_renewed_timestamp_seconds{lease="lock"} stays`, "audit_differences 0")
	if err := plane.Etcd.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	p.mark()
	p.shows(`lease_expired{lease="lock"} 0`, `lease_renewed_timestamp_seconds{lease="lock"} grows`)
	plane.change(t, namespace)
	p.mark()
	p.well()
	p.write(config)
	p.shows(`objects{informer_type="services"} absent`)
	p.quiet(since, 2)
	p.bounded(before)
}
