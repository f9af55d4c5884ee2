package controllerruntime

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// contextKey is the key of the name of the controller that is running.
type contextKey struct{}

// controllerIn returns the name of the controller to which a context belongs, "" if there is none.
func controllerIn(ctx context.Context) string {
	name, _ := ctx.Value(contextKey{}).(string)
	return name
}

// inContext returns a controller that runs in a context with its name: a source gets informers and adds its event handlers
// in the context of the controller that starts it. It has the same optional methods as the controller itself.
func inContext(r manager.Runnable, name string) manager.Runnable {
	elected, ok := r.(electedRunnable)
	if !ok {
		return r
	}
	named := namedRunnable{elected, name}
	if warm, ok := r.(warmRunnable); ok {
		return namedWarmRunnable{named, warm}
	}
	return named
}

// electedRunnable is a runnable that may need leader election.
type electedRunnable interface {
	manager.Runnable
	manager.LeaderElectionRunnable
}

// warmRunnable is controller-runtime's unexported warmupRunnable.
type warmRunnable interface {
	Warmup(ctx context.Context) error
}

type namedRunnable struct {
	electedRunnable
	name string
}

// Start implements manager.Runnable.
func (r namedRunnable) Start(ctx context.Context) error {
	return r.electedRunnable.Start(context.WithValue(ctx, contextKey{}, r.name))
}

type namedWarmRunnable struct {
	namedRunnable
	warm warmRunnable
}

// Warmup starts sources before the manager is elected, if the controller has EnableWarmup.
func (r namedWarmRunnable) Warmup(ctx context.Context) error {
	return r.warm.Warmup(context.WithValue(ctx, contextKey{}, r.name))
}
