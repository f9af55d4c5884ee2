package chaos

import (
	"testing"
	"time"
)

// watched has a kind that is read as metadata and one that is read as a whole; with checks that do not keep a test waiting.
const watched = `
resources: [pods, configmaps, leases.coordination.k8s.io]
checks: {audit: 1s, freshness: 1s}
`

// everything is the default in the long form.
const everything = `checks: {audit: 20s}`

func sizeOf() string {
	if long() {
		return everything
	}
	return watched
}

// lasts keeps looking until the outage has lasted as long as the long form asks for.
func (p *program) lasts(since time.Time, claims ...string) {
	p.t.Helper()
	p.keeps(claims...)
	for time.Since(since) < outage {
		p.keeps(claims...)
	}
}

func TestAPIServerKilled(t *testing.T) {
	t.Parallel()
	plane := takeKillable(t)
	configMaps(t, plane.Config(), "default", "stays", "goes")
	p := start(t, kubeconfig(t, plane.Config()), plane.Config(), sizeOf())
	before := p.figures()
	p.mark()
	since, began := p.log, time.Now()
	if err := plane.APIServer.Kill(); err != nil {
		t.Fatal(err)
	}
	p.shows("watch_connected 0", "sync_lag_seconds > 1", `sync_errors_total{error_type="refused"} grows`, `state{state="unreachable"} 1`, `state{state="synced"} absent`,
		"readyz 200", "kind_up 1")
	p.lasts(began, "watch_connected 0", "sync_lag_seconds > 1", `audits_total{result="consistent"} stays`, `freshness_checks_total{result="fresh"} stays`, `state{state="synced"} absent`)
	during := p.figures()
	t.Logf("during: %v", during)
	if err := plane.APIServer.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Logf("the outage lasted %v", time.Since(began))
	configMaps(t, plane.Config(), "default", "comes")
	noConfigMap(t, plane.Config(), "default", "goes")
	p.mark()
	p.well()
	p.quiet(since, 3)
	p.bounded(before)
}

func TestEtcdKilled(t *testing.T) {
	t.Parallel()
	plane := takeKillable(t)
	configMaps(t, plane.Config(), "default", "before-etcd")
	p := start(t, kubeconfig(t, plane.Config()), plane.Config(), sizeOf())
	before := p.figures()
	p.mark()
	since := p.log
	if err := plane.Etcd.Kill(); err != nil {
		t.Fatal(err)
	}
	for begin := time.Now(); time.Since(begin) < 40*time.Second; {
		now := p.look()
		for _, s := range now {
			if s.value != p.marked[s.key()].value && (s.name == "k8s_informer_audits_total" || s.name == "k8s_informer_freshness_checks_total" || s.name == "k8s_informer_watch_connected" || s.name == "k8s_informer_sync_errors_total" || s.name == "k8s_informer_sync_lag_seconds" || s.name == "k8s_client_requests_total") {
				t.Logf("%v %s %v", time.Since(begin), s.key(), s.value-p.marked[s.key()].value)
			}
		}
		time.Sleep(8 * time.Second)
	}
	if err := plane.Etcd.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	p.mark()
	p.well()
	p.quiet(since, 3)
	p.bounded(before)
}
