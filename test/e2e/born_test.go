package e2e_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	promcollectors "github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/informer-exporter/informer-exporter/collectors"
	"github.com/informer-exporter/informer-exporter/collectors/informer"
	"github.com/informer-exporter/informer-exporter/dashboards"
	"github.com/informer-exporter/informer-exporter/internal/testenv/await"
	"github.com/informer-exporter/informer-exporter/internal/testenv/port"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stack"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

// Environment variables of the test binary as the program of TestBornWithTheFault.
const (
	bornAddress    = "E2E_BORN_ADDRESS" // where it serves its metrics
	bornKubeconfig = "E2E_BORN_KUBECONFIG"
)

// bornObjects is the number of objects that the program does not see.
const bornObjects = 300

// TestBornWithTheFault starts a program with a second SetTransform that returns nil, so that its first list is lost before the first
// scrape. Prometheus, with the generated rules, has a ticket for the lost list and one for the second Transform (P11).
func TestBornWithTheFault(t *testing.T) {
	t.Parallel()
	config := stacktest.Private(t, stack.Options{}).Config()
	namespace := stacktest.NamespaceIn(t, config)
	client := kubernetes.NewForConfigOrDie(config)
	for i := range bornObjects {
		if _, err := client.CoreV1().ConfigMaps(namespace).Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("c-", i)}}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	address := port.Address(port.Free())
	rules, err := filepath.Abs(rulesFile)
	if err != nil {
		t.Fatal(err)
	}
	const scrapes = 15 * time.Second
	p, err := stack.StartPrometheus(t.Context(), stack.PrometheusOptions{
		Dir: t.TempDir(), Log: slog.New(slog.DiscardHandler), RuleFiles: []string{rules},
		Targets: []stack.ScrapeTarget{{Job: "born", Addresses: []string{address}}}, ScrapeInterval: scrapes, EvaluationInterval: scrapes,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Stop(context.Background()) })
	begin := time.Now()
	program, err := stack.StartCommand(t.Context(), stack.Command{
		Name: "born", Program: os.Args[0], Dir: t.TempDir(),
		Env:   []string{bornAddress + "=" + address, bornKubeconfig + "=" + stacktest.Kubeconfig(t, config)},
		Ready: stack.Answers("http://" + address + "/metrics"),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = program.Stop(context.Background()) })
	want := []string{"InformerTransformDrops", "InformerTransformReplaced"}
	await.Within(t, 3*patience, "a ticket for each part of the fault", func(ctx context.Context) error {
		firing, err := p.Query(ctx, `ALERTS{alertname=~"`+strings.Join(want, "|")+`", alertstate="firing", severity="ticket", job="born"}`)
		if err != nil || len(firing) != len(want) {
			return fmt.Errorf("%v fire, want %v: %w", firing, want, err)
		}
		return nil
	})
	took := time.Since(begin).Round(time.Second)
	filled := map[string]bool{}
	for _, d := range boards(t, dashboards.Config{}) {
		for _, q := range d.Queries {
			samples, err := p.Query(t.Context(), q.Plain())
			if err != nil {
				t.Errorf("panel %q: %v", q.Panel, err)
			}
			filled[q.Panel] = filled[q.Panel] || slices.ContainsFunc(samples, isNumber)
		}
	}
	for _, panel := range bornPanels {
		if !filled[panel] {
			t.Errorf("the panel %q shows nothing", panel)
		}
	}
	t.Logf("both tickets %v after the start of the program", took)
}

// runBorn runs the program of TestBornWithTheFault, until it is killed, if the test binary was started as it.
func runBorn() error {
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv(bornKubeconfig))
	if err != nil {
		return err
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(promcollectors.NewProcessCollector(promcollectors.ProcessCollectorOpts{}))
	obs, err := collectors.New(registry, collectors.Options{Name: "born"})
	if err != nil {
		return err
	}
	factory := informer.NewSharedInformerFactory(obs, kubernetes.NewForConfigOrDie(config), 0, informer.FactoryOptions{})
	inf := factory.Core().V1().ConfigMaps().Informer()
	for _, transform := range []func(any) (any, error){
		func(object any) (any, error) { return object, nil },
		func(any) (any, error) { return nil, nil },
	} {
		if err := inf.SetTransform(transform); err != nil {
			return err
		}
	}
	factory.StartWithContext(context.Background())
	factory.WaitForCacheSync(context.Background().Done())
	if n := len(inf.GetStore().List()); n != 0 {
		return fmt.Errorf("the cache holds %d objects, and the fault is that it holds none", n)
	}
	server := &http.Server{Addr: os.Getenv(bornAddress), Handler: promhttp.HandlerFor(registry, promhttp.HandlerOpts{}), ReadHeaderTimeout: time.Minute}
	return server.ListenAndServe()
}
