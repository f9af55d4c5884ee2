package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"
)

// step is a step of the shutdown. A timeout of 0 is for steps that do not wait.
type step struct {
	name    string
	timeout time.Duration
	run     func(ctx context.Context) error
}

// shutdown runs steps in order and logs their results. A step that fails or times out does not prevent the next one. The
// timeouts must add up to less than the 30 seconds after which Kubernetes kills the pod.
func shutdown(log *slog.Logger, steps ...step) error {
	began := time.Now()
	var errs []error
	for _, s := range steps {
		if err := s.do(log); err != nil {
			errs = append(errs, fmt.Errorf("shutdown: %s: %w", s.name, err))
		}
	}
	log.Info("shutdown finished", "duration", time.Since(began), "failed_steps", len(errs))
	return errors.Join(errs...)
}

func (s step) do(log *slog.Logger) error {
	// Not derived from the canceled context of the program.
	ctx := context.Background()
	if s.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, s.timeout)
		defer cancel()
	}
	began := time.Now()
	if err := s.run(ctx); err != nil {
		log.Error("shutdown step failed", "step", s.name, "duration", time.Since(began), "err", err)
		return err
	}
	log.Info("shutdown step finished", "step", s.name, "duration", time.Since(began))
	return nil
}
