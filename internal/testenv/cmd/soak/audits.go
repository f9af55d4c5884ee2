package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"
)

// audited waits until two exact audits have found each of the exporter's caches consistent: only a difference that two
// audits find is reported.
func (s *soak) audited(ctx context.Context) error {
	waiting, cancel := context.WithTimeout(ctx, s.patience)
	defer cancel()
	before, err := s.consistent(waiting)
	if err != nil {
		return err
	}
	if len(before) == 0 {
		return errors.New("no cache has been audited")
	}
	for {
		unequal := s.twiceConsistent(waiting, before)
		if unequal == nil {
			fmt.Fprintf(s.out, "%d caches of the exporter are consistent with the API server in two exact audits each\n", len(before))
			return nil
		}
		if pause(waiting, time.Second) != nil {
			return unequal
		}
	}
}

func (s *soak) twiceConsistent(ctx context.Context, before map[string]float64) error {
	now, err := s.consistent(ctx)
	if err != nil {
		return err
	}
	for kind := range maps.Keys(before) {
		if now[kind] < before[kind]+2 {
			return fmt.Errorf("%s: %v consistent audits, want 2", kind, now[kind]-before[kind])
		}
	}
	different, err := s.chain.Prometheus.Query(ctx, `k8s_informer_audit_differences > 0`)
	if err != nil {
		return err
	}
	if len(different) > 0 {
		return fmt.Errorf("caches inconsistent with the API server: %v", different)
	}
	return nil
}

// consistent returns the number of consistent audits by resource.
func (s *soak) consistent(ctx context.Context) (map[string]float64, error) {
	samples, err := s.chain.Prometheus.Query(ctx, `k8s_informer_audits_total{name="informer-exporter", result="consistent"}`)
	if err != nil {
		return nil, err
	}
	counts := map[string]float64{}
	for _, sample := range samples {
		counts[sample.Labels["informer_type"]] = sample.Value
	}
	return counts, nil
}
