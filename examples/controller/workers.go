package main

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"

	"github.com/informer-exporter/informer-exporter/collectors/queue"
)

// workers reconcile the items of a queue.
type workers struct {
	queue      *queue.Queue[string]
	reconcile  func(context.Context, string) (result, error)
	maxRetries int
	running    sync.WaitGroup
}

// start starts n workers, which return when the queue has been shut down and is empty.
func (w *workers) start(ctx context.Context, n int) {
	for range n {
		w.running.Go(func() {
			for key, shutdown := w.queue.Get(); !shutdown; key, shutdown = w.queue.Get() {
				w.process(ctx, key)
			}
		})
	}
}

func (w *workers) process(ctx context.Context, key string) {
	defer w.queue.Done(key)
	var res result
	err := recovered(func() (err error) {
		res, err = w.reconcile(ctx, key)
		return err
	})
	if reason := retry(w.queue, key, err, w.maxRetries); reason != "" {
		slog.Error("item dropped until its next event", "key", key, "reason", reason, "err", err)
	}
	if err == nil && res.RequeueAfter > 0 {
		w.queue.AddAfter(key, res.RequeueAfter)
	}
}

// drain waits until all workers have returned.
func (w *workers) drain(context.Context) error {
	w.running.Wait()
	return nil
}

// recovered calls f and returns a panic as an error, so that one broken object does not end the program. The library's
// decorators inside f count the panic before it gets here.
func recovered(f func() error) (err error) {
	defer func() {
		switch value := recover().(type) {
		case nil:
		case panicError: // logged already
			err = value
		default:
			slog.Error("panic", "value", value, "stack", string(debug.Stack()))
			err = panicError{value}
		}
	}()
	return f()
}

type panicError struct{ value any }

// Error implements error.
func (e panicError) Error() string { return fmt.Sprintf("panic: %v", e.value) }
