package recording

import (
	"errors"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/textparse"
)

// Recorder makes a Recording of scrapes as Prometheus stores them, with honor_labels. It is not safe for concurrent use.
type Recorder struct {
	reads     Reads
	recording Recording
	steps     int
	series    map[string]*Series
	now       map[string]bool // the series of this step
	before    map[string]bool
}

// NewRecorder returns a Recorder that keeps the series in reads.
func NewRecorder(row string, start time.Time, interval time.Duration, reads Reads) *Recorder {
	return &Recorder{
		reads: reads, recording: Recording{Row: row, Start: start.UTC().Truncate(time.Second), Interval: interval},
		series: map[string]*Series{}, now: map[string]bool{},
	}
}

// Scraped adds the response of a target at this step: text in the exposition format, or a failed scrape.
func (r *Recorder) Scraped(target labels.Labels, text []byte, failed bool) error {
	up := 1.0
	if failed {
		up = 0
	}
	r.set(named(target, "up"), up)
	if failed {
		return nil
	}
	p, err := textparse.New(text, "text/plain", labels.NewSymbolTable(), textparse.ParserOptions{})
	if err != nil {
		return err
	}
	for {
		entry, err := p.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if entry != textparse.EntrySeries {
			continue
		}
		_, _, v := p.Series()
		var own labels.Labels
		p.Labels(&own)
		if l := attached(own, target); r.reads.Series(l) {
			r.set(l, v)
		}
	}
}

// Phase adds the value of FaultSeries at this step.
func (r *Recorder) Phase(value float64) {
	r.set(labels.FromStrings(model.MetricNameLabel, FaultSeries, "row", r.recording.Row), value)
}

// Next ends a step. Series without a value in it become stale.
func (r *Recorder) Next() {
	for key := range r.before {
		if !r.now[key] {
			r.series[key].Values = append(r.series[key].Values, Stale)
		}
	}
	r.steps++
	r.before, r.now = r.now, map[string]bool{}
}

// Recording returns what was recorded.
func (r *Recorder) Recording() Recording {
	done := r.recording
	for _, key := range slices.Sorted(maps.Keys(r.series)) {
		s := *r.series[key]
		s.Values = pad(slices.Clone(s.Values), r.steps)
		done.Series = append(done.Series, s)
	}
	return done
}

func (r *Recorder) set(l labels.Labels, v float64) {
	key := l.String()
	s := r.series[key]
	if s == nil {
		s = &Series{Labels: l}
		r.series[key] = s
	}
	s.Values = append(pad(s.Values, r.steps), short(v))
	r.now[key] = true
}

func pad(values []float64, n int) []float64 {
	for len(values) < n {
		values = append(values, Missing)
	}
	return values
}

func named(target labels.Labels, name string) labels.Labels {
	return labels.NewBuilder(target).Set(model.MetricNameLabel, name).Labels()
}

// ofTheBuild are labels that differ between builds.
var ofTheBuild = []string{"version", "revision", "branch", "goversion", "goos", "goarch", "tags"}

// attached adds the labels of the target to a series, unless the series has them.
func attached(own, target labels.Labels) labels.Labels {
	b := labels.NewBuilder(own)
	target.Range(func(l labels.Label) {
		if own.Get(l.Name) == "" {
			b.Set(l.Name, l.Value)
		}
	})
	if own.Get(model.MetricNameLabel) == "informer_exporter_build_info" {
		b.Del(ofTheBuild...)
	}
	return b.Labels()
}
