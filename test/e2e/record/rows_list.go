package main

import (
	"context"
	"net/http"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// starting is an exporter and a program that are started again, and then a gate answers their lists.
func starting(a answer) func(context.Context, *lab) (*subject, error) {
	return startingWith(func(g *gate) { g.answerWith(a) })
}

// startingWith is starting for a gate that does something else than to answer.
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

// missedDelete is an exporter whose watch is down for five seconds, in which objects are deleted, and then too old.
func missedDelete(ctx context.Context, l *lab) (*subject, error) {
	return gated(exporterOptions{}, func(ctx context.Context, g *gate) {
		back := time.Now().Add(5 * time.Second)
		g.answerWith(func(w http.ResponseWriter, r *http.Request) bool {
			if !isWatch(r) {
				return false
			}
			_ = sleepUntil(r.Context(), back)
			g.answerWith(nil) // the others that wait here are answered, too
			return status(isWatch, http.StatusGone, metav1.StatusReasonExpired)(w, r)
		})
		g.end()
		<-ctx.Done()
	})(ctx, l)
}
