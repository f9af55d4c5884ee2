package controllerruntime

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// contextKey is the key of the name of the controller that is running.
type contextKey struct{}

// controllerIn returns the name of the controller to which a context belongs, "" if it is not observed. It returns false for the
// context of a controller that was not added to an observed manager.
func controllerIn(ctx context.Context) (name string, ok bool) {
	name, ok = ctx.Value(contextKey{}).(string)
	return name, ok
}

// inContext returns a controller that runs in a context with its name: a source gets informers and adds its event handlers
// in the context of the controller that starts it. It has the same optional methods as the controller itself.
func inContext(r manager.Runnable, name string) manager.Runnable {
	named := namedRunnable{r, name}
	elected, elects := r.(manager.LeaderElectionRunnable)
	warm, warms := r.(warmRunnable)
	switch {
	case elects && warms:
		return struct {
			namedElectedRunnable
			namedWarmup
		}{namedElectedRunnable{named, elected}, namedWarmup{warm, name}}
	case elects:
		return namedElectedRunnable{named, elected}
	case warms:
		return struct {
			namedRunnable
			namedWarmup
		}{named, namedWarmup{warm, name}}
	}
	return named
}

// warmRunnable is controller-runtime's unexported warmupRunnable.
type warmRunnable interface {
	Warmup(ctx context.Context) error
}

type namedRunnable struct {
	manager.Runnable
	name string
}

// Start implements manager.Runnable.
func (r namedRunnable) Start(ctx context.Context) error {
	return r.Runnable.Start(context.WithValue(ctx, contextKey{}, r.name))
}

type namedElectedRunnable struct {
	namedRunnable
	manager.LeaderElectionRunnable
}

type namedWarmup struct {
	warm       warmRunnable
	controller string
}

// Warmup starts sources before the manager is elected, if the controller has EnableWarmup.
func (w namedWarmup) Warmup(ctx context.Context) error {
	return w.warm.Warmup(context.WithValue(ctx, contextKey{}, w.controller))
}
