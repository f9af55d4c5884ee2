package main

import (
	"context"
	"net/http"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// starting prepares an exporter and a program behind a gate. The fault restarts both, with a gate that responds to their
// lists.
func starting(a answer) func(context.Context, *lab) (*subject, error) {
	return startingWith(func(g *gate) { g.answerWith(a) })
}

// startingWith is like starting, but with any change of the gate.
func startingWith(begin func(*gate)) func(context.Context, *lab) (*subject, error) {
	return func(ctx context.Context, l *lab) (*subject, error) {
		g, err := l.gate(l.plane)
		if err != nil {
			return nil, err
		}
		exporter, err := l.startExporter(ctx, g.config(), oneKind)
		if err != nil {
			return nil, err
		}
		_, program, err := l.startProgram(g.config(), ordinary)
		if err != nil {
			return nil, err
		}
		targets := []*target{exporter, program}
		return &subject{targets, func(ctx context.Context) error {
			begin(g)
			if err := restart(ctx, targets); err != nil {
				return err
			}
			<-ctx.Done()
			g.answerWith(nil)
			g.lose("")
			return nil
		}}, nil
	}
}

// missedDelete prepares an exporter with watches that are down for five seconds and then expired. Objects are deleted during
// that time.
func missedDelete(ctx context.Context, l *lab) (*subject, error) {
	return gated(exporterOptions{}, func(ctx context.Context, g *gate) {
		back := time.Now().Add(5 * time.Second)
		g.answerWith(func(w http.ResponseWriter, r *http.Request) bool {
			if !isWatch(r) {
				return false
			}
			_ = sleepUntil(r.Context(), back)
			g.answerWith(nil) // also responds to other waiting requests
			return status(isWatch, http.StatusGone, metav1.StatusReasonExpired)(w, r)
		})
		g.end()
		<-ctx.Done()
	})(ctx, l)
}
