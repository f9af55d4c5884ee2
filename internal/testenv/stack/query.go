package stack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// Sample is one element of the result of an instant query.
type Sample struct {
	Labels map[string]string
	Value  float64
}

// Rule is a loaded alerting or recording rule.
type Rule struct {
	Group     string            `json:"-"`
	Name      string            `json:"name"`
	Query     string            `json:"query"`
	Type      string            `json:"type"`   // alerting or recording
	Health    string            `json:"health"` // ok, err, or unknown before the first evaluation
	LastError string            `json:"lastError"`
	State     string            `json:"state"` // inactive, pending or firing; empty for recording rules
	Labels    map[string]string `json:"labels"`
}

// Target is a scrape target.
type Target struct {
	Job       string
	URL       string
	Health    string // up, down, or unknown before the first scrape
	LastError string
}

// Query evaluates an expression now. A scalar is one Sample without labels.
func (p *Prometheus) Query(ctx context.Context, expression string) ([]Sample, error) {
	var data struct {
		Type   string          `json:"resultType"`
		Result json.RawMessage `json:"result"`
	}
	if err := p.get(ctx, "/api/v1/query", url.Values{"query": {expression}}, &data); err != nil {
		return nil, fmt.Errorf("query %s: %w", expression, err)
	}
	switch data.Type {
	case "vector":
		var vector []struct {
			Metric map[string]string `json:"metric"`
			Value  point             `json:"value"`
		}
		if err := json.Unmarshal(data.Result, &vector); err != nil {
			return nil, fmt.Errorf("query %s: %w", expression, err)
		}
		samples := make([]Sample, len(vector))
		for i, v := range vector {
			samples[i] = Sample{v.Metric, float64(v.Value)}
		}
		return samples, nil
	case "scalar":
		var value point
		if err := json.Unmarshal(data.Result, &value); err != nil {
			return nil, fmt.Errorf("query %s: %w", expression, err)
		}
		return []Sample{{Value: float64(value)}}, nil
	default:
		return nil, fmt.Errorf("query %s: the result is a %s; query an instant vector or a scalar", expression, data.Type)
	}
}

// point is [timestamp, "value"].
type point float64

func (p *point) UnmarshalJSON(b []byte) error {
	var time float64
	var value string
	if err := json.Unmarshal(b, &[]any{&time, &value}); err != nil {
		return err
	}
	f, err := strconv.ParseFloat(value, 64)
	*p = point(f)
	return err
}

// Exemplar is an exemplar of a series.
type Exemplar struct {
	// Series are the labels of the series, Labels those of the exemplar.
	Series, Labels map[string]string
	Value          float64
}

// Exemplars returns the exemplars of the series in an expression, scraped since a point in time.
func (p *Prometheus) Exemplars(ctx context.Context, expression string, since time.Time) ([]Exemplar, error) {
	var data []struct {
		Series    map[string]string `json:"seriesLabels"`
		Exemplars []struct {
			Labels map[string]string `json:"labels"`
			Value  float64           `json:"value,string"`
		} `json:"exemplars"`
	}
	unix := func(t time.Time) string { return strconv.FormatInt(t.Unix(), 10) }
	q := url.Values{"query": {expression}, "start": {unix(since)}, "end": {unix(time.Now().Add(time.Minute))}}
	if err := p.get(ctx, "/api/v1/query_exemplars", q, &data); err != nil {
		return nil, fmt.Errorf("exemplars of %s: %w", expression, err)
	}
	var all []Exemplar
	for _, s := range data {
		for _, e := range s.Exemplars {
			all = append(all, Exemplar{s.Series, e.Labels, e.Value})
		}
	}
	return all, nil
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
func (p *Prometheus) Rules(ctx context.Context) ([]Rule, error) {
	var data struct {
		Groups []struct {
			Name  string `json:"name"`
			Rules []Rule `json:"rules"`
		} `json:"groups"`
	}
	if err := p.get(ctx, "/api/v1/rules", nil, &data); err != nil {
		return nil, fmt.Errorf("list Prometheus' rules: %w", err)
	}
	var rules []Rule
	for _, g := range data.Groups {
		for _, r := range g.Rules {
			r.Group = g.Name
			rules = append(rules, r)
		}
	}
	return rules, nil
}

// Targets returns all scrape targets with their health.
func (p *Prometheus) Targets(ctx context.Context) ([]Target, error) {
	var data struct {
		Active []struct {
			Pool      string `json:"scrapePool"`
			URL       string `json:"scrapeUrl"`
			Health    string `json:"health"`
			LastError string `json:"lastError"`
		} `json:"activeTargets"`
	}
	if err := p.get(ctx, "/api/v1/targets", url.Values{"state": {"active"}}, &data); err != nil {
		return nil, fmt.Errorf("list Prometheus' targets: %w", err)
	}
	targets := make([]Target, len(data.Active))
	for i, t := range data.Active {
		targets[i] = Target{t.Pool, t.URL, t.Health, t.LastError}
	}
	return targets, nil
}

func (p *Prometheus) get(ctx context.Context, path string, query url.Values, data any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.URL+path+"?"+query.Encode(), nil)
	if err != nil {
		return err
	}
	req.Close = true // tests that count goroutines must not see idle connections
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	var answer struct {
		Status string          `json:"status"`
		Error  string          `json:"error"`
		Data   json.RawMessage `json:"data"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return fmt.Errorf("%s returned %s, not JSON: %w", path, resp.Status, err)
	}
	if answer.Status != "success" {
		return fmt.Errorf("%s returned %s: %s", path, resp.Status, answer.Error)
	}
	return json.Unmarshal(answer.Data, data)
}
