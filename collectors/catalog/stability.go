package catalog

// Stability is how a metric may change from one release to the next. docs/versioning.md has the rules.
type Stability string

// The levels of Stability.
const (
	// Stable metrics keep their name, type and labels until the next major version.
	Stable Stability = "stable"
	// Beta metrics change only after a release that reports both forms.
	Beta Stability = "beta"
	// Alpha metrics may change in every release.
	Alpha Stability = "alpha"
	// External metrics belong to another project, which decides when they change.
	External Stability = "external"
)

// Stability returns the level of the metric. Essential metrics are stable and others beta. Metrics of experimental families are
// alpha, and those of other projects external.
func (m Metric) Stability() Stability {
	switch m.Family {
	case familyUpstream, familyForeign, familyServer:
		return External
	case familyPollution, familyClients:
		return Alpha
	}
	if m.Essential {
		return Stable
	}
	return Beta
}
