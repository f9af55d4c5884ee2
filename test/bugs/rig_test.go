package bugs

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	dto "github.com/prometheus/client_model/go"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/informer-exporter/informer-exporter/internal/testenv/faultproxy"
	"github.com/informer-exporter/informer-exporter/internal/testenv/port"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stack"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

// interval of scrapes and evaluations, as in production.
const interval = 15 * time.Second

// account is the service account of each program, in the namespace of its case.
const account = "operator"

// rig is a control plane with two API servers, of which the second one can be frozen, and all that observes them. The label cluster of
// a series is the way that it was observed, so that no rule combines two ways.
type rig struct {
	*testing.T
	plane     *stack.ControlPlane
	second    *stack.APIServer
	etcd      *faultproxy.Etcd
	admin     kubernetes.Interface
	prom      *stack.Prometheus
	faulty    bool
	hold      time.Duration
	arrived   sync.WaitGroup
	began     chan struct{}
	start     time.Time                                       // of the fault, after began
	registers map[string]*atomic.Pointer[prometheus.Registry] // by case
}

func newRig(t *testing.T, cases []Case, faulty bool, hold time.Duration) *rig {
	t.Helper()
	dir := t.TempDir()
	policy, err := filepath.Abs("../../deploy/audit/policy.yaml")
	must(t, err)
	logs := []string{filepath.Join(dir, "a.log"), filepath.Join(dir, "b.log")}
	audit := func(n int) []string { return []string{"--audit-policy-file=" + policy, "--audit-log-path=" + logs[n]} }
	quiet := slog.New(slog.DiscardHandler)
	r := &rig{T: t, faulty: faulty, hold: hold, began: make(chan struct{}), registers: map[string]*atomic.Pointer[prometheus.Registry]{}}
	r.plane = stacktest.Private(t, stack.Options{APIServerArgs: audit(0), Log: quiet})
	r.etcd, err = faultproxy.StartEtcd(r.plane.Etcd.URL)
	must(t, err)
	t.Cleanup(r.etcd.Close)
	r.second, err = r.plane.AddAPIServer(t.Context(), r.etcd.URL, quiet, audit(1)...)
	must(t, err)
	t.Cleanup(func() { _ = r.second.Stop(context.Background()) }) // before its proxy
	r.admin = kubernetes.NewForConfigOrDie(r.plane.Config())
	_, err = r.admin.RbacV1().ClusterRoleBindings().Create(t.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "operators"}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.GroupKind, Name: "system:serviceaccounts"}},
	}, metav1.CreateOptions{})
	must(t, err)

	exporter, err := stack.Compile(t.Context(), "cmd/exporter")
	must(t, err)
	run := func(name string, args ...string) string {
		address := port.Address(port.Free())
		p, err := stack.StartCommand(t.Context(), stack.Command{
			Name: name, Program: exporter, Dir: dir, Args: append(args, "--web.listen-address="+address), Ready: stack.Answers("http://" + address + "/metrics"),
		})
		must(t, err)
		t.Cleanup(func() { _ = p.Stop(context.Background()) })
		return address
	}
	file := filepath.Join(dir, "exporter.yaml")
	must(t, os.WriteFile(file, []byte("resources: [configmaps, statefulsets.apps, namespaces, leases.coordination.k8s.io]\n"), 0o600))
	serve := func(name string, config *rest.Config) string {
		kubeconfig := filepath.Join(dir, name+".kubeconfig")
		must(t, stack.WriteKubeconfig(kubeconfig, config))
		return run(name, "serve", "--kubeconfig="+kubeconfig, "--config.file="+file)
	}
	in := func(way string) map[string]string { return map[string]string{"cluster": way} }
	token := r.plane.Config().BearerToken
	targets := []stack.ScrapeTarget{
		{Job: "informer-exporter", HonorLabels: true, Labels: in(ByExporter), Addresses: []string{serve("first", r.plane.Config()), serve("second", r.second.Config())}},
		{Job: "apiserver", CAFile: r.plane.CAFile(), Token: token, Labels: in(ByExporter), Addresses: []string{r.plane.APIServer.Address, r.second.Address}},
		{Job: "audit", HonorLabels: true, Labels: in(ByAuditLog), Addresses: []string{run("audit", "audit", "serve", "--log.file="+logs[0], "--log.file="+logs[1])}},
	}
	mux := http.NewServeMux()
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	for _, c := range cases {
		registry := new(atomic.Pointer[prometheus.Registry])
		r.registers[c.ID] = registry
		for _, way := range []string{ByExporter, ByLibrary} {
			mux.Handle("/"+way+"/"+c.ID, metrics(registry, way))
			labels := in(way)
			labels["namespace"] = c.ID
			targets = append(targets, stack.ScrapeTarget{Job: way + "/" + c.ID, Addresses: []string{server.Listener.Addr().String()}, Path: "/" + way + "/" + c.ID, Labels: labels})
		}
	}
	rules, err := filepath.Abs("../../deploy/prometheus/rules.yaml")
	must(t, err)
	r.prom, err = stack.StartPrometheus(t.Context(), stack.PrometheusOptions{
		Dir: dir, Log: quiet, RuleFiles: []string{rules}, Targets: targets, ScrapeInterval: interval, EvaluationInterval: interval,
	})
	must(t, err)
	t.Cleanup(func() { _ = r.prom.Stop(context.Background()) })
	return r
}

// metrics serves what a program reports with the library, or of that only what it reports without: client-go's own metrics. A program
// that is down does not answer.
func metrics(registry *atomic.Pointer[prometheus.Registry], way string) http.HandlerFunc {
	return func(w http.ResponseWriter, request *http.Request) {
		now := registry.Load()
		if now == nil {
			http.Error(w, "down", http.StatusServiceUnavailable)
			return
		}
		gather := prometheus.GathererFunc(func() ([]*dto.MetricFamily, error) {
			all, err := now.Gather()
			if way == ByLibrary {
				return all, err
			}
			var own []*dto.MetricFamily
			for _, f := range all {
				if strings.HasPrefix(f.GetName(), "workqueue_") || strings.HasPrefix(f.GetName(), "process_") {
					own = append(own, f)
				}
			}
			return own, err
		})
		promhttp.HandlerFor(gather, promhttp.HandlerOpts{}).ServeHTTP(w, request)
	}
}

// fired are the alerts of a case by way, with the time of the first since the fault began.
type fired map[string]map[string]time.Duration

// firing selects the alerts that count.
const firing = `ALERTS{alertstate="firing", severity=~"page|ticket"}`

// observe polls the firing alerts until done, and returns them by namespace, without those that fired before the fault. Alerts about
// servers and exporters have no namespace.
func (r *rig) observe(early map[string]bool, done <-chan struct{}) map[string]fired {
	all := map[string]fired{}
	for {
		samples, err := r.prom.Query(context.Background(), firing)
		if err != nil {
			r.Logf("%v", err)
		}
		for _, s := range samples {
			if early[fmt.Sprint(s.Labels)] {
				continue
			}
			namespace := s.Labels["namespace"]
			if r.registers[namespace] == nil {
				namespace = ""
			}
			way, name := s.Labels["cluster"], s.Labels["alertname"]
			if all[namespace] == nil {
				all[namespace] = fired{}
			}
			if all[namespace][way] == nil {
				all[namespace][way] = map[string]time.Duration{}
			}
			if _, ok := all[namespace][way][name]; !ok {
				all[namespace][way][name] = time.Since(r.start).Round(time.Second)
				r.Logf("%v: %q %s: %s %v", time.Since(r.start).Round(time.Second), namespace, way, name, s.Labels)
			}
		}
		select {
		case <-done:
			return all
		case <-time.After(3 * time.Second):
		}
	}
}

// begin waits for all cases, and until each program was scraped, and starts the fault of the second API server. An alert that fires
// before is an error, and returned.
func (r *rig) begin() (early map[string]bool) {
	r.arrived.Wait()
	early = map[string]bool{}
	want := 5 + 2*len(r.registers)
	for deadline := time.Now().Add(3 * time.Minute); time.Now().Before(deadline); time.Sleep(time.Second) {
		up, err := r.prom.Query(context.Background(), `count(count_over_time(up[2m]) >= 3)`)
		if err == nil && len(up) > 0 && int(up[0].Value) == want {
			break
		}
	}
	samples, err := r.prom.Query(context.Background(), firing)
	if err != nil || len(samples) > 0 {
		r.Errorf("before the fault: %v, %v", samples, err)
	}
	for _, s := range samples {
		early[fmt.Sprint(s.Labels)] = true
	}
	if r.faulty {
		r.etcd.Freeze()
	}
	r.start = time.Now()
	close(r.began)
	return early
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
