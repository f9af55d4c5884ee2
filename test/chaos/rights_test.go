package chaos

import (
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"

	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

// A resource that the configuration names is forbidden while it is watched, and allowed again.
func TestKindForbidden(t *testing.T) {
	row(t)
	plane := steady.use(t)
	namespace := plane.namespace(t)
	grant := plane.account(t, namespace, mayWatch("pods", "configmaps"))
	proxy := plane.proxy(t)
	config := proxy.RESTConfig(plane.Config())
	config.BearerToken = plane.token(t, namespace, "bound")
	p := start(t, stacktest.Kubeconfig(t, config), plane.Config(), watching(namespace, "pods", "configmaps"))
	before := p.figures()
	p.mark()
	since := p.log

	grant(mayWatch("pods"))
	p.shows(`kind_up{informer_type="configmaps"} 0`, `state{informer_type="configmaps",state="forbidden"} 1`, `audits_total{informer_type="configmaps",result="error"} grows`)
	proxy.Reset()
	p.shows(`watch_connected{informer_type="configmaps"} 0`, `sync_lag_seconds{informer_type="configmaps"} > 1`, `sync_errors_total{informer_type="configmaps",error_type="forbidden"} grows`,
		`kind_up{informer_type="pods"} 1`, `watch_connected{informer_type="pods"} 1`, `state{informer_type="pods",state="synced"} 1`, `audits_total{informer_type="pods",result="consistent"} grows`, "readyz 200")
	p.keeps(`kind_up{informer_type="configmaps"} 0`, `watch_connected{informer_type="configmaps"} 0`, `audits_total{informer_type="configmaps",result="consistent"} stays`, `freshness_checks_total{informer_type="configmaps",result="fresh"} stays`,
		`state{informer_type="pods",state="synced"} 1`)

	plane.change(t, namespace)
	grant(mayWatch("pods", "configmaps"))
	p.mark()
	p.well()
	p.quiet(since, 2)
	p.bounded(before)
}

// A resource that only a pattern matches is forbidden while it is watched, and allowed again. It is skipped, and watched
// again with the next discovery: the long form waits for it, the short form triggers it with SIGHUP.
func TestFoundKindForbidden(t *testing.T) {
	row(t)
	plane := steady.use(t)
	namespace := plane.namespace(t)
	grant := plane.account(t, namespace, mayWatch("pods", "configmaps"))
	proxy := plane.proxy(t)
	config := proxy.RESTConfig(plane.Config())
	config.BearerToken = plane.token(t, namespace, "bound")
	p := start(t, stacktest.Kubeconfig(t, config), plane.Config(), watching(namespace, "pods", "configm*"))
	p.shows(`objects{informer_type="configmaps"} > 0`, `kinds{state="forbidden"} 0`)
	before := p.figures()
	p.mark()
	since := p.log
	discovered := func() {
		if !long(t) {
			p.hangUp()
		}
	}

	grant(mayWatch("pods"))
	p.shows(`kind_up{informer_type="configmaps"} 0`, `state{informer_type="configmaps",state="forbidden"} 1`)
	proxy.Reset()
	// Await the end of the watch: an earlier discovery would probe the resource over a connection that is being closed, and keep
	// the resource.
	p.shows(`watch_connected{informer_type="configmaps"} 0`, `sync_errors_total{informer_type="configmaps",error_type="forbidden"} grows`)
	discovered()
	p.shows(`kinds{state="forbidden"} 1`, `kinds{state="watched"} 1`, `kind_up{informer_type="configmaps"} absent`, `objects{informer_type="configmaps"} absent`, `state{informer_type="configmaps"} absent`,
		`kind_up{informer_type="pods"} 1`, "readyz 200")
	p.keeps(`kinds{state="forbidden"} 1`, `state{informer_type="configmaps"} absent`, `kind_up{informer_type="pods"} 1`)

	plane.change(t, namespace)
	grant(mayWatch("pods", "configmaps"))
	stacktest.GetAccount(t, plane.ControlPlane, namespace, "exporter").AwaitAllowed(t, authorizationv1.SubjectAccessReviewSpec{
		ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: namespace, Verb: "list", Resource: "configmaps"},
	})
	discovered()
	p.mark()
	p.shows(`kinds{state="forbidden"} 0`, `state{informer_type="configmaps",state="synced"} 1`)
	p.well()
	p.quiet(since, 5)
	p.bounded(before)
}
