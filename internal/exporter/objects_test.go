package exporter

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/prometheus/client_golang/prometheus"
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	apitypes "k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/utils/ptr"

	"github.com/informer-exporter/informer-exporter/collectors/catalog"
	"github.com/informer-exporter/informer-exporter/collectors/objects"
	"github.com/informer-exporter/informer-exporter/internal/testenv/faultproxy"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

// The exporter reports Leases, deletions and generations of a real cluster, and stops when the resource is watched no
// longer.
func TestObjectsOfACluster(t *testing.T) {
	admin, namespace := stacktest.Config(t), stacktest.Namespace(t)
	client := kubernetes.NewForConfigOrDie(admin)
	e := newReal(t, Options{REST: admin, Config: Config{
		Namespaces: []string{namespace},
		Resources:  []Resource{{Name: "configmaps"}, {Name: "leases.coordination.k8s.io"}, {Name: "deployments.apps"}, {Name: "services"}},
	}})
	run(t, e, admin)
	waitReady(t, e)
	reports := func(what string, m catalog.Definition, label string, want map[string]float64) {
		t.Helper()
		eventually(t, what, func() bool {
			return fmt.Sprint(values(t, e.Gatherer(), m.Define().Name, label)) == fmt.Sprint(want)
		}, func() string { return fmt.Sprint(values(t, e.Gatherer(), m.Define().Name, label)) })
	}
	terminating := map[string]float64{"configmaps": 0, "leases.coordination.k8s.io": 0, "deployments.apps": 0, "services": 0}
	reports("nothing in deletion", catalog.ObjectTerminating, "informer_type", terminating)
	reports("nothing behind", catalog.ObjectGenerationLag, "informer_type", map[string]float64{"deployments.apps": 0})

	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: "lock"}, Spec: coordinationv1.LeaseSpec{
		HolderIdentity: ptr.To("somebody"), LeaseDurationSeconds: ptr.To[int32](3600), RenewTime: ptr.To(metav1.NowMicro()), LeaseTransitions: ptr.To[int32](5),
	}}
	if _, err := client.CoordinationV1().Leases(namespace).Create(t.Context(), lease, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	reports("the holder", catalog.LeaseHolderInfo, "holder", map[string]float64{"somebody": 1})
	reports("its changes", catalog.LeaseTransitions, "lease", map[string]float64{"lock": 5})
	reports("its state", catalog.LeaseExpired, "lease_namespace", map[string]float64{namespace: 0})

	config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "held", Finalizers: []string{"example.com/held"}}}
	if _, err := client.CoreV1().ConfigMaps(namespace).Create(t.Context(), config, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := client.CoreV1().ConfigMaps(namespace).Delete(t.Context(), "held", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	terminating["configmaps"] = 1
	reports("one in deletion", catalog.ObjectTerminating, "informer_type", terminating)

	labels := map[string]string{"app": "test"}
	if _, err := client.AppsV1().Deployments(namespace).Create(t.Context(), &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "d"},
		Spec: appsv1.DeploymentSpec{Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}},
		}},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	reports("one behind", catalog.ObjectGenerationLag, "informer_type", map[string]float64{"deployments.apps": 1})

	var left []subject
	for _, target := range e.targets.list() {
		if target.kind.Type() == "configmaps" {
			left = append(left, target.subject)
		}
	}
	if err := e.targets.become(left); err != nil {
		t.Fatal(err)
	}
	reports("configmaps only", catalog.ObjectTerminating, "informer_type", map[string]float64{"configmaps": 1})
	for _, m := range []catalog.Definition{catalog.ObjectGenerationLag, catalog.LeaseExpired, catalog.LeaseHolderInfo, catalog.LeaseObjects} {
		reports("no "+m.Define().Name, m, m.Define().Labels[0].Name, map[string]float64{})
	}
	if _, err := client.CoreV1().ConfigMaps(namespace).Patch(t.Context(), "held", apitypes.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	reports("nothing in deletion again", catalog.ObjectTerminating, "informer_type", map[string]float64{"configmaps": 0})
}

// While the exporter is cut off, it does not say of Leases that nobody holds them; when it hears again that they have not
// been renewed, it does.
func TestLeasesOfAClusterOutOfReach(t *testing.T) {
	admin, namespace := stacktest.Config(t), stacktest.Namespace(t)
	proxy, err := faultproxy.Start(stacktest.ControlPlane(t).APIServer.Address, "")
	if err != nil {
		t.Fatal(err)
	}
	const seconds = 15
	e := newReal(t, Options{REST: proxy.RESTConfig(admin), Config: Config{
		Namespaces: []string{namespace}, Resources: []Resource{{Name: "leases.coordination.k8s.io"}},
	}})
	run(t, e, admin)
	t.Cleanup(func() { _ = proxy.Close() })
	waitReady(t, e)
	expired := func() map[string]float64 { return values(t, e.Gatherer(), catalog.LeaseExpired.Name, "lease") }
	lag := func() float64 {
		return values(t, e.Gatherer(), catalog.InformerSyncLag.Name, "informer_type")["leases.coordination.k8s.io"]
	}
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: "lock"}, Spec: coordinationv1.LeaseSpec{
		HolderIdentity: ptr.To("somebody"), LeaseDurationSeconds: ptr.To[int32](seconds), RenewTime: ptr.To(metav1.NowMicro()),
	}}
	if _, err := kubernetes.NewForConfigOrDie(admin).CoordinationV1().Leases(namespace).Create(t.Context(), lease, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the Lease", func() bool { return len(expired()) == 1 }, func() string { return "" })
	proxy.Cut()
	eventually(t, "a lag of more than the Lease's duration", func() bool {
		if expired()["lock"] != 0 {
			t.Fatal("the exporter knows nothing and says that the Lease has expired")
		}
		return lag() > seconds+1
	}, func() string { return fmt.Sprint(lag()) })
	if err := proxy.Restore(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "that it has expired", func() bool { return expired()["lock"] == 1 }, func() string { return fmt.Sprint(lag()) })
}

// What is read as a whole follows from the configuration.
func TestContents(t *testing.T) {
	off := ptr.To(false)
	for _, c := range []struct {
		objects Objects
		kind    Kind
		want    content
	}{
		{Objects{}, Kind{Group: "coordination.k8s.io", Version: "v1", Resource: "leases"}, wholeLeases},
		{Objects{Leases: off}, Kind{Group: "coordination.k8s.io", Version: "v1", Resource: "leases"}, withGenerations},
		{Objects{Leases: off, Generations: off}, Kind{Group: "coordination.k8s.io", Version: "v1", Resource: "leases"}, onlyMetadata},
		{Objects{}, Kind{Group: "coordination.k8s.io", Version: "v1beta1", Resource: "leases"}, withGenerations},
		{Objects{}, Kind{Group: "apps", Version: "v1", Resource: "deployments"}, withGenerations},
		{Objects{Generations: off}, Kind{Group: "apps", Version: "v1", Resource: "deployments"}, onlyMetadata},
		{Objects{WithoutGenerations: []string{"deployments.apps"}}, Kind{Group: "apps", Version: "v1", Resource: "deployments"}, onlyMetadata},
		{Objects{WithoutGenerations: []string{"*.apps"}}, Kind{Group: "apps", Version: "v1", Resource: "deployments"}, onlyMetadata},
		{Objects{}, Kind{Version: "v1", Resource: "pods"}, onlyMetadata},
		{Objects{}, Kind{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}, onlyMetadata},
		{Objects{WithoutGenerations: []string{}}, Kind{Version: "v1", Resource: "pods"}, withGenerations},
	} {
		if got := c.objects.content(c.kind); got != c.want {
			t.Errorf("%+v, %v: %q, want %q", c.objects, c.kind, got, c.want)
		}
	}
	watched := func(c Config) bool {
		return slices.ContainsFunc(c.choose(nil, nil), func(c choice) bool { return c.Type() == leasesType })
	}
	if !watched(Config{}) || watched(Config{Objects: Objects{Leases: off}}) || !watched(Config{Objects: Objects{Leases: off}, ExtraResources: []Resource{{Name: leasesType}}}) {
		t.Error("Leases are a default kind unless they are off")
	}
}

// read tells from which client something was read.
type (
	readMetadata struct{ metadata.ResourceInterface }
	readWholly   struct{ dynamic.ResourceInterface }
)

func (readMetadata) List(context.Context, metav1.ListOptions) (*metav1.PartialObjectMetadataList, error) {
	return &metav1.PartialObjectMetadataList{ListMeta: metav1.ListMeta{Continue: "more metadata"}}, nil
}

func (readMetadata) Watch(context.Context, metav1.ListOptions) (watch.Interface, error) {
	return nil, errors.New("metadata")
}

func (readWholly) List(context.Context, metav1.ListOptions) (*unstructured.UnstructuredList, error) {
	return &unstructured.UnstructuredList{}, nil
}

func (readWholly) Watch(context.Context, metav1.ListOptions) (watch.Interface, error) {
	return nil, errors.New("whole")
}

// Whole objects are read where they have generations, of which each full state asks anew, and never for an audit.
func TestWhatIsReadAsAWhole(t *testing.T) {
	collector, err := objects.New(prometheus.NewRegistry(), objects.Options{})
	if err != nil {
		t.Fatal(err)
	}
	described, missing := true, 0
	g := &generations{
		kind: collector.Kind("things"), log: slog.New(slog.DiscardHandler), metadata: readMetadata{}, whole: readWholly{},
		observed: func(ctx context.Context) (bool, error) {
			if _, limited := ctx.Deadline(); limited {
				t.Error("the wait for a description limits the requests")
			}
			if missing > 0 {
				missing--
				return false, objects.ErrUndescribed
			}
			return described, nil
		},
	}
	list := func(options metav1.ListOptions) string {
		l, err := g.List(t.Context(), options)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("%T", l)
	}
	watched := func(options metav1.ListOptions) string {
		_, err := g.Watch(t.Context(), options)
		return err.Error()
	}
	const wholeList, metadataList = "*unstructured.UnstructuredList", "*v1.PartialObjectMetadataList"
	streaming := metav1.ListOptions{SendInitialEvents: ptr.To(true)}
	for i, step := range []struct{ got, want string }{
		{watched(metav1.ListOptions{}), "metadata"}, // nobody has asked yet
		{list(metav1.ListOptions{}), wholeList},
		{watched(metav1.ListOptions{}), "whole"},
		{list(metav1.ListOptions{ResourceVersion: "7", ResourceVersionMatch: metav1.ResourceVersionMatchExact}), metadataList},
		{list(metav1.ListOptions{Continue: "more metadata"}), metadataList}, // of the audit
		{list(metav1.ListOptions{Continue: "more whole objects"}), wholeList},
	} {
		if step.got != step.want {
			t.Errorf("step %d: %s, want %s", i, step.got, step.want)
		}
	}
	described = false
	if got := watched(metav1.ListOptions{}); got != "whole" {
		t.Errorf("the watch of what was listed as a whole: %s", got)
	}
	if got := watched(streaming); got != "metadata" {
		t.Errorf("without the field: %s", got)
	}
	described, missing = true, 1
	if got := watched(streaming); got != "whole" || missing != 0 {
		t.Errorf("described a moment later: %s", got)
	}
}

// What is not known is worth a warning, unless it is so for a good reason.
func TestUnknownGenerationsAreLogged(t *testing.T) {
	collector, err := objects.New(prometheus.NewRegistry(), objects.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	failure := errors.New("reset by peer")
	for _, c := range []struct {
		name  string
		ctx   context.Context
		err   error
		level string
	}{
		{"a server that fails", t.Context(), failure, "WARN"},
		{"a server without a description", t.Context(), objects.ErrUndescribed, "DEBUG"},
		{"a target that has ended", ended, failure, "DEBUG"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(*testing.T) {
				var out strings.Builder
				g := &generations{
					kind: collector.Kind("things"), log: slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug})),
					observed: func(context.Context) (bool, error) { return true, c.err },
				}
				g.decide(c.ctx)
				if !strings.Contains(out.String(), "level="+c.level) || !g.reads.Load() {
					t.Errorf("whole objects: %t, log: %q", g.reads.Load(), out.String())
				}
			})
		})
	}
}
