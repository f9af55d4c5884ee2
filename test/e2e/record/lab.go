package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"

	"github.com/informer-exporter/informer-exporter/internal/testenv/faultproxy"
	"github.com/informer-exporter/informer-exporter/internal/testenv/load"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stack"
)

// Namespaces: busy has constant writes, quiet has none.
const (
	busy  = "busy"
	quiet = "quiet"
)

// lab is the environment that all rows share.
type lab struct {
	log   *slog.Logger
	dir   string
	stops []func(context.Context) error
	// exporter is the path of the program, and env the command that sets its environment.
	exporter, env string
	// plane is the control plane of rows that do not break it.
	plane *stack.ControlPlane
	// well is a healthy exporter that runs next to faulty programs.
	well *target
}

// newLab builds the exporter. The caller must close the lab, even after an error.
func newLab(ctx context.Context, log *slog.Logger) (l *lab, err error) {
	l = &lab{log: log}
	if l.env, err = exec.LookPath("env"); err != nil {
		return l, err
	}
	if l.dir, err = os.MkdirTemp("", "informer-exporter-record-"); err != nil {
		return l, err
	}
	l.onStop(func(context.Context) error { return os.RemoveAll(l.dir) })
	l.exporter, err = stack.Compile(ctx, "cmd/exporter")
	return l, err
}

// startShared starts what all rows share.
func (l *lab) startShared(ctx context.Context) (err error) {
	if l.plane, err = l.startPlane(ctx, stack.Options{}); err != nil {
		return err
	}
	if _, err := l.write(ctx, l.plane); err != nil {
		return err
	}
	l.well, err = l.startExporter(ctx, l.plane.Config(), oneKind)
	return err
}

func (l *lab) onStop(stop func(context.Context) error) { l.stops = append(l.stops, stop) }

// close stops everything in reverse order.
func (l *lab) close() error {
	var errs []error
	for _, stop := range slices.Backward(l.stops) {
		errs = append(errs, stop(context.Background()))
	}
	return errors.Join(errs...)
}

// startPlane starts a control plane with the namespaces.
func (l *lab) startPlane(ctx context.Context, o stack.Options) (*stack.ControlPlane, error) {
	o.Dir = filepath.Join(l.dir, fmt.Sprint("control-plane-", len(l.stops)))
	if err := os.Mkdir(o.Dir, 0o700); err != nil {
		return nil, err
	}
	plane, err := stack.Start(ctx, o)
	if err != nil {
		return nil, err
	}
	l.onStop(plane.Stop)
	client, err := kubernetes.NewForConfig(plane.Config())
	if err != nil {
		return nil, err
	}
	for _, name := range []string{busy, quiet} {
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if _, err := client.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
			return nil, err
		}
		for n := range 5 {
			object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("stays-", n)}}
			if _, err := client.CoreV1().ConfigMaps(name).Create(ctx, object, metav1.CreateOptions{}); err != nil {
				return nil, err
			}
		}
	}
	return plane, nil
}

// write writes to the namespace busy until the lab is closed or stop is called.
func (l *lab) write(ctx context.Context, plane *stack.ControlPlane) (stop func(), err error) {
	client, err := kubernetes.NewForConfig(plane.Config())
	if err != nil {
		return nil, err
	}
	writer, err := dynamic.NewForConfig(plane.Config())
	if err != nil {
		return nil, err
	}
	writing, err := load.Start(ctx, load.Options{
		Client: writer, Factory: informers.NewSharedInformerFactory(client, 0), Namespaces: []string{busy},
		Objects: 60, WritesPerSecond: 3, ReadsPerSecond: 1,
	})
	if err != nil {
		return nil, err
	}
	stopped := false
	stop = func() {
		if !stopped {
			stopped = true
			writing.Stop()
		}
	}
	l.onStop(func(context.Context) error { stop(); return nil })
	return stop, nil
}

// proxy starts a fault proxy in front of an address.
func (l *lab) proxy(address string) (*faultproxy.Proxy, error) {
	p, err := faultproxy.Start(address)
	if err != nil {
		return nil, err
	}
	l.onStop(func(context.Context) error { return p.Close() })
	return p, nil
}

// gate starts a gate in front of a control plane.
func (l *lab) gate(plane *stack.ControlPlane) (*gate, error) {
	g, err := newGate(plane.Config())
	if err != nil {
		return nil, err
	}
	l.onStop(func(context.Context) error { return g.server.Close() })
	return g, nil
}

// every calls f immediately and then at intervals, until ctx ends.
func every(ctx context.Context, d time.Duration, f func()) {
	for {
		f()
		if sleep(ctx, d) != nil {
			return
		}
	}
}
