package configfile

import (
	"fmt"
	"time"

	"github.com/prometheus/common/model"
	"go.yaml.in/yaml/v3"
)

// Duration is a duration in the format of Prometheus, such as 30s, 5m, 1h30m or 1d.
type Duration time.Duration

// UnmarshalYAML implements yaml.Unmarshaler.
func (d *Duration) UnmarshalYAML(n *yaml.Node) error {
	parsed, err := model.ParseDuration(n.Value)
	if n.Kind != yaml.ScalarNode || err != nil {
		return &yaml.TypeError{Errors: []string{fmt.Sprintf("line %d: %q is not a duration; write 30s, 5m, 1h30m or 1d", n.Line, n.Value)}}
	}
	*d = Duration(parsed)
	return nil
}

// Or returns the duration, or otherwise if d is nil.
func (d *Duration) Or(otherwise time.Duration) time.Duration {
	if d == nil {
		return otherwise
	}
	return time.Duration(*d)
}
