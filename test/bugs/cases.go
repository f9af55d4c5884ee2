package bugs

import (
	_ "embed"
	"fmt"

	"sigs.k8s.io/yaml"
)

// Ways to observe a program: by the exporter alone, which leaves it unchanged, by the audit log of the API server, and by the library.
const (
	ByExporter = "exporter"
	ByAuditLog = "audit"
	ByLibrary  = "library"
)

// Ways are all of them, in the order of the page.
var Ways = []string{ByExporter, ByAuditLog, ByLibrary}

// Case is a published bug and the alert that was expected before the first run.
type Case struct {
	ID       string            `json:"id"`
	Class    string            `json:"class"`
	Sources  []string          `json:"sources"`
	Bug      string            `json:"bug"`
	Fault    string            `json:"fault"`
	Server   bool              `json:"server,omitempty"`
	Quick    bool              `json:"quick,omitempty"`
	Persists bool              `json:"persists,omitempty"`
	Expected map[string]string `json:"expected"`
}

//go:embed cases.yaml
var casesFile []byte

// Cases returns all bugs, by class.
func Cases() ([]Case, error) {
	var all []Case
	if err := yaml.UnmarshalStrict(casesFile, &all); err != nil {
		return nil, fmt.Errorf("cases.yaml: %w", err)
	}
	return all, nil
}
