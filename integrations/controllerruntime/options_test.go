package controllerruntime_test

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/client-go/tools/record"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/informer-exporter/informer-exporter/collectors/spans"
	"github.com/informer-exporter/informer-exporter/integrations/controllerruntime"
	"github.com/informer-exporter/informer-exporter/internal/testenv/await"
	"github.com/informer-exporter/informer-exporter/internal/testenv/metricstest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/observertest"
)

// TestObserverOptions: each option arrives at the Observer. Three do not belong to it and have tests of their own.
func TestObserverOptions(t *testing.T) {
	fields := reflect.TypeFor[controllerruntime.Options]()
	for f := range fields.Fields() {
		switch f.Name {
		case "Observer", "Registerer", "Requests": // TestObserver, newManager, TestTypedRequests
			continue
		}
		var options controllerruntime.Options
		want := reflect.ValueOf(&options).Elem().FieldByIndex(f.Index)
		set(t, f.Name, want)
		got := reflect.ValueOf(controllerruntime.ForObserver(options, logr.Discard())).FieldByName(f.Name)
		if !got.IsValid() || !reflect.DeepEqual(got.Interface(), want.Interface()) {
			t.Errorf("%s is %v, want %v", f.Name, got, want)
		}
	}
}

// TestLogger: the Observer logs to the manager's logger.
func TestLogger(t *testing.T) {
	var log strings.Builder
	logger := funcr.New(func(_, line string) { log.WriteString(line) }, funcr.Options{})
	controllerruntime.ForObserver(controllerruntime.Options{}, logger).Logger.Warn("from the Observer")
	if !strings.Contains(log.String(), "from the Observer") {
		t.Errorf("the manager's logger has %q", log.String())
	}
}

// set gives a field, and each field of a struct, a value other than its zero value.
func set(t *testing.T, name string, v reflect.Value) {
	t.Helper()
	switch v.Kind() {
	case reflect.String:
		v.SetString(name)
	case reflect.Int, reflect.Int64:
		v.SetInt(7)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		set(t, name, v.Index(0))
	case reflect.Struct:
		for f := range v.Type().Fields() {
			set(t, f.Name, v.FieldByIndex(f.Index))
		}
	case reflect.Interface:
		v.Set(reflect.ValueOf(noSpans{}))
	default:
		t.Fatalf("no value for %s, a %s", name, v.Type())
	}
	if v.IsZero() {
		t.Fatalf("%s is %v", name, v)
	}
}

// noSpans is a Tracer.
type noSpans struct{}

func (noSpans) Start(context.Context, spans.Operation) spans.Span { return nil }

// leases is an API server that has Leases and takes the given time to update one.
type leases struct {
	update   time.Duration
	requests []*http.Request
	lease    coordinationv1.Lease // the last one that was written
}

func (l *leases) RoundTrip(r *http.Request) (*http.Response, error) {
	defer r.Body.Close()
	l.requests = append(l.requests, r)
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(body, &l.lease); err != nil {
		return nil, err
	}
	if r.Method == http.MethodPut {
		time.Sleep(l.update)
	}
	w := httptest.NewRecorder()
	w.Header().Set("Content-Type", "application/json")
	_, err = w.Write(body)
	return w.Result(), err
}

// TestLockOptions: each option of leader election arrives at the lock. Those of the elector stay with the manager.
func TestLockOptions(t *testing.T) {
	const slow = "controller_leader_slow_renewals_total"
	for name, c := range map[string]struct {
		change  func(*ctrl.Options)
		path    string // of the Lease
		timeout string // of requests: half of the renew deadline
		labels  string
		slow    float64 // renewals that took 3 s
	}{
		"defaults":                {},
		"RenewDeadline":           {change: func(o *ctrl.Options) { o.RenewDeadline = new(40 * time.Second) }, timeout: "20s"},
		"RetryPeriod":             {change: func(o *ctrl.Options) { o.RetryPeriod = new(4 * time.Second) }, slow: -1},
		"LeaderElectionID":        {change: func(o *ctrl.Options) { o.LeaderElectionID = "other" }, path: "namespaces/ns/leases/other"},
		"LeaderElectionNamespace": {change: func(o *ctrl.Options) { o.LeaderElectionNamespace = "other" }, path: "namespaces/other/leases/id"},
		"LeaderElectionLabels":    {change: func(o *ctrl.Options) { o.LeaderElectionLabels = map[string]string{"a": "b"} }, labels: "b"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				api := &leases{update: 3 * time.Second}
				obs, registry := observertest.New(t)
				options := quiet(ctrl.Options{LeaderElection: true, LeaderElectionID: "id", LeaderElectionNamespace: "ns"})
				if c.change != nil {
					c.change(&options)
				}
				lock := lockOf(t, options, func(options *ctrl.Options) {
					controllerruntime.DecorateLock(obs, leaseConfig(api), options)
				})
				hold(t, lock)
				last := api.requests[len(api.requests)-1]
				if path, want := last.URL.Path, "/apis/coordination.k8s.io/v1/"+cmp.Or(c.path, "namespaces/ns/leases/id"); path != want {
					t.Errorf("the Lease is %s, want %s", path, want)
				}
				if got, want := last.URL.Query().Get("timeout"), cmp.Or(c.timeout, "5s"); got != want {
					t.Errorf("the timeout of requests is %s, want %s", got, want)
				}
				if got := api.lease.Labels["a"]; got != c.labels {
					t.Errorf("the label of the Lease is %q, want %q", got, c.labels)
				}
				if got := metricstest.Gather(t, registry).Sum(slow); got != 1+c.slow {
					t.Errorf("%v slow renewals, want %v", got, 1+c.slow)
				}
			})
		})
	}
	t.Run("LeaderElectionConfig", func(t *testing.T) {
		own, other := &leases{}, &leases{}
		obs, _ := observertest.New(t)
		options := quiet(ctrl.Options{LeaderElection: true, LeaderElectionID: "id", LeaderElectionNamespace: "ns", LeaderElectionConfig: leaseConfig(own)})
		hold(t, lockOf(t, options, func(options *ctrl.Options) { controllerruntime.DecorateLock(obs, leaseConfig(other), options) }))
		if len(own.requests) != 2 || len(other.requests) != 0 {
			t.Errorf("%d requests with LeaderElectionConfig and %d with the manager's, want 2 and 0", len(own.requests), len(other.requests))
		}
	})
	t.Run("LeaderElectionResourceLock", func(t *testing.T) {
		obs, _ := observertest.New(t)
		options := quiet(ctrl.Options{LeaderElection: true, LeaderElectionID: "id", LeaderElectionNamespace: "ns", LeaderElectionResourceLock: "configmaps"})
		controllerruntime.DecorateLock(obs, leaseConfig(&leases{}), &options)
		if options.LeaderElectionResourceLockInterface != nil {
			t.Error("a lock of a kind that client-go no longer has was created")
		}
	})
	t.Run("EventBroadcaster", func(t *testing.T) {
		broadcaster := record.NewBroadcaster()
		defer broadcaster.Shutdown()
		recorded := make(chan string, 1)
		defer broadcaster.StartEventWatcher(func(e *corev1.Event) { recorded <- e.Message }).Stop()
		obs, _ := observertest.New(t)
		options := quiet(ctrl.Options{LeaderElection: true, LeaderElectionID: "id", LeaderElectionNamespace: "ns", EventBroadcaster: broadcaster}) //nolint:staticcheck // deprecated, and still an option of managers
		lock := lockOf(t, options, func(options *ctrl.Options) { controllerruntime.DecorateLock(obs, leaseConfig(&leases{}), options) })
		hold(t, lock)
		lock.RecordEvent("became leader")
		await.True(t, "the Event is recorded", func() bool { return len(recorded) == 1 })
		if message := <-recorded; !strings.Contains(message, "became leader") {
			t.Errorf("the Event is %q", message)
		}
	})
}

func leaseConfig(api http.RoundTripper) *rest.Config {
	return &rest.Config{Host: "http://api", Transport: api, ContentConfig: rest.ContentConfig{ContentType: "application/json"}}
}

// lockOf returns the lock that decorate sets.
func lockOf(t *testing.T, options ctrl.Options, decorate func(*ctrl.Options)) resourcelock.Interface {
	t.Helper()
	if decorate(&options); options.LeaderElectionResourceLockInterface == nil {
		t.Fatal("there is no lock")
	}
	return options.LeaderElectionResourceLockInterface
}

// hold acquires a lock and renews it once.
func hold(t *testing.T, lock resourcelock.Interface) {
	t.Helper()
	holder := resourcelock.LeaderElectionRecord{HolderIdentity: lock.Identity(), LeaseDurationSeconds: 15, RenewTime: metav1.Now()}
	if err := lock.Create(t.Context(), holder); err != nil {
		t.Fatal(err)
	}
	if err := lock.Update(t.Context(), holder); err != nil {
		t.Fatal(err)
	}
}
