package exporter

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coordinationclient "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/klog/v2"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/internal/exporter/availability"
	"github.com/informer-exporter/informer-exporter/internal/exporter/config"
	"github.com/informer-exporter/informer-exporter/internal/exporter/election"
	"github.com/informer-exporter/informer-exporter/internal/exporter/exportertest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/await"
	"github.com/informer-exporter/informer-exporter/internal/testenv/faultproxy"
	"github.com/informer-exporter/informer-exporter/internal/testenv/logtest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

// replica is an exporter with its own connection that takes part in the leader election.
type replica struct {
	*Exporter
	name  string
	proxy *faultproxy.Proxy
	logs  *logtest.Recorder
}

// elects returns an election with short durations in a namespace.
func elects(namespace, identity string) *election.Election {
	return &election.Election{
		Namespace: namespace, Name: "exporter", Identity: identity,
		LeaseDuration: 10 * time.Second, RenewDeadline: 8 * time.Second, RetryPeriod: 200 * time.Millisecond,
	}
}

// startReplicas starts exporters that watch two kinds and audit them every second, and stops them at the end of the test.
func startReplicas(t *testing.T, n int) []*replica {
	t.Helper()
	cluster, namespace := stacktest.Config(t), stacktest.Namespace(t)
	createConfigMap(t, cluster, namespace, "there")
	var replicas []*replica
	t.Cleanup(func() {
		for _, r := range replicas {
			r.stop(t)
			if err := r.proxy.Close(); err != nil {
				t.Error(err)
			}
		}
	})
	for i := range n {
		proxy, err := faultproxy.Start(stacktest.ControlPlane(t).APIServer.Address)
		if err != nil {
			t.Fatal(err)
		}
		r := &replica{name: fmt.Sprintf("replica-%c", 'a'+i), proxy: proxy, logs: &logtest.Recorder{}}
		r.Exporter = newReal(t, Options{
			REST: proxy.RESTConfig(cluster), Logger: r.logs.Logger(), Election: elects(namespace, r.name),
			Config: config.Config{
				Resources: []config.Resource{{Name: "configmaps"}, {Name: "pods"}}, Namespaces: []string{namespace},
				Checks: config.Checks{Freshness: every(0), Audit: every(time.Second)},
			},
		})
		replicas = append(replicas, r)
		r.Start(klog.NewContext(t.Context(), logr.FromSlogHandler(r.logs.Logger().Handler())))
	}
	return replicas
}

func (r *replica) stop(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if err := r.Stop(ctx); err != nil {
		t.Errorf("%s: Stop: %v", r.name, err)
	}
}

func (r *replica) leads(t *testing.T) bool {
	t.Helper()
	for _, leader := range exportertest.Values(t, r.Gatherer(), catalog.ControllerLeader.Name, "lock") {
		return leader == 1
	}
	t.Fatalf("%s does not report leadership", r.name)
	return false
}

// audits returns the number of audits with any result.
func (r *replica) audits(t *testing.T) (n float64) {
	t.Helper()
	for _, count := range exportertest.Values(t, r.Gatherer(), catalog.InformerAudits.Name, "result") {
		n += count
	}
	return n
}

// judges reports whether a replica reports k8s_informer_audit_differences.
func (r *replica) judges(t *testing.T) bool {
	t.Helper()
	return len(exportertest.Values(t, r.Gatherer(), catalog.InformerAuditDifferences.Name, "difference")) > 0
}

func (r *replica) transitions(t *testing.T, event string) float64 {
	t.Helper()
	return exportertest.Values(t, r.Gatherer(), catalog.ControllerLeaderTransitions.Name, "event")[event]
}

// auditor waits until one replica leads and keeps auditing, while the others neither audit nor report differences.
func auditor(t *testing.T, replicas []*replica) (leader *replica, others []*replica) {
	t.Helper()
	var before map[*replica]float64
	var seen string
	await.True(t, "one leader that audits", func() bool {
		var leads []*replica
		now := map[*replica]float64{}
		seen = ""
		for _, r := range replicas {
			now[r] = r.audits(t)
			seen += fmt.Sprintf("%s: leads %t, judges %t, %v audits\n", r.name, r.leads(t), r.judges(t), now[r])
			if r.leads(t) {
				leads = append(leads, r)
			}
		}
		if len(leads) != 1 || leads[0] != leader {
			leader, before = nil, now
			if len(leads) == 1 {
				leader = leads[0]
			}
			return false
		}
		others = nil
		for _, r := range replicas {
			if r != leader {
				others = append(others, r)
				if r.judges(t) || now[r] != before[r] {
					before = now
					return false
				}
			}
		}
		return leader.judges(t) && now[leader] >= before[leader]+4
	}, func() string { return seen })
	return leader, others
}

// TestElection covers O2: one of three replicas audits. When it stops or loses its connection, another one takes over. All
// replicas report everything else all the time.
func TestElection(t *testing.T) {
	t.Parallel()
	replicas := startReplicas(t, 3)
	first, others := auditor(t, replicas)
	for _, r := range replicas {
		waitReady(t, r.Exporter)
		await.True(t, r.name+" is synced", func() bool {
			synced := exportertest.Values(t, r.Gatherer(), catalog.InformerSynced.Name, "informer_type")
			return synced["configmaps"] == 1 && synced["pods"] == 1
		}, func() string { return get(r.Exporter, "/").Body.String() })
		answer, informers := readInformers(t, r.Exporter)
		if answer.Leader == nil || *answer.Leader != (r == first) {
			t.Errorf("%s: the API says leader %v", r.name, answer.Leader)
		}
		for name, informer := range informers {
			if r != first && informer.LastAudit != nil {
				t.Errorf("%s: %s has an audit: %+v", r.name, name, informer.LastAudit)
			}
		}
		if page := get(r.Exporter, "/").Body.String(); !strings.Contains(page, "<dt>Leader</dt><dd>"+map[bool]string{true: "yes", false: "no"}[r == first]) {
			t.Errorf("%s: the page does not show leadership", r.name)
		}
	}

	// A graceful stop releases the Lease, so that the next leader does not wait for its expiry.
	first.stop(t)
	if released := first.transitions(t, "released"); released != 1 {
		t.Errorf("the leader that stopped released the Lease %v times, want once", released)
	}
	second, rest := auditor(t, others)
	third := rest[0]

	// A replica without a connection pauses audits, reports that, and continues with everything else.
	const trouble, fine = "Lease is unreachable; retrying", "Lease is usable again"
	lost, told, mended := second.transitions(t, "lost"), len(second.logs.Find(trouble)), len(second.logs.Find(fine))
	second.proxy.Cut()
	await.True(t, "the leader without a connection gives up", func() bool {
		return !second.leads(t) && !second.judges(t) && second.transitions(t, "lost") == lost+1
	}, func() string { return get(second.Exporter, "/").Body.String() })
	if answer, _ := readInformers(t, second.Exporter); *answer.Leader {
		t.Error("the API says that the leader without a connection leads")
	}
	if leader, _ := auditor(t, []*replica{second, third}); leader != third {
		t.Errorf("%s leads without a connection", leader.name)
	}
	if code := get(second.Exporter, "/readyz").Code; code != http.StatusOK {
		t.Errorf("/readyz of the replica without a connection: %d", code)
	}
	if objects := exportertest.Values(t, second.Gatherer(), catalog.InformerObjects.Name, "informer_type"); objects["configmaps"] == 0 {
		t.Errorf("the replica without a connection reports %v", objects)
	}
	if lines := second.logs.Find(trouble); len(lines) != told+1 {
		t.Errorf("log lines about the unreachable Lease: %v, want one more than %d", lines, told)
	}

	// After it has reconnected, it is a candidate again.
	if err := second.proxy.Restore(); err != nil {
		t.Fatal(err)
	}
	await.True(t, "connected again", func() bool {
		connected := exportertest.Values(t, second.Gatherer(), catalog.InformerWatchConnected.Name, "informer_type")
		return connected["configmaps"] == 1 && connected["pods"] == 1 && len(second.logs.Find(fine)) > mended
	}, func() string { return get(second.Exporter, "/").Body.String() })
	third.stop(t)
	auditor(t, []*replica{second})
	for _, ln := range second.logs.Find("") {
		if strings.Contains(strings.ToLower(ln.Message), "lease lock") || strings.Contains(ln.Message, "acquire") {
			t.Errorf("client-go logged: %+v", ln)
		}
	}

	// A leader stops even if it cannot release the Lease because the API server does not respond.
	before := second.transitions(t, "released")
	second.proxy.HalfOpen()
	second.stop(t)
	if released := second.transitions(t, "released") - before; released != 0 {
		t.Errorf("the leader that got no response released the Lease %v times", released)
	}
}

// A replica without permissions for the Lease logs it once, with the fix, and does everything except audits. With the
// permissions that the log names, it is elected.
func TestElectionWithoutRights(t *testing.T) {
	t.Parallel()
	admin, namespace := stacktest.Config(t), stacktest.Namespace(t)
	account := newLimited(t, namespace)
	account.Grant(t, namespace, mayWatch("configmaps"))
	var written logtest.Recorder
	e := newReal(t, Options{REST: account.Config, Logger: written.Logger(), Election: elects(namespace, "only"), Config: config.Config{
		Resources: []config.Resource{{Name: "configmaps"}}, Namespaces: []string{namespace}, Checks: config.Checks{Audit: every(time.Second)},
	}})
	start(t, e)
	r := &replica{Exporter: e, name: "only"}
	waitKindUp(t, e, map[string]float64{"configmaps": 1})
	waitReady(t, e)
	refused := func() float64 {
		return exportertest.Values(t, e.Gatherer(), catalog.ClientRequests.Name, "code")["403"]
	}
	await.True(t, "several attempts", func() bool { return refused() >= 3 }, func() string { return fmt.Sprint(refused()) })
	told := func(verb string) {
		t.Helper()
		lines := written.Find("Lease is unusable", "verb", verb, "reason", availability.Forbidden, "lease", namespace+"/exporter")
		if len(lines) != 1 || !strings.Contains(lines[0].Attrs["fix"], "grant get, create and update on leases") {
			t.Errorf("log lines about the unusable Lease: %v, want one", lines)
		}
	}
	told("get")
	if r.leads(t) || r.judges(t) || r.audits(t) != 0 {
		t.Errorf("without permissions: leads %t, judges %t, %v audits", r.leads(t), r.judges(t), r.audits(t))
	}

	account.Grant(t, namespace, leaseRule("get"))
	await.True(t, "the next refusal", func() bool { return len(written.Find("Lease is unusable", "verb", "create")) > 0 },
		func() string { return fmt.Sprint(written.Find("Lease")) })
	before := refused()
	await.True(t, "several attempts", func() bool { return refused() >= before+3 }, func() string { return fmt.Sprint(refused()) })
	told("create")

	account.Grant(t, namespace, leaseRule("create"), leaseRule("update"))
	auditor(t, []*replica{r})
	if lines := written.Find("Lease is usable again"); len(lines) == 0 {
		t.Errorf("no log line that the Lease is usable again: %v", written.Find("Lease"))
	}

	// A deleted Lease is created again.
	leases := coordinationclient.NewForConfigOrDie(admin).Leases(namespace)
	if err := leases.Delete(t.Context(), "exporter", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	await.True(t, "the Lease is back", func() bool {
		lease, err := leases.Get(t.Context(), "exporter", metav1.GetOptions{})
		return err == nil && *lease.Spec.HolderIdentity == "only"
	}, func() string { return fmt.Sprint(written.Find("Lease")) })
	auditor(t, []*replica{r})
}

func leaseRule(verb string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{APIGroups: []string{"coordination.k8s.io"}, Resources: []string{"leases"}, Verbs: []string{verb}}
}
