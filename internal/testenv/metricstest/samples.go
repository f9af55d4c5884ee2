package metricstest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// Sample is the value of a series with all its labels. A histogram or summary is two samples, _count and _sum.
type Sample struct {
	Name   string
	Labels map[string]string
	Value  float64
}

// Samples are the samples of a scrape, ordered by name.
type Samples []Sample

// Gather returns the samples of a registry.
func Gather(t testing.TB, g prometheus.Gatherer) Samples {
	t.Helper()
	families, err := g.Gather()
	if err != nil {
		t.Fatalf("gather: %v", err)
	}
	return samples(families)
}

// Parse reads the text format.
func Parse(text io.Reader) (Samples, error) {
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(text)
	if err != nil {
		return nil, err
	}
	var sorted []*dto.MetricFamily
	for _, name := range slices.Sorted(maps.Keys(families)) {
		sorted = append(sorted, families[name])
	}
	return samples(sorted), nil
}

// Decode reads metrics in the format given by an HTTP header.
func Decode(body io.Reader, header http.Header) (Samples, error) {
	var families []*dto.MetricFamily
	decoder := expfmt.NewDecoder(body, expfmt.ResponseFormat(header))
	for {
		family := &dto.MetricFamily{}
		if err := decoder.Decode(family); errors.Is(err, io.EOF) {
			return samples(families), nil
		} else if err != nil {
			return nil, err
		}
		families = append(families, family)
	}
}

// Scrape reads the metrics that a URL serves.
func Scrape(ctx context.Context, url string) (Samples, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", "text/plain")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s", url, response.Status)
	}
	return Parse(response.Body)
}

func samples(families []*dto.MetricFamily) Samples {
	var all Samples
	for _, family := range families {
		for _, m := range family.GetMetric() {
			labels := map[string]string{}
			for _, l := range m.GetLabel() {
				labels[l.GetName()] = l.GetValue()
			}
			add := func(suffix string, value float64) {
				all = append(all, Sample{Name: family.GetName() + suffix, Labels: labels, Value: value})
			}
			switch {
			case m.Histogram != nil:
				add("_count", float64(m.GetHistogram().GetSampleCount()))
				add("_sum", m.GetHistogram().GetSampleSum())
			case m.Summary != nil:
				add("_count", float64(m.GetSummary().GetSampleCount()))
				add("_sum", m.GetSummary().GetSampleSum())
			default:
				add("", m.GetCounter().GetValue()+m.GetGauge().GetValue()+m.GetUntyped().GetValue())
			}
		}
	}
	return all
}

// Select returns the samples with a name and with labels, given as alternating names and values.
func (s Samples) Select(name string, labels ...string) Samples {
	if len(labels)%2 != 0 {
		panic("a label without a value: " + strings.Join(labels, ", "))
	}
	var selected Samples
	for _, sample := range s {
		matches := sample.Name == name
		for pair := range slices.Chunk(labels, 2) {
			value, found := sample.Labels[pair[0]]
			matches = matches && found && value == pair[1]
		}
		if matches {
			selected = append(selected, sample)
		}
	}
	return selected
}

// Sum returns the sum of the samples with a name and with labels, given as alternating names and values.
func (s Samples) Sum(name string, labels ...string) float64 {
	var sum float64
	for _, sample := range s.Select(name, labels...) {
		sum += sample.Value
	}
	return sum
}

// By returns the sums of the samples with a name, by the values of labels, joined by slashes.
func (s Samples) By(name string, labels ...string) map[string]float64 {
	sums := map[string]float64{}
	for _, sample := range s.Select(name) {
		values := make([]string, len(labels))
		for i, label := range labels {
			values[i] = sample.Labels[label]
		}
		sums[strings.Join(values, "/")] += sample.Value
	}
	return sums
}
