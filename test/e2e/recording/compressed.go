package recording

import (
	"bytes"
	"compress/gzip"
	"io"
	"slices"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
)

// Healthy is the row of a recording without a fault: the operations of a healthy cluster.
const Healthy = "TestHealthyClusterIsQuiet"

// Everything selects all series.
func Everything() Reads {
	return Reads{{labels.MustNewMatcher(labels.MatchNotEqual, model.MetricNameLabel, "")}}
}

// Thin returns the series of a recording that are read.
func Thin(r Recording, reads Reads) Recording {
	r.Series = slices.DeleteFunc(slices.Clone(r.Series), func(s Series) bool {
		return s.Labels.Get(model.MetricNameLabel) != FaultSeries && !reads.Series(s.Labels)
	})
	return r
}

// MarshalCompressed returns the content of a recording's file, with gzip. The same recording gives the same bytes.
func (r Recording) MarshalCompressed() []byte {
	var b bytes.Buffer
	w, _ := gzip.NewWriterLevel(&b, gzip.BestCompression) // the level is valid
	_, _ = w.Write(r.Marshal())                           // a buffer accepts everything
	_ = w.Close()
	return b.Bytes()
}

// UnmarshalCompressed reads what MarshalCompressed has returned.
func UnmarshalCompressed(content []byte) (Recording, error) {
	r, err := gzip.NewReader(bytes.NewReader(content))
	if err != nil {
		return Recording{}, err
	}
	text, err := io.ReadAll(r)
	if err != nil {
		return Recording{}, err
	}
	return Unmarshal(text)
}
