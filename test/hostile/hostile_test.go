package hostile_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/collectors/informer"
	"github.com/informer-exporter/informer-exporter/internal/testenv/await"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/port"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stack"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

func TestMain(m *testing.M) { stacktest.Main(m) }

// memoryLimit is GOMEMLIMIT: 80% of containerLimit, the memory limit of the manifests.
const memoryLimit, containerLimit = 205, 256 // MiB

// logLimit is more than the burst of each place that logs. A single message of some servers is larger.
const logLimit = 4 << 20

// signal is what the exporter reports about a case.
type signal struct {
	alerts []string // at least one of them fires
	state  string   // without an alert
	values map[string]func(float64) bool
}

func none(value float64) bool { return value == 0 }
func some(value float64) bool { return value > 0 }

var up, synced = catalog.ExporterKindUp.Name, catalog.InformerSynced.Name

// signals are the signals of cases with a first request that succeeds. All other cases have the signal of the empty key.
var signals = map[string]signal{
	"wrongkinds":      {alerts: []string{"InformerListWatchErrors"}, values: values{catalog.InformerSyncErrors.Name: some, up: some}},
	"unknownevents":   {alerts: []string{"InformerListWatchErrors"}, values: values{catalog.InformerSyncErrors.Name: some, up: some}},
	"jumpingversions": {alerts: []string{"InformerVersionRegression"}, values: values{catalog.InformerResourceVersionRegressions.Name: some}},
	"futurebookmarks": {alerts: []string{"InformerVersionRegression"}, values: values{catalog.InformerResourceVersionRegressions.Name: some}},
	"othernamespaces": {alerts: []string{"InformerForeignObjects"}, values: values{catalog.InformerForeignObjects.Name: some}},
	"giantlabels":     {alerts: []string{"ClusterObjectHeld"}, values: values{catalog.ObjectTerminatingOldest.Name: some, synced: some}},
	"hugelists":       {state: "none: synced, with all objects", values: values{catalog.InformerObjects.Name: func(value float64) bool { return value == 50_000 }, synced: some}},
	"warnings":        {state: "none: synced, with all objects", values: values{catalog.InformerObjects.Name: some, synced: some}},
	"duplicateuids":   {state: "none: synced, with all objects", values: values{catalog.InformerObjects.Name: some, synced: some}},
	"slowresponses":   opened,
	"garbage":         opened,
	"garbled":         opened,
	"halfjson":        opened,
	"deepjson":        opened,
	"wrongtypes":      changing,
	"contradictions":  changing,
	"endlessframe":    {alerts: []string{"InformerListWatchErrors"}, values: values{catalog.InformerSyncErrors.Name: some, up: some}},
	"longmessages":    {alerts: []string{"InformerExporterKindDown"}, values: values{up: none}},
	"":                {alerts: []string{"InformerExporterKindDown"}, values: values{synced: none, up: none}},
}

type values = map[string]func(float64) bool

var (
	// A watch is opened, and its events cannot be read.
	opened = signal{alerts: []string{"InformerNotSynced"}, values: values{synced: none, up: some}}
	// The server decides at random whether a watch is opened.
	changing = signal{alerts: []string{"InformerNotSynced", "InformerExporterKindDown"}, values: values{synced: none}}
)

// signalOf returns the signal of a case.
func signalOf(c hostileCase) signal {
	if s, found := signals[c.Resource]; found {
		return s
	}
	return signals[""]
}

// inProgram returns the signal of a program with the library, which has no metrics of the exporter.
func (s signal) inProgram() signal {
	s.values = maps.Clone(s.values)
	delete(s.values, up)
	delete(s.values, catalog.ObjectTerminatingOldest.Name)
	if slices.Contains(s.alerts, "InformerExporterKindDown") {
		s.alerts = []string{"InformerNotSynced"}
	}
	if slices.Contains(s.alerts, "ClusterObjectHeld") {
		s.alerts = nil
	}
	return s
}

// text returns the signal as in docs/dev/chaos.md.
func (s signal) text() string { return cmp.Or(strings.Join(s.alerts, " or "), s.state) }

// check returns an error unless a program has the signal of a case.
func (s signal) check(c hostileCase, samples metricstest.Samples) error {
	for metric, holds := range s.values {
		found, value := false, 0.0
		for _, sample := range samples {
			if sample.Name == metric && sample.Labels["informer_type"] == c.Resource+"."+hostileGroup {
				found = true
				value += sample.Value
			}
		}
		if !found || !holds(value) {
			return fmt.Errorf("%s: %s is %v (%v)", c.Resource, metric, value, found)
		}
	}
	return nil
}

// world is the hostile server, and the one honest resource: ConfigMaps in a namespace.
type world struct {
	server    *hostileServer
	client    kubernetes.Interface
	namespace string
}

func newWorld(t *testing.T) world {
	t.Helper()
	seed := rand.Uint64()
	if text := os.Getenv("SEED"); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("SEED=%d", seed)
	server, err := startHostile(stacktest.Config(t), seed)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	return world{server, kubernetes.NewForConfigOrDie(stacktest.Config(t)), stacktest.Namespace(t)}
}

// create creates a ConfigMap.
func (w world) create(t *testing.T) {
	t.Helper()
	object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "honest-"}}
	if _, err := w.client.CoreV1().ConfigMaps(w.namespace).Create(t.Context(), object, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// exact returns an error unless a program has as many ConfigMaps as the API server.
func (w world) exact(ctx context.Context, samples metricstest.Samples) error {
	list, err := w.client.CoreV1().ConfigMaps(w.namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	seen := false
	for _, s := range samples {
		seen = seen || s.Name == catalog.InformerSynced.Name && s.Labels["informer_type"] == "configmaps"
		if s.Name == catalog.InformerObjects.Name && s.Labels["informer_type"] == "configmaps" && int(s.Value) != len(list.Items) {
			return fmt.Errorf("%v ConfigMaps, the API server has %d", s.Value, len(list.Items))
		}
		if s.Name == catalog.InformerSynced.Name && s.Labels["informer_type"] == "configmaps" && s.Value != 1 {
			return errors.New("the ConfigMaps are not synced")
		}
	}
	if !seen {
		return errors.New("there is no informer of ConfigMaps")
	}
	return nil
}

// program is a running exporter.
type program struct {
	*stack.Server
	url string
	pid int
}

func (w world) start(t *testing.T, binary string, cases ...hostileCase) program {
	t.Helper()
	config := "namespaces: [" + w.namespace + "]\nchecks: {audit: 1s, freshness: 1s}\nresources:\n- configmaps\n"
	for _, c := range cases {
		config += "- " + c.Resource + "." + hostileGroup + "\n"
	}
	return start(t, binary, w.server.Config(), config)
}

// start starts an exporter with the contents of its configuration file.
func start(t *testing.T, binary string, server *rest.Config, config string) program {
	t.Helper()
	address := port.Address(port.Free())
	dir := t.TempDir()
	file := filepath.Join(dir, "config.yaml")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	p := program{url: "http://" + address}
	var err error
	p.Server, err = stack.StartCommand(t.Context(), stack.Command{
		Name: "exporter", Program: binary, Dir: dir, Ready: stack.Answers(p.url + "/livez"), Env: []string{fmt.Sprintf("GOMEMLIMIT=%dMiB", memoryLimit)},
		Args: []string{"--log.format=json", "--kubeconfig=" + stacktest.Kubeconfig(t, server), "--config.file=" + file, "--web.listen-address=" + address},
	})
	if err != nil {
		t.Fatal(err)
	}
	p.pid = p.PID()
	t.Cleanup(func() {
		if p.PID() != p.pid {
			t.Errorf("the exporter has exited:\n%s", p.LogTail())
		}
		_ = p.Stop(context.Background()) // it has exited in either case
	})
	return p
}

// peak returns the largest resident memory so far in MiB, or 0 if the system does not report it.
func (p program) peak() int {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.pid)) // only on Linux
	for line := range strings.Lines(string(status)) {
		if text, found := strings.CutPrefix(line, "VmHWM:"); found {
			kibibytes, _ := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(text), " kB"))
			return kibibytes >> 10
		}
	}
	return 0
}

// build builds the exporter without the race detector, which would take several times the memory.
func build(t *testing.T) string {
	t.Helper()
	binary, err := stack.Compile(t.Context(), "cmd/exporter")
	if err != nil {
		t.Fatal(err)
	}
	return binary
}

// The exporter survives all cases, reports what is wrong, and has each new object of another resource. FOR=1m tries each
// case alone for this time, and limits its memory.
func TestExporter(t *testing.T) {
	w := newWorld(t)
	binary := build(t)
	w.create(t)
	if d := lasting(t); d > 0 {
		alone(t, w, binary, d)
		return
	}
	var together []hostileCase
	for _, c := range hostileCases {
		if slices.Contains(breaksConnections, c.Resource) {
			survive(t, w, binary, c)
		} else {
			together = append(together, c)
		}
	}
	survive(t, w, binary, together...)
	if requests, tokens := w.server.Redirected(); requests > 0 || tokens > 0 {
		t.Errorf("%d requests, %d of them with the token, have followed a redirect", requests, tokens)
	}
}

// lasting returns the duration in FOR, 0 without one.
func lasting(t *testing.T) time.Duration {
	t.Helper()
	text := os.Getenv("FOR")
	if text == "" {
		return 0
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// breaksConnections are cases that end HTTP/2 connections, which all informers of a process share.
var breaksConnections = []string{"giantheaders"}

// survive starts an exporter and waits until it has the signals of all cases and each new object of the honest resource.
func survive(t *testing.T, w world, binary string, cases ...hostileCase) {
	t.Helper()
	p := w.start(t, binary, cases...)
	var samples metricstest.Samples
	for range 2 {
		w.create(t)
		await.Within(t, 10*time.Minute, "the signals of all cases", func(ctx context.Context) error {
			var err error
			if samples, err = metricstest.Scrape(ctx, p.url+"/metrics"); err != nil {
				return err
			}
			return w.right(ctx, samples, cases, signalOf)
		})
	}
	alert(t, samples, cases, signalOf)
	info, err := os.Stat(p.LogFile())
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() > logLimit {
		t.Errorf("the exporter has logged %d bytes", info.Size())
	}
	t.Logf("%d cases, peak %d MiB, %d KiB of log", len(cases), p.peak(), info.Size()>>10)
}

// right returns an error unless a program has the signals of all cases and the honest objects.
func (w world) right(ctx context.Context, samples metricstest.Samples, cases []hostileCase, of func(hostileCase) signal) error {
	errs := []error{w.exact(ctx, samples)}
	for _, c := range cases {
		errs = append(errs, of(c).check(c, samples))
	}
	return errors.Join(errs...)
}

// alone runs each case with a separate exporter, several at a time.
func alone(t *testing.T, w world, binary string, d time.Duration) {
	for _, c := range hostileCases {
		t.Run(c.Resource, func(t *testing.T) {
			t.Parallel()
			p := w.start(t, binary, c)
			time.Sleep(d)
			var samples metricstest.Samples
			await.Within(t, time.Minute, "the signal", func(ctx context.Context) error {
				var err error
				if samples, err = metricstest.Scrape(ctx, p.url+"/metrics"); err != nil {
					return err
				}
				return w.right(ctx, samples, []hostileCase{c}, signalOf)
			})
			alert(t, samples, []hostileCase{c}, signalOf)
			peak := p.peak()
			t.Logf("%s: %s, %d MiB", c.Does, signalOf(c).text(), peak)
			if peak > containerLimit {
				t.Errorf("the exporter used %d MiB", peak)
			}
		})
	}
}

// unlimited are the cases with responses of a size that client-go does not limit.
var unlimited = []string{"hugelists", "endlesspages", "gzipbombs", "tinyitems", "endlessframe"}

// A program with the library survives all cases that client-go survives, and reports them. With FOR=1m, it runs for this
// time.
func TestProgram(t *testing.T) {
	w := newWorld(t)
	var together []hostileCase
	for _, c := range hostileCases {
		switch {
		case slices.Contains(unlimited, c.Resource):
		case slices.Contains(breaksConnections, c.Resource):
			surviveInProgram(t, w, c)
		default:
			together = append(together, c)
		}
	}
	surviveInProgram(t, w, together...)
}

// surviveInProgram is like survive, for informers of this process.
func surviveInProgram(t *testing.T, w world, cases ...hostileCase) {
	t.Helper()
	observer, registry := observertest.New(t)
	factory := informer.NewMetadataSharedInformerFactory(observer, metadata.NewForConfigOrDie(w.server.Config()), 0, informer.FactoryOptions{Namespace: w.namespace})
	factory.ForResource(corev1.SchemeGroupVersion.WithResource("configmaps")).Informer()
	for _, c := range cases {
		factory.ForResource(schema.GroupVersionResource{Group: hostileGroup, Version: "v1", Resource: c.Resource}).Informer()
	}
	ctx, cancel := context.WithCancel(t.Context())
	factory.Start(ctx.Done())
	defer factory.Shutdown()
	defer cancel()
	inProgram := func(c hostileCase) signal { return signalOf(c).inProgram() }
	var samples metricstest.Samples
	for round := range 2 {
		w.create(t)
		await.Within(t, 10*time.Minute, "the signals of all cases", func(ctx context.Context) error {
			samples = metricstest.Gather(t, registry)
			return w.right(ctx, samples, cases, inProgram)
		})
		if round == 0 {
			time.Sleep(lasting(t))
		}
	}
	alert(t, samples, cases, inProgram)
}
