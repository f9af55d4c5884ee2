package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/informer-exporter/informer-exporter/test/e2e/recording"
)

// subject is the program under a fault.
type subject struct {
	targets []*target
	// suffer injects the fault. When ctx ends, it ends the fault and returns.
	suffer func(ctx context.Context) error
}

// cluster is the label that Prometheus would add as an external label.
const cluster = "recorded"

// record scrapes a subject before, during and after its fault.
func (s *subject) record(ctx context.Context, test string, start time.Time, p phases, reads recording.Reads) (recording.Recording, error) {
	recorder := recording.NewRecorder(test, start, p.interval, reads)
	faultCtx, heal := context.WithCancel(ctx)
	defer heal()
	suffered := make(chan error, 1)
	began, healed := false, false
	for at := time.Duration(0); at <= p.before+p.during+p.after; at += p.interval {
		if err := sleepUntil(ctx, start.Add(at)); err != nil {
			return recording.Recording{}, err
		}
		for _, t := range s.targets {
			text, err := t.read(ctx)
			l := labels.FromStrings("job", t.job, "instance", t.address(), "cluster", cluster)
			if err := recorder.Scraped(l, text, err != nil); err != nil {
				return recording.Recording{}, fmt.Errorf("%s: %w", t.instance, err)
			}
		}
		switch {
		case at <= p.before:
			recorder.Phase(recording.Before)
		case at <= p.before+p.during:
			recorder.Phase(recording.During)
		default:
			recorder.Phase(recording.After)
		}
		recorder.Next()
		if at >= p.before && !began {
			began = true
			go func() { suffered <- s.suffer(faultCtx) }()
		}
		if at >= p.before+p.during && !healed {
			healed = true
			heal()
		}
	}
	select {
	case err := <-suffered:
		if err != nil && !errors.Is(err, context.Canceled) {
			return recording.Recording{}, fmt.Errorf("the fault: %w", err)
		}
		return recorder.Recording(), nil
	case <-time.After(time.Minute):
		return recording.Recording{}, errors.New("the fault does not end")
	}
}

// awaitHealthy waits until every informer is synced and connected.
func (s *subject) awaitHealthy(ctx context.Context) error {
	for _, t := range s.targets {
		var last []byte
		err := wait.PollUntilContextTimeout(ctx, 200*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
			text, err := t.read(ctx)
			last = text
			return err == nil && healthy(text), nil
		})
		if err != nil {
			return fmt.Errorf("%s is not healthy: %w\n%s", t.instance, err, last)
		}
	}
	return nil
}

func healthy(text []byte) bool {
	for line := range bytes.Lines(text) {
		gauge := bytes.HasPrefix(line, []byte("k8s_informer_synced{")) || bytes.HasPrefix(line, []byte("k8s_informer_watch_connected{"))
		if gauge && bytes.HasSuffix(bytes.TrimSpace(line), []byte(" 0")) {
			return false
		}
	}
	return true
}

func sleepUntil(ctx context.Context, t time.Time) error { return sleep(ctx, time.Until(t)) }

// sleep waits until the time has passed or ctx ends.
func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
