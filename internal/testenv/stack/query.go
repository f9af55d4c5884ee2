package stack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/prometheus/common/model"
)

// Sample is one element of the result of an instant query.
type Sample struct {
	Labels map[string]string
	Value  float64
}

// Rule is a loaded alerting or recording rule.
type Rule struct {
	Group     string `json:"-"`
	Name      string `json:"name"`
	Type      string `json:"type"`   // alerting or recording
	Health    string `json:"health"` // ok, err, or unknown before the first evaluation
	LastError string `json:"lastError"`
	State     string `json:"state"` // inactive, pending or firing; empty for recording rules
}

// Target is a scrape target.
type Target struct {
	Job       string `json:"scrapePool"`
	URL       string `json:"scrapeUrl"`
	Health    string `json:"health"` // up, down, or unknown before the first scrape
	LastError string `json:"lastError"`
}

// Exemplars are the exemplars of a series.
type Exemplars struct {
	Series    map[string]string `json:"seriesLabels"`
	Exemplars []Exemplar        `json:"exemplars"`
}

// Exemplar is an exemplar, with its own labels.
type Exemplar struct {
	Labels map[string]string `json:"labels"`
	Value  float64           `json:"value,string"`
}

// Query evaluates an expression now. A scalar is one Sample without labels.
func (p *Prometheus) Query(ctx context.Context, expression string) (samples []Sample, err error) {
	var data struct {
		Type   model.ValueType `json:"resultType"`
		Result json.RawMessage `json:"result"`
	}
	if err := p.get(ctx, "/api/v1/query", url.Values{"query": {expression}}, &data); err != nil {
		return nil, fmt.Errorf("query %s: %w", expression, err)
	}
	switch data.Type {
	case model.ValVector:
		var vector []struct {
			Metric map[string]string `json:"metric"`
			Value  model.SamplePair  `json:"value"`
		}
		err = json.Unmarshal(data.Result, &vector)
		for _, v := range vector {
			samples = append(samples, Sample{v.Metric, float64(v.Value.Value)})
		}
	case model.ValScalar:
		var scalar model.Scalar
		err = json.Unmarshal(data.Result, &scalar)
		samples = []Sample{{Value: float64(scalar.Value)}}
	default:
		err = fmt.Errorf("the result is a %s; query an instant vector or a scalar", data.Type)
	}
	if err != nil {
		return nil, fmt.Errorf("query %s: %w", expression, err)
	}
	return samples, nil
}

// Exemplars returns the exemplars of the series in an expression, scraped since a point in time.
func (p *Prometheus) Exemplars(ctx context.Context, expression string, since time.Time) (all []Exemplars, err error) {
	q := url.Values{"query": {expression}, "start": {since.Format(time.RFC3339)}, "end": {time.Now().Add(time.Minute).Format(time.RFC3339)}}
	err = p.get(ctx, "/api/v1/query_exemplars", q, &all)
	return all, err
}

// WaitQuery evaluates an expression until ok accepts the result, and returns it. If ctx ends first, the error has the
// last result.
func (p *Prometheus) WaitQuery(ctx context.Context, expression string, ok func([]Sample) bool) ([]Sample, error) {
	var last []Sample
	var lastErr error
	for {
		samples, err := p.Query(ctx, expression)
		if err == nil && ok(samples) {
			return samples, nil
		}
		if ctx.Err() == nil {
			last, lastErr = samples, err
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(fmt.Errorf("wait for %s: %w (last result: %v)", expression, context.Cause(ctx), last), lastErr)
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// Rules returns all loaded rules with their health.
func (p *Prometheus) Rules(ctx context.Context) (rules []Rule, err error) {
	var data struct {
		Groups []struct {
			Name  string `json:"name"`
			Rules []Rule `json:"rules"`
		} `json:"groups"`
	}
	err = p.get(ctx, "/api/v1/rules", nil, &data)
	for _, g := range data.Groups {
		for _, r := range g.Rules {
			r.Group = g.Name
			rules = append(rules, r)
		}
	}
	return rules, err
}

// Targets returns all scrape targets with their health.
func (p *Prometheus) Targets(ctx context.Context) ([]Target, error) {
	var data struct {
		Active []Target `json:"activeTargets"`
	}
	err := p.get(ctx, "/api/v1/targets", url.Values{"state": {"active"}}, &data)
	return data.Active, err
}

func (p *Prometheus) get(ctx context.Context, path string, query url.Values, data any) error {
	return call(ctx, p.URL+path+"?"+query.Encode(), nil, &struct {
		Data any `json:"data"`
	}{data})
}
