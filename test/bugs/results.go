package bugs

import (
	_ "embed"
	"fmt"

	"sigs.k8s.io/yaml"
)

// Timings of a fault: as short as in the reports, and five minutes.
const (
	Original = "original"
	Minutes  = "minutes"
)

// Detection is the first alert of a case, and how long after the beginning of the fault it fired.
type Detection struct {
	Alert   string `json:"alert"`
	Seconds int    `json:"seconds"`
}

// Detections are the first alert of each way that has one.
type Detections map[string]Detection

// Runs are detections by timing.
type Runs map[string]Detections

// Result has the first run of a case, which stays, and the last one.
type Result struct {
	First Runs `json:"first"`
	Last  Runs `json:"last"`
}

func (r *Result) add(timing string, found Detections) {
	if r.First == nil {
		r.First, r.Last = Runs{}, Runs{}
	}
	if _, ok := r.First[timing]; !ok {
		r.First[timing] = found
	}
	r.Last[timing] = found
}

//go:embed testdata/results.yaml
var resultsFile []byte

// Results returns the results by case.
func Results() (map[string]Result, error) { return parseResults(resultsFile) }

func parseResults(content []byte) (map[string]Result, error) {
	all := map[string]Result{}
	if err := yaml.UnmarshalStrict(content, &all); err != nil {
		return nil, fmt.Errorf("results.yaml: %w", err)
	}
	return all, nil
}
