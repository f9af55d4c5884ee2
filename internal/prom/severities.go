package prom

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Keys of Series.Severities. All but severityLabel are severities.
const (
	severityLabel = "label"
	page          = "page"
	ticket        = "ticket"
	info          = "info"
)

// NoSeverity is the value of the severity label of alerts that are not about a problem.
const NoSeverity = "none"

// SeverityLabel returns the name of the label with the severity of an alert.
func (s Series) SeverityLabel() string {
	if name, ok := s.Severities[severityLabel]; ok {
		return name
	}
	return "severity"
}

// Severity returns the value of the severity label for page, ticket or info.
func (s Series) Severity(severity string) string {
	if value, ok := s.Severities[severity]; ok {
		return value
	}
	return severity
}

var severityValue = regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)

// validateSeverities returns the errors of Severities. The label must not have a reserved name.
func (s Series) validateSeverities(reserved []string) []error {
	var errs []error
	fail := func(format string, a ...any) { errs = append(errs, fmt.Errorf(format, a...)) }
	known := []string{page, ticket, info}
	for _, key := range slices.Sorted(maps.Keys(s.Severities)) {
		if key != severityLabel && !slices.Contains(known, key) {
			fail("severities: unknown key %q; use %s, %s", key, severityLabel, strings.Join(known, ", "))
		}
	}
	switch name := s.SeverityLabel(); {
	case !labelName.MatchString(name):
		fail("severities.label: %q is not a valid label name", name)
	case slices.Contains(reserved, name) || slices.Contains(TargetLabels(), name) || slices.Contains(slices.Collect(maps.Values(s.Labels)), name) || strings.HasPrefix(name, "__"):
		fail("severities.label: %q is the name of another label", name)
	}
	taken := map[string]string{}
	for _, severity := range known {
		value := s.Severity(severity)
		switch other, duplicate := taken[value]; {
		case !severityValue.MatchString(value):
			fail("severities.%s: %q is not a valid severity; use letters, digits, - and _", severity, value)
		case value == NoSeverity:
			fail("severities.%s: %q is reserved for alerts that are not about a problem", severity, value)
		case duplicate:
			fail("severities.%s: %q is the value of %s, too", severity, value, other)
		}
		taken[value] = severity
	}
	return errs
}
