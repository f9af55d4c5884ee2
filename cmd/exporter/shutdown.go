package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"
)

// step is one step of a shutdown. A timeout of 0 is for steps that do not wait.
type step struct {
	name    string
	timeout time.Duration
	run     func(ctx context.Context) error
}

// shutdown runs the steps in their order and logs how each one ended. A step that fails or takes too long does not keep
// the next ones from running. Together they must end before Kubernetes kills the pod, which it does after 30 seconds.
func shutdown(log *slog.Logger, steps ...step) error {
	began := time.Now()
	var errs []error
	for _, s := range steps {
		if err := s.do(log); err != nil {
			errs = append(errs, fmt.Errorf("shutdown: %s: %w", s.name, err))
		}
	}
	log.Info("Shut down", "duration", time.Since(began), "failed_steps", len(errs))
	return errors.Join(errs...)
}

func (s step) do(log *slog.Logger) error {
	// Not derived from the context whose end is the reason for the shutdown.
	ctx := context.Background()
	if s.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, s.timeout)
		defer cancel()
	}
	began := time.Now()
	if err := s.run(ctx); err != nil {
		log.Error("Shutdown step failed", "step", s.name, "duration", time.Since(began), "err", err)
		return err
	}
	log.Info("Shutdown step done", "step", s.name, "duration", time.Since(began))
	return nil
}
